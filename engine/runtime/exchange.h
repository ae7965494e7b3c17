// The sending side of a stage: routes the output of a task to the channels of every consumer.
//
// An update pair whose two rows go to different tasks arrives as a -D and a +I.
//
// A hash exchange splits a batch by receiving task into builders, which are sent when they hold a batch, before every
// control message, and when the task has nothing else to do, so that batches stay large under load.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/runtime/channel.h"
#include "engine/runtime/graph.h"

namespace weir {

class Router {
 public:
  // The channels to the tasks of one consuming stage, in task order (one for kForward and kGather).
  void AddEdge(const EdgeSpec& spec, std::vector<std::shared_ptr<Channel>> targets);

  // False: a channel is full; the task is woken when it has room.
  bool HasRoomOrWait();
  void Send(const Batch& batch);
  // Late rows of an operator of the stage, to the edges that take them.
  void SendLate(const std::string& operator_id, const Batch& batch);
  void Flush();
  // A watermark, idle mark, barrier or end, to every channel, behind all rows sent so far.
  void Broadcast(const Message& message);

 private:
  struct Edge {
    EdgeSpec spec;
    std::vector<std::shared_ptr<Channel>> targets;
    std::vector<std::unique_ptr<BatchBuilder>> builders;  // one a target, made with the first batch
  };

  void SendTo(Edge& edge, const Batch& batch);
  void ChooseTasks(const Edge& edge, const Batch& batch);
  Batch WithoutTornPairs(const Batch& batch) const;
  void Split(Edge& edge, const Batch& batch);
  static void SendBuilt(Edge& edge, size_t target);

  std::vector<Edge> edges_;
  std::vector<uint64_t> hashes_;
  std::vector<uint16_t> buckets_;
  std::vector<uint16_t> tasks_;  // of each row of the batch being split
  std::vector<Selection> selections_;
};

}  // namespace weir

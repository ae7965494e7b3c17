// The rows of one side of an interval join in the order in which the watermark frees them.  Rows come nearly in order, so
// they are put into slots of time: all of a slot that the watermark has passed go together, and only the slot that it is
// in is kept as a heap.  One thread.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "engine/base/clock.h"
#include "engine/state/record_arena.h"

namespace weir {

class ExpiryQueue {
 public:
  // A row that may go when the watermark is above `at`.
  struct Row {
    Micros at;
    Ref row;
    Ref group;  // whose list it is in
  };

  void Add(const Row& row) {
    ++rows_;
    const int64_t slot = row.at / kSlot;
    if (slot <= current_slot_) return AddToCurrent(row);
    if (last_ == nullptr || slot != last_slot_) {
      last_ = &slots_[slot];
      last_slot_ = slot;
    }
    const size_t room = last_->capacity();
    last_->push_back(row);
    room_ += last_->capacity() - room;
  }

  // Moves the rows that may go behind `due`.
  void TakeDue(Micros watermark, std::vector<Row>& due) {
    const size_t before = due.size();
    const int64_t slot = watermark / kSlot;
    while (!slots_.empty() && slots_.begin()->first <= slot) {
      std::vector<Row>& rows = slots_.begin()->second;
      if (slots_.begin()->first < slot) {
        due.insert(due.end(), rows.begin(), rows.end());
      } else {
        for (const Row& row : rows) AddToCurrent(row);
      }
      room_ -= rows.capacity();
      slots_.erase(slots_.begin());
      last_ = nullptr;
    }
    current_slot_ = std::max(current_slot_, slot);
    while (!current_.empty() && current_.front().at < watermark) {
      std::pop_heap(current_.begin(), current_.end(), Later);
      due.push_back(current_.back());
      current_.pop_back();
    }
    rows_ -= due.size() - before;
  }

  size_t rows() const { return rows_; }
  int64_t bytes() const {
    constexpr size_t kNode = sizeof(*slots_.begin()) + 48;  // about, with what the tree adds
    return static_cast<int64_t>((room_ + current_.capacity()) * sizeof(Row) + slots_.size() * kNode);
  }

 private:
  static constexpr Micros kSlot = 500'000;
  static bool Later(const Row& a, const Row& b) { return a.at > b.at; }

  void AddToCurrent(const Row& row) {
    current_.push_back(row);
    std::push_heap(current_.begin(), current_.end(), Later);
  }

  std::map<int64_t, std::vector<Row>> slots_;
  std::vector<Row>* last_ = nullptr;  // the slot of the row before
  int64_t last_slot_ = 0;
  std::vector<Row> current_;  // a heap: the rows up to the slot of the watermark
  int64_t current_slot_ = kMinMicros / kSlot;
  size_t rows_ = 0;
  size_t room_ = 0;  // rows that the slots have room for
};

}  // namespace weir

// Runs tasks on a fixed pool of threads: a task is run by one thread at a time, and again whenever it was woken.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>

namespace weir {

// Counts the runnables that are scheduled or running.  At zero every message sent so far has been processed: a send
// wakes its receiver (which counts up) before the sender's run ends (which counts down).
class Activity {
 public:
  void Add() { count_.fetch_add(1, std::memory_order_acq_rel); }
  void Remove();
  // Until the count is zero or `stop` says so; `stop` is asked whenever Poke is called.
  void WaitForZero(const std::function<bool()>& stop);
  void Poke();

 private:
  std::atomic<int64_t> count_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
};

class Scheduler {
 public:
  explicit Scheduler(int threads);
  ~Scheduler();  // Shutdown
  void Post(std::function<void()> work);
  // Lets the posted work finish and joins the threads.
  void Shutdown();
  Activity& activity() { return activity_; }

 private:
  struct Pool;
  std::unique_ptr<Pool> pool_;
  Activity activity_;
};

// Something that a scheduler runs when woken.  Wake is thread-safe and cheap when already scheduled.
class Runnable {
 public:
  explicit Runnable(Scheduler& scheduler) : scheduler_(scheduler) {}
  virtual ~Runnable() = default;
  void Wake();

 protected:
  // Does a bounded amount of work; true when there is more to do at once.
  virtual bool RunSome() = 0;

 private:
  enum class State { kIdle, kScheduled, kRunning, kWoken };
  void Run();
  void Schedule();

  Scheduler& scheduler_;
  std::atomic<State> state_{State::kIdle};
};

}  // namespace weir

#include "engine/runtime/scheduler.h"

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

namespace weir {

void Activity::Remove() {
  if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1) Poke();
}

void Activity::Poke() {
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
}

void Activity::WaitForZero(const std::function<bool()>& stop) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return count_.load(std::memory_order_acquire) == 0 || stop(); });
}

struct Scheduler::Pool {
  explicit Pool(int threads) : threads(static_cast<size_t>(threads)) {}
  boost::asio::thread_pool threads;
};

Scheduler::Scheduler(int threads) : pool_(std::make_unique<Pool>(threads)) {}
Scheduler::~Scheduler() { Shutdown(); }

void Scheduler::Post(std::function<void()> work) { boost::asio::post(pool_->threads, std::move(work)); }

void Scheduler::Shutdown() { pool_->threads.join(); }

void Runnable::Schedule() {
  scheduler_.Post([this] { Run(); });
}

void Runnable::Wake() {
  State state = state_.load(std::memory_order_acquire);
  while (true) {
    if (state == State::kScheduled || state == State::kWoken) return;
    const State next = state == State::kIdle ? State::kScheduled : State::kWoken;
    if (state_.compare_exchange_weak(state, next, std::memory_order_acq_rel)) break;
  }
  if (state == State::kIdle) {
    scheduler_.activity().Add();
    Schedule();
  }
}

void Runnable::Run() {
  state_.store(State::kRunning, std::memory_order_release);
  const bool more = RunSome();
  State expected = State::kRunning;
  if (!more && state_.compare_exchange_strong(expected, State::kIdle, std::memory_order_acq_rel)) {
    scheduler_.activity().Remove();
    return;
  }
  state_.store(State::kScheduled, std::memory_order_release);
  Schedule();
}

}  // namespace weir

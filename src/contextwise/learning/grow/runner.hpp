// Work on several threads that can be watched and stopped.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace contextwise::grow {

// Called a few times a second from the thread that waits, with the number of units done; when it
// returns false the work stops.
using Watch = std::function<bool(std::size_t)>;

class Runner {
 public:
  Runner(unsigned threads, const Watch& watch) : threads_(threads), watch_(watch) {}

  const std::atomic<bool>& stop() const { return stop_; }

  // Asks the watcher whether to go on.
  void look() {
    if (!stop_ && !watch_(done_)) stop_ = true;
  }

  // Does all units; each thread makes itself a worker, a function of the number of a unit.
  template <class Make>
  void run(std::size_t units, const Make& make) {
    const std::size_t wanted =
        std::min<std::size_t>(std::max(1u, threads_), std::max<std::size_t>(units, 1));
    std::vector<std::thread> workers;
    next_ = 0;
    running_ = wanted;
    for (std::size_t k = 0; k < wanted; ++k) workers.emplace_back([&] { work(units, make); });
    std::unique_lock lock(mutex_);
    while (!finished_.wait_for(lock, PAUSE, [&] { return !running_; })) {
      lock.unlock();
      look();
      lock.lock();
    }
    lock.unlock();
    for (std::thread& worker : workers) worker.join();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  template <class Make>
  void work(std::size_t units, const Make& make) {
    try {
      auto worker = make();
      for (std::size_t at = next_++; at < units && !stop_; at = next_++) {
        worker(at);
        ++done_;
      }
    } catch (...) {
      std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
      stop_ = true;
    }
    std::lock_guard lock(mutex_);
    --running_;
    finished_.notify_all();
  }

  static constexpr std::chrono::milliseconds PAUSE{50};
  unsigned threads_;
  const Watch& watch_;
  std::atomic<std::size_t> next_{0}, done_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable finished_;
  std::size_t running_ = 0;
  std::exception_ptr failure_;
};

}  // namespace contextwise::grow

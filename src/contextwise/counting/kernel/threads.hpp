// Runs work on threads while the calling thread checks for Ctrl-C and reports progress.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace contextwise {

// Runs `work` on several threads and returns when all are done. A few times a second the calling
// thread calls `watch`, without holding a lock, so `watch` may take the GIL. If it returns false or
// anything throws, `stop` is set; the work must check it. The first exception is thrown again here.
class WatchedThreads {
 public:
  using Work = std::function<void()>;
  using Watch = std::function<bool()>;

  WatchedThreads(std::atomic<bool>& stop, const Work& work, const Watch& watch)
      : stop_(stop), work_(work), watch_(watch) {}

  void run(std::size_t threads) {
    start();
    while (workers_.size() < threads && start_another()) {
    }
    while (!finished_within(BETWEEN_LOOKS))
      if (!stop_) look_around();
    for (std::thread& worker : workers_) worker.join();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  static constexpr std::chrono::milliseconds BETWEEN_LOOKS{50};

  void start() {
    {
      std::lock_guard lock(mutex_);
      ++running_;
    }
    workers_.emplace_back([this] { work(); });
  }

  // Returns false if the system has no more threads; the running ones then do all the work.
  bool start_another() {
    try {
      start();
      return true;
    } catch (const std::system_error&) {
      leave();
      return false;
    }
  }

  void work() {
    try {
      work_();
    } catch (...) {
      fail();
    }
    leave();
  }

  void leave() {
    std::lock_guard lock(mutex_);
    --running_;
    finished_.notify_all();
  }

  bool finished_within(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    return finished_.wait_for(lock, time, [this] { return running_ == 0; });
  }

  void look_around() {
    try {
      if (!watch_()) stop_ = true;
    } catch (...) {
      fail();
    }
  }

  void fail() {
    std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
    stop_ = true;
  }

  std::atomic<bool>& stop_;
  const Work& work_;
  const Watch& watch_;
  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable finished_;
  std::size_t running_ = 0;
  std::exception_ptr failure_;
};

}  // namespace contextwise

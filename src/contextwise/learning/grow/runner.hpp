// Runs units of work on several threads, with progress and a way to stop.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>

#include "../../counting/kernel/threads.hpp"

namespace contextwise::grow {

// Called a few times a second from the calling thread with the number of finished units. The work
// stops when it returns false.
using Watch = std::function<bool(std::size_t)>;

class Runner {
 public:
  Runner(unsigned threads, const Watch& watch) : threads_(threads), watch_(watch) {}

  const std::atomic<bool>& stop() const { return stop_; }

  // Calls the watcher and stops if it returns false.
  void look() {
    if (!stop_ && !watch_(done_)) stop_ = true;
  }

  // Does all units. Each thread calls `make` once, which returns a function of the number of a
  // unit.
  template <class Make>
  void run(std::size_t units, const Make& make) {
    next_ = 0;
    const WatchedThreads::Work work = [&] {
      auto worker = make();
      for (std::size_t at = next_++; at < units && !stop_; at = next_++) {
        worker(at);
        ++done_;
      }
    };
    const WatchedThreads::Watch watch = [&] { return watch_(done_); };
    WatchedThreads(stop_, work, watch).run(std::min<std::size_t>(threads_, units));
  }

 private:
  unsigned threads_;
  const Watch& watch_;
  std::atomic<std::size_t> next_{0}, done_{0};
  std::atomic<bool> stop_{false};
};

}  // namespace contextwise::grow

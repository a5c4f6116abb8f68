// SPDX-License-Identifier: MIT
//
// A thread that is there before there is work for it.
//
// For: what starts processes next, which may take all places that the system has for threads and
// processes. By the time of those forks the thread sleeps: it holds no lock that they would find
// locked for ever.
// Concurrency: one thread at a time. Blocks: the constructor, until it sleeps; join() and the
// destructor, until the work has ended. Throws: the constructor, as sync::Thread does.
#pragma once

#include <cstdint>
#include <handoff/config.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/internal/thread.hpp>
#include <handoff/sync/mutex.hpp>
#include <string>

#include "../sync/internal/seen_sanitizer.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class EarlyThread {
 public:
  explicit EarlyThread(const std::string& name)
      : thread_({.name = name}, [this]() noexcept { live(); }) {
    await(Step::waits);
  }
  // Without begin() it has done nothing.
  ~EarlyThread() { join(); }

  // Calls work(of) in the thread, once.
  void begin(void (*work)(void* of) noexcept, void* of) noexcept {
    work_ = work;
    of_ = of;
    go_to(Step::goes);
  }
  void join() noexcept {
    go_to(Step::goes);
    thread_.join();
  }

 private:
  enum class Step : std::uint8_t { starts, waits, goes };

  void live() noexcept {
    go_to(Step::waits);
    await(Step::goes);
    if (work_ != nullptr) work_(of_);
  }
  void go_to(Step step) noexcept {
    {
      const sync::SeenLock lock(mutex_);
      step_ = step;
    }
    changed_.notify_all();
  }
  void await(Step step) noexcept {
    (void)changed_.await([&]() noexcept {
      const sync::SeenLock lock(mutex_);
      return step_ >= step;
    });
  }

  void (*work_)(void* of) noexcept = nullptr;  // these two before the step that reads them
  void* of_ = nullptr;
  sync::Mutex mutex_;
  Step step_ = Step::starts;  // under the mutex
  sync::EventCount changed_;
  sync::Thread thread_;  // the last: it uses the others
};

}}}  // namespace handoff::HANDOFF_ABI::detail

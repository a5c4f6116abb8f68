// SPDX-License-Identifier: MIT
//
// What the scenarios of pools share: how a worker is held in a task, what tasks wait for, and what
// is checked at the end.
#pragma once

#include <handoff/core/status.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/pool/task_group.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/pause.hpp>
#include <handoff/sync/stop_token.hpp>

#include "books/pool_books.hpp"
#include "explore/scenario.hpp"
#include "explore/scenarios/core/counted.hpp"

namespace handoff::test {

// Shut until somebody opens it. Waiting threads sleep, so that time can pass meanwhile.
class OpenOnce {
 public:
  void open() noexcept {
    open_.store(true, sync::order::seq_cst);
    news_.notify_all();
  }
  void wait() noexcept {
    (void)news_.await([this]() noexcept { return open_.load(sync::order::seq_cst); });
  }

 private:
  sync::atomic<bool> open_{false};
  sync::EventCount news_;
};

// Counts arrivals. A thread may wait for the n-th.
class Arrivals {
 public:
  void arrive() {
    count_.fetch_add(1, sync::order::seq_cst);
    news_.notify_all();
  }
  void await(int so_many) {
    (void)news_.await(
        [this, so_many]() noexcept { return count_.load(sync::order::seq_cst) >= so_many; });
  }
  int count() const { return count_.load(sync::order::seq_cst); }

 private:
  sync::atomic<int> count_{0};
  sync::EventCount news_;
};

// Null: the system refused its first thread; then nothing is left behind.
inline std::unique_ptr<AuditedPool> pool_of(const ThreadPoolOptions& options) {
  try {
    return std::make_unique<AuditedPool>(options);
  } catch (const std::system_error&) {
    return nullptr;
  }
}

// The pool's worker is in a task from here on, until the gate opens.
inline void hold(ThreadPool& pool, OpenOnce& gate) {
  sync::atomic<bool> begun{false};
  pool.post([&begun, &gate] {
    begun.store(true, sync::order::release);
    gate.wait();
  });
  while (!begun.load(sync::order::acquire)) sync::pause();
}

struct HeldPool : AuditedPool {
  explicit HeldPool(OpenOnce& gate, const ThreadPoolOptions& options = {.width = 1})
      : AuditedPool(options) {
    hold(*this, gate);
  }
};

// A wait that can be stopped does not help.
inline Status wait_idly(ThreadPool& pool) {
  const sync::StopSource source;
  return pool.wait(source.token());
}

inline void accepted(Status status) { explore::check(status == Status::ok, "accepted"); }

// What a task of a scenario throws.
struct Failure {
  int number = 0;
};

// The number of what function() throws; 0: nothing.
template <class F>
int thrown_by(F&& function) {
  try {
    function();
  } catch (const Failure& failure) {
    return failure.number;
  }
  return 0;
}

// Whether function() throws an Error.
template <class Error, class F>
bool throws(F&& function) {
  try {
    function();
  } catch (const Error&) {
    return true;
  }
  return false;
}

// A closure that cannot be copied into its place.
struct Fragile {
  Fragile() = default;
  Fragile(const Fragile&) { throw std::bad_alloc(); }
  void operator()() const {}
};

inline void check_tally(const Tally& tally, std::uint64_t done, std::uint64_t failed,
                        std::uint64_t cancelled, std::uint64_t expired = 0) {
  explore::check(tally.balanced() && tally.pending == 0, "all is told");
  explore::check(tally.done == done, "so many ran");
  explore::check(tally.failed == failed, "so many threw");
  explore::check(tally.cancelled == cancelled, "so many were cancelled");
  explore::check(tally.expired == expired, "so many came too late");
}

// Goes on until the pool drops what has not begun: tasks of its own tell.
inline void until_dropping(ThreadPool& pool) {
  for (Status status = Status::ok; status == Status::ok; sync::pause()) {
    TaskGroup group(pool);
    group.run([] {});
    status = group.wait(Until());
    explore::check(status != Status::full && status != Status::closed, "ran or was dropped");
  }
}

}  // namespace handoff::test

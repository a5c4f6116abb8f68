// SPDX-License-Identifier: MIT
//
// The tasks of a pool that no worker counts: refused by a full queue, or after the end of the
// program's pool, and run by their caller, or run by a thread that waited for their Future outside
// the pool; and the close, which refuses them. Not for users.
//
// Concurrency: anybody. Proof: docs/design/thread_pool.md.
#pragma once

#include <cstdint>

#include <handoff/config.hpp>
#include <handoff/pool/detail/task.hpp>
#include <handoff/sync/internal/atomic.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class UnqueuedTasks {
 public:
  UnqueuedTasks() noexcept
      : closed_(false), ended_(false), accepted_(0), done_(0), failed_(0), cancelled_(0) {}

  // Counts a task that its caller will run; false if closed.
  bool accept() noexcept {
    // order: seq_cst, with the load below, against close() and an accepted() behind it: either that
    // counts this task, or we see it closed.
    accepted_.fetch_add(1, sync::order::seq_cst);
    if (!closed_.load(sync::order::seq_cst)) return true;  // order: seq_cst, see above
    accepted_.fetch_sub(1, sync::order::relaxed);  // order: relaxed, it never was one
    return false;
  }

  void close() noexcept {
    // order: seq_cst, see accept(); as a release it pairs with the acquire in closed().
    closed_.store(true, sync::order::seq_cst);
  }
  // From here on tasks are run by the threads that hand them over, and counted so.
  void end() noexcept {
    ended_.store(true, sync::order::relaxed);  // order: relaxed, a caller that misses it is refused
  }
  bool accept_after_end() noexcept {
    if (!ended_.load(sync::order::relaxed)) return false;  // order: relaxed, see end()
    accepted_.fetch_add(1, sync::order::relaxed);  // order: relaxed, a number: all is closed
    return true;
  }
  // What the closer did before is visible.
  bool closed() const noexcept {
    return closed_.load(sync::order::acquire);  // order: acquire pairs with the store in close()
  }

  void count(Outcome outcome) noexcept {
    // order: release pairs with the acquire in read(): a thread that sees the count sees what was
    // counted.
    counter(outcome).fetch_add(1, sync::order::release);
  }

  std::uint64_t accepted() const noexcept {
    return accepted_.load(sync::order::seq_cst);  // order: seq_cst, see accept()
  }
  // What became of them: done, failed or cancelled.
  std::uint64_t read(Outcome outcome) const noexcept {
    // order: acquire pairs with the release in count().
    return counter(outcome).load(sync::order::acquire);
  }
  std::uint64_t finished() const noexcept {
    return read(Outcome::done) + read(Outcome::failed) + read(Outcome::cancelled);
  }

 private:
  using Counter = sync::atomic<std::uint64_t>;

  const Counter& counter(Outcome outcome) const noexcept {
    return outcome == Outcome::failed ? failed_ : outcome == Outcome::done ? done_ : cancelled_;
  }
  Counter& counter(Outcome outcome) noexcept {
    return outcome == Outcome::failed ? failed_ : outcome == Outcome::done ? done_ : cancelled_;
  }

  sync::atomic<bool> closed_;
  sync::atomic<bool> ended_;
  Counter accepted_;
  Counter done_;
  Counter failed_;
  Counter cancelled_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail

// SPDX-License-Identifier: MIT
//
// What the calling thread works as: a place of an executor, where it runs that one's tasks. Not for
// users.
//
// An executor puts a place into the thread's slot for as long as the thread works there. A thread
// may work for several executors, one inside the other; its places are linked, the latest first.
// Through its place a task that waits for a Future gets help, whatever the executor is.
// Concurrency: a place is its thread's. The book of waits reads places of threads that sleep.
#pragma once

#include <cstddef>
#include <cstdint>

#include <handoff/config.hpp>
#include <handoff/sync/detail/thread_slot.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {
class Workplace;
}
namespace sync {
HANDOFF_THREAD_SLOT(handoff::detail::Workplace*, handoff::detail::Workplace);
}

namespace detail {

class FutureHost;

class Workplace {
 public:
  // What run_inside() calls.
  struct Call {
    void* argument;
    void (*function)(void* argument) noexcept;
  };

  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;

  FutureHost& host;
  const std::size_t index;  // of this place in the executor
  std::uint32_t depth = 0;  // tasks that run here, one inside the other
  Workplace* outer = nullptr;  // what the thread was before

  // For a task that waits here. Calls it as a task inside that one, which has nothing to do with
  // what that one has handed over; on another stack if this one is short.
  virtual void run_inside(const Call& call) noexcept = 0;

  // Runs a task that the waiting one has handed over and nobody has begun; false: there is none.
  virtual bool run_own() noexcept = 0;

  // The thread is about to block, and is back: the executor may have another one work meanwhile.
  // These pairs lie inside each other.
  virtual void begin_blocking() noexcept = 0;
  virtual void end_blocking() noexcept = 0;

 protected:
  Workplace(FutureHost& its_host, std::size_t number) noexcept : host(its_host), index(number) {}
  ~Workplace() = default;
};

// The calling thread's latest place; null: it works for nobody.
inline Workplace*& workplace() noexcept { return sync::thread_slot<Workplace*, Workplace>::get(); }

// The latest one with a task. One without may come before it: of a thread that helps elsewhere.
inline Workplace* workplace_in_task() noexcept {
  Workplace* place = workplace();
  while (place != nullptr && place->depth == 0) place = place->outer;
  return place;
}

// The calling thread blocks, as long as this lives: each executor whose task it runs is told.
class Lending {
 public:
  // `but`: except this one.
  explicit Lending(const FutureHost* but = nullptr) noexcept;
  ~Lending();
  Lending(const Lending&) = delete;
  Lending& operator=(const Lending&) = delete;

 private:
  const FutureHost* const but_;
};

}  // namespace detail
}}  // namespace handoff::HANDOFF_ABI

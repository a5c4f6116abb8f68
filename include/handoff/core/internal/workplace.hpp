// SPDX-License-Identifier: MIT
//
// Where a thread runs the tasks of an executor: as a worker of a pool, say. Not for users.
//
// An executor puts a workplace into the thread's slot while the thread works for it. A thread may
// work for several executors, one inside the other; its workplaces are linked, latest first. A task
// that waits for a Future uses the workplace to help and to lend, and knows no executor.
// Concurrency: a workplace belongs to its thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include <handoff/config.hpp>
#include <handoff/sync/internal/thread_slot.hpp>

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

  FutureHost& host;  // the executor
  const std::size_t index;  // of this workplace in the executor
  std::uint32_t depth = 0;  // tasks that run here, one inside the other
  Workplace* outer = nullptr;  // where the thread worked before

  // For a task that waits here: makes the call as another task inside it, whose own tasks are its
  // own; on another stack if this one is short.
  virtual void run_inside(const Call& call) noexcept = 0;

  // Whether the task that runs here has handed over one that nobody has begun.
  virtual bool has_own() const noexcept = 0;

  // The thread is about to block; and is back. A stand-in may work meanwhile. Pairs may be nested.
  virtual void begin_blocking() noexcept = 0;
  virtual void end_blocking() noexcept = 0;

 protected:
  Workplace(FutureHost& its_host, std::size_t number) noexcept : host(its_host), index(number) {}
  ~Workplace() = default;
};

// The calling thread's latest workplace; null if it works for nobody.
inline Workplace*& workplace() noexcept { return sync::thread_slot<Workplace*, Workplace>::get(); }

// The latest one with a task; null if none runs here. A later one may have none: a guest's.
inline Workplace* workplace_in_task() noexcept {
  Workplace* place = workplace();
  while (place != nullptr && place->depth == 0) place = place->outer;
  return place;
}

// The calling thread blocks while this lives: tells each executor whose task it runs.
class Lending {
 public:
  // `but`: an executor that is not told.
  explicit Lending(const FutureHost* but = nullptr) noexcept;
  ~Lending();
  Lending(const Lending&) = delete;
  Lending& operator=(const Lending&) = delete;

 private:
  const FutureHost* const but_;
};

}  // namespace detail
}}  // namespace handoff::HANDOFF_ABI

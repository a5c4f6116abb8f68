// SPDX-License-Identifier: MIT
// The article's base: a std::mutex taken for every step, nodes from the heap.
#include "scenarios/events/eventpp_style.hpp"

namespace handoff::lab::events {
namespace {

struct Base {
  using Mutex = std::mutex;
  using MapMutex = std::mutex;
  using MapLock = std::scoped_lock<std::mutex>;
  static constexpr std::size_t batch = 1;
  static constexpr std::size_t line = alignof(std::max_align_t);
  static constexpr bool tries = false;
  template <class T>
  using Allocator = std::allocator<T>;

  template <class Ready>
  static bool look(Ready&& /*ready*/) {
    return false;
  }
};

}  // namespace

Operation contender(const Task& task) { return measure_style<Base>(task); }

}  // namespace handoff::lab::events

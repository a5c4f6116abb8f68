// SPDX-License-Identifier: MIT
//
// A stack of its own to run a function on, and the switch between two of them: some twenty
// instructions, because an exploration makes millions.
//
// A fiber that is left may be started anew from the top; what lay on its stack is gone then,
// without destructors. Exceptions work inside a fiber as long as they do not leave it.
#pragma once

#include <cstddef>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace explore {

class Fiber {
 public:
  using Entry = void (*)(void* argument);
  static constexpr std::size_t kStackBytes = 256 * 1024;  // only what is touched becomes memory

  // The fiber that the calling thread runs on already.
  Fiber() noexcept = default;
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // It runs on this memory instead of on some of its own. `bottom`: of kStackBytes.
  void lend(std::byte* bottom) noexcept { bounds_ = {bottom, kStackBytes}; }

  // Makes the next switch to this fiber call entry(argument), which must never return.
  void start(Entry entry, void* argument);

  // Leaves `from`, which is the running one, for `to`; returns when somebody switches back, which
  // `for_good` rules out.
  static void change(Fiber& from, Fiber& to, bool for_good = false) noexcept;

 private:
  static void first_steps() noexcept;

  void* stack_pointer_ = nullptr;
  std::byte* stack_ = nullptr;  // its own mapping, guard page first
  struct Bounds {  // of the stack that it runs on
    const void* bottom = nullptr;
    std::size_t bytes = 0;
  } bounds_;
  Entry entry_ = nullptr;
  void* argument_ = nullptr;
  // What the exception machinery keeps per thread: it belongs to the fiber while it is away.
  struct Exceptions {
    void* caught = nullptr;
    unsigned uncaught = 0;
  } exceptions_;
};

}}}  // namespace handoff::HANDOFF_ABI::explore

// SPDX-License-Identifier: MIT
//
// Stacks and the switch, for x86-64 and 64-bit ARM.
#include "fiber.hpp"

#include <cxxabi.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <system_error>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#define HANDOFF_FIBER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HANDOFF_FIBER_ASAN 1
#endif
#endif
#if defined(HANDOFF_FIBER_ASAN)
#include <sanitizer/asan_interface.h>

// Fibers are left without being unwound when an execution fails, and begin anew by the million:
// what lay on their stacks would count as leaked, and a second stack for each would take all the
// time. The engine reports leaks of the scenarios itself.
extern "C" const char* __asan_default_options() {
  return "detect_leaks=0:detect_stack_use_after_return=0";
}
#endif

// Saves what a function must preserve, exchanges the stacks, restores, returns over there.
extern "C" void handoff_fiber_change(void** save, void* load) noexcept;

#if defined(__x86_64__)
asm(R"(
.text
.globl handoff_fiber_change
.hidden handoff_fiber_change
.type handoff_fiber_change, @function
handoff_fiber_change:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size handoff_fiber_change, .-handoff_fiber_change
)");
namespace {
constexpr std::size_t kSavedWords = 6;
}
#elif defined(__aarch64__)
asm(R"(
.text
.globl handoff_fiber_change
.hidden handoff_fiber_change
.type handoff_fiber_change, %function
handoff_fiber_change:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
.size handoff_fiber_change, .-handoff_fiber_change
)");
#else
#error "write the switch of fibers for this processor: save and restore what a call preserves"
#endif

namespace handoff { inline namespace HANDOFF_ABI { namespace explore {
namespace {

// The switch in progress.
Fiber* leaving = nullptr;
Fiber* arriving = nullptr;

std::size_t page_bytes() noexcept { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

// The part of the ABI's per-thread exception state that a switch has to carry along.
struct ExceptionGlobals {
  void* caught;
  unsigned uncaught;
};
ExceptionGlobals& exception_globals() noexcept {
  return *reinterpret_cast<ExceptionGlobals*>(abi::__cxa_get_globals());
}

}  // namespace

Fiber::~Fiber() {
  if (stack_ != nullptr) munmap(stack_, kStackBytes + page_bytes());
}

void Fiber::start(Entry entry, void* argument) {
  if (bounds_.bottom == nullptr) {
    const std::size_t guard = page_bytes();
    void* const memory = mmap(nullptr, kStackBytes + guard, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
      throw std::system_error(errno, std::generic_category(), "mapping a fiber's stack");
    }
    stack_ = static_cast<std::byte*>(memory);
    mprotect(stack_, guard, PROT_NONE);
    bounds_ = {stack_ + guard, kStackBytes};
  }
#if defined(HANDOFF_FIBER_ASAN)
  __asan_unpoison_memory_region(bounds_.bottom, kStackBytes);  // the frames of its last run
#endif
  entry_ = entry;
  argument_ = argument;
  exceptions_ = {};
  // What the switch will find: saved registers, none of them in use yet, and where to return to.
  const auto bottom = reinterpret_cast<std::uintptr_t>(bounds_.bottom);
  auto* top = reinterpret_cast<std::uintptr_t*>(bottom + kStackBytes);
#if defined(__x86_64__)
  *--top = 0;  // so that the stack is aligned at the entry as a call would leave it
  *--top = reinterpret_cast<std::uintptr_t>(&Fiber::first_steps);
  top -= kSavedWords;
  std::memset(top, 0, kSavedWords * sizeof *top);
#else
  top -= 20;
  std::memset(top, 0, 20 * sizeof *top);
  top[11] = reinterpret_cast<std::uintptr_t>(&Fiber::first_steps);  // x30, the return address
#endif
  stack_pointer_ = top;
}

void Fiber::change(Fiber& from, Fiber& to, [[maybe_unused]] bool for_good) noexcept {
  ExceptionGlobals& now = exception_globals();
  from.exceptions_ = {now.caught, now.uncaught};
  now = {to.exceptions_.caught, to.exceptions_.uncaught};
  leaving = &from;
  arriving = &to;
#if defined(HANDOFF_FIBER_ASAN)
  void* fake = nullptr;
  void** const keep = for_good ? nullptr : &fake;
  __sanitizer_start_switch_fiber(keep, to.bounds_.bottom, to.bounds_.bytes);
#endif
  handoff_fiber_change(&from.stack_pointer_, to.stack_pointer_);
#if defined(HANDOFF_FIBER_ASAN)
  __sanitizer_finish_switch_fiber(fake, &leaving->bounds_.bottom, &leaving->bounds_.bytes);
#endif
}

void Fiber::first_steps() noexcept {
  Fiber* const self = arriving;
#if defined(HANDOFF_FIBER_ASAN)
  __sanitizer_finish_switch_fiber(nullptr, &leaving->bounds_.bottom, &leaving->bounds_.bytes);
#endif
  self->entry_(self->argument_);
}

}}}  // namespace handoff::HANDOFF_ABI::explore

// SPDX-License-Identifier: MIT
//
// Hand-overs, told to ThreadSanitizer. Not for users.
//
//   sync::given(closure);     // what this thread did before ...
//   sync::taken(closure);     // ... happens before what that thread does from here on
//
// For: a unit of a user's that is compiled with -fsanitize=thread beside a library that is not,
//   whose atomics the sanitizer does not see. In all other units, in a program whose library is
//   instrumented too (HANDOFF_INSTRUMENTED) and in the explorer, nothing is left of it.
// An address stands for one object that is handed over. What comes back from it has another one
// (end_of()), so that two tasks that end at the same thing are not ordered by it.
// Always inlined: such a function has two meanings in one program, and the linker would keep one.
// How, and which places: docs/design/tsan.md.
// Concurrency: any thread. Blocks, throws: never.
#pragma once

#include <handoff/config.hpp>

#if defined(__SANITIZE_THREAD__)
#define HANDOFF_SANITIZES_THREADS 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HANDOFF_SANITIZES_THREADS 1
#endif
#endif
#if defined(HANDOFF_EXPLORE) || defined(HANDOFF_INSTRUMENTED)
#undef HANDOFF_SANITIZES_THREADS
#endif

#if defined(HANDOFF_SANITIZES_THREADS)
// The sanitizer's own calls, as its interface declares them.
extern "C" void __tsan_acquire(void* address);  // NOLINT
extern "C" void __tsan_release(void* address);  // NOLINT
#endif

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

[[gnu::always_inline]] inline void given([[maybe_unused]] const void* what) noexcept {
#if defined(HANDOFF_SANITIZES_THREADS)
  __tsan_release(const_cast<void*>(what));
#endif
}
[[gnu::always_inline]] inline void taken([[maybe_unused]] const void* what) noexcept {
#if defined(HANDOFF_SANITIZES_THREADS)
  __tsan_acquire(const_cast<void*>(what));
#endif
}

// Where what was handed over has ended.
[[gnu::always_inline]] inline const void* end_of(const void* what) noexcept {
  return static_cast<const char*>(what) + 1;
}

// This thread's turn with something that is handed from thread to thread.
class Turn {
 public:
  [[gnu::always_inline]] explicit Turn(const void* what) noexcept : what_(what) { taken(what); }
  [[gnu::always_inline]] ~Turn() { given(what_); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  const void* const what_;
};

// A call, until it returns or throws, whose end others wait for at `what`.
class Called {
 public:
  [[gnu::always_inline]] explicit Called(const void* what) noexcept : what_(what) {}
  [[gnu::always_inline]] ~Called() { given(end_of(what_)); }
  Called(const Called&) = delete;
  Called& operator=(const Called&) = delete;

 private:
  const void* const what_;
};

// A wait, until it returns or throws, for what ends at `what`.
class Waited {
 public:
  [[gnu::always_inline]] explicit Waited(const void* what) noexcept : what_(what) {}
  [[gnu::always_inline]] ~Waited() { taken(end_of(what_)); }
  Waited(const Waited&) = delete;
  Waited& operator=(const Waited&) = delete;

 private:
  const void* const what_;
};

}}}  // namespace handoff::HANDOFF_ABI::sync

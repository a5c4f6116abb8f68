// SPDX-License-Identifier: MIT
//
// ThreadSanitizer's calls, for a library that is not instrumented: they are there if the program
// that links it is. Where nobody is to be told (sanitizer.hpp) there is no sanitizer to be seen.
//
// Only on paths that are cold without it, or that cost much more than a look.
// Concurrency: any thread. Blocks, throws: never.
#pragma once

#include <handoff/config.hpp>
#include <handoff/sync/internal/sanitizer.hpp>
#include <handoff/sync/mutex.hpp>

#if !defined(HANDOFF_EXPLORE) && !defined(HANDOFF_INSTRUMENTED) && \
    !defined(HANDOFF_SANITIZES_THREADS)
extern "C" [[gnu::weak]] void __tsan_acquire(void* address);  // NOLINT
extern "C" [[gnu::weak]] void __tsan_release(void* address);  // NOLINT
#define HANDOFF_MAY_SEE_SANITIZER 1
#endif

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

#if defined(HANDOFF_MAY_SEE_SANITIZER)
inline bool has_sanitizer() noexcept { return __tsan_acquire != nullptr; }
// Calls: nobody who allocates or locks asks for the nanosecond, and a look would be code in many
// places.
void tell_given(const void* what) noexcept;
void tell_taken(const void* what) noexcept;
void ignore_from_here() noexcept;
void ignore_to_here() noexcept;
#else
constexpr bool has_sanitizer() noexcept { return false; }
inline void tell_given(const void* /*what*/) noexcept {}
inline void tell_taken(const void* /*what*/) noexcept {}
inline void ignore_from_here() noexcept {}
inline void ignore_to_here() noexcept {}
#endif

// A Lock that the sanitizer sees, for parts whose threads make calls of the system: those it sees.
class [[nodiscard]] SeenLock {
 public:
  explicit SeenLock(Mutex& mutex) noexcept : mutex_(mutex) {
    mutex_.lock();
    tell_taken(&mutex_);
  }
  ~SeenLock() {
    tell_given(&mutex_);
    mutex_.unlock();
  }
  SeenLock(const SeenLock&) = delete;
  SeenLock& operator=(const SeenLock&) = delete;

 private:
  Mutex& mutex_;
};

// Made where a thread allocates or frees what others find by the library's atomics, and user's code
// on them uses. For the sanitizer both are a write by that thread, unless it is ignored.
class [[nodiscard]] MadeForAll {
 public:
  MadeForAll() noexcept { ignore_from_here(); }
  ~MadeForAll() { ignore_to_here(); }
  MadeForAll(const MadeForAll&) = delete;
  MadeForAll& operator=(const MadeForAll&) = delete;
};

// Made in a function that returns a result: tells, once the result is in its place, the thread that
// waits for it.
class TellAtEnd {
 public:
  explicit TellAtEnd(const void* what) noexcept : what_(what) {}
  ~TellAtEnd() { tell_given(what_); }
  TellAtEnd(const TellAtEnd&) = delete;
  TellAtEnd& operator=(const TellAtEnd&) = delete;

 private:
  const void* const what_;
};

}}}  // namespace handoff::HANDOFF_ABI::sync

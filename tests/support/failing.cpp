// SPDX-License-Identifier: MIT
//
// Stands between callers and the real functions (linker option --wrap).
#include "support/failing.hpp"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include <atomic>
#include <cstdarg>
#include <new>

namespace handoff::test {
namespace {

struct State {
  std::atomic<std::size_t> count{0};
  std::atomic<int> until_failure{-1};
  std::atomic<int> error{0};
};
State states[static_cast<std::size_t>(Call::close) + 1];

std::atomic<std::int64_t> wall_clock_step{0};
std::atomic<std::size_t> wall_clock_uses{0};

State& state_of(Call call) noexcept { return states[static_cast<std::size_t>(call)]; }

// Counts the call; true if it has to fail, with errno set.
bool fails(Call call) noexcept {
  State& state = state_of(call);
  state.count.fetch_add(1);
  if (state.until_failure < 0 || state.until_failure.fetch_sub(1) != 0) return false;
  errno = state.error;
  return true;
}

}  // namespace

std::size_t calls(Call call) noexcept { return state_of(call).count; }

void fail_after(Call call, int k, int error) noexcept {
  state_of(call).error = error;
  state_of(call).until_failure = k;
}

bool stop_failing(Call call) noexcept { return state_of(call).until_failure.exchange(-1) < 0; }

void step_wall_clock(std::int64_t seconds) noexcept { wall_clock_step += seconds; }
std::size_t uses_of_wall_clock() noexcept { return wall_clock_uses; }

}  // namespace handoff::test

using handoff::test::Call;
using handoff::test::fails;
using handoff::test::wall_clock_step;
using handoff::test::wall_clock_uses;

extern "C" {

// The mangled names are those of operator new(size_t), operator new(size_t, align_val_t) and the
// same that returns null.
void* __real__Znwm(std::size_t);
void* __wrap__Znwm(std::size_t bytes) {
  if (fails(Call::allocation)) throw std::bad_alloc();
  return __real__Znwm(bytes);
}
void* __real__ZnwmSt11align_val_t(std::size_t, std::align_val_t);
void* __wrap__ZnwmSt11align_val_t(std::size_t bytes, std::align_val_t alignment) {
  if (fails(Call::allocation)) throw std::bad_alloc();
  return __real__ZnwmSt11align_val_t(bytes, alignment);
}
void* __real__ZnwmSt11align_val_tRKSt9nothrow_t(std::size_t, std::align_val_t,
                                                const std::nothrow_t&) noexcept;
void* __wrap__ZnwmSt11align_val_tRKSt9nothrow_t(std::size_t bytes, std::align_val_t alignment,
                                                const std::nothrow_t& nothrow) noexcept {
  if (fails(Call::allocation)) return nullptr;
  return __real__ZnwmSt11align_val_tRKSt9nothrow_t(bytes, alignment, nothrow);
}

int __real_pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
int __wrap_pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                          void* (*function)(void*), void* argument) {
  if (fails(Call::thread)) return errno;
  return __real_pthread_create(thread, attributes, function, argument);
}

void* __real_mmap(void*, std::size_t, int, int, int, off_t);
void* __wrap_mmap(void* at, std::size_t bytes, int protection, int flags, int file, off_t offset) {
  if (fails(Call::map)) return MAP_FAILED;
  return __real_mmap(at, bytes, protection, flags, file, offset);
}

long __real_syscall(long number, long, long, long, long, long, long);
long __wrap_syscall(long number, ...) {
  long a[6];
  va_list arguments;
  va_start(arguments, number);
  for (long& argument : a) argument = va_arg(arguments, long);
  va_end(arguments);
  if (number == SYS_futex) {
    const bool is_wake = (a[1] & FUTEX_CMD_MASK) == FUTEX_WAKE;
    if (fails(is_wake ? Call::wake : Call::futex)) return -1;
    if (!is_wake && (a[1] & FUTEX_CLOCK_REALTIME) != 0) ++wall_clock_uses;
  }
  if (number == SYS_membarrier) {
    (void)fails(Call::barrier);
    if (::getenv(handoff::test::without_membarrier) != nullptr) {
      errno = ENOSYS;
      return -1;
    }
  }
  return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int __real_sched_getaffinity(pid_t, std::size_t, cpu_set_t*);
int __wrap_sched_getaffinity(pid_t thread, std::size_t bytes, cpu_set_t* set) {
  if (fails(Call::affinity)) return -1;
  return __real_sched_getaffinity(thread, bytes, set);
}

int __real_sched_yield();
int __wrap_sched_yield() {
  (void)fails(Call::yield);
  return __real_sched_yield();
}

int __real_clock_gettime(clockid_t, timespec*);
int __wrap_clock_gettime(clockid_t clock, timespec* now) {
  const int result = __real_clock_gettime(clock, now);
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) {
    ++wall_clock_uses;
    now->tv_sec += wall_clock_step;
  }
  return result;
}

int __real_open(const char*, int, mode_t);
int __wrap_open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  if (fails(Call::open)) return -1;
  return __real_open(path, flags, mode);
}

ssize_t __real_read(int, void*, std::size_t);
ssize_t __wrap_read(int file, void* to, std::size_t bytes) {
  if (fails(Call::read)) return -1;
  return __real_read(file, to, bytes);
}

ssize_t __real_write(int, const void*, std::size_t);
ssize_t __wrap_write(int file, const void* from, std::size_t bytes) {
  if (fails(Call::write)) return errno == 0 ? 0 : -1;
  return __real_write(file, from, bytes);
}

int __real_fsync(int);
int __wrap_fsync(int file) {
  if (fails(Call::sync)) return -1;
  return __real_fsync(file);
}

int __real_fdatasync(int);
int __wrap_fdatasync(int file) {
  if (fails(Call::sync)) return -1;
  return __real_fdatasync(file);
}

int __real_close(int);
int __wrap_close(int file) {
  const int closed = __real_close(file);
  return fails(Call::close) ? -1 : closed;
}

}  // extern "C"

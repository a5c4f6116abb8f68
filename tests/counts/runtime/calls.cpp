// SPDX-License-Identifier: MIT
//
// Stands between the library and the C library (linker option --wrap): counts each call, and puts
// the baton, its clock and a machine of four CPUs where a call would sleep or ask.
#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdint>
#include <cstring>

#include "baton.hpp"

using handoff::counts::count;
using handoff::counts::count_poll;
using handoff::counts::Event;
using handoff::counts::has_left;

namespace {

constexpr long kSecond = 1'000'000'000;
constexpr std::size_t kCpus = 4;
constexpr std::size_t kMappingSpan = std::size_t{1} << 21;

timespec to_time(std::int64_t ns) { return {ns / kSecond, ns % kSecond}; }
std::int64_t to_ns(const timespec& time) { return time.tv_sec * kSecond + time.tv_nsec; }

long failed(int error) {
  errno = error;
  return -1;
}

long futex_wait(const long (&a)[6]) {
  count(Event::call_futex_wait);
  const auto* const word = reinterpret_cast<const std::uint32_t*>(a[0]);
  if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != static_cast<std::uint32_t>(a[2])) {
    return failed(EAGAIN);
  }
  std::int64_t deadline = handoff::counts::never;
  if (a[3] != 0) deadline = to_ns(*reinterpret_cast<const timespec*>(a[3]));
  return handoff::counts::sleep_at(static_cast<std::uintptr_t>(a[0]), deadline) ? 0
                                                                                : failed(ETIMEDOUT);
}

long futex_wake(const long (&a)[6]) {
  count(Event::call_futex_wake);
  const unsigned most = a[2] > handoff::counts::most_caches ? handoff::counts::most_caches
                                                            : static_cast<unsigned>(a[2]);
  const unsigned woken = handoff::counts::wake(static_cast<std::uintptr_t>(a[0]), most);
  count(Event::wakes, woken);
  return woken;
}

// The quota of CPU time is what the machine gives: none here.
bool says_quota(const char* path) {
  return std::strcmp(path, "/proc/self/cgroup") == 0 ||
         std::strcmp(path, "/proc/self/mountinfo") == 0;
}

}  // namespace

extern "C" {

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...) {
  long a[6];
  va_list arguments;
  va_start(arguments, number);
  for (long& argument : a) argument = va_arg(arguments, long);
  va_end(arguments);
  if (!has_left()) {
    if (number == SYS_futex) {
      const long command = a[1] & FUTEX_CMD_MASK;
      if (command == FUTEX_WAIT_BITSET) return futex_wait(a);
      if (command == FUTEX_WAKE) return futex_wake(a);
    }
    if (number == SYS_membarrier) {  // only one thread runs: each has seen all
      count(Event::call_membarrier);
      return 0;
    }
    count(Event::call_syscall);
  }
  return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int __wrap_pthread_create(pthread_t* handle, const pthread_attr_t*, void* (*function)(void*),
                          void* argument) {
  count(Event::threads);
  return handoff::counts::start_thread(handle, function, argument);
}

int __wrap_pthread_join(pthread_t handle, void** result) {
  return handoff::counts::join_thread(handle, result);
}

int __wrap_sched_yield() {
  count_poll(Event::call_yield);
  handoff::counts::polled_in_vain();
  return 0;
}

int __real_clock_gettime(clockid_t, timespec*);
int __wrap_clock_gettime(clockid_t clock, timespec* now) {
  if (has_left()) return __real_clock_gettime(clock, now);
  count_poll(Event::clock);
  *now = to_time(handoff::counts::look_at_clock());
  return 0;
}

int __wrap_nanosleep(const timespec* time, timespec*) {
  count(Event::call_sleep);
  handoff::counts::sleep_at(1, handoff::counts::look_at_clock() + to_ns(*time));
  return 0;
}

int __wrap_sched_getaffinity(pid_t, std::size_t bytes, cpu_set_t* set) {
  count(Event::call_affinity);
  CPU_ZERO_S(bytes, set);
  for (std::size_t cpu = 0; cpu < kCpus; ++cpu) CPU_SET_S(cpu, bytes, set);
  return 0;
}

// No two names that are made by chance are the same, and all are in each run.
ssize_t __wrap_getrandom(void* to, std::size_t bytes, unsigned) {
  count(Event::call_getrandom);
  static std::uint64_t drawn = 0;
  ++drawn;
  std::memset(to, 0, bytes);
  std::memcpy(to, &drawn, std::min(bytes, sizeof drawn));
  return static_cast<ssize_t>(bytes);
}

long __real_sysconf(int name);
long __wrap_sysconf(int name) {
  const bool cpus = name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF;
  return cpus ? static_cast<long>(kCpus) : __real_sysconf(name);
}

int __real_open(const char*, int, long);
int __wrap_open(const char* path, int flags, long mode) {
  count(Event::call_open);
  if (says_quota(path)) return static_cast<int>(failed(ENOENT));
  return __real_open(path, flags, mode);
}

// Each new mapping lies above the last one, at the same address in each run.
void* __real_mmap(void*, std::size_t, int, int, int, off_t);
void* __wrap_mmap(void* at, std::size_t bytes, int protection, int flags, int file, off_t offset) {
  count(Event::call_mmap);
  if (at == nullptr && !has_left()) {
    static std::uintptr_t unused = 0x3000'0000'0000;
    at = reinterpret_cast<void*>(unused);
    unused += (bytes + kMappingSpan - 1) & ~(kMappingSpan - 1);
    flags |= MAP_FIXED;
  }
  return __real_mmap(at, bytes, protection, flags, file, offset);
}

pid_t __real_fork();
pid_t __wrap_fork() {
  count(Event::call_fork);
  const pid_t child = __real_fork();
  if (child == 0) handoff::counts::leave();
  return child;
}

// All arguments are numbers or pointers, at most six; a call that takes fewer does not look at the
// others.
#define X(name)                                                        \
  long __real_##name(long, long, long, long, long, long);              \
  long __wrap_##name(long a, long b, long c, long d, long e, long f) { \
    count(Event::call_##name);                                         \
    return __real_##name(a, b, c, d, e, f);                            \
  }
#include "calls.list"
#undef X

// What a file system can do is pinned, whatever the one below can: room ahead and copies of ranges,
// but no clones (FICLONE).
long __wrap_ioctl(long, long, long) {
  count(Event::call_ioctl);
  return failed(EOPNOTSUPP);
}
long __wrap_fallocate(long file, long mode, long offset, long bytes) {
  count(Event::call_fallocate);
  const long end = offset + bytes;
  const bool grows = mode == 0 && __real_lseek(file, 0, SEEK_END, 0, 0, 0) < end;
  return grows ? __real_ftruncate(file, end, 0, 0, 0, 0) : 0;
}
long __wrap_copy_file_range(long from, off_t* from_at, long to, off_t* to_at, long bytes, long) {
  count(Event::call_copy_file_range);
  char buffer[4096];
  const auto data = reinterpret_cast<long>(buffer);
  const long most = std::min<long>(bytes, sizeof buffer);
  const long got = from_at != nullptr ? __real_pread(from, data, most, *from_at, 0, 0)
                                      : __real_read(from, data, most, 0, 0, 0);
  if (got <= 0) return got;
  const long put = to_at != nullptr ? __real_pwrite(to, data, got, *to_at, 0, 0)
                                    : __real_write(to, data, got, 0, 0, 0);
  if (put <= 0) return put;
  if (from_at != nullptr) *from_at += put;
  if (to_at != nullptr) *to_at += put;
  return put;
}

}  // extern "C"

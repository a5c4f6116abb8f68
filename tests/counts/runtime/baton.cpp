// SPDX-License-Identifier: MIT
//
// The baton, the clock, and the ends of threads.
#include "baton.hpp"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <cstdio>
#include <cstdlib>

#include "rows.hpp"

extern "C" {
long __real_syscall(long number, ...);
int __real_pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
int __real_pthread_join(pthread_t, void**);
void* __real_mmap(void*, std::size_t, int, int, int, off_t);
}

namespace handoff::counts {
namespace {

constexpr unsigned kPollsInVain = 64;
constexpr std::int64_t kClockStep = 100;  // ns
constexpr std::uintptr_t kStacks = 0x1000'0000'0000;
constexpr std::size_t kStackBytes = std::size_t{1} << 20;

std::array<Thread, most_caches> threads;
thread_local Thread* own = nullptr;

std::array<Thread*, most_caches> ready;  // those that wait for the baton, a ring
std::size_t first_ready = 0;
std::size_t readies = 0;

std::int64_t now = 1'000'000'000;
unsigned longest_turn = 10'000;
bool left = false;
std::uint64_t progressed = 0;
std::uint64_t sleeps = 0;

void push_ready(Thread& thread) noexcept {
  thread.state = Thread::State::ready;
  ready[(first_ready + readies++) % ready.size()] = &thread;
}

void make_ready(Thread& thread, bool woken) noexcept {
  thread.woken = woken;
  push_ready(thread);
}

// Those whose deadline has passed, the earliest first.
void wake_late() noexcept {
  for (;;) {
    Thread* late = nullptr;
    for (Thread& thread : threads) {
      if (thread.state != Thread::State::asleep || thread.deadline > now) continue;
      if (late == nullptr || thread.deadline < late->deadline) late = &thread;
    }
    if (late == nullptr) return;
    make_ready(*late, false);
  }
}

Thread& next() noexcept {
  wake_late();
  if (readies == 0) {
    std::int64_t moment = never;
    for (const Thread& thread : threads) {
      if (thread.state == Thread::State::asleep && thread.deadline < moment) {
        moment = thread.deadline;
      }
    }
    if (moment == never) {
      std::fprintf(stderr, "all threads sleep, and nothing will wake one\n");
      std::_Exit(3);
    }
    now = moment;
    wake_late();
  }
  Thread& thread = *ready[first_ready];
  first_ready = (first_ready + 1) % ready.size();
  --readies;
  thread.accesses = 0;
  return thread;
}

void give(Thread& to) noexcept {
  __atomic_store_n(&to.baton, 1, __ATOMIC_RELEASE);
  __real_syscall(SYS_futex, &to.baton, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

void await_baton(Thread& thread) noexcept {
  while (__atomic_exchange_n(&thread.baton, 0, __ATOMIC_ACQUIRE) == 0) {
    __real_syscall(SYS_futex, &thread.baton, FUTEX_WAIT_PRIVATE, 0, nullptr, nullptr, 0);
  }
}

void switch_from(Thread& me) noexcept {
  Thread& to = next();
  if (&to == &me) return;
  give(to);
  await_baton(me);
}

// The end of a thread is the last round of the destructors of its thread-specific data: those of
// what is counted run before, with the baton.
pthread_key_t end_key() noexcept;

void at_end(void* thread) noexcept {
  Thread& me = *static_cast<Thread*>(thread);
  if (++me.ends < PTHREAD_DESTRUCTOR_ITERATIONS) {
    pthread_setspecific(end_key(), thread);
    return;
  }
  me.state = Thread::State::ended;
  wake(reinterpret_cast<std::uintptr_t>(&me), most_caches);
  give(next());
}

pthread_key_t end_key() noexcept {
  static const pthread_key_t key = [] {
    pthread_key_t made{};
    if (pthread_key_create(&made, &at_end) != 0) std::abort();
    return made;
  }();
  return key;
}

void* run(void* thread) noexcept {
  Thread& me = *static_cast<Thread*>(thread);
  own = &me;
  await_baton(me);
  pthread_setspecific(end_key(), thread);
  return me.function(me.argument);
}

// The same address for the same number: what lies on stacks shares lines the same way each time.
void give_stack(pthread_attr_t& attributes, unsigned number) noexcept {
  void* const at = reinterpret_cast<void*>(kStacks + number * 2 * kStackBytes);
  void* const stack = __real_mmap(at, kStackBytes, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  if (stack != at || pthread_attr_setstack(&attributes, stack, kStackBytes) != 0) std::abort();
}

void commit_polls(Thread& me) noexcept {
  if (me.polls == 0) return;
  if (Row* const row = row_of(me)) {
    for (std::size_t i = 0; i < me.polled.size(); ++i) row->counts[i] += me.polled[i];
  }
  me.polled = {};
  me.polls = 0;
}

}  // namespace

Thread& self() noexcept {
  if (own == nullptr) own = &threads[0];  // the main thread: the only one that nobody started
  return *own;
}

void pass() noexcept {
  if (left) return;
  Thread& me = self();
  push_ready(me);
  switch_from(me);
}

bool sleep_at(std::uintptr_t place, std::int64_t deadline) noexcept {
  Thread& me = self();
  commit_polls(me);
  me.place = place;
  me.deadline = deadline;
  me.slept_at = ++sleeps;
  me.state = Thread::State::asleep;
  switch_from(me);
  return me.woken;
}

unsigned wake(std::uintptr_t place, unsigned most) noexcept {
  unsigned woken = 0;
  for (; woken < most; ++woken) {
    Thread* longest = nullptr;
    for (Thread& thread : threads) {
      if (thread.state != Thread::State::asleep || thread.place != place) continue;
      if (longest == nullptr || thread.slept_at < longest->slept_at) longest = &thread;
    }
    if (longest == nullptr) break;
    make_ready(*longest, true);
  }
  return woken;
}

std::int64_t look_at_clock() noexcept { return now += kClockStep; }

int start_thread(pthread_t* handle, void* (*function)(void*), void* argument) noexcept {
  for (unsigned number = 1; number < threads.size(); ++number) {
    Thread& thread = threads[number];
    if (thread.state != Thread::State::none) continue;
    thread = {};
    thread.number = number;
    thread.function = function;
    thread.argument = argument;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    give_stack(attributes, number);
    const int error = __real_pthread_create(&thread.handle, &attributes, &run, &thread);
    pthread_attr_destroy(&attributes);
    if (error != 0) return error;
    *handle = thread.handle;
    push_ready(thread);
    return 0;
  }
  return EAGAIN;
}

int join_thread(pthread_t handle, void** result) noexcept {
  for (Thread& thread : threads) {
    if (thread.state == Thread::State::none || thread.handle != handle) continue;
    if (thread.number == 0) continue;
    while (thread.state != Thread::State::ended) {
      sleep_at(reinterpret_cast<std::uintptr_t>(&thread), never);
    }
    thread.state = Thread::State::none;
    return __real_pthread_join(handle, result);
  }
  return ESRCH;
}

bool others_are_ready() noexcept { return readies != 0; }

void set_slice(unsigned accesses) noexcept { longest_turn = accesses; }
unsigned slice() noexcept { return longest_turn; }

void leave() noexcept { left = true; }
bool has_left() noexcept { return left; }

void count(Event event, std::uint64_t n) noexcept {
  if (left) return;
  Thread& me = self();
  commit_polls(me);
  ++progressed;
  if (Row* const row = row_of(me)) row->counts[static_cast<std::size_t>(event)] += n;
  if (++me.accesses >= longest_turn) pass();
}

void count_poll(Event event) noexcept {
  if (left) return;
  Thread& me = self();
  if (me.polls == kPollsInVain) polled_in_vain();
  ++me.polled[static_cast<std::size_t>(event)];
  ++me.polls;
  if (++me.accesses >= longest_turn) pass();
}

void count_lines(std::uintptr_t at, std::size_t bytes, bool writes) noexcept {
  if (left) return;
  Thread& me = self();
  const unsigned moved = move_lines(me.number, at, bytes, writes);
  if (Row* const row = row_of(me)) row->counts[static_cast<std::size_t>(Event::lines)] += moved;
}

void polled_in_vain() noexcept {
  Thread& me = self();
  me.polled = {};
  me.polls = 0;
  pass();
}

std::uint64_t progress() noexcept { return progressed; }

void commit_own_polls() noexcept { commit_polls(self()); }

}  // namespace handoff::counts

// SPDX-License-Identifier: MIT
//
// Threads that take turns: only the one that has the baton runs.
//
// A thread gives it on where it would sleep, where it yields, when it ends, when it has polled in
// vain for long, when a case says so, and after a slice. The next is the one that has waited for it
// the longest. Time is what the clock says here: it goes on by a step at each look, and jumps to
// the first deadline when all sleep. So each run of a program is the same.
#pragma once

#include <pthread.h>

#include <array>
#include <cstdint>

#include "caches.hpp"
#include "events.hpp"

namespace handoff::counts {

struct Row;

struct Thread {
  enum class State : std::uint8_t { none, ready, asleep, ended };

  State state = State::none;
  unsigned number = 0;  // also of its cache and of its stack
  std::uint32_t baton = 0;  // a futex: 1 if it was given the baton
  pthread_t handle{};
  void* (*function)(void*) = nullptr;
  void* argument = nullptr;
  int ends = 0;  // rounds of the destructors of thread-specific data

  // While asleep:
  std::uintptr_t place = 0;  // what it waits at
  std::int64_t deadline = 0;
  std::uint64_t slept_at = 0;
  bool woken = false;

  // What it counts for, and what it has polled since it last changed anything.
  Row* row = nullptr;
  Counts polled{};
  unsigned polls = 0;
  unsigned accesses = 0;  // in this turn
};

inline constexpr std::int64_t never = INT64_MAX;

Thread& self() noexcept;  // the main thread is one too

// Gives the baton to the next that is ready, and waits until it is this one's turn again.
void pass() noexcept;

// Sleeps at a place until wake() or the moment; false: that moment came first.
bool sleep_at(std::uintptr_t place, std::int64_t deadline) noexcept;
// Wakes those that have slept there the longest; returns how many.
unsigned wake(std::uintptr_t place, unsigned most) noexcept;

std::int64_t look_at_clock() noexcept;

int start_thread(pthread_t* handle, void* (*function)(void*), void* argument) noexcept;
int join_thread(pthread_t handle, void** result) noexcept;

bool others_are_ready() noexcept;

// A turn is at most so many accesses long.
void set_slice(unsigned accesses) noexcept;
unsigned slice() noexcept;

// In a child of fork(): it has this thread only, which nobody counts or keeps from running.
void leave() noexcept;
bool has_left() noexcept;

// What this thread does is counted. A poll is what a wait may repeat: a load, a look at the clock;
// many in a row, with nothing else between, are a wait in vain: they are not counted, and another
// thread gets its turn.
void count(Event event, std::uint64_t n = 1) noexcept;
void count_poll(Event event) noexcept;
void count_lines(std::uintptr_t at, std::size_t bytes, bool writes) noexcept;
void polled_in_vain() noexcept;
void commit_own_polls() noexcept;  // before it counts for another row

// How often anything but a poll was counted.
std::uint64_t progress() noexcept;

}  // namespace handoff::counts

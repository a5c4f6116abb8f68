// SPDX-License-Identifier: MIT
//
// What a ProcessPool may be told when it is made, and what may be said of one job.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <handoff/config.hpp>
#include <handoff/core/internal/wrong_field.hpp>
#include <handoff/core/on_full.hpp>
#include <handoff/core/until.hpp>
#include <handoff/process/detail/team_tap.hpp>
#include <handoff/process/process_team_options.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

struct ProcessPoolOptions {
  // What debuggers and `top` show for the workers; the kernel keeps 15 characters.
  std::string name = "handoff-worker";

  // Workers; 0: as many as this process may use CPUs (affinity cut by the cgroup quota). At most
  // ProcessPool::max_width.
  std::size_t width = 0;

  // Jobs that may be in the pool at a time, waiting or at a worker; 1 to ProcessPool::max_capacity.
  // Each place takes about 8 KiB of shared memory.
  std::size_t capacity = 64;

  // What submit() does with one job too many: wait or reject.
  OnFull on_full = OnFull::wait;

  // Where the workers may run: worker i on cpus[i % size] alone; empty: anywhere.
  std::vector<int> cpus = {};

  // How many workers a job may end before it is given up; 1 to 15.
  std::uint32_t tries = 2;

  // A worker that is at one job for longer is killed, and that counts as a try; 0: never, below
  // 0: misuse. It is looked at so often that it may take a quarter more.
  std::chrono::nanoseconds limit{0};

  // A worker that has done this many jobs ends, and another one takes its place; 0: never.
  std::size_t recycle_after = 0;

  // So does one whose resident memory, after a job, is larger than at its beginning by this many
  // bytes; 0: never. It is read from /proc after each job.
  std::size_t recycle_memory = 0;

  // New workers in the place of dead ones, at most, in any second; 0: misuse. Those that were
  // recycled do not count.
  std::uint32_t replacements_per_second = 100;

  // Whether fewer workers than asked for will do.
  OnFewerWorkers on_fewer = OnFewerWorkers::accept;

  detail::TeamTap* tap = nullptr;  // for tests
};

// What may be said of one job.
struct ProcessJobOptions {
  // What NotRun calls it; a literal, or what outlives the job.
  const char* name = "";

  // A job that would begin later is not begun. If the moment has passed, it counts as expired, and
  // its Future has NotRun (timed_out); if a stop has been requested, it counts as cancelled, and
  // its Future has NotRun (stopped). A request takes a moment to reach the pool: a job that waits
  // there may begin meanwhile. A duration counts from where the options are made.
  KeptUntil until = {};
  [[no_unique_address]] detail::CalledUntil<0> deadline = {};  // no field
  [[no_unique_address]] detail::CalledUntil<1> stop = {};  // no field
};

}}  // namespace handoff::HANDOFF_ABI

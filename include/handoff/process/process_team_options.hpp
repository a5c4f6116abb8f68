// SPDX-License-Identifier: MIT
//
// What a ProcessTeam may be told when it is made.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <handoff/config.hpp>
#include <handoff/process/detail/team_tap.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

// What becomes of a block whose worker ended before the block was done.
enum class OnCrash : std::uint8_t {
  give_again,  // another worker does it, until it has had its tries
  report,  // it is lost at once
  reset_all,  // all blocks of the run are done again, for results that depend on each other: once
              // one has had its tries, all of them are failed
};

// When fewer workers can be started than were asked for.
enum class OnFewerWorkers : std::uint8_t {
  accept,  // the team works with those: see width()
  refuse,  // the constructor throws
};

struct ProcessTeamOptions {
  // What debuggers and `top` show for workers that are forks; the kernel keeps 15 characters.
  std::string name = "handoff-worker";

  // Workers, without the caller; 0: as many as this process may use CPUs (affinity cut by the
  // cgroup quota). At most ProcessTeam::max_width.
  std::size_t width = 0;

  // A program whose processes are the workers, and its arguments, as Subprocess::start() has them;
  // none: they are forks of this program. See worker_program.hpp.
  std::vector<std::string> program = {};

  // Where the workers may run: worker i on cpus[i % size] alone; empty: anywhere.
  std::vector<int> cpus = {};

  // How many workers a block may end before it is given up; 1 to 15. Others' deaths do not count.
  std::uint32_t tries = 2;

  // A worker that is at one block for longer is killed, and that counts as a try; 0: never, below
  // 0: misuse. It is looked at so often that it may take a quarter more.
  std::chrono::nanoseconds limit{0};

  // A worker of another program that is not ready this long after its start is killed; above 0.
  std::chrono::nanoseconds start_limit = std::chrono::seconds(5);

  // New workers in the place of dead ones, at most, in any second; 0: misuse.
  std::uint32_t replacements_per_second = 100;

  // What becomes of a block whose worker ended before the block was done.
  OnCrash on_crash = OnCrash::give_again;
  // Whether fewer workers than asked for will do.
  OnFewerWorkers on_fewer = OnFewerWorkers::accept;

  detail::TeamTap* tap = nullptr;  // for tests
};

}}  // namespace handoff::HANDOFF_ABI

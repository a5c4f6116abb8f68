// SPDX-License-Identifier: MIT
//
// What the constructor of a Pipeline is told (pipeline.hpp).
#pragma once

#include <cstddef>

#include <handoff/config.hpp>
#include <handoff/core/closing.hpp>
#include <handoff/core/on_full.hpp>
#include <handoff/core/until.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

struct PipelineOptions {
  // For texts. It outlives the pipeline.
  const char* name = "";

  // The most items in flight. 0 is misuse.
  std::size_t tokens = 64;

  // What push() does while they are: wait, reject, or run_here, which works for the pipeline.
  OnFull on_full = OnFull::wait;

  // Items that have not begun their next stage by then do not begin it.
  KeptUntil until = {};

  // What becomes of the other items in flight when a stage or the source has thrown.
  Closing at_failure = Closing::abandon;
};

}}  // namespace handoff::HANDOFF_ABI

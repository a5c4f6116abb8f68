// SPDX-License-Identifier: MIT
// What a trace says, in words and as JSON (lab/schema/trace-1.schema.json).
#pragma once

#include "tracing/critical_path.hpp"
#include "tracing/reruns.hpp"
#include "tracing/usage.hpp"

namespace handoff::lab::tracing {

struct Summary {
  std::string file;
  const Recording& recording;
  Usage usage;
  CriticalPath path;
  std::optional<Reruns> reruns;
};

// Reads all of the recording, and writes into its hand-overs.
Summary summarise(const std::string& file, Recording& recording);

// For a terminal of so many columns; `styled`: with its escape sequences.
std::string summary_text(const Summary& summary, int columns, bool styled);
std::string to_json_text(const Summary& summary);

}  // namespace handoff::lab::tracing

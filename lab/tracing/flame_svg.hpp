// SPDX-License-Identifier: MIT
// A flame graph as a picture that stands alone: SVG without a script. What lies in a box hangs
// below it. Each box says its name, time, share and count when it is pointed at.
#pragma once

#include <string>

#include "tracing/flames.hpp"

namespace handoff::lab::tracing {

// `source` is the trace's file name.
std::string flame_svg(const FlameGraph& graph, const std::string& source);

}  // namespace handoff::lab::tracing

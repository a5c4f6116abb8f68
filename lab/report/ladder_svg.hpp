// SPDX-License-Identifier: MIT
// The ladder as a picture: SVG text without a script, a row for each rung, on one logarithmic
// scale. Colours come from variables (palette.css), so that it is light and dark as the page is;
// the picture that stands alone brings its own.
#pragma once

#include "report/ladder.hpp"

namespace handoff::lab {

// What a figure means nothing without. What is unknown is empty.
struct LadderContext {
  std::string machine;             // AMD EPYC 9B45, 2 CPUs
  std::string threads;             // that shared the work, on the rungs that say so: 2
  std::string hypervisor;          // KVM; "none": it is no virtual machine
  std::string date;                // 2026-11-25
  std::string compiler;            // GNU 12.2.0
  std::string version;             // 0.1.0
};

LadderContext context_of(const Environment& environment, const Ladder& ladder);

enum class LadderForm {
  narrow,  // 360 units wide, a phone's: no text is smaller than 12 of them
  wide,    // 920 units wide
};

// For a page that has the palette and ladder.css.
std::string ladder_svg(const Ladder& ladder, const LadderContext& context, LadderForm form);

// A file of its own, narrow, under a heading and the ladder's sentence.
std::string ladder_svg(const Ladder& ladder, const LadderContext& context);

}  // namespace handoff::lab

// SPDX-License-Identifier: MIT
// Result files, of one machine or many, as one HTML page that needs no network and no JavaScript.
#pragma once

#include "report/view.hpp"

namespace handoff::lab {

// A page larger than this sheds, in this order: the bursts in the result files that it carries, the
// result files, the figures and ladders of each machine, the environments in full. It says
// so.
inline constexpr std::size_t page_limit_bytes = 600'000;

// A frame that was drawn, as a PNG file, and one line about it.
struct FramePicture {
  std::string png;
  std::string told;
};

std::string page(const Results& results, std::size_t limit_bytes = page_limit_bytes,
                 const FramePicture* picture = nullptr);

}  // namespace handoff::lab

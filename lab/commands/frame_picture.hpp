// SPDX-License-Identifier: MIT
// The picture on the page of `commands`: a frame that command buckets have drawn, by the program of
// examples/render, where that could be built.
#pragma once

#include <optional>

#include "harness/interrupt.hpp"
#include "report/html.hpp"

namespace handoff::lab {

// Nothing if the program is not there; or if it cannot draw here, which is said on stderr.
std::optional<FramePicture> draw_frame(Interrupt& interrupt);

}  // namespace handoff::lab

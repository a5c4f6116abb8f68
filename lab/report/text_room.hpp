// SPDX-License-Identifier: MIT
// How much room a text takes in a picture that is drawn before anybody knows the font: as much as
// in the widest of those that pages ask for, so that it fits in all of them.
#pragma once

#include "harness/coordinator.hpp"

namespace handoff::lab {

// Its width, where `size` is that of the font.
[[nodiscard]] double room_of(const std::string& text, double size);

// Cut to the room, with an ellipsis, where it does not fit.
[[nodiscard]] std::string fitted(const std::string& text, double room, double size);

// In lines that fit; they break at spaces.
[[nodiscard]] std::vector<std::string> wrapped(
    const std::string& text, const std::function<bool(const std::string& line)>& fits);
[[nodiscard]] std::vector<std::string> wrapped(const std::string& text, double room, double size);

}  // namespace handoff::lab

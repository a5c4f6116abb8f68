// SPDX-License-Identifier: MIT
// What the coordinator and a contender agree on: which descriptors the contender inherits and
// which words go over them. docs/design/lab-protocol.md explains the conversation.
#pragma once

#include <string_view>

namespace handoff::lab::protocol {

inline constexpr int command_fd = 3;  // a stream socket: commands in, one reply line for each
inline constexpr int input_fd = 4;    // the problem's input, sealed against writing
inline constexpr int answer_fd = 5;   // where the answer goes after each burst

inline constexpr std::string_view prepare = "prepare";          // prepare name=value ...
inline constexpr std::string_view burst = "burst";              // burst <least ns>
inline constexpr std::string_view ready = "ready";              // ready
inline constexpr std::string_view unavailable = "unavailable";  // unavailable <reason>
inline constexpr std::string_view done = "done";  // done <wall ns> <cpu ns> <operations>

// Every byte of an output that was not computed is this one: as a float or double it is a NaN.
inline constexpr int poison = 0xFF;

}  // namespace handoff::lab::protocol

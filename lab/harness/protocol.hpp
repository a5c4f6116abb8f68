// SPDX-License-Identifier: MIT
// What the coordinator and a contender agree on: which descriptors the contender inherits and
// which words go over them. docs/design/lab-protocol.md explains the conversation.
#pragma once

#include "harness/standard.hpp"

namespace handoff::lab::protocol {

inline constexpr int command_fd = 3;  // a stream socket: commands in, one reply line for each
inline constexpr int input_fd = 4;    // the problem's input, sealed against writing
inline constexpr int answer_fd = 5;   // where the answer goes after each burst
inline constexpr int first_counter_fd = 6;  // of counter_kinds, in order; closed: not available

inline constexpr std::string_view prepare = "prepare";          // prepare name=value ...
inline constexpr std::string_view burst = "burst";              // burst <least ns>
inline constexpr std::string_view stop = "stop";                // stop
inline constexpr std::string_view ready = "ready";              // ready <ns that it took>
inline constexpr std::string_view stopped = "stopped";          // stopped <ns that it took>
inline constexpr std::string_view unavailable = "unavailable";  // unavailable <reason>
// done <wall ns> <cpu ns> <operations> <items>, then any of
//   executed=<items of member 0>,<of member 1>,...   figure.NAME=<value>   curve.NAME=<x>:<y>,...
//   latency=<ns>:<times>,...   usage.NAME=<in the burst>   count.NAME=<for an item>
inline constexpr std::string_view done = "done";
inline constexpr std::string_view executed = "executed";
inline constexpr std::string_view figure = "figure.";
inline constexpr std::string_view curve = "curve.";
inline constexpr std::string_view latency = "latency";
inline constexpr std::string_view usage = "usage.";
inline constexpr std::string_view count = "count.";
inline constexpr const char* voluntary_switches = "voluntary_switches";  // two of the usages
inline constexpr const char* involuntary_switches = "involuntary_switches";

// By this variable `guard --plant` makes a contender slower: after each burst it spins for so many
// percent of what the burst took, and that is of the burst. A launch has it only if its measurement
// names it, whatever the environment of the coordinator says.
inline constexpr const char* planted_percent = "HANDOFF_PLANTED_PERCENT";

// Every byte of an output that was not computed is this one: as a float or double it is a NaN.
inline constexpr int poison = 0xFF;

}  // namespace handoff::lab::protocol

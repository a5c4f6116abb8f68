// SPDX-License-Identifier: MIT
// What a slice of a trace is: work, or a wait of this library's and for what. Its recorder writes a
// wait as a slice of the category sleep, or spin where the thread is awake, named by the cause.
#pragma once

#include "harness/coordinator.hpp"

namespace handoff::lab::replay {

enum class SliceKind : std::uint8_t {
  work,
  idle,  // from here on: a wait
  full,
  wait,
  io,
  lock,
  join,
  other_sleep
};

constexpr bool is_wait(SliceKind kind) { return kind != SliceKind::work; }

constexpr SliceKind kind_of(std::string_view category, std::string_view name) {
  if (category != "sleep" && category != "spin") return SliceKind::work;
  constexpr std::array<std::pair<std::string_view, SliceKind>, 6> known{
      {{"idle", SliceKind::idle},
       {"full", SliceKind::full},
       {"wait", SliceKind::wait},
       {"io", SliceKind::io},
       {"lock", SliceKind::lock},
       {"join", SliceKind::join}}};
  for (const auto& [word, kind] : known) {
    if (word == name) return kind;
  }
  return category == "sleep" ? SliceKind::other_sleep : SliceKind::work;
}

// A very short slice that only holds the end of an arrow in a picture.
constexpr bool holds_an_arrow(std::string_view category) { return category == "hand"; }

}  // namespace handoff::lab::replay

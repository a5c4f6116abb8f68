// SPDX-License-Identifier: MIT
//
// The place of what a process has once: it is made once and seen whole, ended once, and begun anew
// by a process that was forked.
#include "process/process_place.hpp"

#include <errno.h>
#include <handoff/sync/internal/cell.hpp>

#include "explore/scenario.hpp"

namespace process_place_scenarios { namespace {

namespace explore = handoff::explore;
using handoff::detail::ProcessPlace;
using handoff::test::Scenario;

constexpr std::uint64_t kProcess = 7;
constexpr std::uint64_t kForked = 8;

// What is made: it counts itself, and the first ones may refuse to start.
struct Made {
  static inline int begun = 0;
  static inline int ended = 0;
  static inline int refusals = 0;

  int start() noexcept {
    value.write() = ++begun;
    return begun <= refusals ? EAGAIN : 0;
  }
  void end() noexcept {
    explore::check(value.read() != 0, "what is ended was made");
    ++ended;
  }
  handoff::sync::cell<int> value{0};
};
using Place = ProcessPlace<Made>;

void begin(int refusals = 0) { Made::begun = Made::ended = 0, Made::refusals = refusals; }

const Scenario one_maker("process_place/one_maker", [] {
  begin();
  Place place;
  const auto use = [&] {
    explore::check(place.need(kProcess) == 0, "it is there");
    explore::check(place.get().value.read() == 1, "whole");
  };
  explore::Thread other(use);
  use();
  other.join();
  explore::check(Made::begun == 1, "made once");
});

const Scenario refused("process_place/refused", [] {
  begin(1);
  Place place;
  std::array<int, 2> said{};
  explore::Thread other([&] { said[1] = place.need(kProcess); });
  said[0] = place.need(kProcess);
  other.join();
  explore::check(said[0] + said[1] == EAGAIN, "one is told, the other one tries again");
  explore::check(Made::begun == 2 && place.get().value.read() == 2, "made after all");
  explore::outcome(said[0] == 0 ? 1 : 0);
});

// The state is the same after the second refusal as after the first, and the place is not.
const Scenario refused_again("process_place/refused_again", [] {
  begin(2);
  Place place;
  int other_said = 0;
  explore::Thread other([&] { other_said = place.need(kProcess); });
  int said = place.need(kProcess);
  said += place.need(kProcess);
  other.join();
  explore::check(said + other_said == 2 * EAGAIN, "two are told");
  explore::check(Made::begun == 3 && place.get().value.read() == 3, "made after all");
});

const Scenario ended("process_place/ended", [] {
  begin();
  Place place;
  int said = -1;
  explore::Thread other([&] { said = place.need(kProcess); });
  place.end(kProcess);
  other.join();
  place.end(kProcess);
  explore::check(said == 0 && Made::begun == 1 && Made::ended == 1, "made and ended once");
  explore::check(place.need(kProcess) == ECANCELED, "it stays ended");
});

const Scenario forked("process_place/forked", [] {
  begin();
  Place place;
  explore::check(place.need(kProcess) == 0, "it is there");
  const auto use = [&] {
    explore::check(place.need(kForked) == 0, "it is there anew");
    explore::check(place.get().value.read() == 2, "whole");
  };
  explore::Thread other(use);
  use();
  other.join();
  place.end(kProcess);
  explore::check(Made::begun == 2 && Made::ended == 0, "the old one is left alone");
});

}}  // namespace process_place_scenarios

// SPDX-License-Identifier: MIT
// The ladder of a result: what each kind of hand-over costs here, elsewhere and at the least, and
// which way wins. The way that stands on a rung is chosen by the first launches of an overview and
// reported by the others, this library's and the others' alike: the best of many would otherwise
// look better than it is.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/verdict.hpp"
#include "report/result.hpp"

namespace handoff::lab {

// A way on a rung. Times are in ns, whatever its metric's unit is.
struct RungWay {
  std::string contender;
  double median = NAN;
  double low = NAN;  // of its 99 % interval; NaN: of one launch
  double high = NAN;
  std::string order = {};  // of a queue: fifo, per producer, none; else empty

  [[nodiscard]] bool is_own() const { return contender.starts_with("own."); }
};

struct Rung {
  std::string name;
  std::string title;
  std::string scenario;
  std::string metric;
  ParameterValues parameters;
  bool latency = false;
  std::optional<RungWay> own;
  std::optional<RungWay> peer;   // the best of the others, articles' schemes not counted
  std::optional<RungWay> today;  // what people write without a library
  std::optional<RungWay> limit;
  std::vector<RungWay> named;
  std::optional<JudgedChange> judged;  // time here over the peer's; nothing: there is no peer
  std::string disturbed;  // why the figures of these two are not to be trusted; empty: they are
};

// A grey line: what the machine itself takes for something everybody knows.
struct GreyLine {
  std::string name;  // a cache miss
  double ns = NAN;
};

struct Ladder {
  std::vector<Rung> rungs;
  std::vector<GreyLine> grey;
  // "On this machine a task costs 28 ns here, 155 in oneTBB; below 60 ns of work, hot, at width 2,
  // do not hand it over one by one." Empty where no task was measured.
  std::string sentence;
  // What kept figures from being trusted: "Other programs took 0.9 of 2 CPUs." Empty: nothing.
  std::string busy;

  [[nodiscard]] std::size_t open() const;  // rungs without a verdict
};

// Of a result whose rungs were chosen (Result::rungs); without them there are none.
[[nodiscard]] Ladder ladder_of(const Result& result);

// "faster", "slower", "about equal", "open", "no peer"
[[nodiscard]] std::string_view verdict_of(const Rung& rung);
// "14.8x faster", "1.2x slower", and the others as they are
[[nodiscard]] std::string verdict_text(const Rung& rung);

// As its authors write it: "oneTBB", "std::async". Without the kind.
[[nodiscard]] std::string name_of_way(const std::string& contender);

}  // namespace handoff::lab

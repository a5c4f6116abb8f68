// SPDX-License-Identifier: MIT
// The ladder of a result: what each kind of hand-over costs here, elsewhere and at the least, and
// which way wins. Which ways stand on a rung is known beforehand (harness/rungs.hpp), so that every
// launch counts.
#pragma once

#include "harness/rank_range.hpp"
#include "report/result.hpp"

namespace handoff::lab {

// A way on a rung. Times are in ns, whatever its metric's unit is.
struct RungWay {
  std::string contender;
  double median = NAN;
  double low = NAN;  // of its 99 % interval; NaN: of one launch
  double high = NAN;
  std::string order = {};  // of a queue: fifo, per producer, none; else empty
  // The figures of a way whose launches are in one of two states.
  std::optional<Interval> states = {};

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
  std::optional<RungWay> peer;  // the best of those that it is judged against
  std::optional<RungWay> today;  // what people write without a library
  std::optional<RungWay> limit;
  std::vector<RungWay> named;  // the others
  std::optional<Answer> answer;  // time here over the best other's; nothing: there is none
};

// A grey line: what the machine itself takes for something everybody knows.
struct GreyLine {
  std::string name;  // a cache miss
  double ns = NAN;
};

struct Ladder {
  std::vector<Rung> rungs;
  std::vector<GreyLine> grey;
  // "On this machine a task costs 28 ns here, 155 in oneTBB. Tasks of less than 60 ns run faster in
  // a plain loop than on 2 threads that are awake." Empty where no task was measured.
  std::string sentence;
  // What ran beside it: "Other programs took 0.9 of 2 CPUs." Empty: nothing.
  std::string busy;
  std::string title;  // "handoff 0.3, AMD EPYC, 2 CPUs"
  std::vector<std::string> peers;  // "oneTBB 2021.8", of those whose version is known
  int cpus = 0;  // of the machine; 0: not known

  [[nodiscard]] std::size_t count(Word word) const;  // rungs of which it is said
};

// Of a result that has rungs (Result::rungs); without them there are none.
[[nodiscard]] Ladder ladder_of(const Result& result);

// The launches of a way on a rung in one unit. `factor`: what one of that is in ns.
[[nodiscard]] RungWay way_of(const std::string& contender, Launches launches, double factor,
                             const std::string& order);
// What one of a unit of time is in ns; nothing of another unit.
[[nodiscard]] std::optional<double> ns_in(std::string_view unit);
[[nodiscard]] Times times_of(const Launches& launches);
[[nodiscard]] bool can_divide(const Times& times);

// "faster", "slower", "about equal", "not known", "no peer"
[[nodiscard]] std::string_view verdict_of(const Rung& rung);
// "14.8x faster", "1.2x slower", "about equal"; where nothing is known, "0.8x .. 1.3x as fast"
[[nodiscard]] std::string verdict_text(const Answer& answer);
[[nodiscard]] std::string verdict_text(const Rung& rung);
// Its range: "(6.5 .. 7.8)", in the direction of the verdict; "" where there is none.
[[nodiscard]] std::string range_text(const Answer& answer);
[[nodiscard]] std::string range_text(const Rung& rung);

// As its authors write it: "oneTBB", "std::async". Without the kind.
[[nodiscard]] std::string name_of_way(const std::string& contender);

}  // namespace handoff::lab

// SPDX-License-Identifier: MIT
//
// What an AdaptiveLoop learns from the times of its loops, and what it makes of them. It reads no
// clock and shares nothing: it is fed with times. Not for users.
//
// A policy knows loops of about one size. For each way it keeps what an index takes, all costs of
// the way in it. The way that takes least is taken. What is not known is predicted: the serial time
// divided among the CPUs, and a fixed cost of handing over, which is learnt from each way's time
// against the serial one. Other ways are tried
// - at once, where they are predicted to be faster, and serial when the load became lighter;
// - else from a budget: a part of the time of all loops. What a try costs beyond the best way's
//   time is taken from it, so a wrong prediction is paid for by fewer tries.
// A try is some loops one after another, for the first ones wake threads that slept.
// A load drifted if three loops in a row are off by half, or by more where loops differ more. Then
// what was known of the other ways is forgotten. A single one that is off is a disturbance, and
// counts little. A load that changes slowly changes what is known of all ways alike.
//
// Concurrency: none. Blocks, allocates, throws: never.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <handoff/choice/loop_choice.hpp>
#include <handoff/config.hpp>
#include <handoff/core/index_range.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// A value for each LoopWay.
template <class T>
using PerWay = std::array<T, loop_way_count>;
constexpr std::size_t index_of(LoopWay way) noexcept { return static_cast<std::size_t>(way); }

// How many CPUs work in each way; 0: there is no such way.
using WaySpeeds = PerWay<double>;

// What it takes to hand a loop over, in nanoseconds.
using HandoverCosts = PerWay<double>;
[[gnu::visibility("hidden")]] inline constexpr HandoverCosts first_guess{0, 5'000, 8'000};

// How what is left of a serial loop may be handed over.
struct HandoverOffer {
  LoopWay way = LoopWay::serial;  // serial: it may not
  double fixed_ns = 0;
  double speed = 1;

  // Whether that beats going on, by more than such a prediction may be wrong.
  bool pays(double serial_ns) const noexcept {
    return way != LoopWay::serial && fixed_ns + serial_ns / speed < 0.9 * serial_ns;
  }
};

// What a serial loop that is measured needs to know.
struct SerialPlan {
  double index_ns = 0;  // what an index is expected to take; 0: not known
  HandoverOffer offer = {};
};

// The pieces in which a serial loop runs: measured, growing, and after each the question whether
// what is left is handed over. A loop that is expected to be short is one piece.
class SerialPieces {
 public:
  // `least`: the fewest indices in a piece. `may_stop`: a stop or a deadline is looked at between
  // pieces, so a short loop is divided too.
  SerialPieces(std::size_t count, std::size_t least, const SerialPlan& plan,
               bool may_stop = false) noexcept;

  // What runs next; empty: all is done.
  IndexRange piece() const noexcept { return {done_, done_ + size_}; }

  // The piece took so long. False: what is left is to be handed over.
  bool note(double ns) noexcept;

  std::size_t done() const noexcept { return done_; }
  double elapsed_ns() const noexcept { return elapsed_ns_; }

  // What is left takes serially, if it goes on like the last piece.
  double rest_ns() const noexcept { return index_ns_ * static_cast<double>(count_ - done_); }

  // What the whole loop takes serially, then.
  double serial_ns() const noexcept { return elapsed_ns_ + rest_ns(); }

  // The same, by what the rest that was handed over took.
  double serial_ns(double handed_over_ns) const noexcept;

 private:
  void set_size(double wanted) noexcept;

  const std::size_t count_;
  const std::size_t least_;
  const HandoverOffer offer_;
  std::size_t done_ = 0;
  std::size_t size_ = 0;
  double index_ns_;  // of the last piece
  double elapsed_ns_ = 0;
};

// One loop that was run to its end.
struct MeasuredLoop {
  LoopWay way = LoopWay::serial;
  std::size_t count = 0;
  double ns = 0;  // in this way; for a serial loop that was handed over what it would have taken
  double spent_ns = 0;  // what it did take
  double rest_ns = 0;  // of a serial loop: what the rest that was handed over would have taken
  double handed_over_ns = 0;  // what that rest did take
  std::uint32_t calls = 1;  // loops that it stands for, with those that were not measured
};

class ChoicePolicy {
 public:
  // How the next loops run.
  struct Next {
    LoopWay way = LoopWay::serial;
    bool in_pieces = true;  // if serial
    std::uint32_t unmeasured = 0;  // so many loops come before the next one is measured
  };
  Next next() const noexcept;

  SerialPlan serial_plan(const WaySpeeds& speeds, const HandoverCosts& costs) const noexcept;

  // Learns, and chooses anew. `costs`: what loops of all sizes know.
  void note(const MeasuredLoop& loop, const WaySpeeds& speeds, HandoverCosts& costs) noexcept;

  LoopChoice choice(const WaySpeeds& speeds, const HandoverCosts& costs) const noexcept;

  // What a loop of `count` takes in this way; 0: no idea.
  double predicted(LoopWay way, double count, const WaySpeeds& speeds,
                   const HandoverCosts& costs) const noexcept;

 private:
  double known(LoopWay way) const noexcept { return index_ns_[index_of(way)]; }
  bool is_trying() const noexcept { return next_ != best_ || is_trying_; }
  double fixed(LoopWay way, const HandoverCosts& costs) const noexcept;
  double serial_index_ns(double count, const WaySpeeds& speeds,
                         const HandoverCosts& costs) const noexcept;
  double off() const noexcept;
  bool is_uneven() const noexcept;
  double cost(LoopWay way) const noexcept;
  bool knows_others() const noexcept;
  void scale_known(double factor) noexcept;
  void note_usual(double index_ns) noexcept;
  void note_try(const MeasuredLoop& loop, double index_ns) noexcept;
  double middle_try() const noexcept;
  void learn_costs(double count, const WaySpeeds& speeds, HandoverCosts& costs) noexcept;
  void take_best() noexcept;
  void look_around(const WaySpeeds& speeds, const HandoverCosts& costs) noexcept;
  bool is_worth_a_try(LoopWay way, double predicted_ns, double best_ns) const noexcept;
  void try_way(LoopWay way) noexcept;

  PerWay<double> index_ns_{};  // what an index takes; 0: not known
  PerWay<double> fixed_ns_{};  // of handing over, as seen here; 0: not known
  double odd_ = 0;  // the last loop, if it was off
  unsigned odd_seen_ = 0;  // in a row
  double spread_ = 0;  // how far loops are from the usual one, as a part of it
  double budget_ns_ = 0;  // for tries
  std::array<double, 3> tries_{};  // the last ones
  double tries_sum_ = 0;  // of all
  double tries_ns_ = 0;
  unsigned tries_made_ = 0;
  LoopWay best_ = LoopWay::serial;
  LoopWay next_ = LoopWay::serial;
  bool is_trying_ = false;
  bool has_drifted_ = false;  // and nothing was tried since
  bool is_lighter_ = false;  // so serial is to be tried
  bool is_rough_ = false;  // what serial takes: the rest was handed over
  bool keeps_rest_ = false;  // of a serial loop: handing it over did not pay
  std::uint32_t measured_since_try_ = 0;
  std::uint64_t calls_since_try_ = 0;
  double count_ = 0;  // of the last loop
  double predicted_ns_ = 0;
  double measured_ns_ = 0;
};

}}}  // namespace handoff::HANDOFF_ABI::detail

// SPDX-License-Identifier: MIT
//
// What is learnt from the times of loops. The constants are parts and times, none of one machine:
// costs are measured.
#include <algorithm>
#include <cmath>
#include <handoff/choice/detail/choice_policy.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

// A loop that is expected to be shorter is not divided: its two looks at the clock cost enough.
constexpr double kWholeNs = 20'000;

// The pieces of longer ones. The shortest says enough about the load to hand over what is left; the
// longest is what is done too much if the load becomes heavier in it.
constexpr double kPieceLeastNs = 2'000;
constexpr double kPieceMostNs = 50'000;

// Tries cost at most this part of the time: of loops of 20 us 80 ns.
constexpr double kBudgetPart = 1.0 / 256;
constexpr double kBudgetMostNs = 2e6;
constexpr double kDebtMostNs = 20e6;
constexpr double kCredit = 4;  // of what is not known a try may begin when a part of it is saved
constexpr std::uint32_t kLoopsBetweenTries = 32;
constexpr double kTryNs = 400'000;  // a try goes on so long: threads that slept are awake by then
constexpr unsigned kTriesLeast = 4;  // or is one loop that takes longer
constexpr unsigned kTriesOfUneven = 8;  // their mean counts
constexpr double kUneven = 0.25;

// Loops that are not measured last so long together. Of 100 times the load they last 25 ms.
constexpr double kUnmeasuredNs = 250'000;
constexpr double kUnmeasuredMost = 4'095;

// A line of a cache has to come and go: nothing is handed over for less.
constexpr double kLeastHandoverNs = 300;

// Nothing is handed over to gain less: now and then threads have fallen asleep, and must be woken.
constexpr double kLeastGainNs = 1'000;

// A loop that takes so many times as long, or as short, is off, if it is more than the clock's
// grain and a cold cache explain; so many in a row are a drift.
constexpr double kOff = 1.5;  // or more, where loops differ more
constexpr double kOffSpreads = 3;
constexpr double kSpreadMost = 3;
constexpr double kOffLeastNs = 200;
constexpr unsigned kDrift = 3;

constexpr double kCheaper = 0.97;  // less than that is no reason to change
constexpr double kNewPart = 1.0 / 8;  // of the last loop in what is known

constexpr PerWay<LoopWay> kWays{LoopWay::serial, LoopWay::team, LoopWay::pool};

}  // namespace

// ---- Pieces -------------------------------------------------------------------------------------

SerialPieces::SerialPieces(std::size_t count, std::size_t least, const SerialPlan& plan,
                           bool may_stop) noexcept
    : count_(count),
      least_(std::max<std::size_t>(least, 1)),
      offer_(plan.offer),
      index_ns_(plan.index_ns) {
  const double first_ns = may_stop ? kPieceLeastNs : kWholeNs;
  set_size(index_ns_ > 0 ? first_ns / index_ns_ : 1);
}

bool SerialPieces::note(double ns) noexcept {
  const std::size_t size = size_;
  done_ += size;
  elapsed_ns_ += ns;
  index_ns_ = ns / static_cast<double>(size);
  const double left_ns = index_ns_ * static_cast<double>(count_ - done_);
  if (elapsed_ns_ >= kPieceLeastNs && offer_.pays(left_ns)) return false;
  const double wanted_ns = std::clamp(elapsed_ns_, kPieceLeastNs, kPieceMostNs);
  // Twice as many at most: a piece too short to be timed says nothing.
  const double most = 2 * static_cast<double>(size);
  set_size(wanted_ns < most * index_ns_ ? wanted_ns / index_ns_ : most);
  return true;
}

double SerialPieces::serial_ns(double handed_over_ns) const noexcept {
  const double most = elapsed_ns_ + offer_.speed * handed_over_ns;
  // So long takes no waking of threads: what is left was heavier than what came before it.
  if (handed_over_ns >= kTryNs && handed_over_ns > rest_ns()) return most;
  return std::min(serial_ns(), most);
}

// A rest of less than half a piece is done with it.
void SerialPieces::set_size(double wanted) noexcept {
  const std::size_t left = count_ - done_;
  const auto most = static_cast<double>(left);
  const auto size = wanted < most ? static_cast<std::size_t>(std::max(wanted, 1.0)) : left;
  size_ = std::min(left, std::max(size, least_));
  if (left - size_ < size_ / 2 + 1 && left > 2) size_ = left;
}

// ---- What comes next ----------------------------------------------------------------------------

// Short loops are measured now and then: a look at the clock, and what is made of it, takes as long
// as the shortest ones. The first ones are measured all, then fewer and fewer.
ChoicePolicy::Next ChoicePolicy::next() const noexcept {
  Next next{.way = next_};
  const double ns = known(next_) * count_;
  if (ns <= 0) return next;
  next.in_pieces = ns >= kWholeNs;
  if (is_trying() || odd_ != 0 || measured_since_try_ < 2) return next;
  const double most = measured_since_try_ < 12
                          ? std::ldexp(1, static_cast<int>(measured_since_try_))
                          : kUnmeasuredMost;
  next.unmeasured = static_cast<std::uint32_t>(std::min(most, kUnmeasuredNs / ns));
  if (next.unmeasured > 0) next.in_pieces = false;
  return next;
}

double ChoicePolicy::fixed(LoopWay way, const HandoverCosts& costs) const noexcept {
  const double here = fixed_ns_[index_of(way)];
  return here > 0 ? here : costs[index_of(way)];
}

// By what is measured, else by what the others take without what handing over costs them.
double ChoicePolicy::serial_index_ns(double count, const WaySpeeds& speeds,
                                     const HandoverCosts& costs) const noexcept {
  double least = known(LoopWay::serial);
  if (least > 0) return least;
  for (const LoopWay way : {LoopWay::team, LoopWay::pool}) {
    if (known(way) <= 0) continue;
    const double work = std::max(known(way) - fixed(way, costs) / count, known(way) / 8);
    const double ns = work * std::max(speeds[index_of(way)], 1.0);
    least = least > 0 ? std::min(least, ns) : ns;
  }
  return least;
}

double ChoicePolicy::predicted(LoopWay way, double count, const WaySpeeds& speeds,
                               const HandoverCosts& costs) const noexcept {
  if (known(way) > 0) return known(way) * count;
  const double serial = serial_index_ns(count, speeds, costs) * count;
  if (way == LoopWay::serial || serial <= 0) return serial;
  return fixed(way, costs) + serial / std::max(speeds[index_of(way)], 1.0);
}

SerialPlan ChoicePolicy::serial_plan(const WaySpeeds& speeds,
                                     const HandoverCosts& costs) const noexcept {
  SerialPlan plan{.index_ns = known(LoopWay::serial), .offer = {}};
  double least = 0;
  for (const LoopWay way : {LoopWay::team, LoopWay::pool}) {
    const double speed = speeds[index_of(way)];
    if (speed <= 0) continue;
    // Any long loop orders them, if they were not measured.
    const double ns = known(way) > 0 ? known(way) * count_ : fixed(way, costs) + 1e6 / speed;
    if (least > 0 && ns >= least) continue;
    least = ns;
    plan.offer = {.way = way, .fixed_ns = fixed(way, costs), .speed = speed};
  }
  // Then what is left pays if it takes more than two whole loops: the load is another one.
  if (keeps_rest_) plan.offer.fixed_ns = std::max(plan.offer.fixed_ns, plan.index_ns * count_);
  return plan;
}

// ---- Learning -----------------------------------------------------------------------------------

void ChoicePolicy::note(const MeasuredLoop& loop, const WaySpeeds& speeds,
                        HandoverCosts& costs) noexcept {
  if (loop.count == 0) return;
  // Below a nanosecond a clock tells nothing, and 0 stands for what is not known.
  const double index_ns = std::max(loop.ns, 1.0) / static_cast<double>(loop.count);
  count_ = static_cast<double>(loop.count);
  predicted_ns_ = predicted(loop.way, count_, speeds, costs);
  measured_ns_ = loop.ns;
  calls_since_try_ += loop.calls;
  if (loop.way != next_) return;  // it began before another thread's loop changed the choice
  // What was handed over took longer than it would have taken here, if it was not heavier.
  if (loop.handed_over_ns > loop.rest_ns && loop.handed_over_ns < kTryNs) keeps_rest_ = true;
  if (is_trying()) {
    note_try(loop, index_ns);
    if (is_trying()) return;
    learn_costs(count_, speeds, costs);
  } else {
    const bool was_rough = is_rough_ && best_ == LoopWay::serial;
    is_rough_ = loop.handed_over_ns > 0;
    if (was_rough && !is_rough_) index_ns_[index_of(best_)] = index_ns;
    else note_usual(index_ns);
    ++measured_since_try_;
    const double most = std::max(kBudgetMostNs, 4 * loop.spent_ns);
    budget_ns_ = std::min(budget_ns_ + kBudgetPart * loop.spent_ns * loop.calls, most);
  }
  take_best();
  look_around(speeds, costs);
}

// How many times as long, or as short, another loop may take.
double ChoicePolicy::off() const noexcept { return std::max(kOff, 1 + kOffSpreads * spread_); }

// Then one loop says little about a way.
bool ChoicePolicy::is_uneven() const noexcept { return spread_ > kUneven; }

bool ChoicePolicy::knows_others() const noexcept {
  return std::any_of(kWays.begin(), kWays.end(),
                     [this](LoopWay way) { return way != best_ && known(way) > 0; });
}

// The load is another one, so all ways are.
void ChoicePolicy::scale_known(double factor) noexcept {
  for (double& each : index_ns_) each *= factor;
}

void ChoicePolicy::note_usual(double index_ns) noexcept {
  double& usual = index_ns_[index_of(best_)];
  // The first one met cold caches.
  if (usual <= 0 || (measured_since_try_ == 1 && index_ns < usual && !knows_others())) {
    usual = index_ns;
    return;
  }
  const double ratio = index_ns / usual;
  const double far = std::max(ratio, 1 / ratio);
  const double most = off();
  const bool is_off = far > most && std::abs(index_ns - usual) * count_ > kOffLeastNs;
  spread_ += kNewPart * (std::min(far - 1, kSpreadMost) - spread_);
  const bool again = is_off && odd_ > 0 && (odd_ > usual) == (index_ns > usual);
  odd_ = is_off ? index_ns : 0;
  odd_seen_ = again ? odd_seen_ + 1 : 1;
  if (!again || odd_seen_ < kDrift) {
    scale_known(1 + kNewPart * (std::clamp(ratio, 1 / most, most) - 1));
    return;
  }
  is_lighter_ = best_ != LoopWay::serial && index_ns < usual;
  index_ns_ = {};
  index_ns_[index_of(best_)] = index_ns;
  odd_ = 0;
  keeps_rest_ = false;
  budget_ns_ = std::max(budget_ns_, 0.0);
  has_drifted_ = true;
}

void ChoicePolicy::note_try(const MeasuredLoop& loop, double index_ns) noexcept {
  tries_[tries_made_++ % tries_.size()] = index_ns;
  tries_sum_ += index_ns;
  tries_ns_ += loop.spent_ns;
  budget_ns_ -= std::max(0.0, loop.spent_ns - known(best_) * count_);
  budget_ns_ = std::max(budget_ns_, -kDebtMostNs);
  const bool is_long = loop.spent_ns >= kTryNs && !is_uneven();
  const unsigned least = is_uneven() ? kTriesOfUneven : kTriesLeast;
  if (!is_long && (tries_made_ < least || tries_ns_ < kTryNs)) return;
  index_ns_[index_of(next_)] = is_long       ? index_ns
                               : is_uneven() ? tries_sum_ / tries_made_
                                             : middle_try();
  next_ = best_;
  is_trying_ = false;
  has_drifted_ = false;
  measured_since_try_ = 0;
  calls_since_try_ = 0;
}

// Of the last ones, for the first ones woke threads.
double ChoicePolicy::middle_try() const noexcept {
  const auto [low, high] = std::minmax(tries_[0], tries_[1]);
  return std::clamp(tries_[2], low, high);
}

void ChoicePolicy::learn_costs(double count, const WaySpeeds& speeds,
                               HandoverCosts& costs) noexcept {
  const double serial = known(LoopWay::serial);
  if (serial <= 0) return;
  for (const LoopWay way : {LoopWay::team, LoopWay::pool}) {
    if (known(way) <= 0) continue;
    const double shared = serial / std::max(speeds[index_of(way)], 1.0);
    const double seen = std::max((known(way) - shared) * count, kLeastHandoverNs);
    fixed_ns_[index_of(way)] = seen;
    // For loops of other sizes: a long loop shows how well it divides, not what handing over costs.
    if (seen < 20 * costs[index_of(way)]) costs[index_of(way)] += (seen - costs[index_of(way)]) / 4;
  }
}

// ---- Choosing -----------------------------------------------------------------------------------

// What the last loop takes, and the unseen cost that handing over may have.
double ChoicePolicy::cost(LoopWay way) const noexcept {
  return known(way) * count_ + (way == LoopWay::serial ? 0 : kLeastGainNs);
}

void ChoicePolicy::take_best() noexcept {
  LoopWay least = best_;
  for (const LoopWay way : kWays) {
    if (known(way) > 0 && cost(way) < cost(least)) least = way;
  }
  if (least == best_ || cost(least) >= kCheaper * cost(best_)) return;
  best_ = next_ = least;
  odd_ = 0;
}

// Looks whether another way is tried, the most promising first.
void ChoicePolicy::look_around(const WaySpeeds& speeds, const HandoverCosts& costs) noexcept {
  if (is_lighter_ && best_ != LoopWay::serial) {
    is_lighter_ = false;
    return try_way(LoopWay::serial);
  }
  const double best_ns = cost(best_);
  LoopWay candidate = best_;
  double least = 0;
  for (const LoopWay way : kWays) {
    if (way == best_ || speeds[index_of(way)] <= 0) continue;
    const bool is_serial = way == LoopWay::serial;
    const double ns = predicted(way, count_, speeds, costs) + (is_serial ? 0 : kLeastGainNs);
    const double shared = best_ns / speeds[index_of(way)] + kLeastHandoverNs + kLeastGainNs;
    if (best_ == LoopWay::serial && shared >= best_ns) continue;  // whatever it takes
    if (!is_worth_a_try(way, ns, best_ns) || (least > 0 && ns >= least)) continue;
    candidate = way;
    least = ns;
  }
  if (candidate != best_) try_way(candidate);
}

bool ChoicePolicy::is_worth_a_try(LoopWay way, double predicted_ns, double best_ns) const noexcept {
  const double more = std::max(predicted_ns - best_ns, best_ns / 50);
  const double loops = std::max<double>(kTryNs / predicted_ns, is_uneven() ? kTriesOfUneven : 1);
  if (known(way) <= 0) {
    // The first one met cold caches, unless it was that long.
    const bool is_first_and_long = measured_ns_ >= kTryNs && !knows_others();
    if (odd_ != 0 || (measured_since_try_ < 2 && !is_first_and_long)) return false;
    return predicted_ns < kCheaper * best_ns || kCredit * budget_ns_ >= loops * more;
  }
  return measured_since_try_ >= kLoopsBetweenTries && budget_ns_ >= loops * more;
}

void ChoicePolicy::try_way(LoopWay way) noexcept {
  next_ = way;
  is_trying_ = true;
  tries_made_ = 0;
  tries_sum_ = 0;
  tries_ns_ = 0;
}

LoopChoice ChoicePolicy::choice(const WaySpeeds& speeds,
                                const HandoverCosts& costs) const noexcept {
  const auto described = [&](LoopWay way) {
    return LoopChoice::Way{.available = speeds[index_of(way)] > 0,
                           .measured = known(way) > 0,
                           .ns = count_ > 0 ? predicted(way, count_, speeds, costs) : 0};
  };
  LoopChoice choice{.way = next_,
                    .reason = ChoiceReason::cheapest,
                    .count = static_cast<std::size_t>(count_),
                    .serial = described(LoopWay::serial),
                    .team = described(LoopWay::team),
                    .pool = described(LoopWay::pool),
                    .predicted_ns = predicted_ns_,
                    .measured_ns = measured_ns_,
                    .calls_since_checked = calls_since_try_};
  const bool alone = !choice.team.available && !choice.pool.available;
  if (alone) choice.reason = ChoiceReason::only_way;
  else if (count_ <= 0) choice.reason = ChoiceReason::not_run;
  else if (has_drifted_) choice.reason = ChoiceReason::drifted;
  else if (is_trying()) choice.reason = ChoiceReason::checking;
  return choice;
}

}}}  // namespace handoff::HANDOFF_ABI::detail

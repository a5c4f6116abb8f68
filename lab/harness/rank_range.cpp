// SPDX-License-Identifier: MIT
#include "harness/rank_range.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace handoff::lab {
namespace {

constexpr double kError = 0.01;         // of the range that is shown
constexpr double kErrorOfWord = 0.004;  // of the one that must exclude 1
constexpr double kEqual = 1.25;

void require_times(const Times& times) {
  const auto fits = [](double value) { return std::isfinite(value) && value > 0; };
  if (times.empty() || !std::all_of(times.begin(), times.end(), fits)) {
    throw std::invalid_argument("a ratio of times that are not finite and above 0");
  }
}

std::vector<double> logarithms(const Times& times) {
  std::vector<double> all;
  for (const double time : times) all.push_back(std::log(time));
  return all;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double squares_around(const std::vector<double>& values, double middle) {
  double sum = 0;
  for (const double value : values) sum += (value - middle) * (value - middle);
  return sum;
}

// In how many ways `now` and `before` launches can lie among each other so that exactly u of the
// pairs are the wrong way round, for each u: the coefficients of the Gaussian binomial.
std::vector<double> ways_to_lie(std::size_t now, std::size_t before) {
  std::vector<double> ways(now * before + 1, 0);
  ways[0] = 1;
  for (std::size_t i = 1; i <= now; ++i) {
    // Times (1 - q^(before + i)), over (1 - q^i): degrees stay below now * before where they count.
    for (std::size_t u = ways.size(); u-- > before + i;) ways[u] -= ways[u - before - i];
    for (std::size_t u = i; u < ways.size(); ++u) ways[u] += ways[u - i];
  }
  return ways;
}

// How many of the sorted quotients lie beyond an end that errs with this probability; nothing where
// even the outermost one errs more often.
std::optional<std::size_t> beyond(const std::vector<double>& ways, double error) {
  double all = 0;
  for (const double way : ways) all += way;
  std::optional<std::size_t> found;
  double wrong = 0;
  for (std::size_t u = 0; u < ways.size() / 2 + 1; ++u) {
    wrong += ways[u];
    if (wrong > error * all) break;
    found = u;
  }
  return found;
}

// How far from the quotient of the geometric means an end is, as a logarithm.
double students_reach(const std::vector<double>& now, const std::vector<double>& before,
                      double error) {
  if (now.size() < 2 || before.size() < 2) return std::numeric_limits<double>::infinity();
  const auto part = [](const std::vector<double>& values) {
    const auto n = static_cast<double>(values.size());
    return squares_around(values, mean(values)) / (n - 1) / n;
  };
  const double a = part(now);
  const double b = part(before);
  if (a + b == 0) return 0;
  const double degrees = (a + b) * (a + b) /
                         (a * a / static_cast<double>(now.size() - 1) +
                          b * b / static_cast<double>(before.size() - 1));
  const auto whole = std::max<std::size_t>(1, static_cast<std::size_t>(degrees));
  return student_t(whole, 1 - 2 * error) * std::sqrt(a + b);
}

// Of the launches' middles: where a way has two states, which of them the next launch has is not
// known.
Interval states_or_middle(const Times& times) {
  const double middle = median(times);
  return two_states_of(times).value_or(Interval{middle, middle});
}

// The truth is the largest of the quotients with each of the others. Its upper end is the largest
// of theirs, which needs no correction; its lower end needs all of theirs to be right.
Interval range_against(const Times& own, const std::vector<Times>& others, double error) {
  const Errors errors{error / 2 / static_cast<double>(others.size()), error / 2};
  const Interval ours = states_or_middle(own);
  Interval all{0, 0};
  Interval states{0, 0};
  for (const Times& other : others) {
    const Interval one = ratio_range(own, other, errors);
    all.low = std::max(all.low, one.low);
    all.high = std::max(all.high, one.high);
    const Interval theirs = states_or_middle(other);
    states.low = std::max(states.low, ours.low / theirs.high);
    states.high = std::max(states.high, ours.high / theirs.low);
  }
  return {std::min(all.low, states.low), std::max(all.high, states.high)};
}

}  // namespace

Interval ratio_range(const Times& now, const Times& before, const Errors& errors) {
  require_times(now);
  require_times(before);
  std::vector<double> quotients;
  for (const double a : now) {
    for (const double b : before) quotients.push_back(a / b);
  }
  std::sort(quotients.begin(), quotients.end());
  const std::vector<double> ways = ways_to_lie(now.size(), before.size());
  const std::vector<double> a = logarithms(now);
  const std::vector<double> b = logarithms(before);
  const double middle = mean(a) - mean(b);
  const auto low = beyond(ways, errors.below);
  const auto high = beyond(ways, errors.above);
  return {low ? quotients[*low] : std::exp(middle - students_reach(a, b, errors.below)),
          high ? quotients[quotients.size() - 1 - *high]
               : std::exp(middle + students_reach(a, b, errors.above))};
}

std::optional<Interval> two_states_of(const Times& times) {
  require_times(times);
  constexpr std::size_t least = 2;  // launches in a state
  constexpr double least_gap = 0.02;
  constexpr double spreads = 3;
  Times sorted = times;
  std::sort(sorted.begin(), sorted.end());
  const std::vector<double> logs = logarithms(sorted);
  std::size_t split = 0;
  for (std::size_t i = least; i + least <= logs.size(); ++i) {
    if (split == 0 || logs[i] - logs[i - 1] > logs[split] - logs[split - 1]) split = i;
  }
  if (split == 0) return {};
  const auto cut = static_cast<std::ptrdiff_t>(split);
  const std::vector<double> low(logs.begin(), logs.begin() + cut);
  const std::vector<double> high(logs.begin() + cut, logs.end());
  const double spread =
      std::sqrt((squares_around(low, mean(low)) + squares_around(high, mean(high))) /
                static_cast<double>(logs.size() - 2));
  if (logs[split] - logs[split - 1] <= std::max(least_gap, spreads * spread)) return {};
  return Interval{median({sorted.begin(), sorted.begin() + cut}),
                  median({sorted.begin() + cut, sorted.end()})};
}

std::string_view name_of(Word word) {
  switch (word) {
    case Word::faster: return "faster";
    case Word::slower: return "slower";
    case Word::about_equal: return "about equal";
    case Word::not_known: break;
  }
  return "not known";
}

Answer answer_of(const Times& own, const std::vector<Times>& others) {
  if (others.empty()) throw std::invalid_argument("an answer against nobody");
  Answer answer;
  answer.range = range_against(own, others, kError);
  double best = std::numeric_limits<double>::infinity();
  for (const Times& other : others) best = std::min(best, median(other));
  answer.ratio = std::clamp(median(own) / best, answer.range.low, answer.range.high);
  const Interval strict = range_against(own, others, kErrorOfWord);
  if (strict.high < 1) {
    answer.word = Word::faster;
  } else if (strict.low > 1) {
    answer.word = Word::slower;
  } else if (answer.range.low >= 1 / kEqual && answer.range.high <= kEqual) {
    answer.word = Word::about_equal;
  }
  return answer;
}

}  // namespace handoff::lab

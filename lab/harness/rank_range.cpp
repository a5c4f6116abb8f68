// SPDX-License-Identifier: MIT
#include "harness/rank_range.hpp"

namespace handoff::lab {
namespace {

constexpr double kError = 0.01;         // of the range that is shown
constexpr double kErrorOfWord = 0.004;  // of the one that must exclude 1
constexpr double kEqual = 1.25;

void require_times(const Times& times) {
  const auto fits = [](double value) { return std::isfinite(value) && value > 0; };
  if (times.empty() || !std::ranges::all_of(times, fits)) {
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

// What a factor between the two sides may be, sorted, and in how many ways the launches can fall so
// that exactly u of these are too small. All ways are equally likely.
struct Candidates {
  std::vector<double> values;  // logarithms
  std::vector<double> ways;  // by u
};

// Of launches that were side by side, the means of each two quotients (and of each with itself). A
// quotient is above the true one as often as it is below, so that each set of ranks is as likely as
// any other to be that of those above.
Candidates of_pairs(const std::vector<double>& now, const std::vector<double>& before) {
  Candidates all;
  all.ways = {1};
  for (std::size_t i = 0; i < now.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      all.values.push_back((now[i] - before[i] + now[j] - before[j]) / 2);
    }
    const std::size_t rank = i + 1;
    std::vector<double> with(all.ways.size() + rank, 0);
    for (std::size_t u = 0; u < all.ways.size(); ++u) {
      with[u] += all.ways[u];
      with[u + rank] += all.ways[u];
    }
    all.ways = std::move(with);
  }
  return all;
}

// The quotients of each launch with each. The ways in which both sides can lie among each other are
// the coefficients of the Gaussian binomial.
Candidates of_all(const std::vector<double>& now, const std::vector<double>& before) {
  Candidates all;
  for (const double a : now) {
    for (const double b : before) all.values.push_back(a - b);
  }
  const std::size_t m = now.size();
  const std::size_t n = before.size();
  all.ways.assign(m * n + 1, 0);
  all.ways[0] = 1;
  for (std::size_t i = 1; i <= m; ++i) {
    // Times (1 - q^(n + i)), over (1 - q^i).
    for (std::size_t u = all.ways.size(); u-- > n + i;) all.ways[u] -= all.ways[u - n - i];
    for (std::size_t u = i; u < all.ways.size(); ++u) all.ways[u] += all.ways[u - i];
  }
  return all;
}

// How many of the candidates lie beyond an end that errs with this probability; nothing where even
// the outermost one errs more often.
std::optional<std::size_t> beyond(const Candidates& candidates, double error) {
  double all = 0;
  for (const double way : candidates.ways) all += way;
  std::optional<std::size_t> found;
  double wrong = 0;
  for (std::size_t u = 0; u < candidates.values.size(); ++u) {
    wrong += candidates.ways[u];
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

// Of launches that were side by side; of others with what is typical of the other side.
Times quotients(const Times& now, const Times& before) {
  Times all;
  const double typical = median(before);
  for (std::size_t i = 0; i < now.size(); ++i) {
    all.push_back(now[i] / (now.size() == before.size() ? before[i] : typical));
  }
  return all;
}

// The truth is the largest of the quotients with each of the others. Its upper end is the largest
// of theirs, which needs no correction; its lower end needs all of theirs to be right. Where
// quotients are in two states, which of them is the usual one is not known.
Interval range_against(const Times& own, const std::vector<Times>& others, double error) {
  const Errors errors{error / 2 / static_cast<double>(others.size()), error / 2};
  Interval all{0, 0};
  for (const Times& other : others) {
    Interval one = ratio_range(own, other, errors);
    if (const auto states = two_states_of(quotients(own, other))) {
      one.low = std::min(one.low, states->low);
      one.high = std::max(one.high, states->high);
    }
    all.low = std::max(all.low, one.low);
    all.high = std::max(all.high, one.high);
  }
  return all;
}

}  // namespace

Interval ratio_range(const Times& now, const Times& before, const Errors& errors) {
  require_times(now);
  require_times(before);
  const std::vector<double> a = logarithms(now);
  const std::vector<double> b = logarithms(before);
  std::vector<Candidates> kinds;
  if (a.size() == b.size()) kinds.push_back(of_pairs(a, b));
  kinds.push_back(of_all(a, b));
  std::optional<double> low;
  std::optional<double> high;
  for (Candidates& kind : kinds) {
    std::ranges::sort(kind.values);
    const auto below = beyond(kind, errors.below);
    const auto above = beyond(kind, errors.above);
    if (!low && below) low = kind.values[*below];
    if (!high && above) high = kind.values[kind.values.size() - 1 - *above];
  }
  const double middle = mean(a) - mean(b);
  return {std::exp(low.value_or(middle - students_reach(a, b, errors.below))),
          std::exp(high.value_or(middle + students_reach(a, b, errors.above)))};
}

std::optional<Interval> two_states_of(const Times& values) {
  require_times(values);
  const std::size_t least = std::max<std::size_t>(2, (values.size() + 3) / 4);
  constexpr double least_gap = 0.02;
  constexpr double spreads = 3;
  Times sorted = values;
  std::ranges::sort(sorted);
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
  const auto best = std::ranges::min_element(
      others, [](const Times& a, const Times& b) { return median(a) < median(b); });
  answer.ratio = std::clamp(median(quotients(own, *best)), answer.range.low, answer.range.high);
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

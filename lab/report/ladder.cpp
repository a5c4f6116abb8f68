// SPDX-License-Identifier: MIT
#include "report/ladder.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "harness/rungs.hpp"
#include "harness/statistics.hpp"
#include "report/judged_rows.hpp"
#include "report/ladder_words.hpp"

namespace handoff::lab {
namespace {

struct Word {
  std::string_view name;
  std::string_view word;
};

template <std::size_t Count>
std::optional<std::string_view> word_for(const std::array<Word, Count>& words,
                                         std::string_view name) {
  const auto found =
      std::find_if(words.begin(), words.end(), [&](const Word& one) { return one.name == name; });
  return found == words.end() ? std::nullopt : std::optional(found->word);
}

// What one of a unit of time is in ns; nothing of another unit.
std::optional<double> ns_in(std::string_view unit) {
  if (unit == "ns") return 1.0;
  if (unit == "us") return 1e3;
  if (unit == "ms") return 1e6;
  if (unit == "s") return 1e9;
  return {};
}

// A way, and the launches in ns that tell about it.
struct Told {
  const Row* row;
  Launches launches;
  RungWay way;
};

// Of several rows of one contender the last one measured counts.
const Row* row_of(const Result& result, const RungChoice& choice, const std::string& contender) {
  const auto found = std::find_if(result.rows.rbegin(), result.rows.rend(), [&](const Row& row) {
    return row.contender == contender && row.scenario == choice.scenario &&
           row.metric == choice.metric && row.parameters == choice.parameters && row.is_measured();
  });
  return found == result.rows.rend() ? nullptr : &*found;
}

// By the launches that chose nothing. One launch alone has no interval.
std::optional<Told> told_of(const Result& result, const RungChoice& choice,
                            const std::string& contender) {
  constexpr std::uint64_t seed = 1;
  const Row* const row = row_of(result, choice, contender);
  if (row == nullptr || row->launches.size() <= choice.chosen_on) return {};
  const auto factor = ns_in(row->unit);
  if (!factor || row->higher_is_better) return {};
  const auto first = row->launches.begin() + static_cast<std::ptrdiff_t>(choice.chosen_on);
  Told told{row, Launches(first, row->launches.end()), {}};
  for (auto& bursts : told.launches) {
    for (double& value : bursts) value *= *factor;
  }
  told.way = {contender, typical(told.launches), NAN, NAN, row->order};
  if (told.launches.size() > 1) {
    const Interval bounds = interval(resample(told.launches, seed));
    told.way.low = bounds.low;
    told.way.high = bounds.high;
  }
  return told;
}

std::optional<RungWay> way_of(const std::optional<Told>& told) {
  return told ? std::optional(told->way) : std::nullopt;
}

std::string disturbance_of(const std::optional<Told>& told) {
  return told && told->row->status == RowStatus::noisy ? told->row->reason : "";
}

const RungKind* kind_named(const std::string& name) {
  const auto& kinds = rung_kinds();
  const auto found = std::find_if(kinds.begin(), kinds.end(),
                                  [&](const RungKind& kind) { return kind.name == name; });
  return found == kinds.end() ? nullptr : &*found;
}

Rung rung_of(const Result& result, const RungChoice& choice) {
  const RungKind* const kind = kind_named(choice.name);
  Rung rung;
  rung.name = choice.name;
  rung.title = kind == nullptr ? choice.name : kind->title;
  rung.scenario = choice.scenario;
  rung.metric = choice.metric;
  rung.parameters = choice.parameters;
  rung.latency = kind != nullptr && kind->latency;
  const auto own = told_of(result, choice, choice.own);
  auto peer = told_of(result, choice, choice.peer);
  if (peer && peer->row->kind != "peer") peer.reset();  // an article's scheme, a limit
  rung.own = way_of(own);
  rung.peer = way_of(peer);
  rung.today = way_of(told_of(result, choice, choice.today));
  rung.limit = way_of(told_of(result, choice, choice.limit));
  for (const std::string& name : choice.named) {
    if (const auto named = told_of(result, choice, name)) rung.named.push_back(named->way);
  }
  rung.disturbed = disturbance_of(own);
  if (rung.disturbed.empty()) rung.disturbed = disturbance_of(peer);
  if (own && peer) {
    rung.judged = judge_launches(own->launches, peer->launches,
                                 {.floor = result.environment.floor(),
                                  .disturbed = !rung.disturbed.empty(),
                                  .disturbed_margin = kDisturbedMargin,
                                  .level = choice.level});
  }
  return rung;
}

std::vector<GreyLine> grey_of(const Result& result) {
  constexpr std::array words{Word{"cache_miss", "a cache miss"},
                             Word{"line_transfer", "core to core"},
                             Word{"system_call", "a system call"}};
  std::vector<GreyLine> grey;
  for (const Row& row : result.rows) {
    const auto factor = ns_in(row.unit);
    if (row.scenario != "machine" || !row.is_limit() || !row.is_measured() || !factor) continue;
    if (const auto word = word_for(words, row.metric)) {
      grey.push_back({std::string(*word), row.median * *factor});
    }
  }
  return grey;
}

// "14.8x", "1.04x"
std::string times(double ratio) {
  return fmt::format("{:.{}f}x", ratio, ratio < 1.095 ? 2 : ratio < 99.95 ? 1 : 0);
}

}  // namespace

std::size_t Ladder::open() const {
  return static_cast<std::size_t>(std::count_if(
      rungs.begin(), rungs.end(), [](const Rung& rung) { return verdict_of(rung) == "open"; }));
}

Ladder ladder_of(const Result& result) {
  Ladder ladder;
  for (const RungChoice& choice : result.rungs) ladder.rungs.push_back(rung_of(result, choice));
  ladder.grey = grey_of(result);
  ladder.sentence = sentence_of(ladder.rungs, result);
  ladder.busy = busy_of(result);
  return ladder;
}

std::string_view verdict_of(const Rung& rung) {
  if (!rung.peer) return "no peer";
  if (!rung.judged) return "open";
  switch (rung.judged->change) {
    case Change::improved: return "faster";
    case Change::unchanged: return "about equal";
    case Change::worse: return "slower";
    case Change::too_noisy: break;
  }
  return "open";
}

std::string verdict_text(const Rung& rung) {
  const std::string verdict(verdict_of(rung));
  if (verdict == "faster") return times(1 / rung.judged->ratio) + " faster";
  if (verdict == "slower") return times(rung.judged->ratio) + " slower";
  return verdict;
}

std::string name_of_way(const std::string& contender) {
  constexpr std::array words{Word{"asio", "Asio"},
                             Word{"atomic_queue", "atomic_queue"},
                             Word{"boost_lockfree", "Boost.Lockfree"},
                             Word{"boost_message_queue", "Boost.Interprocess"},
                             Word{"boost_signals2", "Boost.Signals2"},
                             Word{"bs_thread_pool", "BS::thread_pool"},
                             Word{"enkits", "enkiTS"},
                             Word{"mutex_pool", "a mutex's pool"},
                             Word{"mutex_queue", "a mutex's queue"},
                             Word{"onetbb", "oneTBB"},
                             Word{"openmp", "OpenMP"},
                             Word{"pipe", "a pipe"},
                             Word{"std_async", "std::async"},
                             Word{"std_for_each", "std::for_each"},
                             Word{"std_functions", "std::function"},
                             Word{"std_thread", "std::thread"},
                             Word{"std_threads", "std::thread"},
                             Word{"std_vectors", "std::stable_sort"},
                             Word{"taskflow", "Taskflow"},
                             Word{"unix_socket", "a Unix socket"}};
  const std::string name = contender.substr(contender.find('.') + 1);
  return std::string(word_for(words, name).value_or(name));
}

}  // namespace handoff::lab

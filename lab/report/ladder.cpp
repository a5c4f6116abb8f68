// SPDX-License-Identifier: MIT
#include "report/ladder.hpp"
#include "harness/rungs.hpp"
#include "report/ladder_words.hpp"

namespace handoff::lab {
namespace {

struct Spelling {
  std::string_view name;
  std::string_view word;
};

template <std::size_t Count>
std::optional<std::string_view> word_for(const std::array<Spelling, Count>& words,
                                         std::string_view name) {
  const auto found = std::ranges::find(words, name, &Spelling::name);
  return found == words.end() ? std::nullopt : std::optional(found->word);
}

// A way, and the time of each of its launches in ns.
struct Told {
  RungWay way;
  Times times;
  std::string kind;
};

// Of several rows of one contender the last one measured counts.
const Row* row_of(const Result& result, const RungChoice& choice, const std::string& contender) {
  const auto found = std::find_if(result.rows.rbegin(), result.rows.rend(), [&](const Row& row) {
    return row.contender == contender && row.scenario == choice.scenario &&
           row.metric == choice.metric && row.parameters == choice.parameters && row.is_measured();
  });
  return found == result.rows.rend() ? nullptr : &*found;
}

std::optional<Told> told_of(const Result& result, const RungChoice& choice,
                            const std::string& contender) {
  const Row* const row = row_of(result, choice, contender);
  if (row == nullptr || row->launches.empty() || row->higher_is_better) return {};
  const auto factor = ns_in(row->unit);
  if (!factor) return {};
  Told told{way_of(contender, row->launches, *factor, row->order), times_of(row->launches),
            row->kind};
  for (double& time : told.times) time *= *factor;
  return told;
}

std::optional<RungWay> way_in(const std::optional<Told>& told) {
  return told ? std::optional(told->way) : std::nullopt;
}

// The best of the peers stands for them, and the others beside it. An article's scheme and a limit
// are none.
void judge(Rung& rung, const std::optional<Told>& own, std::vector<Told> peers) {
  std::erase_if(peers, [](const Told& peer) { return peer.kind != "peer"; });
  std::ranges::stable_sort(
      peers, [](const Told& a, const Told& b) { return a.way.median < b.way.median; });
  if (peers.empty()) return;
  rung.peer = peers.front().way;
  std::vector<Times> others;
  for (const Told& peer : peers) {
    if (can_divide(peer.times)) others.push_back(peer.times);
    if (&peer != &peers.front()) rung.named.push_back(peer.way);
  }
  if (own && can_divide(own->times) && !others.empty()) rung.answer = answer_of(own->times, others);
}

Rung rung_of(const Result& result, const RungChoice& choice) {
  const RungKind* kind = rung_kind_named(choice.name);
  if (kind != nullptr && kind->scenario != choice.scenario) kind = nullptr;  // an earlier one
  Rung rung;
  rung.name = choice.name;
  rung.title = kind == nullptr ? choice.name : kind->title;
  rung.scenario = choice.scenario;
  rung.metric = choice.metric;
  rung.parameters = choice.parameters;
  rung.latency = kind != nullptr && kind->latency;
  const auto own = told_of(result, choice, choice.own);
  rung.own = way_in(own);
  rung.today = way_in(told_of(result, choice, choice.today));
  rung.limit = way_in(told_of(result, choice, choice.limit));
  std::vector<Told> peers;
  for (const std::string& name : choice.peers) {
    if (auto told = told_of(result, choice, name)) peers.push_back(std::move(*told));
  }
  judge(rung, own, std::move(peers));
  return rung;
}

std::vector<GreyLine> grey_of(const Result& result) {
  constexpr std::array words{Spelling{"cache_miss", "a cache miss"},
                             Spelling{"line_transfer", "core to core"},
                             Spelling{"system_call", "a system call"}};
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

// What the standard library is made of has no version that anybody asks for.
std::vector<std::string> peers_of(const Ladder& ladder, const Environment& here) {
  std::set<std::string> all;
  const auto add = [&](const std::string& contender) {
    const bool standard = contender.starts_with("peer.std_");
    const std::string version = standard ? "" : here.version_of(contender);
    if (!version.empty()) all.insert(name_of_way(contender) + " " + version);
  };
  for (const Rung& rung : ladder.rungs) {
    if (rung.peer) add(rung.peer->contender);
    for (const RungWay& way : rung.named) add(way.contender);
  }
  return {all.begin(), all.end()};
}

// "14.8", "1.04"
std::string times(double ratio) {
  return fmt::format("{:.{}f}", ratio, ratio < 1.995 ? 2 : ratio < 99.95 ? 1 : 0);
}

std::string range_text(double low, double high) {
  return fmt::format("{} .. {}", times(low), times(high));
}

// What no reader would take for a figure.
bool is_unbounded(const Interval& range) { return !(range.low > 0.001 && range.high < 1000); }

}  // namespace

std::size_t Ladder::count(Word word) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      rungs, [&](const Rung& rung) { return rung.answer && rung.answer->word == word; }));
}

RungWay way_of(const std::string& contender, Launches launches, double factor,
               const std::string& order) {
  constexpr std::uint64_t seed = 1;
  for (auto& bursts : launches) {
    for (double& value : bursts) value *= factor;
  }
  RungWay way{contender, typical(launches), NAN, NAN, order};
  if (launches.size() > 1) {  // one launch alone has no interval
    const Interval bounds = interval(resample(launches, seed));
    way.low = bounds.low;
    way.high = bounds.high;
  }
  const Times all = times_of(launches);
  if (can_divide(all)) way.states = two_states_of(all);
  return way;
}

std::optional<double> ns_in(std::string_view unit) {
  if (unit == "ns") return 1.0;
  if (unit == "us") return 1e3;
  if (unit == "ms") return 1e6;
  if (unit == "s") return 1e9;
  return {};
}

Times times_of(const Launches& launches) {
  Times times;
  for (const auto& bursts : launches) times.push_back(median(bursts));
  return times;
}

bool can_divide(const Times& times) {
  return std::ranges::all_of(times, [](double value) { return std::isfinite(value) && value > 0; });
}

Ladder ladder_of(const Result& result) {
  Ladder ladder;
  for (const RungChoice& choice : result.rungs) ladder.rungs.push_back(rung_of(result, choice));
  ladder.grey = grey_of(result);
  ladder.sentence = sentence_of(ladder.rungs, result);
  ladder.busy = busy_of(result);
  ladder.title = title_of(result.environment);
  ladder.peers = peers_of(ladder, result.environment);
  ladder.cpus = result.environment.width();
  return ladder;
}

std::string_view verdict_of(const Rung& rung) {
  if (!rung.peer) return "no peer";
  return name_of(rung.answer ? rung.answer->word : Word::not_known);
}

std::string verdict_text(const Answer& answer) {
  if (answer.word == Word::faster) return times(1 / answer.ratio) + "x faster";
  if (answer.word == Word::slower) return times(answer.ratio) + "x slower";
  const Interval& range = answer.range;
  if (answer.word == Word::about_equal || is_unbounded(range)) {
    return std::string(name_of(answer.word));
  }
  return fmt::format("{}x .. {}x as fast", times(1 / range.high), times(1 / range.low));
}

std::string verdict_text(const Rung& rung) {
  return rung.answer ? verdict_text(*rung.answer) : std::string(verdict_of(rung));
}

std::string range_text(const Answer& answer) {
  const Interval& range = answer.range;
  if (is_unbounded(range)) return {};
  switch (answer.word) {
    case Word::slower: return fmt::format("({})", range_text(range.low, range.high));
    case Word::not_known: return {};  // the verdict is the range
    case Word::faster:
    case Word::about_equal: break;
  }
  return fmt::format("({})", range_text(1 / range.high, 1 / range.low));
}

std::string range_text(const Rung& rung) {
  return rung.answer ? range_text(*rung.answer) : std::string();
}

std::string name_of_way(const std::string& contender) {
  constexpr std::array words{Spelling{"asio", "Asio"},
                             Spelling{"atomic_queue", "atomic_queue"},
                             Spelling{"boost_block_indirect_sort", "Boost.Sort"},
                             Spelling{"boost_lockfree", "Boost.Lockfree"},
                             Spelling{"boost_message_queue", "Boost.Interprocess"},
                             Spelling{"boost_signals2", "Boost.Signals2"},
                             Spelling{"boost_spsc", "Boost's spsc_queue"},
                             Spelling{"bs_thread_pool", "BS::thread_pool"},
                             Spelling{"enkits", "enkiTS"},
                             Spelling{"moodycamel", "concurrentqueue"},
                             Spelling{"mutex_pool", "a mutex pool"},
                             Spelling{"mutex_queue", "a mutex queue"},
                             Spelling{"onetbb", "oneTBB"},
                             Spelling{"onetbb_flow", "oneTBB"},
                             Spelling{"openmp", "OpenMP"},
                             Spelling{"pipe", "a pipe"},
                             Spelling{"std_async", "std::async"},
                             Spelling{"std_for_each", "std::for_each"},
                             Spelling{"std_functions", "std::function"},
                             Spelling{"std_thread", "std::thread"},
                             Spelling{"std_threads", "std::thread"},
                             Spelling{"std_vectors", "std::stable_sort"},
                             Spelling{"taskflow", "Taskflow"},
                             Spelling{"unix_socket", "a Unix socket"}};
  const std::string name = contender.substr(contender.find('.') + 1);
  return std::string(word_for(words, name).value_or(name));
}

}  // namespace handoff::lab

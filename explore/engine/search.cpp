// SPDX-License-Identifier: MIT
//
// Which alternative each choice takes, and which execution comes next.
//
// The exhaustive search is stateless: an execution is the list of its choices, and the next one
// changes the last choice that has an alternative left. Deviations are bounded in their sum, so a
// choice past the bound is no choice and is not recorded.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <string>

#include "engine.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace explore {

// One of `count` alternatives; 0 is the usual one, bit i of `costly` marks a deviation. `threads`:
// what they mean, if it is about who goes on.
unsigned Engine::choose(unsigned count, std::uint32_t costly, std::uint32_t number,
                        const std::uint8_t* threads) {
  unsigned taken = 0;
  switch (options_.search) {
    case Search::exhaustive: taken = choose_exhaustively(count, costly); break;
    case Search::random: taken = choose_randomly(count, costly); break;
    case Search::pct:
      taken =
          threads != nullptr ? thread_by_priority(threads, count) : choose_randomly(count, costly);
      break;
    case Search::replay: taken = choose_from_script(number); break;
  }
  if (taken >= count) taken = 0;  // a schedule of another program
  if (taken != 0) taken_.emplace_back(number, static_cast<std::uint8_t>(taken));
  deviations_ += costly >> taken & 1;
  return taken;
}

unsigned Engine::choose_exhaustively(unsigned count, std::uint32_t costly) {
  const std::uint32_t all = count == 32 ? ~0U : (1U << count) - 1;
  if (!may_deviate() && ((costly | 1) & all) == all) return 0;
  if (replayed_ < path_.size()) return path_[replayed_++].taken;
  path_.push_back(
      {costly & all, 0, static_cast<std::uint8_t>(count), static_cast<std::uint16_t>(deviations_)});
  ++replayed_;
  return 0;
}

// A deviation in one of eight places where one is possible, so that executions stay near to what
// a machine does; free choices are even.
unsigned Engine::choose_randomly(unsigned count, std::uint32_t costly) {
  const auto draw = [this](unsigned below) { return static_cast<unsigned>(random_() % below); };
  if ((costly & ((1U << count) - 1)) == 0) return draw(count);
  if (draw(8) == 0) return draw(count);
  unsigned taken = draw(count);
  for (unsigned i = 0; i < count && (costly >> taken & 1) != 0; ++i) taken = (taken + 1) % count;
  return taken;
}

unsigned Engine::choose_from_script(std::uint32_t number) {
  while (replayed_ < script_.size() && script_[replayed_].first < number) ++replayed_;
  const bool here = replayed_ < script_.size() && script_[replayed_].first == number;
  return here ? script_[replayed_].second : 0;
}

// PCT: the thread of the highest priority goes on; at some random steps the one that runs becomes
// the lowest. S. Burckhardt et al., "A Randomized Scheduler with Probabilistic Guarantees of
// Finding Bugs", 2010.
unsigned Engine::thread_by_priority(const std::uint8_t* threads, unsigned count) noexcept {
  if (std::find(change_at_.begin(), change_at_.end(), steps_) != change_at_.end()) {
    priority_[static_cast<unsigned>(running_)] = options_.steps_limit - steps_;
  }
  unsigned best = 0;
  for (unsigned i = 1; i < count && threads[i] < kThreads; ++i) {
    if (priority_[threads[i]] > priority_[threads[best]]) best = i;
  }
  return best;
}

// Changes the last choice that has an alternative left within the bound; false if none has.
bool Engine::next_path() noexcept {
  while (!path_.empty()) {
    Choice& last = path_.back();
    for (unsigned next = last.taken + 1U; next < last.count; ++next) {
      if ((last.costly >> next & 1) == 0 || last.deviations_before < options_.deviations) {
        last.taken = static_cast<std::uint8_t>(next);
        return true;
      }
    }
    path_.pop_back();
  }
  return false;
}

void Engine::begin_search() {
  path_.clear();
  random_.seed(options_.seed);
  if (options_.search == Search::replay) read_script(options_.schedule);
}

void Engine::search() {
  begin_search();
  unsigned deepest = 100;  // PCT's guess of how many steps there are
  for (;;) {
    replayed_ = 0;
    if (options_.search == Search::pct) {
      for (auto& priority : priority_) priority = options_.steps_limit + random_() % 1'000'000;
      change_at_.resize(options_.deviations);
      for (auto& step : change_at_) step = static_cast<std::uint32_t>(random_() % deepest);
    }
    execute();
    deepest = std::max(1U, result_.deepest);
    if (failed_ || options_.search == Search::replay) break;
    if (options_.search == Search::exhaustive && !next_path()) {
      result_.complete = true;
      break;
    }
    if (result_.executions >= options_.executions) {
      result_.complete = options_.search != Search::exhaustive;
      break;
    }
  }
  if (options_.search == Search::replay) result_.complete = !failed_;
}

// The choices that were not the first one, by number: "12:1 40:2"; nothing at all is "-".
std::string Engine::schedule_text() const {
  std::string text;
  for (const auto& [number, taken] : taken_) {
    if (!text.empty()) text += ' ';
    text += std::to_string(number) + ":" + std::to_string(taken);
  }
  return text.empty() ? "-" : text;
}

void Engine::read_script(const std::string& schedule) {
  script_.clear();
  std::istringstream words(schedule);
  for (std::string word; words >> word;) {
    const std::size_t colon = word.find(':');
    if (colon == std::string::npos) continue;
    std::uint32_t number = 0;
    unsigned taken = 0;
    std::from_chars(word.data(), word.data() + colon, number);
    std::from_chars(word.data() + colon + 1, word.data() + word.size(), taken);
    script_.emplace_back(number, static_cast<std::uint8_t>(taken));
  }
}

bool Engine::script_fails() {
  replayed_ = 0;
  execute();
  return failed_;
}

// Leaves choices out of the failing schedule while it still fails, latest first, until none can
// go; then runs it once more and writes down each step.
void Engine::shorten_and_trace() {
  const std::uint64_t executions = result_.executions;
  const std::uint64_t steps = result_.steps;
  const unsigned deepest = result_.deepest;
  options_.search = Search::replay;
  script_ = taken_;
  for (bool shorter = true; shorter && script_.size() < 200;) {
    shorter = false;
    for (std::size_t i = script_.size(); i-- > 0;) {
      const auto whole = script_;
      script_.erase(script_.begin() + static_cast<std::ptrdiff_t>(i));
      if (script_fails()) {
        script_ = taken_;
        shorter = true;
        i = std::min(i, script_.size());
      } else {
        script_ = whole;
      }
    }
  }
  tracing_ = true;
  script_fails();
  tracing_ = false;
  result_.schedule = schedule_text();
  result_.executions = executions;
  result_.steps = steps;
  result_.deepest = deepest;
}

Result Engine::explore(const Options& options, const std::function<void()>& scenario) {
  options_ = options;
  scenario_ = &scenario;
  result_ = {};
  if (kSeesAll) sight.get_memory();
  finals_.clear();
  sites_.clear();
  seen_sites_ = {};
  const auto begin = std::chrono::steady_clock::now();
  search();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  if (failed_) shorten_and_trace();
  result_.complete = result_.complete && result_.fault == Fault::none;
  result_.final_states = finals_.size();
  result_.seconds = took.count();
  result_.sites.assign(sites_.begin(), sites_.end());
  return result_;
}

}}}  // namespace handoff::HANDOFF_ABI::explore

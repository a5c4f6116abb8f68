// SPDX-License-Identifier: MIT
//
// What the explorer says, and that it says it again: a canary for each verdict, replay, the
// shortest schedule, determinism, random search, deaths, time-outs and wake-ups for no reason.
#include <gtest/gtest.h>
#include <explore/engine/explore.hpp>
#include <handoff/queue/mpmc_ring.hpp>
#include <handoff/sync/internal/allocate.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/internal/park.hpp>
#include <handoff/sync/internal/pause.hpp>
#include <handoff/sync/internal/thread.hpp>

#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <new>
#include <ostream>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace {

using namespace handoff;
using explore::Fault;
using explore::Memory;
using explore::Options;
using explore::Process;
using explore::Result;
using explore::Search;
using explore::Thread;
using sync::order;
using sync::ParkScope;
using Word = sync::atomic<std::uint32_t>;

constexpr order rlx = order::relaxed;
constexpr std::uint32_t all_waiters = ~std::uint32_t{0};

// ---- A canary for each verdict -----------------------------------------------------------------

struct Canary {
  const char* name;
  Fault fault;
  const char* says;  // part of the message
  std::function<void()> program;
};

std::ostream& operator<<(std::ostream& out, const Canary& canary) { return out << canary.name; }

void sleeps_for_ever() {
  Word word(0);
  sync::park(word, 0, sync::no_deadline, ParkScope::process);
}

void waits_in_a_circle() {
  Word word(0);
  while (word.load(rlx) == 0) sync::pause();
}

void writes_at_once() {
  sync::cell<int> data(0);
  Thread other([&] { data.write() = 1; });
  data.write() = 2;
}

void reads_beside_a_write() {
  sync::cell<int> data(0);
  Thread other([&] { data.write() = 1; });
  (void)data.read();
}

void reads_nothing() {
  sync::raw_cell<int> data;
  (void)data.read();
}

void reads_what_is_gone() {
  sync::raw_cell<int> data;
  data.construct(1);
  data.destroy();
  (void)data.read();
}

void* get_memory() { return sync::allocate(sizeof(Word), alignof(Word)); }
void give_back(void* memory) { sync::deallocate(memory, sizeof(Word), alignof(Word)); }

void uses_an_ended_atomic() {
  void* const memory = get_memory();
  Word* const word = std::construct_at(static_cast<Word*>(memory), 0U);
  std::destroy_at(word);
  word->store(1, rlx);
  give_back(memory);
}

void uses_an_atomic_unordered() {
  sync::atomic<Word*> made(nullptr);
  Thread maker([&] { made.store(std::construct_at(static_cast<Word*>(get_memory()), 0U), rlx); });
  Word* word = nullptr;
  while ((word = made.load(rlx)) == nullptr) sync::pause();
  word->store(1, rlx);
}

void ends_an_atomic_in_use() {
  void* const memory = get_memory();
  Word* const word = std::construct_at(static_cast<Word*>(memory), 0U);
  Thread other([&] { word->store(1, rlx); });
  while (word->load(rlx) == 0) sync::pause();
  std::destroy_at(word);
  give_back(memory);
}

void keeps_memory() { (void)get_memory(); }

void gives_back_twice() {
  void* const memory = get_memory();
  give_back(memory);
  give_back(memory);
}

const Canary canaries[] = {
    {"assertion", Fault::assertion, "one is two", [] { explore::check(false, "one is two"); }},
    {"deadlock", Fault::deadlock, "thread 0 sleeps", sleeps_for_ever},
    {"livelock", Fault::livelock, "2000 steps", waits_in_a_circle},
    {"race_of_writes", Fault::race, "writes plain data", writes_at_once},
    {"race_with_a_read", Fault::race, "plain data", reads_beside_a_write},
    {"race_with_a_begin", Fault::race, "uses an atomic", uses_an_atomic_unordered},
    {"race_with_an_end", Fault::race, "an atomic ends", ends_an_atomic_in_use},
    {"uninitialised", Fault::uninitialised, "before it was made", reads_nothing},
    {"uninitialised_again", Fault::uninitialised, "after its end", reads_what_is_gone},
    {"use_after_end", Fault::use_after_end, "after its end", uses_an_ended_atomic},
    {"leak", Fault::leak, "never given back", keeps_memory},
    {"double_free", Fault::double_free, "not in use", gives_back_twice},
    {"exception", Fault::exception, "too bad",
     [] { Thread thread([] { throw std::runtime_error("too bad"); }); }},
};

class CanaryTest : public testing::TestWithParam<Canary> {};

TEST_P(CanaryTest, is_found) {
  const Result result = explore::run({}, GetParam().program);
  EXPECT_EQ(result.fault, GetParam().fault) << result.report();
  EXPECT_NE(result.message.find(GetParam().says), std::string::npos) << result.message;
  EXPECT_FALSE(result.ok());
  EXPECT_FALSE(result.trace.empty());
}

INSTANTIATE_TEST_SUITE_P(Verdicts, CanaryTest, testing::ValuesIn(canaries),
                         [](const auto& row) { return std::string(row.param.name); });

// ---- Programs with one fault -------------------------------------------------------------------

// Two threads add one by a load and a store: wrong after one switch, between the two.
void lost_update() {
  Word sum(0);
  const auto add = [&] { sum.store(sum.load(rlx) + 1, rlx); };
  Thread first(add);
  Thread second(add);
  first.join();
  second.join();
  explore::check(sum.load(rlx) == 2, "both were counted");
}

// A message without an order: wrong after one stale read, with no switch that is not free.
void unordered_message() {
  Word message(0);
  Word flag(0);
  Thread writer([&] {
    message.store(1, rlx);
    flag.store(1, rlx);
  });
  Thread reader([&] {
    if (flag.load(rlx) == 1) explore::check(message.load(rlx) == 1, "the message is there");
  });
}

void looks_and_sleeps() {
  Word flag(0);
  Thread waker([&] {
    flag.store(1, rlx);
    sync::unpark(flag, all_waiters, ParkScope::process);
  });
  Word other(0);  // not the word that the waker changes
  if (flag.load(rlx) == 0) sync::park(other, 0, sync::no_deadline, ParkScope::process);
}

void correct_sum() {
  Word sum(0);
  const auto add = [&] { sum.fetch_add(1, rlx); };
  Thread first(add);
  Thread second(add);
  first.join();
  second.join();
  explore::check(sum.load(rlx) == 2, "both were counted");
}

// "-" stands for none.
std::vector<std::string> choices_of(const std::string& schedule) {
  std::istringstream in(schedule);
  std::vector<std::string> all;
  for (std::string word; in >> word && word != "-";) all.push_back(word);
  return all;
}

Result replay(const std::string& schedule, const std::function<void()>& program) {
  return explore::run({.search = Search::replay, .schedule = schedule}, program);
}

// ---- Replay and shortening ---------------------------------------------------------------------

struct Failing {
  void (*program)();
  unsigned deviations;  // the fewest that make it fail
};
constexpr Failing failing[] = {{lost_update, 1}, {unordered_message, 1}, {looks_and_sleeps, 0}};

TEST(Schedule, replays_100_times) {
  for (const Search search : {Search::exhaustive, Search::random, Search::pct}) {
    for (const Failing& one : failing) {
      const Result found = explore::run({.search = search, .executions = 100'000}, one.program);
      ASSERT_NE(found.fault, Fault::none) << found.report();
      for (int i = 0; i < 100; ++i) {
        const Result again = replay(found.schedule, one.program);
        ASSERT_EQ(again.fault, found.fault) << found.schedule;
        ASSERT_EQ(again.message, found.message);
        ASSERT_EQ(again.trace, found.trace);
      }
    }
  }
}

// With the bound at what the fault needs, the schedule has that many choices and no others, however
// many the execution made.
TEST(Schedule, is_as_short_as_the_fault_allows) {
  for (const Failing& one : failing) {
    const Result found = explore::run({.deviations = one.deviations}, one.program);
    ASSERT_NE(found.fault, Fault::none) << found.report();
    EXPECT_EQ(choices_of(found.schedule).size(), one.deviations) << found.report();
  }
}

// A walk that made many choices is left with those that it takes.
TEST(Schedule, no_choice_can_be_left_out) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Result found = explore::run({.search = Search::random, .seed = seed}, lost_update);
    const auto choices = choices_of(found.schedule);
    EXPECT_LE(choices.size(), 2U) << "seed " << seed << ": " << found.report();
    for (std::size_t left_out = 0; left_out < choices.size(); ++left_out) {
      std::string rest;
      for (std::size_t i = 0; i < choices.size(); ++i) {
        if (i != left_out) rest += choices[i] + " ";
      }
      EXPECT_EQ(replay(rest, lost_update).fault, Fault::none) << "seed " << seed << ": " << rest;
    }
  }
}

TEST(Schedule, of_another_program_does_no_harm) {
  EXPECT_EQ(replay("3:1 9:7 12:250 x 4000000000:1 :", correct_sum).fault, Fault::none);
}

// ---- Search ------------------------------------------------------------------------------------

TEST(Exploration, is_the_same_each_time) {
  for (const Search search : {Search::exhaustive, Search::random, Search::pct}) {
    for (const Memory memory : {Memory::cpp, Memory::x86, Memory::sequential}) {
      const Options options{.search = search,
                            .memory = memory,
                            .executions = search == Search::exhaustive ? 1'000'000U : 500U};
      const Result first = explore::run(options, correct_sum);
      const Result second = explore::run(options, correct_sum);
      EXPECT_TRUE(first.ok()) << first.report();
      EXPECT_EQ(first.executions, second.executions);
      EXPECT_EQ(first.steps, second.steps);
      EXPECT_EQ(first.deepest, second.deepest);
      EXPECT_EQ(first.final_states, second.final_states);
    }
  }
}

TEST(Exploration, says_that_it_was_cut) {
  const Result result = explore::run({.executions = 3}, correct_sum);
  EXPECT_EQ(result.fault, Fault::none);
  EXPECT_EQ(result.executions, 3U);
  EXPECT_FALSE(result.complete);
  EXPECT_FALSE(result.ok());
  EXPECT_NE(result.report().find("cut"), std::string::npos) << result.report();
}

TEST(Exploration, needs_as_many_deviations_as_the_fault) {
  EXPECT_TRUE(explore::run({.deviations = 0}, lost_update).ok());
  EXPECT_EQ(explore::run({.deviations = 1}, lost_update).fault, Fault::assertion);
  EXPECT_TRUE(explore::run({.deviations = 0}, unordered_message).ok());
  EXPECT_EQ(explore::run({.deviations = 1}, unordered_message).fault, Fault::assertion);
}

TEST(Exploration, random_searches_find_a_fault_of_depth_two) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    for (const Search search : {Search::random, Search::pct}) {
      const Result result = explore::run(
          {.search = search, .deviations = 1, .executions = 1000, .seed = seed}, lost_update);
      EXPECT_EQ(result.fault, Fault::assertion) << "seed " << seed;
    }
  }
}

// What program() says in each execution; all of them are well.
using Said = std::multiset<std::string>;
Said all_said(const Options& options, const std::function<std::string()>& program) {
  Said said;
  const Result result = explore::run(options, [&] {
    const std::string word = program();
    const explore::Unwatched unwatched;
    said.insert(word);
  });
  EXPECT_TRUE(result.ok()) << result.report();
  return said;
}
std::set<std::string> once_each(const Said& said) { return {said.begin(), said.end()}; }

// ---- Deaths, time-outs, wake-ups for no reason -------------------------------------------------

const std::set<std::string> kDeaths{"dead 0", "dead 1", "dead 2", "dead 3", "done 3"};

TEST(Exploration, a_process_dies_at_every_step) {
  const Said said = all_said({.deaths = 1}, [] {
    Word progress(0);
    Process process([&] {
      for (std::uint32_t i = 1; i <= 3; ++i) progress.store(i, rlx);
    });
    const bool died = process.wait();
    return (died ? "dead " : "done ") + std::to_string(progress.load(rlx));
  });
  EXPECT_EQ(once_each(said), kDeaths);
}

// All threads of a process go with it: after its end nothing of it moves any more.
TEST(Exploration, a_death_takes_every_thread_of_the_process) {
  const Said said = all_said({.name = "group", .deviations = 3, .deaths = 1}, [] {
    Word progress(0);
    Process process([&] {
      Thread second([&] {
        for (std::uint32_t i = 1; i <= 3; ++i) progress.store(i, rlx);
      });
      second.join();
    });
    const bool died = process.wait();
    const std::uint32_t at_the_end = progress.load(rlx);
    for (int i = 0; i < 3; ++i) {
      sync::pause();
      explore::check(progress.load(rlx) == at_the_end, "a thread outlived its process");
    }
    return (died ? "dead " : "done ") + std::to_string(at_the_end);
  });
  EXPECT_EQ(once_each(said), kDeaths);
}

TEST(Exploration, nobody_dies_without_leave) {
  const Said said = all_said({}, [] {
    Word progress(0);
    Process process([&] { progress.store(1, rlx); });
    return process.wait() ? "dead" : "done";
  });
  EXPECT_EQ(once_each(said), std::set<std::string>{"done"});
}

// A death must not excuse those who would have slept for ever without it.
TEST(Exploration, a_death_hides_no_deadlock) {
  const Result result = explore::run({.deaths = 1}, [] {
    Process process(sleeps_for_ever);
    process.wait();
  });
  EXPECT_EQ(result.fault, Fault::deadlock) << result.report();
}

// A sleeper that another thread wakes; what sleep(word) says.
std::set<std::string> said_by_a_sleeper(const std::function<std::string(Word& word)>& sleep) {
  return once_each(all_said({}, [&] {
    Word word(0);
    Thread waker([&] {
      word.store(1, rlx);
      sync::unpark(word, all_waiters, ParkScope::process);
    });
    return sleep(word);
  }));
}

TEST(Exploration, time_runs_out_early_or_not) {
  const auto said = said_by_a_sleeper([](Word& word) {
    const auto deadline = sync::deadline_after(std::chrono::seconds(1));
    const bool woken = sync::park(word, 0, deadline, ParkScope::process);
    EXPECT_EQ(sync::clock::now() >= deadline, !woken);
    return woken ? "woken" : "timed out";
  });
  EXPECT_EQ(said, (std::set<std::string>{"woken", "timed out"}));
}

TEST(Exploration, a_sleeper_wakes_for_no_reason) {
  const auto said = said_by_a_sleeper([](Word& word) {
    sync::park(word, 0, sync::no_deadline, ParkScope::process);
    return std::to_string(word.load(order::seq_cst));
  });
  EXPECT_EQ(said, (std::set<std::string>{"0", "1"}));
}

// ---- Failures ----------------------------------------------------------------------------------

// "all well", or what failed.
std::string failure_of_three_calls() {
  try {
    {
      const explore::MayFail may_fail;
      sync::deallocate(sync::allocate(8, 8), 8, 8);
      delete new Word(0);
    }
    explore::may_throw("a closure");
    sync::Thread({}, [] {});
  } catch (const std::bad_alloc&) {
    return "memory";
  } catch (const explore::Planned& planned) {
    return planned.what;
  } catch (const std::system_error&) {
    return "thread";
  }
  return "all well";
}

TEST(Exploration, each_call_that_may_fail_does) {
  const Said said = all_said({.deviations = 1, .failures = 1}, failure_of_three_calls);
  EXPECT_EQ(once_each(said), (std::set<std::string>{"all well", "memory", "a closure", "thread"}));
  EXPECT_EQ(said.count("memory"), 2U);  // of both kinds
}

TEST(Exploration, nothing_fails_without_leave) {
  EXPECT_EQ(once_each(all_said({.deviations = 2}, failure_of_three_calls)),
            std::set<std::string>{"all well"});
}

TEST(Exploration, a_thread_that_is_refused_is_no_choice) {
  const Said said = all_said({.deviations = 1}, [] {
    std::string all = failure_of_three_calls();
    {
      const explore::NoThreads refused;
      all += ", " + failure_of_three_calls();
    }
    return all + ", " + failure_of_three_calls();
  });
  EXPECT_EQ(once_each(said), std::set<std::string>{"all well, thread, all well"});
}

// A fault that takes a failure and a switch is found, replayed and as short as that.
TEST(Exploration, a_failure_is_part_of_the_schedule) {
  const auto program = [] {
    Word word(0);
    Thread other([&] { word.store(1, rlx); });
    try {
      explore::may_throw("a closure");
    } catch (const explore::Planned&) {
      explore::check(word.load(rlx) == 0, "the other one comes later");
    }
  };
  const Result found = explore::run({.deviations = 2, .failures = 1}, program);
  ASSERT_EQ(found.fault, Fault::assertion) << found.report();
  EXPECT_EQ(choices_of(found.schedule).size(), 2U) << found.schedule;
  EXPECT_EQ(explore::run({.deviations = 1, .failures = 1}, program).fault, Fault::none);
  for (int i = 0; i < 20; ++i) {
    const Result again = explore::run(
        {.search = Search::replay, .failures = 1, .schedule = found.schedule}, program);
    EXPECT_EQ(again.fault, Fault::assertion);
    EXPECT_EQ(again.trace, found.trace);
  }
}

// The kernel's part of the protocol holds with store buffers too: a store before unpark() and the
// look of park() cannot miss each other.
TEST(Exploration, no_wake_up_is_lost_in_the_kernel) {
  for (const Memory memory : {Memory::cpp, Memory::x86, Memory::sequential}) {
    const Result result = explore::run({.memory = memory, .deviations = 4}, [] {
      Word word(0);
      Thread waker([&] {
        word.store(1, rlx);
        sync::unpark(word, all_waiters, ParkScope::process);
      });
      while (word.load(rlx) == 0) sync::park(word, 0, sync::no_deadline, ParkScope::process);
    });
    EXPECT_TRUE(result.ok()) << result.report();
  }
}

// ---- How many executions that is ---------------------------------------------------------------

void three_threads_of_twenty_steps() {
  Word shared[3] = {Word(0), Word(0), Word(0)};
  const auto body = [&](unsigned me) {
    for (std::uint32_t i = 0; i < 10; ++i) {
      shared[me].store(i, rlx);
      (void)shared[(me + 1) % 3].load(rlx);
    }
  };
  Thread first([&] { body(0); });
  Thread second([&] { body(1); });
  Thread third([&] { body(2); });
}

TEST(Exploration, stale_reads_multiply_the_tree) {
  const auto explored = [](Memory memory) {
    const Result result =
        explore::run({.memory = memory, .executions = 300'000}, three_threads_of_twenty_steps);
    std::printf("3 threads x 20 steps, 2 deviations, %s: %s",
                memory == Memory::cpp ? "cpp" : "sequential", result.report().c_str());
    EXPECT_EQ(result.fault, Fault::none);
    return result.executions;
  };
  EXPECT_GT(explored(Memory::cpp), explored(Memory::sequential));
}

// Two producers and a consumer at one ring.
void two_producers() {
  MpmcRing<std::uint64_t> ring(4);
  const auto push = [&ring](std::uint64_t item) {
    explore::check(ring.try_push(std::move(item)) == Status::ok, "there is a place for each");
  };
  Thread one([&] {
    push(1);
    push(2);
  });
  Thread two([&] {
    push(3);
    push(4);
  });
  std::uint64_t items[4] = {0, 0, 0, 0};
  for (std::uint64_t& item : items) {
    while (ring.try_pop(item) != Status::ok) sync::pause();
  }
  ring.close();
  explore::check(ring.try_pop(items[0]) == Status::closed, "nothing is left");
  explore::check(items[0] + items[1] + items[2] + items[3] == 10, "each item once");
  explore::outcome(items[0] * 100 + items[1] * 10 + items[2]);
}

// What a proof costs, in steps. A change that makes the search larger or smaller is seen here, one
// of the ring too; these are the numbers of 2026-11-29.
TEST(Exploration, takes_so_many_steps) {
  const Result result = explore::run({.deviations = 2}, two_producers);
  EXPECT_TRUE(result.ok()) << result.report();
  EXPECT_EQ(result.final_states, 6U);  // orders in which the items may come
  EXPECT_EQ(result.executions, 5165U);
  EXPECT_EQ(result.steps, 289'335U);
}

TEST(Exploration, tells_its_speed) {
  const Result result = explore::run({.search = Search::random, .executions = 50'000}, [] {
    Word flag(0);
    sync::cell<std::uint32_t> data(0);
    Thread producer([&] {
      for (std::uint32_t i = 0; i < 12; ++i) {
        while (flag.load(order::acquire) % 2 == 1) sync::pause();
        data.write() = i;
        flag.fetch_add(1, order::release);
      }
    });
    for (std::uint32_t i = 0; i < 12; ++i) {
      while (flag.load(order::acquire) % 2 == 0) sync::pause();
      explore::check(data.read() == i, "each in turn");
      flag.fetch_add(1, order::release);
    }
  });
  EXPECT_TRUE(result.ok()) << result.report();
  std::printf("%llu steps an execution: %s",
              static_cast<unsigned long long>(result.steps / result.executions),
              result.report().c_str());
}

}  // namespace

// SPDX-License-Identifier: MIT
//
// The recorder's parts: which two ends belong together, texts, and the clock.
#include <handoff/core/internal/type_name.hpp>
#include <handoff/probe/internal/hook.hpp>
#include <handoff/sync/internal/this_thread.hpp>

#include "support/test.hpp"
#include "trace/address_table.hpp"
#include "trace/event.hpp"
#include "trace/hand_overs.hpp"
#include "trace/name_texts.hpp"
#include "trace/thread_times.hpp"
#include "trace/ticks.hpp"
#include "trace/trace_lines.hpp"

namespace {

using namespace handoff;
using probe::Kind;
using trace::HandOvers;

constexpr std::uint64_t kHere = 0x1000;
constexpr std::uint64_t kThere = 0x2000;

void expect_between(const std::optional<trace::HandOver>& hand, std::int32_t from,
                    std::int32_t to) {
  ASSERT_TRUE(hand.has_value());
  if (!hand) return;
  EXPECT_EQ(hand->from.thread, from);
  EXPECT_EQ(hand->to.thread, to);
  EXPECT_LE(hand->from.when, hand->to.when);
}

TEST(HandOvers, PutsBothEndsTogether) {
  HandOvers hands;
  EXPECT_FALSE(hands.hand(Kind::task, kHere, {1, 10}));
  EXPECT_EQ(hands.under_way(Kind::task), 1U);
  EXPECT_EQ(hands.under_way(Kind::event), 0U);
  expect_between(hands.take(Kind::task, kHere, {2, 20}), 1, 2);
  EXPECT_EQ(hands.under_way(Kind::task), 0U);
  EXPECT_FALSE(hands.take(Kind::task, kHere, {2, 30}));  // once
  EXPECT_EQ(hands.open(), 0U);
}

TEST(HandOvers, FollowsWhatMoves) {
  HandOvers hands;
  EXPECT_FALSE(hands.hand(Kind::task, kHere, {1, 10}));
  hands.move(Kind::task, kHere, kThere, {2, 20});
  EXPECT_FALSE(hands.hand(Kind::task, kHere, {3, 30}));  // the place is used again
  EXPECT_EQ(hands.under_way(Kind::task), 2U);
  expect_between(hands.take(Kind::task, kThere, {4, 40}), 1, 4);
  expect_between(hands.take(Kind::task, kHere, {5, 50}), 3, 5);
}

TEST(HandOvers, TakesWhatSeemsToComeFirst) {
  HandOvers hands;
  EXPECT_FALSE(hands.take(Kind::task, kHere, {2, 95}));
  expect_between(hands.hand(Kind::task, kHere, {1, 100}), 1, 2);
  hands.move(Kind::task, kHere, kThere, {2, 195});
  EXPECT_FALSE(hands.take(Kind::task, kThere, {3, 197}));
  expect_between(hands.hand(Kind::task, kHere, {1, 200}), 1, 3);
  EXPECT_EQ(hands.open(), 0U);
}

TEST(HandOvers, DoesNotPutTogetherWhatIsLongAgo) {
  HandOvers hands;
  EXPECT_FALSE(hands.take(Kind::task, kHere, {2, 0}));
  EXPECT_FALSE(hands.hand(Kind::task, kHere, {1, HandOvers::kSlack + 1}));
  EXPECT_EQ(hands.under_way(Kind::task), 1U);
  hands.move(Kind::task, kThere, kHere, {2, 0});
  EXPECT_FALSE(hands.hand(Kind::task, kThere, {1, HandOvers::kSlack + 1}));
  EXPECT_EQ(hands.under_way(Kind::task), 2U);
}

TEST(HandOvers, CountsWhatIsLost) {
  HandOvers hands;
  EXPECT_FALSE(hands.hand(Kind::task, kHere, {1, 10}));
  EXPECT_FALSE(hands.hand(Kind::task, kHere, {1, 20}));  // the first was taken, which was dropped
  EXPECT_EQ(hands.under_way(Kind::task), 1U);
  EXPECT_EQ(hands.open(), 2U);
  EXPECT_FALSE(hands.hand(Kind::task, kThere, {1, 30}));
  hands.move(Kind::task, kHere, kThere, {2, 40});
  EXPECT_EQ(hands.under_way(Kind::task), 1U);
  EXPECT_EQ(hands.open(), 3U);
  hands.share(kThere, {1, 50});
  EXPECT_EQ(hands.under_way(Kind::task), 0U);
}

TEST(HandOvers, ForgetsWhatIsBegunByNone) {
  HandOvers hands;
  hands.forget(kHere);
  EXPECT_FALSE(hands.hand(Kind::event, kHere, {1, 10}));
  EXPECT_FALSE(hands.hand(Kind::event, kThere, {1, 20}));
  hands.forget(kHere);
  hands.forget(kHere);
  EXPECT_EQ(hands.under_way(Kind::event), 1U);
  EXPECT_FALSE(hands.take(Kind::event, kHere, {2, 30}));
  hands.share(kHere, {1, 40});
  hands.forget(kHere);
  expect_between(hands.take(Kind::loop, kHere, {2, 50}), 1, 2);
}

// As a map of the standard's, whatever comes and goes.
TEST(AddressTable, IsAMap) {
  trace::AddressTable<int> table;
  std::map<std::uint64_t, int> model;
  EXPECT_EQ(table.find(7), nullptr);
  auto random = test::random();
  for (int step = 0; step < 20'000; ++step) {
    const std::uint64_t address = random() % 300 * 64;
    const auto known = model.find(address);
    int* const at = table.find(address);
    ASSERT_EQ(at != nullptr, known != model.end());
    ASSERT_TRUE(at == nullptr || *at == known->second);
    if (random() % 2 == 0) {
      const auto [place, is_new] = table.try_emplace(address, step);
      ASSERT_EQ(is_new, model.try_emplace(address, step).second);
      ASSERT_EQ(*place, model[address]);
    } else if (at != nullptr) {
      table.erase(address);
      model.erase(address);
    }
  }
}

TEST(HandOvers, SharesToSeveral) {
  HandOvers hands;
  hands.share(kHere, {1, 10, true});
  const auto first = hands.take(Kind::loop, kHere, {2, 20});
  expect_between(first, 1, 2);
  const auto second = hands.take(Kind::loop, kHere, {3, 30});
  expect_between(second, 1, 3);
  EXPECT_TRUE(first && first->from.is_outside && second && !second->from.is_outside);
  EXPECT_EQ(hands.open(), 0U);
}

TEST(HandOvers, KnowsWhatIsInNoSlice) {
  HandOvers hands;
  EXPECT_FALSE(hands.hand(Kind::task, kHere, {1, 10, true}));
  const auto outside = hands.take(Kind::task, kHere, {2, 20});
  EXPECT_TRUE(outside && outside->from.is_outside);
  EXPECT_FALSE(hands.hand(Kind::task, kHere, {1, 30, false}));
  const auto inside = hands.take(Kind::task, kHere, {2, 40});
  EXPECT_TRUE(inside && !inside->from.is_outside);
  // What is set back in time leaves the slice that it was in.
  EXPECT_FALSE(hands.take(Kind::task, kHere, {2, 50}));
  const auto set_back = hands.hand(Kind::task, kHere, {1, 60, false});
  EXPECT_TRUE(set_back && set_back->from.is_outside && set_back->from.when == 50);
}

TEST(Event, KeepsWhatItIsGiven) {
  const int what = 0;
  const trace::Event event = trace::Event::of(1000, probe::Mark::moment, Kind::wake, "name", &what);
  EXPECT_FALSE(event.is_text());
  EXPECT_EQ(event.mark(), probe::Mark::moment);
  EXPECT_EQ(event.kind(), Kind::wake);
  EXPECT_EQ(event.ticks_since(900), 100);
  EXPECT_EQ(event.ticks_since(1100), -100);
  // A clock beyond the bits that are kept.
  constexpr std::uint64_t late = (std::uint64_t{1} << 60U) - 5;
  EXPECT_EQ(
      trace::Event::of(late + 10, probe::Mark::end, Kind::task, nullptr, nullptr).ticks_since(late),
      10);
  EXPECT_TRUE(trace::Event::of_text(5, 1, 2).is_text());
  EXPECT_TRUE(trace::Event::of_gap(5).is_gap());
  EXPECT_FALSE(event.is_gap());
  const trace::Event times = trace::Event::of_times(5, {7, 9});
  EXPECT_TRUE(times.is_times());
  EXPECT_EQ(times.times().cpu, 7U);
  EXPECT_EQ(times.times().ready, 9U);
  EXPECT_FALSE(event.is_times());
}

TEST(ThreadTimes, AreThoseOfAThreadOfThisProcess) {
  const std::int32_t here = sync::this_kernel_thread();
  const auto before = trace::times_of(here);
  ASSERT_TRUE(before.has_value());
  for (auto now = before; now && now->cpu == before->cpu;) now = trace::times_of(here);
  errno = 7;
  EXPECT_FALSE(trace::times_of(-1).has_value());
  EXPECT_FALSE(trace::times_of(1).has_value() && ::getpid() != 1);  // another process's
  EXPECT_EQ(errno, 7);
}

TEST(TraceTexts, AreJson) {
  EXPECT_EQ(trace::in_json("plain"), "plain");
  EXPECT_EQ(trace::in_json("a \"b\" \\ \n"), "a \\\"b\\\" \\\\ \\u000a");
  const std::string good = "\xC3\xA9 \xE4\xBA\xA4 \xF0\x9F\x98\x80";
  EXPECT_EQ(trace::in_json(good), good);
  for (const char* const bad : {"\x80", "\xC0\x80", "\xC3", "\xE0\x80\x80", "\xED\xA0\x80",
                                "\xF0\x80\x80\x80", "\xF4\x90\x80\x80", "\xFF", "\xE4\xBA"}) {
    const std::string text = trace::in_json(std::string("<") + bad + ">");
    EXPECT_EQ(text, "<>") << bad;
  }
}

TEST(TraceTexts, AreCutToTheName) {
  const auto function = [] {};
  const std::string name(trace::spoken(detail::type_name<decltype(function)>()));
  EXPECT_EQ(name.find("type_name"), std::string::npos) << name;
  EXPECT_NE(name.find("lambda"), std::string::npos) << name;
  EXPECT_EQ(trace::spoken("redraw"), "redraw");
  EXPECT_EQ(trace::spoken("f() [with F = g::<lambda()>; x = y]"), "g::<lambda()>");
  EXPECT_EQ(trace::spoken(std::string(500, 'x')).size(), 120U);
}

std::uint64_t address(const char* text) { return reinterpret_cast<std::uintptr_t>(text); }

TEST(NameTexts, AreReadOnce) {
  trace::NameTexts names;
  EXPECT_EQ(names.of(0, "task"), "task");
  EXPECT_EQ(names.of(address("redraw \"all\""), "task"), "redraw \\\"all\\\"");
  EXPECT_EQ(names.of(address(""), "task"), "task");
  std::string changes = "before";
  EXPECT_EQ(names.of(address(changes.c_str()), "task"), "before");
  changes.replace(0, 6, "behind");
  EXPECT_EQ(names.of(address(changes.c_str()), "task"), "before");
}

TEST(NameTexts, SurviveWhatIsGone) {
  constexpr std::size_t bytes = 1U << 16U;
  void* const place = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(place, MAP_FAILED);
  ::munmap(place, bytes);
  trace::NameTexts names;
  EXPECT_EQ(names.of(reinterpret_cast<std::uintptr_t>(place) + 100, "task"), "task");
}

TEST(Ticks, AreNanosecondsInTheEnd) {
  for (const bool by_cycles : {false, trace::cycles_are_even()}) {
    trace::TickRate rate(by_cycles);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    rate.measure();
    rate.measure();  // once
    const auto ticks = static_cast<std::int64_t>(rate.now() - rate.start());
    const std::int64_t passed = rate.nanoseconds(ticks);
    EXPECT_GE(passed, 2'000'000);
    EXPECT_LE(passed, rate.age().count() + 1'000'000);
    EXPECT_EQ(rate.nanoseconds(0), 0);
  }
}

}  // namespace

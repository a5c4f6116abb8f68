// SPDX-License-Identifier: MIT
// What is read of a trace, whatever its layout, and the one line for each bad one.
#include "events_in.hpp"
#include "harness/user_error.hpp"
#include "replay/chrome_events.hpp"
#include "support/test.hpp"
#include "tracing/usage.hpp"

namespace handoff::lab::tracing { namespace {

const std::string kLine = R"({"ph":"X","cat":"task","name":"a","pid":1,"tid":2,"ts":1.5,"dur":2})";

bool is_read_as_a_line(const std::string& text, bool comma_follows = false) {
  replay::ChromeEvent event;
  bool comma = false;
  return replay::read_line(text, event, comma) && comma == comma_follows;
}

TEST(ChromeLine, HasTheFieldsOfAnEvent) {
  replay::ChromeEvent event;
  bool comma = false;
  ASSERT_TRUE(replay::read_line(
      R"({"ph":"C", "id":"0x7", "name" : "q", "ts":-1.5,"args":{"depth":7,"name":"n"} } ,)", event,
      comma));
  EXPECT_TRUE(comma);
  EXPECT_EQ(event.phase(), 'C');
  EXPECT_EQ(event.at(replay::Field::id), "0x7");
  EXPECT_EQ(event.at(replay::Field::name), "q");
  EXPECT_EQ(event.at(replay::Field::time), "-1.5");
  EXPECT_EQ(event.at(replay::Field::value), "7");
  EXPECT_EQ(event.at(replay::Field::given_name), "n");
  EXPECT_EQ(event.at(replay::Field::thread), "");
}

TEST(ChromeLine, LeavesTheRestOfJsonToAParser) {
  EXPECT_TRUE(is_read_as_a_line(kLine));
  EXPECT_TRUE(is_read_as_a_line(kLine + ",", true));
  EXPECT_TRUE(is_read_as_a_line("{}"));
  EXPECT_TRUE(is_read_as_a_line(R"({"args":{}})"));
  for (const char* other : {"",
                            "]",
                            "[",
                            "1",
                            "{",
                            "{}}",
                            "{},{}",
                            "{} x",
                            R"({"a"})",
                            R"({"a":})",
                            R"({"a":1,})",
                            R"({"a":"\n"})",
                            "{\"a\":\"\xc3\xa9\"}",
                            R"({"a":true})",
                            R"({"a":[1]})",
                            R"({"a":{"b":1}})",
                            R"({"args":{"a":{}}})",
                            R"({"args":{"a":1,}})",
                            R"({"args":1})",
                            R"({"a":1e3})",
                            R"({"a":01})",
                            R"({"a":1.})",
                            R"({"a":-})",
                            R"({"a":.5})",
                            R"({"a":"x})",
                            "{\"a\":\"\t\"}",
                            R"({a:1})"}) {
    EXPECT_FALSE(is_read_as_a_line(other)) << other;
  }
}

TEST(Recording, LeavesOutWhatOnlyEnds) {
  const Recording recording = recording_in(
      "[\n{\"ph\":\"E\",\"ts\":1},\n{\"ph\":\"B\",\"ts\":2},\n{\"ph\":\"E\",\"ts\":3}\n]");
  EXPECT_EQ(recording.unbegun, 1U);
  EXPECT_EQ(recording.lanes[0].size(), 1U);
}

TEST(Recording, KnowsWhatTheKernelCounts) {
  const Recording recording =
      recording_in(whole(cpus(4) + counted(1, 10, 20) + counted(1, 1, 2) + slice(1, "a", 0, 9)));
  EXPECT_EQ(recording.cpus, 4U);
  ASSERT_TRUE(recording.lanes[0].times);
  EXPECT_EQ(recording.lanes[0].times->cpu_ns, 11'000U);
  EXPECT_EQ(recording.lanes[0].times->ready_ns, 22'000U);
}

// The parts of a thread's time, in us: on a CPU, ready, for room, asleep, other.
std::string parts_of(const std::string& lines) {
  const Recording recording = recording_in(whole(lines));
  const Usage usage = usage_of(recording);
  const LaneUsage& lane = usage.lanes[0];
  EXPECT_EQ(lane.on_cpu_ns + lane.ready_ns + lane.for_room_ns + lane.slept_ns + lane.other_ns,
            recording.wall_ns());
  return fmt::format("{} {} {} {} {}{}", lane.on_cpu_ns / 1000, lane.ready_ns / 1000,
                     lane.for_room_ns / 1000, lane.slept_ns / 1000, lane.other_ns / 1000,
                     lane.is_counted ? "" : ", not counted");
}

TEST(Usage, DividesTheTimeOfAThread) {
  const std::string lines = slice(1, "a", 0, 100) + asleep(1, "wait", 10, 20) +
                            asleep(1, "full", 20, 35) + spun(1, "full", 35, 40);
  EXPECT_EQ(parts_of(lines), "0 0 20 10 70, not counted");
  EXPECT_EQ(parts_of(lines + counted(1, 40, 25)), "40 25 20 10 5");
  // A wait for room that does not sleep is none of the program's own code.
  EXPECT_EQ(parts_of(slice(1, "a", 0, 4) + spun(1, "full", 4, 644) + counted(1, 4, 640)),
            "4 0 640 0 0");
  // The kernel's counts reach into waits.
  EXPECT_EQ(parts_of(lines + counted(1, 60, 40)), "60 10 20 10 0");
  // A spin for another cause is no sleep.
  EXPECT_EQ(parts_of(slice(1, "a", 0, 50) + spun(1, "wait", 50, 100) + counted(1, 90, 10)),
            "90 10 0 0 0");
}

TEST(Recording, IsTheSameInAnyLayout) {
  const std::string lines[] = {named(2, "main"),        slice(2, "a", 0, 10),
                               asleep(2, "wait", 2, 5), hand_over(7, 2, 1, 3, 4),
                               slice(3, "b", 4, 6),     tally(5, 1, 2)};
  std::string own = "[\n";
  for (const std::string& line : lines) own += line;
  own += "]\n";
  std::string one_line = own;
  std::erase(one_line, '\n');
  std::string spread;
  for (const char c : own) {
    spread += c;
    if (c == ',') spread += '\n';
  }
  const std::size_t letter = own.find("ain\"");
  const std::string escaped = own.substr(0, letter) + "\\u0061" + own.substr(letter + 1);
  const std::string object = "{\"traceEvents\":" + own.substr(0, own.size() - 1) + ",\"x\":1}";
  const std::string object_lines = "{\"traceEvents\":[\n" + own.substr(2, own.size() - 3) + "}\n";
  for (const std::string& text :
       {own, one_line, spread, escaped, object, object_lines, "\n" + own, "\xef\xbb\xbf" + own}) {
    const Recording recording = recording_in(text);
    EXPECT_EQ(recording.events, 7U) << text;
    ASSERT_EQ(recording.lanes.size(), 2U) << text;
    EXPECT_EQ(recording.lanes[0].name, "main") << text;
    ASSERT_EQ(recording.lanes[0].size(), 2U) << text;
    EXPECT_EQ(recording.lanes[0].at(0).end_ns, 10'000U) << text;
    EXPECT_EQ(recording.names.kind(recording.lanes[0].at(1).name), SliceKind::wait) << text;
    ASSERT_EQ(recording.hands.size(), 1U) << text;
    EXPECT_EQ(recording.hands.all()[0].from_ns(), 1000U) << text;
    ASSERT_TRUE(recording.tally.has_value()) << text;
    EXPECT_EQ(recording.tally.value_or(TraceTally{}).dropped, 1U) << text;
    EXPECT_TRUE(recording.closed) << text;
    EXPECT_EQ(recording.wall_ns(), 10'000U) << text;
  }
}

TEST(Recording, OfAKilledProgramOpens) {
  const std::string lines = "[\n" + slice(1, "a", 0, 5) + slice(1, "b", 5, 9);
  for (const std::string& end : {std::string(), std::string("{\"ph\":\"X\",\"ts\":1"),
                                 std::string("{"), std::string("{\"ph\":\"X\",\"na")}) {
    const Recording recording = recording_in(lines + end);
    EXPECT_EQ(recording.events, 2U);
    EXPECT_FALSE(recording.closed);
    EXPECT_EQ(recording.torn, !end.empty());
    EXPECT_FALSE(recording.tally.has_value());
  }
}

TEST(Recording, HasPairsOfBAndEAndStepsOfAFlow) {
  const Recording recording = recording_in(
      "[{\"ph\":\"B\",\"name\":\"a\",\"ts\":1},{\"ph\":\"B\",\"name\":\"b\",\"ts\":2},\n"
      "{\"ph\":\"E\",\"ts\":3},{\"ph\":\"E\",\"ts\":9},{\"ph\":\"B\",\"name\":\"c\",\"ts\":9},\n"
      "{\"ph\":\"s\",\"id\":1,\"ts\":1},{\"ph\":\"s\",\"id\":2,\"ts\":2},\n"
      "{\"ph\":\"t\",\"id\":1,\"tid\":8,\"ts\":4},{\"ph\":\"f\",\"id\":1,\"ts\":5},\n"
      "{\"ph\":\"f\",\"id\":3,\"ts\":5},{\"ph\":\"s\",\"id\":4,\"ts\":5},\n"
      "{\"ph\":\"f\",\"id\":4,\"ts\":4}]");
  ASSERT_EQ(recording.lanes.size(), 2U);
  ASSERT_EQ(recording.lanes[0].size(), 2U);
  EXPECT_EQ(recording.lanes[0].at(0).end_ns, 9000U);
  EXPECT_EQ(recording.unended, 1U);
  EXPECT_EQ(recording.hands.size(), 2U);
  EXPECT_EQ(recording.one_ended, 3U);  // 2 and 3 have one end, 4 goes back in time
}

TEST(Recording, LeavesOutWhatOnlyHoldsAnArrow) {
  const Recording recording =
      recording_in(whole(slice(1, "hand over", 1, 2, "hand") + slice(1, "a", 3, 4)));
  ASSERT_EQ(recording.lanes.size(), 1U);
  EXPECT_EQ(recording.lanes[0].size(), 1U);
  const Usage usage = usage_of(recording);
  ASSERT_EQ(usage.names.size(), 1U);
  EXPECT_EQ(usage.names[0].name, "a");
  EXPECT_EQ(usage.lanes[0].busy_ns, 1000U);
}

TEST(Recording, KeepsLongSlicesAndTimesFarFromZero) {
  const Recording recording = recording_in(
      "[{\"ph\":\"X\",\"ts\":1e12,\"dur\":7000000},{\"ph\":\"X\",\"ts\":1.000001e12,\"dur\":1}]");
  EXPECT_EQ(recording.lanes[0].at(0).end_ns - recording.lanes[0].at(0).start_ns, 7'000'000'000U);
  EXPECT_EQ(recording.wall_ns(), 7'000'000'000U);
}

TEST(Recording, NamesThreadsApart) {
  const Recording recording = recording_in(
      "[{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"p\"}},\n" +
      named(1, "w") + named(2, "w") +
      "{\"ph\":\"i\",\"pid\":2,\"tid\":3,\"ts\":1,\"name\":\"steal\"}]");
  const std::vector<std::string> names{"p[1] w (1)", "p[1] w (2)", "process[2] thread 3"};
  EXPECT_EQ(recording.lane_names(), names);
  EXPECT_EQ(recording.instants.at("steal"), 1U);
}

testing::AssertionResult is_refused(const std::string& text, const std::string& words) {
  const TextFile file(text);
  try {
    static_cast<void>(read_recording(file.path()));
  } catch (const UserError& error) {
    const std::string what = error.what();
    const bool one_line = what.find('\n') == std::string::npos;
    if (one_line && what.starts_with(file.path().string()) &&
        what.find(words) != std::string::npos) {
      return testing::AssertionSuccess();
    }
    return testing::AssertionFailure() << what;
  }
  return testing::AssertionFailure() << "it was read";
}

TEST(Recording, SaysWhatIsWrong) {
  EXPECT_TRUE(is_refused("", " is empty"));
  EXPECT_TRUE(
      is_refused("\x7f"
                 "ELF\n",
                 " is no trace: it begins with '?ELF?'"));
  EXPECT_TRUE(is_refused("[]", " has no events"));
  EXPECT_TRUE(is_refused("{\"a\":1}", " has no events"));
  EXPECT_TRUE(is_refused("[\n" + kLine + "\n" + kLine + "\n]", ", line 3: is no JSON"));
  EXPECT_TRUE(is_refused("[\n" + kLine + ",\n,\n]", ", line 3: is no JSON"));
  EXPECT_TRUE(is_refused("[\n" + kLine + "\n]x", ", line 3: is no JSON"));
  EXPECT_TRUE(is_refused("[\n" + kLine + ",\n{\"ph\":x},\n", ", line 3: is no JSON"));
  EXPECT_TRUE(is_refused("[\n" + kLine + ",\n7,\n", ", line 3: an event is no object"));
  EXPECT_TRUE(
      is_refused("[\n{\"ph\":\"X\",\"ts\":1}]", ", line 2: an event of phase X has no dur"));
  EXPECT_TRUE(
      is_refused("[\n{\"ph\":\"X\",\"dur\":1}]", ", line 2: an event of phase X has no ts"));
  EXPECT_TRUE(is_refused("[\n{\"ph\":\"i\",\"ts\":-1}\n]", ", line 2: ts '-1' is negative"));
  EXPECT_TRUE(is_refused("[\n{\"ph\":\"i\",\"ts\":1},\n{\"ph\":\"i\",\"ts\":1e12}\n]",
                         ", line 3: its ts is days away"));
  EXPECT_TRUE(is_refused("[\n{\"ph\":\"X\",\"ts\":1,\"dur\":1e12}\n]", ", line 2: lasts for days"));
  EXPECT_TRUE(is_refused("[{\"ph\":\"B\",\"ts\":2},\n{\"ph\":\"E\",\"ts\":1}\n]",
                         ", line 2: ends a span before it starts"));
  EXPECT_TRUE(
      is_refused("[\n{\"ph\":\"M\",\"name\":\"handoff_tally\",\"args\":{\"dropped\":\"x\"}}\n]",
                 ", line 2: the argument 'x' is no number"));
  EXPECT_THROW(static_cast<void>(read_recording("/nowhere/at.all")), UserError);
}

TEST(Recording, HasItsLimits) {
  std::string threads = "[\n";
  for (int i = 0; i < 10'001; ++i) threads += slice(i, "a", 0, 1);
  EXPECT_TRUE(is_refused(threads, ", line 10002: there are more than 10000 threads"));
  std::string nested = "[\n";
  for (int i = 0; i < 10'001; ++i) nested += "{\"ph\":\"B\",\"ts\":1},\n";
  EXPECT_TRUE(is_refused(nested, ", line 10002: more than 10000 spans"));
  std::string names = "[\n";
  for (std::uint32_t i = 0; i < Names::most + 9; ++i) {
    names += slice(1, fmt::format("n{}", i), static_cast<int>(i), static_cast<int>(i) + 1);
  }
  const Recording recording = recording_in(names);
  EXPECT_EQ(recording.names.size(), Names::most);
  const Usage usage = usage_of(recording);
  EXPECT_EQ(usage.names.front().count, 10U);  // those beyond share one name
  EXPECT_EQ(usage.names_left_out, Names::most - Usage::most_names);
}

TEST(Usage, IsOwnTimeByNameAndSleepByCause) {
  const Recording recording = recording_in(
      whole(slice(1, "inner", 20, 30) + asleep(1, "io", 40, 45) + slice(1, "outer", 10, 60) +
            asleep(1, "idle", 60, 70) + slice(2, "inner", 0, 40) + slice(2, "helps", 62, 64) +
            asleep(2, "wait", 60, 70) + asleep(2, "nap", 70, 71)));
  const Usage usage = usage_of(recording);
  ASSERT_EQ(usage.lanes.size(), 2U);
  EXPECT_EQ(usage.lanes[0].busy_ns, 45'000U);
  EXPECT_EQ(usage.lanes[0].asleep_ns[cause_of(SliceKind::io)], 5000U);
  EXPECT_EQ(usage.lanes[0].asleep_ns[cause_of(SliceKind::idle)], 10'000U);
  EXPECT_EQ(usage.lanes[0].slices, 2U);
  EXPECT_EQ(usage.lanes[1].asleep_ns[cause_of(SliceKind::wait)], 8000U);  // it helped meanwhile
  EXPECT_EQ(usage.lanes[1].asleep_ns[cause_of(SliceKind::other_sleep)], 1000U);
  EXPECT_EQ(usage.lanes[1].all_asleep_ns(), 9000U);
  ASSERT_EQ(usage.names.size(), 3U);
  EXPECT_EQ(usage.names[0].name, "inner");
  EXPECT_EQ(usage.names[0].count, 2U);
  EXPECT_EQ(usage.names[0].own_ns, 50'000U);
  EXPECT_EQ(usage.names[0].p99_ns, 40'000U);
  EXPECT_EQ(usage.names[1].name, "outer");
  EXPECT_EQ(usage.names[1].own_ns, 35'000U);
}

TEST(Usage, CutsWhatReachesOutOfTheSliceAroundIt) {
  const Recording recording = recording_in(whole(slice(1, "a", 0, 10) + slice(1, "b", 5, 15)));
  EXPECT_EQ(usage_of(recording).lanes[0].busy_ns, 10'000U);
}

}}  // namespace handoff::lab::tracing

// SPDX-License-Identifier: MIT
// The readers of traces: what they make of good ones, and the one line for each bad one.
#include <fmt/format.h>

#include "harness/user_error.hpp"
#include "replay/load.hpp"
#include "replay/read_trace.hpp"
#include "scenarios/replay/scenario.hpp"
#include "texts.hpp"

namespace handoff::lab::replay { namespace {

Trace trace_in(const std::string& text) { return read_trace(TextFile(text).path()); }

// What is wrong, behind the name of the file; empty: nothing is.
std::string fault_in(const std::string& text) {
  const TextFile file(text);
  try {
    static_cast<void>(read_trace(file.path()));
  } catch (const UserError& error) {
    const std::string what = error.what();
    EXPECT_EQ(what.find('\n'), std::string::npos) << what;
    EXPECT_TRUE(what.starts_with(file.path().string())) << what;
    return what.substr(file.path().string().size());
  }
  return "";
}

testing::AssertionResult fails(const std::string& text, const std::string& words) {
  const std::string fault = fault_in(text);
  if (!fault.empty() && fault.find(words) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "'" << fault << "' is not about '" << words << "'";
}

const std::string kNinja = "# ninja log v6\n";
const std::string kEvents = "[\n";

TEST(NinjaLog, HasAPieceForEachCommandOfTheLastBuild) {
  const Trace trace = trace_in(kNinja +
                               "5\t25\t0\told.o\taa\n"
                               "10\t30\t0\ta.o\taa\n10\t30\t0\ta.d\taa\n"
                               "40\t45\t0\told.o\tcc\r\n\n");
  ASSERT_EQ(trace.pieces.size(), 2U);
  EXPECT_EQ(trace.pieces[0].duration_ns, 20'000'000U);
  EXPECT_EQ(trace.pieces[1].start_ns, 30'000'000U);
  EXPECT_EQ(trace.pieces[1].line, 5U);
  EXPECT_TRUE(trace.edges.empty());
  EXPECT_FALSE(trace.starts_are_arrivals);
}

TEST(NinjaLog, MayHaveATornLastLine) {
  const std::string whole = kNinja + "5\t25\t0\ta.o\taa\n";
  for (const char* const torn : {"1", "10\t", "10\t30\t0\tb", "30\t2"}) {
    const Trace trace = trace_in(whole + torn);
    EXPECT_EQ(trace.pieces.size(), 1U) << torn;
    EXPECT_EQ(trace.notes.front(), "the last line is torn: it is left out") << torn;
  }
  EXPECT_EQ(trace_in(whole + "10\t30\t0\tb.o\tbb").pieces.size(), 2U);
  EXPECT_TRUE(fails(whole + "10\t30\n", ", line 3: has 2 fields"));
}

TEST(NinjaLog, SaysWhichLineIsWrong) {
  EXPECT_TRUE(fails("# ninja log v4\n", ", line 1: '# ninja log v4': versions 5, 6 and 7"));
  EXPECT_TRUE(fails(kNinja, "has no pieces"));
  EXPECT_TRUE(fails(kNinja + "1\t2\t0\ta\n", ", line 2: has 4 fields"));
  EXPECT_TRUE(fails(kNinja + "1\t2\t0\ta\tb\n7\t2\t0\tc\td\n", ", line 3: ends before it starts"));
  EXPECT_TRUE(fails(kNinja + "-1\t2\t0\ta\tb\n", ", line 2: start '-1' is negative"));
  EXPECT_TRUE(fails(kNinja + "1\tx\t0\ta\tb\n", ", line 2: end 'x' is no number"));
  EXPECT_TRUE(fails(kNinja + "1\t99999999999999\t0\ta\tb\n", "is too large"));
  EXPECT_TRUE(fails(kNinja + "1\t1\t0\ta\tb\n", "last 0"));
}

TEST(Csv, HasColumnsInAnyOrderAndUnits) {
  const Trace trace = trace_in(
      "\xef\xbb\xbfkind, Duration_ms ,key,start_s,bytes,parent\r\n"
      "# a comment\n"
      "\"a, \"\"b\"\"\",1.5,k,2,100,\n"
      "c,2,,1e0,,\n"
      "d,1,k,3,5,1;2\n");
  ASSERT_EQ(trace.pieces.size(), 3U);
  EXPECT_EQ(trace.pieces[0].line, 4U);
  EXPECT_EQ(trace.pieces[0].duration_ns, 2'000'000U);
  EXPECT_EQ(trace.pieces[1].duration_ns, 1'500'000U);
  EXPECT_EQ(trace.pieces[1].start_ns, 1'000'000'000U);
  EXPECT_EQ(trace.bytes, 105U);
  const std::vector<Edge> edges{{0, 2}, {1, 2}};  // that of the key is one of the parents'
  EXPECT_EQ(trace.edges, edges);
}

TEST(Csv, CountsInMicrosecondsAndNeedsADurationOnly) {
  const Trace trace = trace_in("duration\n7\n0.25\n");
  EXPECT_FALSE(trace.has_starts);
  EXPECT_EQ(trace.pieces[0].duration_ns, 7000U);
  EXPECT_EQ(trace.pieces[1].duration_ns, 250U);
}

TEST(Csv, SaysWhichLineIsWrong) {
  const std::string head = "start,duration,key,parent\n";
  EXPECT_TRUE(fails("", " is empty"));
  EXPECT_TRUE(fails(" \n\n", " is empty"));
  EXPECT_TRUE(fails("start\n1\n", ", line 1: no column is called duration"));
  EXPECT_TRUE(fails("duration,length\n1,1\n", ", line 1: the column 'length'"));
  EXPECT_TRUE(fails("duration,duration_ms\n1,1\n", ", line 1: the column duration stands twice"));
  EXPECT_TRUE(fails(head, "has no pieces"));
  EXPECT_TRUE(fails(head + "1,1,,\n1,2\n", ", line 3: has 2 fields, the header has 4"));
  EXPECT_TRUE(fails(head + "1,-5,,\n", ", line 2: duration '-5' is negative"));
  EXPECT_TRUE(fails(head + "-1,5,,\n", ", line 2: start '-1' is negative"));
  EXPECT_TRUE(fails(head + "1,,,\n", ", line 2: duration '' is no number"));
  EXPECT_TRUE(fails(head + "1,5x,,\n", ", line 2: duration '5x' is no number"));
  EXPECT_TRUE(fails(head + "1,1e30,,\n", "is too large"));
  EXPECT_TRUE(fails(head + "1,0e9999,,\n", "is too large"));
  EXPECT_TRUE(fails(head + "1,nan,,\n", "is no number"));
  EXPECT_TRUE(fails(head + "1,5,\"a,\n", ", line 2: a quote is not closed"));
  EXPECT_TRUE(fails("duration,bytes\n1,-1\n", ", line 2: bytes '-1'"));
  EXPECT_TRUE(fails("duration\n" + std::string(2 << 20, '1'), ", line 2: it is longer than"));
}

TEST(Csv, SaysWhoseOrderCannotBe) {
  const std::string head = "start,duration,key,parent\n";
  EXPECT_TRUE(fails(head + "0,90,k,\n50,90,k,\n", ", line 3: overlaps line 2, which has the same"));
  EXPECT_TRUE(fails(head + "0,90,,\n50,90,,1\n", ", line 3: starts before its parent in line 2"));
  EXPECT_TRUE(fails(head + "0,90,,7\n", ", line 2: its parent 7 is not there: there are 1 rows"));
  EXPECT_TRUE(fails(head + "0,90,,0\n", ", line 2: parent 0"));
  EXPECT_TRUE(fails(head + "0,90,,1\n", ", line 2: waits for itself"));
  EXPECT_TRUE(fails("duration,parent\n1,\n1,4\n1,2\n1,3\n1,4\n", "waits for itself"));
  EXPECT_EQ(fault_in(head + "0,90,k,\n90,90,k,\n"), "");
}

TEST(ChromeTrace, TakesTheOutermostSpansOfEachThread) {
  const Trace trace = trace_in(
      "{\"displayTimeUnit\": \"ms\", \"other\": [1, {\"ph\": \"X\"}], \"traceEvents\": [\n"
      "{\"ph\": \"M\", \"name\": \"process_name\", \"args\": {\"name\": \"p\"}},\n"
      "{\"ph\": \"X\", \"ts\": 20, \"dur\": 10.5, \"pid\": 1, \"tid\": 1},\n"
      "{\"ph\": \"X\", \"ts\": 10, \"dur\": 90, \"pid\": 1, \"tid\": 1, \"args\": {\"bytes\": "
      "9}},\n"
      "{\"ph\": \"X\", \"ts\": 50, \"dur\": 90, \"pid\": 1, \"tid\": \"2\"},\n"
      "{\"ph\": \"B\", \"ts\": 200, \"pid\": 1, \"tid\": 1},\n"
      "{\"ph\": \"B\", \"ts\": 201, \"pid\": 1, \"tid\": 1},\n"
      "{\"ph\": \"E\", \"ts\": 202, \"pid\": 1, \"tid\": 1},\n"
      "{\"ph\": \"E\", \"ts\": 300, \"pid\": 1, \"tid\": 1},\n"
      "{\"ph\": \"B\", \"ts\": 400, \"pid\": 1, \"tid\": 1}\n"
      "], \"metadata\": {\"a\": [[1]]}}\n");
  ASSERT_EQ(trace.pieces.size(), 3U);
  EXPECT_EQ(trace.pieces[0].duration_ns, 90'000U);
  EXPECT_EQ(trace.pieces[0].line, 4U);
  EXPECT_EQ(trace.pieces[1].start_ns, 40'000U);
  EXPECT_EQ(trace.pieces[2].duration_ns, 100'000U);
  EXPECT_EQ(trace.bytes, 9U);
  ASSERT_EQ(trace.notes.size(), 2U);
  EXPECT_EQ(trace.notes[0], "2 spans lie inside others and belong to them");
  EXPECT_EQ(trace.notes[1], "1 spans have no end: they are left out");
}

TEST(ChromeTrace, MayLackItsEnd) {
  const std::string event = R"({"ph":"X","ts":1,"dur":5,"pid":1,"tid":1})";
  EXPECT_EQ(trace_in(kEvents + event).pieces.size(), 1U);
  EXPECT_EQ(trace_in(kEvents + event + ",\n").pieces.size(), 1U);
  const Trace torn = trace_in(kEvents + event + ",\n{\"ph\":");
  EXPECT_EQ(torn.pieces.size(), 1U);
  ASSERT_EQ(torn.notes.size(), 1U);
  EXPECT_EQ(torn.notes[0], "the file ends in the middle of an event: that one is left out");
}

TEST(ChromeTrace, LeavesOutWhatOnlyEnds) {
  const Trace trace = trace_in(kEvents + R"({"ph":"E","ts":1,"tid":1},)"
                                         R"({"ph":"X","ts":2,"dur":5,"tid":1}])");
  EXPECT_EQ(trace.pieces.size(), 1U);
  ASSERT_EQ(trace.notes.size(), 1U);
  EXPECT_EQ(trace.notes[0], "1 spans have no beginning: they are left out");
}

// A line of this library's own traces: times in us.
std::string own(const char* category, const char* name, int thread, int from, int to) {
  return fmt::format(
      R"({{"ph":"X","cat":"{}","name":"{}","pid":1,"tid":{},"ts":{}.000,"dur":{}.000}},)"
      "\n",
      category, name, thread, from, to - from);
}
std::string arrow(int id, int from_thread, int from, int to_thread, int to) {
  return fmt::format(
      R"({{"ph":"s","cat":"hand","name":"hand over","id":{0},"pid":1,"tid":{1},"ts":{2}.000}},)"
      "\n"
      R"({{"ph":"f","bp":"e","cat":"hand","name":"hand over","id":{0},"pid":1,"tid":{3},)"
      R"("ts":{4}.000}},)"
      "\n",
      id, from_thread, from, to_thread, to);
}

TEST(ChromeTrace, OfThisLibraryIsItsWorkAndNotItsWaits) {
  std::string lines = kEvents;
  for (const char* const cause : {"idle", "full", "wait", "io", "lock", "join"}) {
    lines += own("sleep", cause, 2, 0, 10) + own("spin", cause, 3, 0, 10);
  }
  lines += own("hand", "hand over", 1, 20, 21) + own("sleep", "lock", 2, 32, 36) +
           own("task", "inner", 2, 30, 40) + own("spin", "wait", 2, 41, 42) +
           own("task", "outer", 2, 30, 50) + arrow(1, 1, 20, 2, 30);
  const Trace trace = trace_in(lines + "{}]");
  ASSERT_EQ(trace.pieces.size(), 1U);
  EXPECT_EQ(trace.pieces[0].duration_ns, 15'000U);
  EXPECT_TRUE(trace.edges.empty());
  ASSERT_EQ(trace.notes.size(), 2U);
  EXPECT_EQ(trace.notes[0], "14 waits of its threads are not replayed");
}

TEST(ChromeTrace, OfThisLibraryHasPiecesThatCameWhenTheyWereHandedOver) {
  const Trace trace = trace_in(
      kEvents + own("hand", "hand over", 1, 10, 11) + own("task", "a", 2, 30, 40) +
      arrow(1, 1, 10, 2, 30) + own("hand", "hand over", 1, 15, 16) + own("task", "b", 2, 40, 60) +
      arrow(2, 1, 15, 2, 40) + own("task", "c", 3, 50, 70) + arrow(3, 2, 45, 3, 50) + "{}]");
  ASSERT_EQ(trace.pieces.size(), 3U);
  EXPECT_EQ(trace.pieces[1].start_ns, 5'000U);
  EXPECT_EQ(trace.pieces[2].start_ns, 35'000U);  // by b, which goes on
  EXPECT_TRUE(trace.edges.empty());
  EXPECT_TRUE(trace.notes.empty());
}

TEST(ChromeTrace, MayHaveWaitsThatComeAfterWhatTheyLieInOrBeginAndEnd) {
  const std::string late = own("task", "a", 1, 0, 20) + own("sleep", "wait", 1, 5, 9);
  EXPECT_EQ(trace_in(kEvents + late + "{}]").pieces[0].duration_ns, 16'000U);
  const Trace pairs = trace_in(kEvents + R"({"ph":"B","cat":"sleep","name":"idle","ts":0},)"
                                         R"({"ph":"B","name":"task","ts":2},)"
                                         R"({"ph":"B","cat":"sleep","name":"lock","ts":3},)"
                                         R"({"ph":"E","ts":5},{"ph":"E","ts":12},)"
                                         R"({"ph":"E","ts":20}])");
  ASSERT_EQ(pairs.pieces.size(), 1U);
  EXPECT_EQ(pairs.pieces[0].duration_ns, 8'000U);
}

TEST(ChromeTrace, KeepsArrowsAndParents) {
  const Trace trace =
      trace_in(kEvents + R"({"ph":"X","ts":0,"dur":50,"tid":1,"args":{"id":7}},)"
                         R"({"ph":"X","ts":60,"dur":50,"tid":2},)"
                         R"({"ph":"X","ts":120,"dur":5,"tid":3,"args":{"parent":7}},)"
                         R"({"ph":"X","ts":40,"dur":5,"tid":4,"args":{"parent":7}},)"
                         R"({"ph":"s","ts":30,"tid":1,"id":1,"name":"f","cat":"c"},)"
                         R"({"ph":"t","ts":70,"tid":2,"id":1,"name":"f","cat":"c"},)"
                         R"({"ph":"f","ts":121,"tid":3,"id":1,"name":"f","cat":"c"},)"
                         R"({"ph":"f","ts":121,"tid":3,"id":2,"name":"f","cat":"c"}])");
  const std::vector<Edge> edges{{0, 2}, {0, 3}, {2, 3}};
  EXPECT_EQ(trace.edges, edges);
  ASSERT_EQ(trace.notes.size(), 1U);
  EXPECT_TRUE(trace.notes[0].starts_with("2 arrows or parents are ignored"));
}

TEST(ChromeTrace, SaysWhichLineIsWrong) {
  EXPECT_TRUE(fails("[]", "has no pieces"));
  EXPECT_TRUE(fails("{\"a\": 1}", "has no pieces"));
  EXPECT_TRUE(fails("[\n{\"ph\":\n x}]", ", line 3: is no JSON"));
  EXPECT_TRUE(fails("[\n1]", ", line 2: an event is no object"));
  EXPECT_TRUE(fails("[\n[]]", ", line 2: an event is no object"));
  EXPECT_TRUE(fails("[\n{\"ph\":\"X\",\"dur\":1}]", ", line 2: an event of phase X has no ts"));
  EXPECT_TRUE(fails("[\n{\"ph\":\"X\",\"ts\":1}]", ", line 2: an event of phase X has no dur"));
  EXPECT_TRUE(
      fails("[\n{\"ph\":\"X\",\"ts\":1,\"dur\":-2.5}]", ", line 2: dur '-2.5' is negative"));
  EXPECT_TRUE(fails("[\n{\"ph\":\"X\",\"ts\":-1,\"dur\":2}]", ", line 2: ts '-1' is negative"));
  EXPECT_TRUE(fails("[\n{\"ph\":\"X\",\"ts\":\"a\"}]", ", line 2: ts 'a' is no number"));
  EXPECT_TRUE(fails("[\n{\"ph\":\"B\",\"ts\":9},\n{\"ph\":\"E\",\"ts\":1}]",
                    ", line 3: ends the span of line 2 before it starts"));
  EXPECT_TRUE(fails("[\n{\"ph\":\"X\",\"ts\":0,\"dur\":90},\n{\"ph\":\"X\",\"ts\":50,\"dur\":90}]",
                    ", line 3: overlaps the span of line 2"));
}

TEST(ChromeTrace, DoesNotPutALongTextIntoMemory) {
  EXPECT_TRUE(fails("[\n{\"name\": \"" + std::string(20 << 20, 'a'), ", line 2: a text or a gap"));
}

TEST(LongTrace, IsReplayedFromItsBeginning) {
  std::string text = "start,duration,parent\n";
  for (std::size_t i = 0; i < most_pieces + 5; ++i) text += std::to_string(i) + ",1,\n";
  text += "999999,1,1\n0,1,100002\n";
  const Trace trace = trace_in(text);
  EXPECT_EQ(trace.pieces.size(), most_pieces);
  EXPECT_EQ(trace.left_out, 7U);
  EXPECT_TRUE(trace.edges.empty());
  EXPECT_TRUE(fails(text + "1,x,\n", ", line 100009: duration 'x'"));
}

TEST(TraceFile, ThatIsCompressedSaysWhatToDo) {
  EXPECT_TRUE(fails("\x1f\x8b\x08 and so on", " is compressed: gunzip -c "));
  EXPECT_TRUE(fails("\x28\xb5\x2f\xfd and so on", " is compressed: unzstd -c "));
  EXPECT_TRUE(fails("\xfd\x37zXZ and so on", " is compressed: unxz -c "));
}

TEST(TraceFile, ThatIsNotThereOrAFolder) {
  EXPECT_THROW(static_cast<void>(read_trace("/nowhere/at.all")), UserError);
  EXPECT_THROW(static_cast<void>(read_trace("/tmp")), UserError);
}

TEST(Bounds, OfIndependentPieces) {
  const Load load(trace_in("duration_ms\n10\n10\n10\n"), {.width = 2, .speed = 1});
  EXPECT_EQ(load.bounds().critical_path_ns, 10'000'000U);
  EXPECT_EQ(load.bounds().shared_work_ns, 15'000'000U);
  EXPECT_EQ(load.bounds().list_ns, 20'000'000U);
  EXPECT_EQ(load.bounds().lower_ns(), 15'000'000U);
}

TEST(Bounds, OfAChainAndArrivals) {
  const std::string text = "start_ms,duration_ms,parent\n0,10,\n0,30,\n40,5,1 2\n100,1,\n";
  const Load kept(trace_in(text), {.width = 2, .keeps_arrivals = true, .speed = 1});
  EXPECT_EQ(kept.bounds().critical_path_ns, 101'000'000U);
  EXPECT_EQ(kept.bounds().shared_work_ns, 100'500'000U);
  EXPECT_EQ(kept.bounds().list_ns, 101'000'000U);
  const Load at_once(trace_in(text), {.width = 2, .keeps_arrivals = false, .speed = 2});
  EXPECT_EQ(at_once.bounds().critical_path_ns, 17'500'000U);
  EXPECT_EQ(at_once.bounds().work_ns, 23'000'000U);
  EXPECT_EQ(at_once.bounds().list_ns, 17'500'000U);
}

TEST(Speed, SuitsAMeasurement) {
  const Load load(trace_in("duration_s\n33\n"), {.width = 1, .speed = {}});
  EXPECT_EQ(load.speed(), 330);
  EXPECT_EQ(load.bounds().list_ns, 100'000'000U);
  EXPECT_EQ(Load(trace_in("duration_ms\n33\n"), {.width = 1, .speed = {}}).speed(), 1);
  EXPECT_THROW(Load(trace_in("duration_s\n99\n"), {.width = 1, .speed = 1}), UserError);
}

// What the coordinator finds wrong with answers, each of {begin, end, runs}.
std::string fault_of(const std::vector<PieceAnswer>& answers) {
  const auto load = std::make_shared<const Load>(
      trace_in("start_ns,duration_ns,parent\n0,100,\n400,100,1\n"), LoadChoice{2, true, 1});
  const auto problem = Scenario(scenario(load)).problem(Cell("makespan"));
  EXPECT_EQ(problem->answer_bytes(), answers.size() * sizeof(PieceAnswer));
  return problem->fault(false, std::as_bytes(std::span(answers))).value_or("");
}

TEST(Answers, AreOfPiecesThatRanOnceAndWholeAndInOrder) {
  EXPECT_EQ(fault_of({{0, 100, 1}, {400, 500, 1}}), "");
  EXPECT_EQ(fault_of({{0, 100, 1}, {~0UL, ~0UL, ~0UL}}), "the piece of line 3 was left untouched");
  EXPECT_EQ(fault_of({{0, 100, 0}, {400, 500, 1}}), "the piece of line 2 ran 0 times");
  EXPECT_EQ(fault_of({{0, 100, 1}, {400, 500, 2}}), "the piece of line 3 ran 2 times");
  EXPECT_EQ(fault_of({{0, 10, 1}, {400, 500, 1}}), "the piece of line 2 did not do its work");
  EXPECT_EQ(fault_of({{0, 450, 1}, {400, 500, 1}}),
            "the piece in line 3 began before the piece in line 2 had ended");
  EXPECT_EQ(fault_of({{0, 100, 1}, {399, 500, 1}}), "the piece of line 3 began before it arrived");
}

}}  // namespace handoff::lab::replay

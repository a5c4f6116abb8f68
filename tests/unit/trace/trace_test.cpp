// SPDX-License-Identifier: MIT
//
// Traces of this program: what is counted, in which order, who handed over to whom, what becomes of
// a trace where the program ends otherwise, and each way in which it can fail.
#include <sys/ioctl.h>
#include <time.h>

#include <handoff/bus/detail/parked.hpp>
#include <handoff/core/internal/rare_sleepers.hpp>
#include <handoff/probe/internal/hook.hpp>
#include <handoff/probe/internal/slice.hpp>
#include <handoff/sync/internal/this_thread.hpp>
#include <istream>

#include "support/child.hpp"
#include "support/failing.hpp"
#include "support/files.hpp"
#include "support/fresh_process.hpp"
#include "support/patience.hpp"
#include "support/test.hpp"
#include "trace/event.hpp"
#include "trace/lanes.hpp"
#include "trace/ticks.hpp"
#include "trace/trace_file.hpp"
#include "trace/trace_writer.hpp"

namespace {

using namespace handoff;

class TraceFolder : public test::Folder {
 public:
  std::string file(const std::string& name = "trace.json") const { return at(name); }
};

class Trace : public testing::Test {
 protected:
  const TraceFolder folder;
};
using TraceOfAProgram = Trace;

std::vector<std::string> lines_from(std::istream&& from) {
  std::vector<std::string> lines;
  for (std::string line; std::getline(from, line);) lines.push_back(line);
  return lines;
}
std::vector<std::string> lines_of(const std::string& path) {
  return lines_from(std::ifstream(path));
}
std::vector<std::string> lines_in(const std::string& text) {
  return lines_from(std::istringstream(text));
}

// What follows `"key":` in a line, without quotes; empty: nothing.
std::string value_of(const std::string& line, const std::string& key) {
  const std::string mark = "\"" + key + "\":";
  const std::size_t at = line.find(mark);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + mark.size();
  if (line[begin] == '"') return line.substr(begin + 1, line.find('"', begin + 1) - begin - 1);
  return line.substr(begin, line.find_first_of(",}", begin) - begin);
}

std::vector<std::string> with(const std::vector<std::string>& lines, const std::string& text) {
  std::vector<std::string> found;
  for (const std::string& line : lines) {
    if (line.find(text) != std::string::npos) found.push_back(line);
  }
  return found;
}

// A file that came to its end: brackets, whole lines, and the tally that stop() told.
void expect_whole(const std::vector<std::string>& lines, const trace::Tally& tally) {
  ASSERT_GE(lines.size(), 4U);
  EXPECT_EQ(lines.front(), "[");
  EXPECT_EQ(lines.back(), "]");
  const std::string& last = lines[lines.size() - 2];
  EXPECT_EQ(value_of(last, "name"), "handoff_tally");
  EXPECT_EQ(value_of(last, "recorded"), std::to_string(tally.recorded));
  EXPECT_EQ(value_of(last, "dropped"), std::to_string(tally.dropped));
  EXPECT_EQ(value_of(last, "written"), std::to_string(tally.written));
  EXPECT_EQ(value_of(last, "open"), std::to_string(tally.open));
  std::size_t written = 0;
  for (std::size_t i = 1; i + 2 < lines.size(); ++i) {
    EXPECT_EQ(lines[i].front(), '{');
    EXPECT_EQ(lines[i].substr(lines[i].size() - 2), "},");
    if (value_of(lines[i], "ph") != "M") ++written;
  }
  EXPECT_EQ(written, tally.written);
}

// Both ends of each hand-over lie in a slice of their thread.
void expect_in_slices(const std::vector<std::string>& lines) {
  std::map<std::string, std::vector<std::pair<double, double>>> slices;
  for (const std::string& line : with(lines, "\"ph\":\"X\"")) {
    const double from = std::stod(value_of(line, "ts"));
    slices[value_of(line, "tid")].emplace_back(from, from + std::stod(value_of(line, "dur")));
  }
  for (const std::string& line : with(lines, "\"cat\":\"hand\"")) {
    const double when = std::stod(value_of(line, "ts"));
    const auto& around = slices[value_of(line, "tid")];
    EXPECT_TRUE(std::any_of(around.begin(), around.end(), [when](const auto& slice) {
      return slice.first - 0.0005 < when && when < slice.second + 0.0005;
    })) << line;
  }
}

// Each hand-over has both ends, the first one first.
void expect_both_ends(const std::vector<std::string>& lines) {
  std::map<std::string, double> begun;
  std::size_t ended = 0;
  for (const std::string& line : lines) {
    const std::string phase = value_of(line, "ph");
    const std::string when = value_of(line, "ts");
    EXPECT_TRUE(when.empty() || std::stod(when) >= 0.0) << line;
    if (phase == "s") begun[value_of(line, "id")] = std::stod(when);
    if (phase != "f") continue;
    ++ended;
    ASSERT_TRUE(begun.contains(value_of(line, "id")));
    EXPECT_LE(begun[value_of(line, "id")], std::stod(when));
  }
  EXPECT_EQ(begun.size(), ended);
  expect_in_slices(lines);
}

void work_a_little() {
  ThreadPool pool(2);
  for (int i = 0; i < 100; ++i) pool.post([] {});
  pool.submit([] {}).get();
}

TEST_F(Trace, CountsWhatIsRecorded) {
  constexpr int threads = 4;
  constexpr int each = 5000;
  EXPECT_FALSE(trace::running());
  ASSERT_FALSE(trace::start(folder.file()));
  EXPECT_TRUE(trace::running());
  test::Crew(threads, [] {
    for (int n = 0; n < each; ++n) probe::moment(probe::Kind::wake);
  }).join();
  const trace::Tally tally = trace::stop();
  EXPECT_FALSE(trace::running());
  EXPECT_EQ(tally.recorded, std::uint64_t{threads} * each);
  EXPECT_EQ(tally.dropped, 0U);
  EXPECT_EQ(tally.written, tally.recorded);
  EXPECT_EQ(tally.open, 0U);
  EXPECT_FALSE(tally.error);
  expect_whole(lines_of(folder.file()), tally);
}

// All that comes out of a pipe; the text's end is the other end's.
std::string read_all(int file) {
  std::string text;
  std::array<char, 1U << 16U> piece;  // no initial value: only what was read is used
  for (;;) {
    const ssize_t got = ::read(file, piece.data(), piece.size());
    if (got <= 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
}

// The writer is held up by a pipe that is not read, for longer than a buffer holds.
TEST_F(Trace, DropsAndCountsWhatFindsNoRoom) {
  const std::string path = folder.file();
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const int pipe = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(pipe, 0);
  constexpr std::uint64_t lines_before = 4000;
  constexpr std::uint64_t events = 1U << 19U;
  const int shared = 0;
  ASSERT_FALSE(trace::start(path));
  probe::tell(probe::Mark::begin, probe::Kind::loop, nullptr, "outer");
  for (std::uint64_t n = 0; n < lines_before; ++n) probe::moment(probe::Kind::wake);
  test::idle_until([pipe] {
    int waiting = 0;
    return ::ioctl(pipe, FIONREAD, &waiting) == 0 && waiting > 60'000;
  });
  for (std::uint64_t n = 0; n < events; ++n) probe::share_out(probe::Kind::loop, &shared);
  ::fcntl(pipe, F_SETFL, 0);
  std::string text;
  std::thread reader([&] { text = read_all(pipe); });
  probe::end(probe::Kind::loop, nullptr);
  const trace::Tally tally = trace::stop();
  reader.join();
  ::close(pipe);
  ::unlink(path.c_str());
  EXPECT_GT(tally.dropped, 0U);
  EXPECT_EQ(tally.recorded + tally.dropped, lines_before + events + 2);
  EXPECT_EQ(tally.open, 1U);  // whether it was the same one at its end is not known
  const std::vector<std::string> lines = lines_in(text);
  expect_whole(lines, tally);
  EXPECT_EQ(with(lines, "\"name\":\"outer\"").size(), 1U);
  // The next one begins anew.
  ASSERT_FALSE(trace::start(folder.file()));
  probe::moment(probe::Kind::wake);
  EXPECT_EQ(trace::stop().dropped, 0U);
}

TEST_F(Trace, KeepsTheOrderWithinAThread) {
  constexpr int rounds = 2000;
  ASSERT_FALSE(trace::start(folder.file()));
  test::Crew(3, [] {
    for (int n = 0; n < rounds; ++n) {
      const probe::Slice outer(probe::Kind::loop, "outer");
      const probe::Slice inner(probe::Kind::task, "inner");
      probe::moment(probe::Kind::steal);
    }
  }).join();
  const trace::Tally tally = trace::stop();
  const std::vector<std::string> lines = lines_of(folder.file());
  expect_whole(lines, tally);
  std::map<std::string, std::string> next;  // by thread
  std::map<std::string, double> last;
  for (const std::string& line : lines) {
    const std::string what = value_of(line, "cat");
    if (what.empty()) continue;
    const std::string thread = value_of(line, "tid");
    std::string& wanted = next.try_emplace(thread, "steal").first->second;
    EXPECT_EQ(what, wanted);
    wanted = what == "steal" ? "task" : what == "task" ? "loop" : "steal";
    const double when = std::stod(value_of(line, "ts"));
    const std::string lasted = value_of(line, "dur");
    const double end = when + (lasted.empty() ? 0.0 : std::stod(lasted));
    EXPECT_GE(end + 0.0005, last[thread]);
    last[thread] = end;
  }
  EXPECT_EQ(next.size(), 3U);
}

TEST_F(Trace, TellsWhichThreadHandedOverToWhich) {
  constexpr std::size_t tasks = 500;
  std::size_t more = 1;
  ASSERT_FALSE(trace::start(folder.file()));
  {
    ThreadPool pool(2);
    for (std::size_t i = 0; i < tasks; ++i) pool.post([] {});
    pool.submit([] {}, {.name = "answer \"1\" of a task with a name beyond one piece"}).get();
    TaskGroup group(pool);
    for (std::size_t i = 0; i < tasks; ++i) group.run([] {});
    group.wait();
    pool.wait();
    // Each works, and sleeps; a sleep is written when it is over.
    test::idle_until([&] {
      for (std::size_t worker = 0; worker < 2; ++worker) pool.post([] {}, {.worker = worker});
      more += 2;
      pool.wait();
      return !with(lines_of(folder.file()), "\"name\":\"idle\"").empty();
    });
  }
  const trace::Tally tally = trace::stop();
  const std::vector<std::string> lines = lines_of(folder.file());
  expect_whole(lines, tally);
  expect_both_ends(lines);
  EXPECT_EQ(tally.open, 0U);
  EXPECT_EQ(tally.dropped, 0U);
  EXPECT_EQ(with(lines, "\"ph\":\"s\"").size(), 2 * tasks + more);
  EXPECT_EQ(with(lines, "\"cat\":\"task\"").size(), 2 * tasks + more);
  EXPECT_EQ(with(lines, "\"answer \\\"1\\\" of a task with a name beyond one piece\"").size(), 1U);
  const std::string here = std::to_string(sync::this_kernel_thread());
  for (const std::string& line : with(lines, "\"ph\":\"s\""))
    EXPECT_EQ(value_of(line, "tid"), here);
  EXPECT_FALSE(with(lines, "\"name\":\"join\"").empty());
  EXPECT_FALSE(with(lines, "\"name\":\"pool queue\"").empty());
  EXPECT_EQ(with(lines, "\"name\":\"handoff-pool\"").size(), 2U);
  EXPECT_FALSE(with(lines, "lambda").empty());  // what the closures are called
}

// What is destroyed in the queue waits no longer.
TEST_F(Trace, KnowsWhatWasClearedAway) {
  ASSERT_FALSE(trace::start(folder.file()));
  EventQueue<int, void()> queue;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(queue.enqueue(1), Status::ok);
  EXPECT_EQ(queue.clear(), 10U);
  const trace::Tally tally = trace::stop();
  EXPECT_EQ(tally.recorded, 20U);
  EXPECT_EQ(tally.open, 0U);
  const std::vector<std::string> depths = with(lines_of(folder.file()), "event queue");
  ASSERT_FALSE(depths.empty());
  EXPECT_NE(depths.back().find("{\"depth\":0}"), std::string::npos) << depths.back();
}

TEST_F(Trace, SeesThatAThreadSleepsForALock) {
  ASSERT_FALSE(trace::start(folder.file()));
  sync::Mutex mutex;
  test::idle_until([&] {
    mutex.lock();
    std::thread other([&mutex] { const sync::Lock lock(mutex); });
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // so that it mostly sleeps by then
    mutex.unlock();
    other.join();
    return !with(lines_of(folder.file()), "\"name\":\"lock\"").empty();
  });
  EXPECT_EQ(trace::stop().open, 0U);
}

// A wait that ends before it sleeps, by each of the ways in which the library spins.
struct SpunWait {
  const char* name;
  void (*until)(const std::function<bool()>& there);
};
const std::array<SpunWait, 5> kSpunWaits{{
    {"EventCount",
     [](const std::function<bool()>& there) {
       sync::EventCount events;
       (void)events.await(there, sync::no_deadline, {}, sync::Spin::allowed, "full");
     }},
    {"look_until",
     [](const std::function<bool()>& there) {
       (void)detail::look_until(there, std::chrono::hours(1), {}, "full");
     }},
    {"Parked, for a time",
     [](const std::function<bool()>& there) {
       (void)detail::Parked().wait(there, std::chrono::hours(1), {}, "full");
     }},
    {"Parked, for ever",
     [](const std::function<bool()>& there) {
       (void)detail::Parked().wait(there, std::chrono::nanoseconds::max(), {}, "full");
     }},
    {"canary: no wait of the library's",
     [](const std::function<bool()>& there) {
       while (!there()) std::this_thread::yield();
     }},
}};

TEST_F(Trace, ShowsWaitsForRoomThatDoNotSleep) {
  constexpr int looks_most = 10;
  for (const SpunWait& wait : kSpunWaits) {
    ASSERT_FALSE(trace::start(folder.file()));
    int looks = 0;
    wait.until([&looks] { return ++looks == looks_most; });
    wait.until([] { return true; });  // no wait, and so no slice
    (void)trace::stop();
    const bool is_canary = std::string(wait.name).starts_with("canary");
    EXPECT_EQ(with(lines_of(folder.file()), R"("cat":"spin","name":"full")").size(),
              is_canary ? 0U : 1U)
        << wait.name;
  }
}

// Rounds in which a producer finds no room, until one of its waits sleeps.
template <class Push, class Pop>
void expect_sleep_for_room(const Push& push, const Pop& pop) {
  const TraceFolder folder;
  ASSERT_FALSE(trace::start(folder.file()));
  test::idle_until([&] {
    std::thread producer(push);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // so that it mostly sleeps by then
    pop();
    producer.join();
    return !with(lines_of(folder.file()), R"("cat":"sleep","name":"full")").empty();
  });
  (void)trace::stop();
}

TEST_F(Trace, ShowsSleepsForRoom) {
  Channel<int> channel(1);
  int taken = 0;
  ASSERT_EQ(channel.push(1), Status::ok);
  expect_sleep_for_room([&] { EXPECT_EQ(channel.push(1), Status::ok); },
                        [&] { EXPECT_EQ(channel.pop(taken), Status::ok); });
  ThreadPool pool({.width = 1, .capacity = 1, .on_full = OnFull::wait});
  const auto lasts = [] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); };
  expect_sleep_for_room(
      [&] {
        for (int i = 0; i < 3; ++i) pool.post(lasts);  // one runs, one waits
      },
      [&] { pool.wait(); });
}

// What the kernel counts of a thread: one that ended, and one that goes on.
TEST_F(Trace, SaysHowLongThreadsHadACpu) {
  constexpr std::uint64_t burnt_ns = 5'000'000;
  const auto burn = [] {
    const probe::Slice slice(probe::Kind::task, "burns");
    const auto cpu = [] {
      timespec time{};
      ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
      return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
             static_cast<std::uint64_t>(time.tv_nsec);
    };
    for (const std::uint64_t end = cpu() + burnt_ns; cpu() < end;) {
    }
  };
  ASSERT_FALSE(trace::start(folder.file()));
  std::thread(burn).join();
  burn();
  (void)trace::stop();
  const std::vector<std::string> lines = lines_of(folder.file());
  EXPECT_EQ(with(lines, "\"handoff_cpus\"").size(), 1U);
  std::map<std::string, std::uint64_t> cpu_ns;
  for (const std::string& line : with(lines, "\"handoff_times\"")) {
    cpu_ns[value_of(line, "tid")] += std::stoull(value_of(line, "cpu_ns"));
    EXPECT_LT(std::stoull(value_of(line, "ready_ns")), 3'600'000'000'000U) << line;
  }
  EXPECT_EQ(cpu_ns.size(), 2U);
  for (const auto& [thread, ns] : cpu_ns) EXPECT_GE(ns, burnt_ns) << thread;
}

// Many threads, one after the other: their buffers are used again.
TEST_F(Trace, OutlivesItsThreads) {
  constexpr int threads = 300;
  ASSERT_FALSE(trace::start(folder.file()));
  for (int i = 0; i < threads; ++i) {
    std::thread([] { const probe::Slice slice(probe::Kind::task, "short"); }).join();
  }
  const trace::Tally tally = trace::stop();
  EXPECT_EQ(tally.recorded, 2U * threads);
  const std::vector<std::string> lines = lines_of(folder.file());
  expect_whole(lines, tally);
  EXPECT_EQ(with(lines, "\"name\":\"short\"").size(), std::size_t{threads});
}

TEST_F(Trace, CountsWhatDoesNotEnd) {
  ASSERT_FALSE(trace::start(folder.file()));
  const int handed = 0;
  probe::hand_over(probe::Kind::task, &handed);
  probe::tell(probe::Mark::begin, probe::Kind::loop, nullptr, "endless");
  probe::tell(probe::Mark::begin, probe::Kind::event, nullptr, "outer");
  probe::tell(probe::Mark::begin, probe::Kind::event, &handed + 1, "its end was dropped");
  probe::end(probe::Kind::event, nullptr);
  probe::end(probe::Kind::message, nullptr);  // its beginning was before the trace
  const trace::Tally tally = trace::stop();
  EXPECT_EQ(tally.recorded, 6U);
  EXPECT_EQ(tally.open, 3U);
  // All are slices, as far as is known.
  const std::vector<std::string> lines = lines_of(folder.file());
  expect_in_slices(lines);
  EXPECT_EQ(with(lines, "\"ph\":\"X\"").size(), 3U);
  EXPECT_EQ(with(lines, "\"name\":\"outer\"").size(), 1U);
  EXPECT_EQ(with(lines, "\"name\":\"endless\"").size(), 1U);
  EXPECT_TRUE(with(lines, "\"ph\":\"s\"").empty());
}

TEST_F(Trace, IsOneAtATime) {
  EXPECT_EQ(trace::stop().recorded, 0U);
  ASSERT_FALSE(trace::start(folder.file()));
  EXPECT_EQ(trace::start(folder.file("other")), std::errc::device_or_resource_busy);
  probe::moment(probe::Kind::wake);
  EXPECT_EQ(trace::stop().recorded, 1U);
  EXPECT_EQ(trace::stop().recorded, 0U);
  EXPECT_EQ(folder.names(), std::set<std::string>{"trace.json"});
}

// A child that no handler was called in has the file still, and its lock.
TEST_F(Trace, ItsFileIsFreeWhenItHasStoppedThoughAChildLives) {
  ASSERT_FALSE(trace::start(folder.file()));
  const auto child = static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
  if (child == 0) {
    for (;;) ::pause();
  }
  (void)trace::stop();
  ASSERT_FALSE(trace::start(folder.file()));
  (void)trace::stop();
  EXPECT_EQ(folder.names(), std::set<std::string>{"trace.json"});
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST_F(Trace, NamesItsFileByTheProcess) {
  ASSERT_FALSE(trace::start(folder.file("%p-%p")));
  (void)trace::stop();
  const std::string process = std::to_string(::getpid());
  EXPECT_EQ(folder.names(), std::set<std::string>{process + "-" + process});
}

// Behind a gap nothing is taken for the end of what was begun before it.
TEST(TraceWriter, CutsWhatIsOpenAtAGap) {
  using trace::Event;
  const TraceFolder folder;
  trace::Lanes lanes(16);
  trace::TraceFile file;
  ASSERT_FALSE(file.open(folder.file()));
  trace::TraceWriter writer(lanes, std::move(file), false);
  trace::Lane* const lane = lanes.take({1, {'m'}});
  ASSERT_NE(lane, nullptr);
  const std::uint64_t start = trace::clock_ticks();
  const std::array<int, 2> tasks{};
  const auto put = [&](std::uint64_t when, probe::Mark mark, const char* name, const int* what) {
    EXPECT_TRUE(lane->put(Event::of(start + when, mark, probe::Kind::task, name, what)));
  };
  put(100, probe::Mark::begin, "first", &tasks[0]);
  put(100, probe::Mark::hand, nullptr, &tasks[1]);  // a clock that does not go on
  lane->put_beside(Event::of_text(start + 200, 'x', 0));
  EXPECT_TRUE(lane->put_gap(start + 1000));
  put(1000, probe::Mark::end, nullptr, &tasks[0]);
  put(2000, probe::Mark::begin_named, nullptr, &tasks[1]);
  put(3000, probe::Mark::end, nullptr, &tasks[1]);
  writer.finish();
  const std::vector<std::string> lines = lines_of(folder.file());
  expect_whole(lines, writer.tally());
  expect_both_ends(lines);
  EXPECT_EQ(writer.tally().open, 1U);
  const std::vector<std::string> first = with(lines, "\"name\":\"first\"");
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(value_of(first[0], "dur"), "0.001");
  const std::vector<std::string> second = with(lines, "\"cat\":\"task\",\"name\":\"task\"");
  ASSERT_EQ(second.size(), 1U);
  EXPECT_EQ(value_of(second[0], "dur"), "1.000");
  EXPECT_EQ(with(lines, "\"ph\":\"f\"").size(), 1U);
  lanes.free_unused(true);
}

// ---- Failures -----------------------------------------------------------------------------------

TEST_F(Trace, SaysWhyThereIsNone) {
  EXPECT_EQ(trace::start("/nowhere/trace.json"), std::errc::no_such_file_or_directory);
  EXPECT_FALSE(trace::running());
}

TEST_F(Trace, DoesNotWaitForWhoReadsAPipe) {
  ASSERT_EQ(::mkfifo(folder.file().c_str(), 0600), 0);
  EXPECT_EQ(trace::start(folder.file()), std::errc::no_such_device_or_address);
  EXPECT_FALSE(trace::running());
}

TEST_F(Trace, EndsWithWhoReadsAPipe) {
  ASSERT_EQ(::mkfifo(folder.file().c_str(), 0600), 0);
  const int pipe = ::open(folder.file().c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(pipe, 0);
  ASSERT_FALSE(trace::start(folder.file()));
  ::close(pipe);
  work_a_little();
  EXPECT_EQ(trace::stop().error, std::errc::broken_pipe);
}

TEST_F(Trace, NeedsAThread) {
  test::fail_after(test::Call::thread, 0, EAGAIN);
  EXPECT_EQ(trace::start(folder.file()), std::errc::resource_unavailable_try_again);
  EXPECT_TRUE(test::stop_failing(test::Call::thread));
  EXPECT_FALSE(trace::running());
  ASSERT_FALSE(trace::start(folder.file()));  // nothing was left behind
  (void)trace::stop();
}

TEST_F(Trace, StartsWithMemoryOrSaysThatThereIsNone) {
  const std::string path = folder.file();
  std::error_code why;
  trace::Tally tally;
  const int places = test::until_whole(test::Call::allocation, 0, [&] {
    why = trace::start(path);
    probe::moment(probe::Kind::wake);
    tally = trace::stop();
    EXPECT_TRUE(!why || why == std::errc::not_enough_memory);
    EXPECT_TRUE(!tally.error || tally.error == std::errc::not_enough_memory);
  });
  EXPECT_TRUE(!why && !tally.error && tally.recorded == 1) << "with all of it";
  EXPECT_GT(places, 5);
}

TEST_F(Trace, GoesOnWithoutAFullDisk) {
  ASSERT_FALSE(trace::start("/dev/full"));
  work_a_little();
  const trace::Tally tally = trace::stop();
  EXPECT_EQ(tally.error, std::errc::no_space_on_device);
}

// ---- Other ends ---------------------------------------------------------------------------------

TEST_F(Trace, OpensWhereTheProgramWasKilled) {
  const int end = test::in_child([&] {
    if (trace::start(folder.file())) return 1;
    ThreadPool pool(2);
    for (;;) {
      pool.submit([] {}).get();
      if (with(lines_of(folder.file()), "\"ph\":\"f\"").size() > 10) ::raise(SIGKILL);
    }
  });
  ASSERT_EQ(end, -SIGKILL);
  std::vector<std::string> lines = lines_of(folder.file());
  ASSERT_GT(lines.size(), 10U);
  EXPECT_EQ(lines.front(), "[");
  EXPECT_TRUE(with(lines, "handoff_tally").empty());
  lines.pop_back();  // which may be torn
  for (std::size_t i = 1; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i].substr(lines[i].size() - 2), "},");
  }
}

TEST_F(Trace, LeavesAChildAlone) {
  ASSERT_FALSE(trace::start(folder.file()));
  probe::moment(probe::Kind::wake);
  const int end = test::in_child([&] {
    bool right = !trace::running();
    probe::moment(probe::Kind::wake);
    right = right && trace::stop().recorded == 0;
    // One of its own; the parent's lock is not the child's.
    right = right && !trace::start(folder.file());
    probe::moment(probe::Kind::wake);
    right = right && trace::stop().recorded == 1;
    const int code = right ? 0 : 1;
    // At exit() a sanitizer takes for a leak what the thread held that only the parent has.
    if (!test::sanitized) std::exit(code);  // the end of a child is no end of the parent's trace
    return code;
  });
  EXPECT_EQ(end, 0);
  probe::moment(probe::Kind::wake);
  const trace::Tally tally = trace::stop();
  EXPECT_EQ(tally.recorded, 2U);
  expect_whole(lines_of(folder.file()), tally);
  EXPECT_EQ(folder.names().size(), 2U);  // the child's has its number
}

// In a fresh process with HANDOFF_TRACE.
TEST_F(TraceOfAProgram, Works) {
  if (std::getenv("HANDOFF_TRACE") == nullptr) GTEST_SKIP() << "for the tests below";
  EXPECT_EQ(trace::stop().recorded, 0U);  // what the environment began goes on
  work_a_little();
}

TEST_F(TraceOfAProgram, IsWholeAtTheEnd) {
  ASSERT_EQ(test::in_fresh_process("TraceOfAProgram.Works", "HANDOFF_TRACE", folder.file().c_str()),
            0);
  const std::vector<std::string> lines = lines_of(folder.file());
  ASSERT_GT(lines.size(), 100U);
  EXPECT_EQ(lines.back(), "]");
  expect_both_ends(lines);
  EXPECT_EQ(with(lines, "\"cat\":\"task\"").size(), 101U);
}

TEST_F(TraceOfAProgram, KeepsOutOfThatOfAnother) {
  ASSERT_FALSE(trace::start(folder.file()));
  probe::moment(probe::Kind::wake);
  ASSERT_EQ(test::in_fresh_process("TraceOfAProgram.Works", "HANDOFF_TRACE", folder.file().c_str()),
            0);
  const trace::Tally tally = trace::stop();
  EXPECT_EQ(tally.recorded, 1U);
  expect_whole(lines_of(folder.file()), tally);
  EXPECT_EQ(folder.names().size(), 2U);
  for (const std::string& name : folder.names()) {
    EXPECT_EQ(lines_of(folder.file(name)).back(), "]");
  }
}

// What a program says that is traced into this.
std::vector<std::string> said_with(const char* trace) {
  const TraceFolder folder;
  const int saved = ::dup(STDERR_FILENO);
  const int file = ::open(folder.file("said").c_str(), O_WRONLY | O_CREAT, 0600);
  ::dup2(file, STDERR_FILENO);
  const int code = test::in_fresh_process("TraceOfAProgram.Works", "HANDOFF_TRACE", trace);
  ::dup2(saved, STDERR_FILENO);
  ::close(saved);
  ::close(file);
  EXPECT_EQ(code, 0);
  return lines_of(folder.file("said"));
}

TEST_F(TraceOfAProgram, SaysInOneLineThatThereIsNone) {
  EXPECT_EQ(said_with("/nowhere/trace.json"),
            std::vector<std::string>{"handoff: HANDOFF_TRACE=/nowhere/trace.json: No such file or "
                                     "directory; this program is not traced"});
}

TEST_F(TraceOfAProgram, SaysInOneLineThatTheDiskIsFull) {
  EXPECT_EQ(said_with("/dev/full"),
            std::vector<std::string>{"handoff: HANDOFF_TRACE=/dev/full: No space left on device; "
                                     "the trace ends there"});
}

}  // namespace

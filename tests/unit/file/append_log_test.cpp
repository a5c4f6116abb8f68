// SPDX-License-Identifier: MIT
//
// AppendLog and its reader: numbers, order, groups, segments, recovery, damage, and every system
// call failing in its turn.
#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <handoff/file/append_log.hpp>
#include <handoff/file/append_log_reader.hpp>
#include <handoff/file/detail/file_tap.hpp>
#include <handoff/file/file_result.hpp>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "support/file_tap.hpp"
#include "support/support.hpp"
#include "unit/file/file_support.hpp"

namespace {

using namespace handoff;
using namespace std::chrono_literals;
namespace fs = std::filesystem;
using detail::FileCallKind;
using detail::FileCallView;
using detail::FileTap;

using test::contents;
using test::failure_of;

// A folder that is gone at the end; in memory if it may be, as no test here is about a device.
class Folder {
 public:
  std::string log() const { return folder_ / "log"; }

 private:
  test::FileFolder folder_{test::fast_place()};
};

// Small, as what is reserved in memory is taken; more than a test writes.
constexpr std::uint64_t kSegment = std::uint64_t{1} << 20;

std::string record_text(std::uint64_t number, std::size_t bytes = 0) {
  std::string text = "record " + std::to_string(number) + ";";
  while (text.size() < bytes) text.push_back(static_cast<char>('a' + number % 26));
  return text;
}

std::vector<std::string> read_all(const std::string& log, std::uint64_t from = 0) {
  std::vector<std::string> all;
  std::uint64_t expected = from;
  for (const AppendLogRecord& record : AppendLogReader(log, {.from = from})) {
    if (expected == 0) expected = record.sequence;
    EXPECT_EQ(record.sequence, expected++);
    all.emplace_back(record.text());
  }
  return all;
}

std::vector<std::string> segments_of(const std::string& log) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(log)) {
    if (entry.path().extension() == ".log") names.push_back(entry.path());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// A tap that passes all, and counts.
class Passing : public FileTap {
 public:
  Passing() = default;
  virtual ~Passing() = default;
  Passing(const Passing&) = delete;
  Passing& operator=(const Passing&) = delete;
  Verdict before(const FileCallView& /*call*/) noexcept override { return {}; }
  void after(const FileCallView& call, long /*result*/) noexcept override {
    if (call.kind == FileCallKind::fdatasync) ++syncs;
    if (call.kind == FileCallKind::write) ++writes;
  }
  std::atomic<int> syncs{0};
  std::atomic<int> writes{0};
};

// A tap that makes no sync, for tests that open a log for each byte of it, wherever it is.
class Unsynced final : public FileTap {
 public:
  Verdict before(const FileCallView& call) noexcept override {
    const bool syncs = call.kind == FileCallKind::fsync || call.kind == FileCallKind::fdatasync;
    return syncs ? Verdict{Verdict::answer, 0} : Verdict{};
  }
  void after(const FileCallView& /*call*/, long /*result*/) noexcept override {}
};

TEST(AppendLog, KeepsWhatWasAppended) {
  const Folder folder;
  {
    AppendLog log(folder.log());
    EXPECT_EQ(log.first(), 1u);
    EXPECT_EQ(log.last(), 0u);
    EXPECT_EQ(log.append("one").value(), 1u);
    EXPECT_EQ(log.append("").value(), 2u);
    EXPECT_EQ(log.append(std::string(100'000, 'x')).value(), 3u);
    EXPECT_EQ(log.durable(), 3u);
    EXPECT_EQ(read_all(folder.log()).size(), 3u) << "beside the writer";
    const Tally tally = log.close();
    EXPECT_EQ(tally.accepted, 3u);
    EXPECT_EQ(tally.done, 3u);
    EXPECT_TRUE(tally.balanced());
    EXPECT_EQ(log.append("late").failure().error, ECANCELED);
    EXPECT_EQ(log.append_async("late").get().failure().error, ECANCELED);
    EXPECT_EQ(log.close().done, 3u);
  }
  {
    AppendLog log(folder.log());
    EXPECT_EQ(log.last(), 3u);
    EXPECT_EQ(log.append("four").value(), 4u);
  }
  const auto all = read_all(folder.log());
  EXPECT_EQ(all, (std::vector<std::string>{"one", "", std::string(100'000, 'x'), "four"}));
  EXPECT_EQ(read_all(folder.log(), 4), std::vector<std::string>{"four"});
  EXPECT_TRUE(read_all(folder.log(), 5).empty());
}

TEST(AppendLog, OpensAndClosesWithoutGrowing) {
  const Folder folder;
  {
    AppendLog(folder.log()).append("one").check();
  }
  {
    const AppendLog again(folder.log());
  }
  const auto size = fs::file_size(segments_of(folder.log()).at(0));
  {
    const AppendLog again(folder.log());
  }
  EXPECT_EQ(fs::file_size(segments_of(folder.log()).at(0)), size);
  EXPECT_LT(size, 1000u) << "the room that was reserved is given back";
}

TEST(AppendLog, LongRecords) {
  const Folder folder;
  AppendLog log(folder.log(),
                {.segment_bytes = 4096, .max_record_bytes = 1'000'000, .batch_bytes = 256});
  EXPECT_EQ(log.append(std::string(1'000'001, 'x')).failure().error, EMSGSIZE);
  std::vector<std::string> expected;
  for (std::size_t bytes : std::initializer_list<std::size_t>{0, 1, 200, 239, 240, 241, 256, 300,
                                                              4096, 300'000, 1'000'000, 5}) {
    expected.push_back(record_text(bytes, bytes));
    EXPECT_EQ(log.append_later(expected.back()).value(), expected.size());
  }
  EXPECT_EQ(log.flush().value(), expected.size());
  EXPECT_EQ(read_all(folder.log()), expected);
  EXPECT_GT(segments_of(folder.log()).size(), 2u);
}

TEST(AppendLog, Segments) {
  const Folder folder;
  {
    AppendLog log(folder.log(), {.segment_bytes = 1024});
    for (std::uint64_t i = 1; i <= 100; ++i) EXPECT_EQ(log.append(record_text(i, 100)).value(), i);
    EXPECT_GT(log.statistics().segments, 10u);
    EXPECT_EQ(log.statistics().segments, segments_of(folder.log()).size());
    EXPECT_EQ(log.trim(1).bytes(), 0u);
    EXPECT_GT(log.trim(50).bytes(), 1u);
    EXPECT_LE(log.first(), 50u);
    EXPECT_GT(log.first(), 30u);
    EXPECT_EQ(read_all(folder.log(), 50).size(), 51u);
    EXPECT_EQ(failure_of([&] { AppendLogReader(folder.log(), {.from = 7}); }).error, ENODATA);
    EXPECT_GT(log.trim(1'000'000).bytes(), 1u);
    EXPECT_EQ(segments_of(folder.log()).size(), 1u) << "the newest stays";
    log.append(record_text(101)).check();
  }
  AppendLog log(folder.log(), {.segment_bytes = 1024});
  EXPECT_EQ(log.append("x").value(), 102u);
}

TEST(AppendLog, OneWriter) {
  const Folder folder;
  std::optional<AppendLog> log(std::in_place, folder.log());
  const test::Told failure = failure_of([&] { AppendLog(folder.log()); });
  EXPECT_EQ(failure.error, EWOULDBLOCK);
  EXPECT_NE(failure.text.find("AppendLog " + folder.log() + ": open in another program"),
            std::string::npos)
      << failure.text;
  log.reset();
  EXPECT_NO_THROW(AppendLog(folder.log()));
}

TEST(AppendLog, CannotBeHad) {
  const Folder folder;
  EXPECT_EQ(failure_of([&] { AppendLog(folder.log() + "/none"); }).error, ENOENT);
  test::put(folder.log(), "a file");
  EXPECT_EQ(failure_of([&] { AppendLog(folder.log()); }).error, ENOTDIR);
  EXPECT_EQ(failure_of([&] { AppendLogReader(folder.log() + "2"); }).error, ENOENT);
}

TEST(AppendLog, LaterWaitAndFlush) {
  const Folder folder;
  Passing tap;
  AppendLog log(folder.log(), {.tap = &tap});
  EXPECT_EQ(log.flush().value(), 0u);
  EXPECT_EQ(log.wait(1).failure().error, EINVAL);
  for (std::uint64_t i = 1; i <= 100; ++i) EXPECT_EQ(log.append_later(record_text(i)).value(), i);
  EXPECT_EQ(log.durable(), 0u);
  EXPECT_EQ(log.wait(7).value(), 7u);
  EXPECT_EQ(log.durable(), 100u) << "one write and one sync for all";
  EXPECT_EQ(log.wait(100).value(), 100u);
  EXPECT_EQ(log.flush().value(), 100u);
  EXPECT_EQ(tap.syncs, 1);
  const AppendLogStatistics statistics = log.statistics();
  EXPECT_EQ(statistics.records, 100u);
  EXPECT_EQ(statistics.batches, 1u);
  EXPECT_EQ(statistics.syncs, 1u);
}

TEST(AppendLog, OnRequest) {
  const Folder folder;
  Passing tap;
  AppendLog log(folder.log(), {.sync = AppendLogSync::on_request, .tap = &tap});
  for (std::uint64_t i = 1; i <= 10; ++i) log.append(record_text(i)).check();
  EXPECT_EQ(log.durable(), 0u);
  EXPECT_EQ(tap.syncs, 0);
  EXPECT_EQ(read_all(folder.log()).size(), 10u) << "written";
  log.wait(3).check();
  EXPECT_EQ(log.durable(), 10u);
  EXPECT_EQ(tap.syncs, 1);
  log.append("more").check();
  EXPECT_EQ(tap.syncs, 1);
  EXPECT_EQ(log.close().done, 11u);
  EXPECT_EQ(tap.syncs, 2);
}

TEST(AppendLog, Async) {
  const Folder folder;
  AppendLog log(folder.log(), {.max_record_bytes = 1000});
  std::vector<Future<AppendResult>> futures;
  for (std::uint64_t i = 1; i <= 100; ++i) futures.push_back(log.append_async(record_text(i)));
  for (std::uint64_t i = 1; i <= 100; ++i) EXPECT_EQ(futures[i - 1].get().value(), i);
  EXPECT_EQ(log.durable(), 100u);
  EXPECT_EQ(log.append_async(std::string(1001, 'x')).get().failure().error, EMSGSIZE);
  auto next = log.append_async("a").then([&](AppendResult result) {
    return log.append_later("after " + std::to_string(result.value())).value();
  });
  EXPECT_EQ(next.get(), 102u);
  auto at_close = log.append_async("z");
  log.close();
  EXPECT_EQ(at_close.get().value(), 103u);
}

// One write waits in the tap until it may go on.
class Held final : public Passing {
 public:
  Verdict before(const FileCallView& call) noexcept override {
    if (call.kind == FileCallKind::fdatasync) {
      ++begun;
      while (hold) std::this_thread::sleep_for(100us);
      if (error != 0) return {.kind = Verdict::answer, .value = -error};
    }
    return {};
  }
  std::atomic<int> begun{0};
  std::atomic<bool> hold{false};
  std::atomic<int> error{0};
};

TEST(AppendLog, WaitsEndAsAsked) {
  const Folder folder;
  Held tap;
  AppendLog log(folder.log(), {.tap = &tap});
  tap.hold = true;
  std::thread leader([&] { EXPECT_EQ(log.append("led").value(), 1u); });
  while (tap.begun == 0) std::this_thread::yield();
  const std::uint64_t second = log.append_later("follows").value();
  EXPECT_EQ(log.wait(second, 1ms).failure().error, ETIME);
  EXPECT_EQ(log.wait(1, 1ms).failure().error, ETIME);
  sync::StopSource stop;
  stop.request_stop();
  EXPECT_EQ(log.wait(second, stop.token()).failure().error, ECANCELED);
  tap.hold = false;
  leader.join();
  EXPECT_EQ(log.wait(second).value(), second);
}

TEST(AppendLog, ThoseWhoComeMeanwhileShareASync) {
  const Folder folder;
  Held tap;
  AppendLog log(folder.log(), {.tap = &tap});
  tap.hold = true;
  std::vector<std::thread> threads;
  threads.emplace_back([&] { log.append("led").check(); });
  while (tap.begun == 0) std::this_thread::yield();
  for (int i = 0; i < 63; ++i) threads.emplace_back([&] { log.append("follows").check(); });
  while (log.last() < 64) std::this_thread::yield();
  tap.hold = false;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(log.statistics().syncs, 2u);
  EXPECT_EQ(log.statistics().batches, 2u);
  EXPECT_EQ(log.statistics().records, 64u);
}

TEST(AppendLog, AFailedSyncReachesAll) {
  const Folder folder;
  {
    Held tap;
    AppendLog log(folder.log(), {.tap = &tap});
    log.append("kept").check();
    tap.hold = true;
    tap.begun = 0;
    tap.error = EIO;
    std::vector<std::thread> threads;
    std::atomic<int> failed{0};
    const auto append = [&] {
      const AppendResult result = log.append("lost");
      EXPECT_FALSE(result.ok());
      EXPECT_EQ(result.failure().error, EIO);
      EXPECT_EQ(result.failure().operation, FileOperation::sync);
      EXPECT_NE(result.failure().file.find("0000000000000001.log"), std::string::npos);
      ++failed;
    };
    threads.emplace_back(append);
    while (tap.begun == 0) std::this_thread::yield();
    for (int i = 0; i < 7; ++i) threads.emplace_back(append);
    auto future = log.append_async("lost");
    while (log.last() < 10) std::this_thread::yield();
    tap.hold = false;
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(failed, 8);
    EXPECT_EQ(future.get().failure().error, EIO);
    tap.error = 0;
    EXPECT_EQ(log.append("never again").failure().error, EIO);
    EXPECT_EQ(log.append_async("never again").get().failure().error, EIO);
    EXPECT_EQ(log.flush().failure().error, EIO);
    EXPECT_EQ(log.wait(1).value(), 1u) << "what was durable is";
    const Tally tally = log.close();
    EXPECT_EQ(tally.done, 1u);
    EXPECT_EQ(tally.failed, 9u);
    EXPECT_THROW(std::rethrow_exception(tally.first_failure), std::system_error);
  }
  AppendLog log(folder.log());
  const std::uint64_t last = log.append("goes on").value();
  EXPECT_EQ(log.last(), last);
  EXPECT_EQ(read_all(folder.log()).front(), "kept");
  EXPECT_EQ(read_all(folder.log()).back(), "goes on");
}

TEST(AppendLog, AnAbandonedRestIsCancelled) {
  const Folder folder;
  {
    AppendLog log(folder.log());
    log.append("one").check();
    const std::uint64_t second = log.append_later("two").value();
    EXPECT_EQ(log.tally().pending, 1u);
    const Tally tally = log.close(Closing::abandon);
    EXPECT_EQ(tally.done, 1u);
    EXPECT_EQ(tally.cancelled, 1u);
    EXPECT_TRUE(tally.balanced());
    EXPECT_EQ(log.close().cancelled, 1u);
    EXPECT_EQ(log.wait(second).failure().error, ECANCELED);
    EXPECT_EQ(log.append("three").failure().text(),
              "AppendLog " + folder.log() + ": it was closed: Operation canceled");
  }
  EXPECT_EQ(read_all(folder.log()), (std::vector<std::string>{"one"}));
  EXPECT_EQ(AppendLog(folder.log()).close(Closing::abandon).accepted, 0u);
}

TEST(AppendLog, ACloseThatIsLateLetsALeaderEnd) {
  const Folder folder;
  Held tap;
  AppendLog log(folder.log(), {.tap = &tap});
  tap.hold = true;
  std::thread leader([&] { EXPECT_EQ(log.append("led").value(), 1u); });
  while (tap.begun == 0) std::this_thread::yield();
  log.append_later("follows").check();
  std::thread lets_go([&] {
    while (log.append_later("is it closed?").ok()) std::this_thread::yield();
    tap.hold = false;
  });
  const Tally tally = log.close(Closing::finish_until(sync::clock::now() - 1s));
  leader.join();
  lets_go.join();
  EXPECT_EQ(tally.done, 1u);
  EXPECT_GE(tally.expired, 1u);
  EXPECT_EQ(tally.failed, 0u);
  EXPECT_TRUE(tally.balanced());
}

TEST(AppendLog, SixtyFourThreads) {
  const Folder folder;
  constexpr std::size_t kThreads = 64;
  const std::size_t each = test::sanitized ? 20 : 50;
  std::vector<std::vector<std::uint64_t>> numbers(kThreads);
  AppendLogStatistics statistics;
  {
    AppendLog log(folder.log(), {.segment_bytes = 100'000, .batch_bytes = 8192});
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (std::size_t i = 0; i < each; ++i) {
          const std::string text = record_text(t * each + i, 256);
          if (t % 8 == 7) numbers[t].push_back(log.append_async(text).get().value());
          else numbers[t].push_back(log.append(text).value());
          EXPECT_GE(log.durable(), numbers[t].back());
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    statistics = log.statistics();
  }
  EXPECT_EQ(statistics.records, kThreads * each);
  EXPECT_LE(statistics.syncs, statistics.records);
  EXPECT_EQ(statistics.batches, statistics.syncs);
  EXPECT_GT(statistics.segments, 1u);
  const auto all = read_all(folder.log());
  ASSERT_EQ(all.size(), kThreads * each);
  for (std::size_t t = 0; t < kThreads; ++t) {
    for (std::size_t i = 0; i < each; ++i) {
      EXPECT_EQ(all.at(numbers[t][i] - 1), record_text(t * each + i, 256));
      if (i == 0) continue;
      EXPECT_GT(numbers[t][i], numbers[t][i - 1]) << "the order of each thread";
    }
  }
}

TEST(AppendLog, AReaderFollowsAWriter) {
  const Folder folder;
  AppendLog log(folder.log(), {.segment_bytes = 4096});
  constexpr std::uint64_t kRecords = 500;
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (std::uint64_t i = 1; i <= kRecords; ++i) {
      log.append_later(record_text(i, i % 300)).check();
      if (i % 3 == 0) log.flush().check();
    }
    log.flush().check();
    done = true;
  });
  AppendLogReader reader(folder.log());
  AppendLogRecord record;
  std::uint64_t seen = 0;
  for (bool last_look = false; !last_look;) {
    last_look = done;
    while (reader.next(record)) {
      ASSERT_EQ(record.sequence, ++seen);
      ASSERT_EQ(record.text(), record_text(seen, seen % 300));
    }
  }
  EXPECT_EQ(seen, kRecords);
  writer.join();
}

// The files of a log with some records in a few batches, while it is open or after its close.
struct Made {
  Folder folder;
  std::vector<std::string> records;
  std::size_t in_last_batch = 0;
};
void make(Made& made, bool closed, std::uint64_t segment_bytes = 1 << 20) {
  AppendLog log(made.folder.log(), {.segment_bytes = segment_bytes, .preallocate = false});
  const auto add = [&](std::size_t bytes) {
    made.records.push_back(record_text(made.records.size() + 1, bytes));
    log.append_later(made.records.back()).check();
  };
  for (int batch = 0; batch < 3; ++batch) {
    for (std::size_t i = 0; i < 3; ++i) add(10 + i * 17);
    log.flush().check();
  }
  made.in_last_batch = 3;
  if (closed) return;
  // As a killed writer leaves it.
  fs::copy(made.folder.log(), made.folder.log() + ".copy");
  log.close();
  fs::remove_all(made.folder.log());
  fs::rename(made.folder.log() + ".copy", made.folder.log());
}

// The records are a beginning of what was appended, `least` of them at least.
void expect_beginning(const std::vector<std::string>& is, const std::vector<std::string>& of,
                      std::size_t least) {
  ASSERT_GE(is.size(), least);
  ASSERT_LE(is.size(), of.size());
  EXPECT_TRUE(std::equal(is.begin(), is.end(), of.begin()));
}

TEST(AppendLog, TornAtEveryByteOfTheLastRecord) {
  Made made;
  make(made, false);
  const std::string file = segments_of(made.folder.log()).at(0);
  const std::string whole = contents(file);
  const std::size_t last = 16 + (made.records.back().size() + 7) / 8 * 8;
  for (std::size_t cut = 1; cut <= last; ++cut) {
    for (const char filler : {'\0', 'x', '\xff'}) {
      SCOPED_TRACE(cut);
      std::string torn = whole.substr(0, whole.size() - cut);
      if (filler != '\0') torn.append(cut, filler);  // garbage, where the record was
      test::put(file, torn);
      auto expected = made.records;
      expected.pop_back();
      const auto seen = read_all(made.folder.log());
      // Zeros may have been its padding.
      if (seen.size() == made.records.size()) expected = made.records;
      EXPECT_EQ(seen, expected);
      {
        Unsynced tap;
        AppendLog log(made.folder.log(), {.preallocate = false, .tap = &tap});
        EXPECT_EQ(log.last(), expected.size());
        EXPECT_EQ(log.append("new").value(), expected.size() + 1);
      }
      expected.emplace_back("new");
      EXPECT_EQ(read_all(made.folder.log()), expected);
    }
  }
}

// What it says; 0: of a header.
std::size_t damaged_at(const test::Told& said) {
  constexpr std::string_view words = ": damaged at ";
  const std::size_t at = said.text.find(words);
  return at == std::string::npos ? 0 : std::stoul(said.text.substr(at + words.size()));
}

TEST(AppendLog, EveryFlippedByteIsFound) {
  for (const bool closed : {false, true}) {
    Made made;
    make(made, closed);
    const std::string file = segments_of(made.folder.log()).at(0);
    const std::string whole = contents(file);
    // Of a log that was closed, all is known to be durable; else all but its last batch.
    const std::size_t known = made.records.size() - (closed ? 0 : made.in_last_batch);
    std::size_t found = 0;
    std::size_t flips = 0;
    const std::size_t step = test::sanitized && !test::deep() ? 3 : 1;
    for (std::size_t i = 0; i < whole.size(); i += step, ++flips) {
      SCOPED_TRACE(i);
      std::string flipped = whole;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << i % 8));
      test::put(file, flipped);
      const test::Told read =
          failure_of([&] { expect_beginning(read_all(made.folder.log()), made.records, known); });
      const test::Told opened = failure_of([&] {
        Unsynced tap;
        AppendLog log(made.folder.log(), {.segment_bytes = kSegment, .tap = &tap});
        EXPECT_GE(log.last(), known);
      });
      EXPECT_EQ(opened.error, read.error);
      if (read.error != 0) {
        EXPECT_EQ(read.error, EBADMSG);
        EXPECT_NE(read.text.find(".log: "), std::string::npos) << read.text;
        EXPECT_LE(damaged_at(read), i) << read.text;
        EXPECT_EQ(contents(file), flipped) << "nothing was cut";
        ++found;
      }
    }
    EXPECT_GT(found, flips / 2);
  }
}

TEST(AppendLog, DamageBeforeTheNewestSegmentIsFound) {
  Made made;
  make(made, false, 200);
  const auto segments = segments_of(made.folder.log());
  ASSERT_GE(segments.size(), 2u);
  const std::string whole = contents(segments[0]);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string flipped = whole;
    flipped[i] = static_cast<char>(flipped[i] ^ 0x10);
    test::put(segments[0], flipped);
    const test::Told read = failure_of([&] { (void)read_all(made.folder.log()); });
    EXPECT_EQ(read.error, EBADMSG) << i;
    EXPECT_NE(read.text.find(fs::path(segments[0]).filename()), std::string::npos);
  }
  for (std::size_t cut = 1; cut < whole.size(); ++cut) {
    test::put(segments[0], whole.substr(0, whole.size() - cut));
    EXPECT_EQ(failure_of([&] { (void)read_all(made.folder.log()); }).error, EBADMSG) << cut;
  }
  test::put(segments[0], whole);
  EXPECT_EQ(read_all(made.folder.log()), made.records);
  ASSERT_GE(segments.size(), 3u);
  fs::remove(segments[1]);
  EXPECT_EQ(failure_of([&] { (void)read_all(made.folder.log()); }).error, EBADMSG) << "a gap";
}

TEST(AppendLog, ASegmentInTheMakingIsMadeAgain) {
  Made made;
  make(made, false);
  const std::string unfinished = made.folder.log() + "/new";
  test::put(unfinished, std::string(5000, 'x'));
  EXPECT_EQ(read_all(made.folder.log()), made.records);
  {
    AppendLog log(made.folder.log(), {.segment_bytes = 64});
    EXPECT_FALSE(fs::exists(unfinished));
    test::put(unfinished, std::string(5000, 'x'));
    EXPECT_EQ(log.append("new").value(), 10u);
    EXPECT_FALSE(fs::exists(unfinished));
  }
  EXPECT_EQ(read_all(made.folder.log()).size(), 10u);
  EXPECT_EQ(segments_of(made.folder.log()).size(), 2u);
}

TEST(AppendLog, ASegmentWithoutAHeaderIsDamage) {
  for (const std::size_t bytes : std::initializer_list<std::size_t>{0, 1, 63, 64, 5000}) {
    Made made;
    make(made, false);
    test::put(made.folder.log() + "/000000000000000a.log", std::string(bytes, '\0'));
    EXPECT_EQ(failure_of([&] { (void)read_all(made.folder.log()); }).error, EBADMSG);
    EXPECT_EQ(failure_of([&] { AppendLog(made.folder.log()); }).error, EBADMSG);
  }
}

TEST(AppendLog, StaleBytesDoNotPass) {
  // The same records under another random number: what a recycled block may hold.
  Made one, other;
  make(one, false);
  make(other, false);
  const std::string file = segments_of(one.folder.log()).at(0);
  const std::string mine = contents(file);
  const std::string stale = contents(segments_of(other.folder.log()).at(0));
  ASSERT_EQ(mine.size(), stale.size());
  const std::size_t last = 16 + (one.records.back().size() + 7) / 8 * 8;
  test::put(file, mine.substr(0, mine.size() - last) + stale.substr(stale.size() - last));
  auto expected = one.records;
  expected.pop_back();
  EXPECT_EQ(read_all(one.folder.log()), expected);
}

TEST(AppendLog, ASegmentOfAnotherLogDoesNotPass) {
  Made one, other;
  make(one, false, 200);
  make(other, false, 200);
  const std::string second = segments_of(one.folder.log()).at(1);
  test::put(second, contents(segments_of(other.folder.log()).at(1)));
  const test::Told failure = failure_of([&] { (void)read_all(one.folder.log()); });
  EXPECT_EQ(failure.error, EBADMSG);
  EXPECT_NE(failure.text.find(second + ": it is of another log"), std::string::npos)
      << failure.text;
}

std::size_t open_files() {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator("/proc/self/fd"), {}));
}

// What a program does; how many records were acknowledged.
std::size_t use_log(const std::string& folder, FileTap* tap, std::size_t first) {
  std::size_t acknowledged = 0;
  try {
    AppendLog log(folder, {.segment_bytes = 300, .batch_bytes = 200, .tap = tap});
    EXPECT_GE(log.last(), first);
    acknowledged = static_cast<std::size_t>(log.last());
    for (int i = 0; i < 4; ++i) {
      const AppendResult later = log.append_later(record_text(log.last() + 1, 40));
      const AppendResult result = log.append(record_text(log.last() + 1, 70));
      if (!result.ok()) {
        EXPECT_FALSE(log.append("again").ok()) << "a failure is final";
        break;
      }
      EXPECT_TRUE(later.ok());
      acknowledged = static_cast<std::size_t>(result.value());
    }
    const Tally tally = log.close();
    EXPECT_TRUE(tally.balanced());
  } catch (const std::system_error& error) {
    EXPECT_NE(error.code().value(), 0);
  }
  return acknowledged;
}

TEST(AppendLog, EveryCallFailsInItsTurn) {
  const std::size_t files_before = open_files();
  for (const test::Fault fault : test::kFaults) {
    const Folder folder;
    std::size_t acknowledged = 0;
    int k = 0;
    for (bool more = true; more; ++k) {
      SCOPED_TRACE(testing::Message() << "call " << k << ": " << test::to_string(fault));
      // Half of the runs begin a new log.
      if (k % 2 == 0) {
        std::error_code ignored;
        fs::remove_all(folder.log(), ignored);
        acknowledged = 0;
      }
      test::FaultTap tap;
      tap.arm({}, k, fault);
      acknowledged = std::max(acknowledged, use_log(folder.log(), &tap, acknowledged));
      more = tap.disarm().has_value();
      EXPECT_EQ(open_files(), files_before);
      {
        const AppendLog repaired(folder.log(), {.segment_bytes = kSegment});
      }
      const auto all = read_all(folder.log());
      ASSERT_GE(all.size(), acknowledged);
      for (std::size_t i = 0; i < all.size(); ++i) {
        ASSERT_TRUE(all[i] == record_text(i + 1, 40) || all[i] == record_text(i + 1, 70)) << all[i];
      }
      acknowledged = all.size();
    }
    EXPECT_GT(k, test::error_of(fault) != 0 ? 20 : 5);
  }
}

TEST(AppendLog, AReaderThatFailsSaysSo) {
  Made made;
  make(made, true, 200);
  for (const test::Fault fault : test::kFaults) {
    bool more = true;
    for (int k = 0; more; ++k) {
      SCOPED_TRACE(testing::Message() << "call " << k << ": " << test::to_string(fault));
      test::FaultTap tap;
      tap.arm({}, k, fault);
      std::vector<std::string> seen;
      const test::Told failure = failure_of([&] {
        for (const auto& record : AppendLogReader(made.folder.log(), {.tap = &tap})) {
          seen.emplace_back(record.text());
        }
      });
      const auto fired = tap.disarm();
      more = fired.has_value();
      expect_beginning(seen, made.records, 0);
      const bool harmless = !more || fault == test::Fault::interrupted ||
                            test::error_of(fault) == 0 || fired->kind == FileCallKind::close ||
                            fired->name == "lseek(SEEK_DATA)";
      if (fault == test::Fault::nothing && more) continue;  // it looks as if the file ended there
      if (harmless) {
        EXPECT_EQ(failure.error, 0);
        EXPECT_EQ(seen, made.records);
      } else {
        EXPECT_EQ(failure.error, test::error_of(fault));
      }
    }
  }
}

TEST(AppendLog, AFailedTrimLeavesAWholeLog) {
  bool more = true;
  for (int k = 0; more; ++k) {
    const Folder folder;
    (void)use_log(folder.log(), nullptr, 0);
    test::FaultTap tap;
    tap.arm({}, k, test::Fault::io_error);
    try {
      AppendLog log(folder.log(), {.segment_bytes = 300, .tap = &tap});
      (void)log.trim(log.last());
      (void)log.trim(log.last());
    } catch (const std::system_error&) {
    }
    more = tap.disarm().has_value();
    EXPECT_NO_THROW(AppendLog(folder.log(), {.segment_bytes = kSegment}));
    EXPECT_EQ(failure_of([&] { (void)read_all(folder.log()); }).error, 0);
  }
}

TEST(AppendLog, AFullDisk) {
  const Folder folder;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 10'000;
  std::size_t acknowledged = 0;
  {
    AppendLog log(folder.log());
    ::setrlimit(RLIMIT_FSIZE, &small);
    for (;;) {
      const AppendResult result = log.append(record_text(acknowledged + 1, 300));
      if (!result.ok()) {
        EXPECT_EQ(result.failure().error, EFBIG);
        EXPECT_GT(result.failure().offset, 5000u);
        break;
      }
      ++acknowledged;
      ASSERT_LT(acknowledged, 1000u);
    }
    EXPECT_EQ(log.append("x").failure().error, EFBIG);
    ::setrlimit(RLIMIT_FSIZE, &before);
  }
  EXPECT_GT(acknowledged, 10u);
  AppendLog log(folder.log());
  log.append("goes on").check();
  const auto all = read_all(folder.log());
  EXPECT_GE(all.size(), acknowledged + 1);
  for (std::size_t i = 0; i < acknowledged; ++i) EXPECT_EQ(all[i], record_text(i + 1, 300));
}

// A device whose syncs take their time, so that a group gathers meanwhile.
class Slow final : public Passing {
 public:
  Verdict before(const FileCallView& call) noexcept override {
    if (call.kind == FileCallKind::fdatasync) std::this_thread::sleep_for(300us);
    return {};
  }
};

// A child appends by four threads and says through a pipe what is durable; it is killed.
class Child {
 public:
  Child(const std::string& log, bool slow) {
    int ends[2];
    if (::pipe(ends) != 0) return;
    id_ = ::fork();
    if (id_ == 0) {
      ::close(ends[0]);
      run(log, slow, ends[1]);
    }
    ::close(ends[1]);
    from_ = ends[0];
  }
  // The largest number that was acknowledged.
  std::uint64_t kill_after(std::chrono::microseconds time) {
    std::this_thread::sleep_for(time);
    ::kill(id_, SIGKILL);
    std::uint64_t number = 0;
    std::uint64_t most = 0;
    while (::read(from_, &number, sizeof number) == sizeof number) most = std::max(most, number);
    ::close(from_);
    int status = 0;
    ::waitpid(id_, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status)) << "it ended by itself, with " << WEXITSTATUS(status);
    return most;
  }

 private:
  [[noreturn]] static void run(const std::string& folder, bool slow, int to) {
    try {
      Slow tap;
      AppendLog log(folder, {.segment_bytes = 20'000, .tap = slow ? &tap : nullptr});
      std::vector<std::thread> threads;
      for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&log, to, t] {
          for (std::uint64_t i = 0;; ++i) {
            const std::string text = "t" + std::to_string(t) + std::string(i * 37 % 700, 'k');
            const std::uint64_t number = log.append(text).value();
            if (::write(to, &number, sizeof number) != sizeof number) ::_exit(3);
          }
        });
      }
      for (std::thread& thread : threads) thread.join();
    } catch (...) {
      ::_exit(4);
    }
    ::_exit(5);
  }

  pid_t id_ = -1;
  int from_ = -1;
};

TEST(AppendLog, AKilledWriterLosesNothing) {
  if (test::sanitized) GTEST_SKIP() << "ThreadSanitizer knows no threads after a fork";
  auto random = test::random();
  const std::size_t kills = test::deep() ? 1000 : 100;
  std::optional<Folder> folder;
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < kills; ++i) {
    if (i % 10 == 0) {
      folder.emplace();
      most = 0;
    }
    Child child(folder->log(), i % 2 == 0);
    most = std::max(most, child.kill_after(std::chrono::microseconds(random() % 10'000)));
    if (!fs::exists(folder->log())) continue;
    std::uint64_t last = 0;
    for (const AppendLogRecord& record : AppendLogReader(folder->log())) {
      ASSERT_EQ(record.sequence, last + 1);
      last = record.sequence;
      ASSERT_EQ(record.bytes[0], std::byte{'t'});
      ASSERT_EQ(record.text().find_first_not_of('k', 2), std::string::npos);
    }
    ASSERT_GE(last, most) << "acknowledged and not there";
    if (i % 3 == 0) {
      AppendLog log(folder->log(), {.segment_bytes = kSegment});
      ASSERT_EQ(log.last(), last);
    }
  }
}

}  // namespace

// SPDX-License-Identifier: MIT
//
// AppendLog and its reader: numbers, order, groups, segments, damage, and every system call failing
// in its turn.
#include "support/file_tap.hpp"
#include "support/test.hpp"
#include "unit/file/append_log_support.hpp"

namespace append_log_test { namespace {

using namespace handoff;
using namespace std::chrono_literals;
namespace fs = std::filesystem;
using namespace test;

// Small, as what is reserved in memory is taken; more than a test writes.
constexpr std::uint64_t kSegment = std::uint64_t{1} << 20;

std::string record_text(std::uint64_t number, std::size_t bytes = 0) {
  std::string text = "record " + std::to_string(number) + ";";
  while (text.size() < bytes) text.push_back(static_cast<char>('a' + number % 26));
  return text;
}

TEST(AppendLog, KeepsWhatWasAppended) {
  const LogFolder folder;
  {
    AppendLog log(folder.log());
    EXPECT_EQ(log.first(), 1u);
    EXPECT_EQ(log.last(), 0u);
    EXPECT_EQ(log.append("one").value(), 1u);
    EXPECT_EQ(log.append("").value(), 2u);
    EXPECT_EQ(log.append(std::string(100'000, 'x')).value(), 3u);
    EXPECT_EQ(log.durable(), 3u);
    EXPECT_EQ(read_all(folder.log()).size(), 3u) << "beside the writer";
    EXPECT_TRUE(came_to(log.close(), {.done = 3}));
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
  const LogFolder folder;
  AppendLog(folder.log()).append("one").check();
  std::uintmax_t size = 0;
  for (int opening = 0; opening < 2; ++opening) {
    AppendLog(folder.log()).close();
    if (opening == 0) size = fs::file_size(folder.segment());
  }
  EXPECT_EQ(fs::file_size(folder.segment()), size);
  EXPECT_LT(size, 1000u) << "the room that was reserved is given back";
}

TEST(AppendLog, LongRecords) {
  const LogFolder folder;
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
  EXPECT_GT(folder.segments().size(), 2u);
}

TEST(AppendLog, Segments) {
  const LogFolder folder;
  {
    AppendLog log(folder.log(), {.segment_bytes = 1024});
    for (std::uint64_t i = 1; i <= 100; ++i) EXPECT_EQ(log.append(record_text(i, 100)).value(), i);
    EXPECT_GT(log.statistics().segments, 10u);
    EXPECT_EQ(log.statistics().segments, folder.segments().size());
    EXPECT_EQ(log.trim(1).bytes(), 0u);
    EXPECT_GT(log.trim(50).bytes(), 1u);
    EXPECT_LE(log.first(), 50u);
    EXPECT_GT(log.first(), 30u);
    EXPECT_EQ(read_all(folder.log(), 50).size(), 51u);
    EXPECT_EQ(failure_of([&] { AppendLogReader(folder.log(), {.from = 7}); }).error, ENODATA);
    EXPECT_GT(log.trim(1'000'000).bytes(), 1u);
    EXPECT_EQ(folder.segments().size(), 1u) << "the newest stays";
    log.append(record_text(101)).check();
  }
  AppendLog log(folder.log(), {.segment_bytes = 1024});
  EXPECT_EQ(log.append("x").value(), 102u);
}

TEST(AppendLog, LaterWaitAndFlush) {
  const LogFolder folder;
  test::CountingTap tap;
  AppendLog log(folder.log(), {.tap = &tap});
  EXPECT_EQ(log.flush().value(), 0u);
  EXPECT_EQ(log.wait(1).failure().error, EINVAL);
  for (std::uint64_t i = 1; i <= 100; ++i) EXPECT_EQ(log.append_later(record_text(i)).value(), i);
  EXPECT_EQ(log.durable(), 0u);
  EXPECT_EQ(log.wait(7).value(), 7u);
  EXPECT_EQ(log.durable(), 100u) << "one write and one sync for all";
  EXPECT_EQ(log.wait(100).value(), 100u);
  EXPECT_EQ(log.flush().value(), 100u);
  EXPECT_EQ(tap.count(FileCallKind::fdatasync), 1u);
  const AppendLogStatistics statistics = log.statistics();
  EXPECT_EQ(statistics.records, 100u);
  EXPECT_EQ(statistics.batches, 1u);
  EXPECT_EQ(statistics.syncs, 1u);
}

TEST(AppendLog, OnRequest) {
  const LogFolder folder;
  test::CountingTap tap;
  const auto syncs = [&tap] { return tap.count(FileCallKind::fdatasync); };
  AppendLog log(folder.log(), {.sync = AppendLogSync::on_request, .tap = &tap});
  for (std::uint64_t i = 1; i <= 10; ++i) log.append(record_text(i)).check();
  EXPECT_EQ(log.durable(), 0u);
  EXPECT_EQ(syncs(), 0u);
  EXPECT_EQ(read_all(folder.log()).size(), 10u) << "written";
  log.wait(3).check();
  EXPECT_EQ(log.durable(), 10u);
  EXPECT_EQ(syncs(), 1u);
  log.append("more").check();
  EXPECT_EQ(syncs(), 1u);
  EXPECT_EQ(log.close().done, 11u);
  EXPECT_EQ(syncs(), 2u);
}

TEST(AppendLog, Async) {
  const LogFolder folder;
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

// ---- Those who come while a sync is under way ----

// A log whose first sync is held up, and the thread that leads it.
struct Led {
  Led() { tap.wait_for(1); }
  void let_go() {
    tap.open();
    leader.join();
  }

  LogFolder folder;
  HoldingTap tap{FileCallKind::fdatasync};
  AppendLog log{folder.log(), {.tap = &tap}};
  std::thread leader{[this] { EXPECT_EQ(log.append(record_text(0)).value(), 1u); }};
};

TEST(AppendLog, ToCloseItInWhatFollowsARecordIsMisuse) {
  Led led;
  auto next = led.log.append_async("a").then(
      [&](const AppendResult&) { EXPECT_THROW((void)led.log.close(), Misuse); });
  led.let_go();
  next.get();
  EXPECT_EQ(led.log.close().done, 2u);
}

TEST(AppendLog, WaitsEndAsAsked) {
  Led led;
  const std::uint64_t second = led.log.append_later("follows").value();
  EXPECT_EQ(led.log.wait(second, 1ms).failure().error, ETIME);
  EXPECT_EQ(led.log.wait(1, 1ms).failure().error, ETIME);
  sync::StopSource stop;
  stop.request_stop();
  EXPECT_EQ(led.log.wait(second, stop.token()).failure().error, ECANCELED);
  led.let_go();
  EXPECT_EQ(led.log.wait(second).value(), second);
}

TEST(AppendLog, ThoseWhoComeMeanwhileShareASync) {
  Led led;
  std::vector<std::uint64_t> numbers{1};
  numbers.resize(64);
  Crew crew(63U,
            [&](std::size_t i) { numbers[i + 1] = led.log.append(record_text(i + 1)).value(); });
  while (led.log.last() < 64) std::this_thread::yield();
  led.let_go();
  crew.join();
  EXPECT_EQ(led.log.statistics().syncs, 2u);
  EXPECT_EQ(led.log.statistics().batches, 2u);
  EXPECT_EQ(led.log.statistics().records, 64u);
  const auto all = read_all(led.folder.log());
  for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(all.at(numbers[i] - 1), record_text(i));
}

TEST(AppendLog, ACloseThatIsLateLetsALeaderEnd) {
  Led led;
  led.log.append_later("follows").check();
  std::thread lets_go([&] {
    while (led.log.append_later("is it closed?").ok()) std::this_thread::yield();
    led.let_go();
  });
  const Tally tally = led.log.close(Closing::finish_until(sync::clock::now() - 1s));
  lets_go.join();
  EXPECT_EQ(tally.done, 1u);
  EXPECT_GE(tally.expired, 1u);
  EXPECT_EQ(tally.failed, 0u);
  EXPECT_TRUE(tally.balanced());
}

TEST(AppendLog, AFailedSyncReachesAll) {
  const LogFolder folder;
  {
    HoldingTap tap(FileCallKind::fdatasync, true);
    AppendLog log(folder.log(), {.tap = &tap});
    log.append("kept").check();
    tap.open(false);
    tap.error = EIO;
    std::vector<std::thread> threads;
    std::atomic<int> failed{0};
    const auto append = [&] {
      const AppendResult result = log.append("lost");
      EXPECT_FALSE(result.ok());
      EXPECT_EQ(result.failure().error, EIO);
      EXPECT_EQ(result.failure().operation, FileOperation::sync);
      EXPECT_TRUE(says(result.failure().file, "0000000000000001.log"));
      ++failed;
    };
    threads.emplace_back(append);
    tap.wait_for(2);
    for (int i = 0; i < 7; ++i) threads.emplace_back(append);
    auto future = log.append_async("lost");
    while (log.last() < 10) std::this_thread::yield();
    tap.open();
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
  const LogFolder folder;
  {
    AppendLog log(folder.log());
    log.append("one").check();
    const std::uint64_t second = log.append_later("two").value();
    EXPECT_EQ(log.tally().pending, 1u);
    EXPECT_TRUE(came_to(log.close(Closing::abandon), {.done = 1, .cancelled = 1}));
    EXPECT_EQ(log.close().cancelled, 1u);
    EXPECT_EQ(log.wait(second).failure().error, ECANCELED);
    EXPECT_EQ(log.append("three").failure().text(),
              "AppendLog " + folder.log() + ": it was closed: Operation canceled");
  }
  EXPECT_EQ(read_all(folder.log()), (std::vector<std::string>{"one"}));
  EXPECT_EQ(AppendLog(folder.log()).close(Closing::abandon).accepted, 0u);
}

// ---- Damage ----

// A log of nine records in three batches, after its close or as a killed writer leaves it.
struct Made {
  static constexpr std::size_t kBatch = 3;

  explicit Made(bool closed, std::uint64_t segment_bytes = kSegment) {
    for (std::size_t i = 0; i < 9; ++i) records.push_back(record_text(i + 1, 10 + i % 3 * 17));
    const AppendLogOptions options{.segment_bytes = segment_bytes, .preallocate = false};
    if (closed) {
      AppendLog log(folder.log(), options);
      test::append_all(log, records, kBatch);
    } else {
      test::append_and_be_killed(folder, records, kBatch, options);
    }
  }
  std::vector<std::string> read() const { return read_all(folder.log()); }
  std::vector<std::string> but_the_last() const { return {records.begin(), records.end() - 1}; }
  std::size_t bytes_of_last() const { return 16 + (records.back().size() + 7) / 8 * 8; }
  int error_of_reading() const {
    return failure_of([this] { (void)read(); }).error;
  }

  LogFolder folder;
  std::vector<std::string> records;
};

// The records are a beginning of what was appended, `least` of them at least.
void expect_beginning(const std::vector<std::string>& is, const std::vector<std::string>& of,
                      std::size_t least) {
  ASSERT_GE(is.size(), least);
  ASSERT_LE(is.size(), of.size());
  EXPECT_TRUE(std::equal(is.begin(), is.end(), of.begin()));
}

TEST(AppendLog, TornAtEveryByteOfTheLastRecord) {
  const Made made(false);
  const std::string whole = contents(made.folder.segment());
  test::TapOf tap = test::unsynced();
  for (std::size_t cut = 1; cut <= made.bytes_of_last(); ++cut) {
    for (const char filler : {'\0', 'x', '\xff'}) {
      SCOPED_TRACE(cut);
      std::string torn = whole.substr(0, whole.size() - cut);
      if (filler != '\0') torn.append(cut, filler);  // garbage, where the record was
      test::put(made.folder.segment(), torn);
      const auto seen = made.read();
      // Zeros may have been its padding.
      auto expected = seen.size() == made.records.size() ? made.records : made.but_the_last();
      EXPECT_EQ(seen, expected);
      {
        AppendLog log(made.folder.log(), {.preallocate = false, .tap = &tap});
        EXPECT_EQ(log.last(), expected.size());
        EXPECT_EQ(log.append("new").value(), expected.size() + 1);
      }
      expected.emplace_back("new");
      EXPECT_EQ(made.read(), expected);
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
  test::TapOf tap = test::unsynced();
  for (const bool closed : {false, true}) {
    const Made made(closed);
    const std::string file = made.folder.segment();
    const std::string whole = contents(file);
    // Of a log that was closed, all is known to be durable; else all but its last batch.
    const std::size_t known = made.records.size() - (closed ? 0 : Made::kBatch);
    std::size_t found = 0;
    std::size_t flips = 0;
    const std::size_t step = test::slow && !test::deep() ? 3 : 1;
    for (std::size_t i = 0; i < whole.size(); i += step, ++flips) {
      SCOPED_TRACE(i);
      std::string flipped = whole;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << i % 8));
      test::put(file, flipped);
      const test::Told read =
          failure_of([&] { expect_beginning(made.read(), made.records, known); });
      const test::Told opened = failure_of([&] {
        AppendLog log(made.folder.log(), {.segment_bytes = kSegment, .tap = &tap});
        EXPECT_GE(log.last(), known);
      });
      EXPECT_EQ(opened.error, read.error);
      if (read.error != 0) {
        EXPECT_EQ(read.error, EBADMSG);
        EXPECT_TRUE(says(read.text, ".log: ")) << read.text;
        EXPECT_LE(damaged_at(read), i) << read.text;
        EXPECT_EQ(contents(file), flipped) << "nothing was cut";
        ++found;
      }
    }
    EXPECT_GT(found, flips / 2);
  }
}

TEST(AppendLog, DamageBeforeTheNewestSegmentIsFound) {
  const Made made(false, 200);
  const auto segments = made.folder.segments();
  ASSERT_GE(segments.size(), 3u);
  const std::string whole = contents(segments[0]);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string flipped = whole;
    flipped[i] = static_cast<char>(flipped[i] ^ 0x10);
    test::put(segments[0], flipped);
    const test::Told read = failure_of([&] { (void)made.read(); });
    EXPECT_EQ(read.error, EBADMSG) << i;
    EXPECT_TRUE(says(read.text, fs::path(segments[0]).filename().native()));
  }
  for (std::size_t cut = 1; cut < whole.size(); ++cut) {
    test::put(segments[0], whole.substr(0, whole.size() - cut));
    EXPECT_EQ(made.error_of_reading(), EBADMSG) << cut;
  }
  test::put(segments[0], whole);
  EXPECT_EQ(made.read(), made.records);
  fs::remove(segments[1]);
  EXPECT_EQ(made.error_of_reading(), EBADMSG) << "a gap";
}

TEST(AppendLog, ASegmentInTheMakingIsMadeAgain) {
  const Made made(false);
  const std::string unfinished = made.folder.log() + "/new";
  test::put(unfinished, std::string(5000, 'x'));
  EXPECT_EQ(made.read(), made.records);
  {
    AppendLog log(made.folder.log(), {.segment_bytes = 64});
    EXPECT_FALSE(fs::exists(unfinished));
    test::put(unfinished, std::string(5000, 'x'));
    EXPECT_EQ(log.append("new").value(), 10u);
    EXPECT_FALSE(fs::exists(unfinished));
  }
  EXPECT_EQ(made.read().size(), 10u);
  EXPECT_EQ(made.folder.segments().size(), 2u);
}

TEST(AppendLog, ASegmentWithoutAHeaderIsDamage) {
  for (const std::size_t bytes : std::initializer_list<std::size_t>{0, 1, 63, 64, 5000}) {
    const Made made(false);
    test::put(made.folder.log() + "/000000000000000a.log", std::string(bytes, '\0'));
    EXPECT_EQ(made.error_of_reading(), EBADMSG);
    EXPECT_EQ(failure_of([&] { AppendLog(made.folder.log()); }).error, EBADMSG);
  }
}

TEST(AppendLog, StaleBytesDoNotPass) {
  // The same records under another random number: what a recycled block may hold.
  const Made one(false), other(false);
  const std::string mine = contents(one.folder.segment());
  const std::string stale = contents(other.folder.segment());
  ASSERT_EQ(mine.size(), stale.size());
  const std::size_t last = mine.size() - one.bytes_of_last();
  test::put(one.folder.segment(), mine.substr(0, last) + stale.substr(last));
  EXPECT_EQ(one.read(), one.but_the_last());
}

TEST(AppendLog, ASegmentOfAnotherLogDoesNotPass) {
  const Made one(false, 200), other(false, 200);
  const std::string second = one.folder.segments().at(1);
  test::put(second, contents(other.folder.segments().at(1)));
  const test::Told failure = failure_of([&] { (void)one.read(); });
  EXPECT_EQ(failure.error, EBADMSG);
  EXPECT_TRUE(says(failure.text, second + ": it is of another log")) << failure.text;
}

// ---- Calls that fail ----

// What a program does; how many records were acknowledged.
std::size_t use_log(const std::string& folder, test::FileTap* tap, std::size_t first) {
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
    EXPECT_TRUE(log.close().balanced());
  } catch (const std::system_error& error) {
    EXPECT_NE(error.code().value(), 0);
  }
  return acknowledged;
}

TEST(AppendLog, EveryCallFailsInItsTurn) {
  const auto files_before = open_descriptors();
  for (const test::Fault fault : test::kFaults) {
    const LogFolder folder;
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
      EXPECT_EQ(open_descriptors(), files_before);
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
  const Made made(true, 200);
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
    const LogFolder folder;
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

}}  // namespace append_log_test

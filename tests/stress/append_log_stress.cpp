// SPDX-License-Identifier: MIT
//
// An append log under real threads: appenders of each kind, waiters that give up, a reader that
// follows and somebody who trims; syncs that take next to nothing and syncs that take their time. A
// lost wake-up is a hang, which the watchdog turns into a failure.
#include <handoff/file/detail/file_tap.hpp>

#include "fault/fault_support.hpp"
#include "support/patience.hpp"
#include "support/test.hpp"

namespace {

using namespace handoff;
using namespace std::chrono_literals;
using detail::FileCallKind;
using detail::FileCallView;

// A device whose syncs take as long as it is told.
class Device final : public detail::FileTap {
 public:
  explicit Device(std::chrono::microseconds sync) : sync_(sync) {}
  Verdict before(const FileCallView& call) noexcept override {
    if (call.kind == FileCallKind::fdatasync && sync_ > 0us) std::this_thread::sleep_for(sync_);
    const bool syncs = call.kind == FileCallKind::fdatasync || call.kind == FileCallKind::fsync;
    return syncs ? Verdict{Verdict::answer, 0} : Verdict{};
  }
  void after(const FileCallView& /*call*/, long /*result*/) noexcept override {}

 private:
  const std::chrono::microseconds sync_;
};

class AppendLogStress : public testing::Test {
 protected:
  std::string log() const { return folder_.at("log"); }

 private:
  const test::Folder folder_;
};

// A thread's records say whose they are, and count.
std::string text_of(std::size_t thread, std::uint64_t number, std::mt19937_64& random) {
  std::string text = std::to_string(thread) + ":" + std::to_string(number) + ":";
  text.append(random() % 200, 'x');
  return text;
}

void append_in_all_ways(AppendLog& log, std::size_t thread, std::size_t count) {
  auto random = test::random(thread);
  std::vector<Future<AppendResult>> owed;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string text = text_of(thread, i, random);
    switch (thread % 4 == 3 ? random() % 4 : 0) {
      case 1: log.append_later(text).check(); break;
      case 2: {
        const std::uint64_t number = log.append_later(text).value();
        const AppendResult result = log.wait(number, std::chrono::microseconds(random() % 100));
        if (result.ok()) {
          EXPECT_GE(log.durable(), number);
        } else {
          EXPECT_EQ(result.failure().error, ETIME);
        }
        break;
      }
      case 3: owed.push_back(log.append_async(text)); break;
      default: {
        const std::uint64_t number = log.append(text).value();
        EXPECT_GE(log.durable(), number);
      }
    }
  }
  for (auto& future : owed) future.get().check();
}

// Each thread's records in their order, and none left out.
class Counts {
 public:
  explicit Counts(std::size_t threads) : next_(threads) {}
  void see(std::string_view text) {
    const std::size_t colon = text.find(':');
    const auto thread = static_cast<std::size_t>(std::stoul(std::string(text.substr(0, colon))));
    const auto number = std::stoull(std::string(text.substr(colon + 1)));
    ASSERT_LT(thread, next_.size());
    EXPECT_EQ(number, next_[thread]++);
  }
  void expect_all(std::uint64_t count) const {
    for (const std::uint64_t next : next_) EXPECT_EQ(next, count);
  }

 private:
  std::vector<std::uint64_t> next_;
};

void torture(const std::string& folder, Device& device, std::size_t threads, std::size_t count) {
  AppendLog log(folder, {.segment_bytes = 20'000, .batch_bytes = 1000, .tap = &device});
  std::atomic<bool> done{false};
  std::thread reader([&] {
    Counts counts(threads);
    AppendLogReader from_start(folder);
    AppendLogRecord record;
    for (bool last_look = false; !last_look;) {
      last_look = done;
      while (from_start.next(record)) counts.see(record.text());
      std::this_thread::sleep_for(1ms);
    }
    counts.expect_all(count);
  });
  std::vector<std::thread> appenders;
  for (std::size_t t = 0; t < threads; ++t) {
    appenders.emplace_back([&log, t, count] { append_in_all_ways(log, t, count); });
  }
  for (std::thread& appender : appenders) appender.join();
  log.flush().check();
  const AppendLogStatistics statistics = log.statistics();
  EXPECT_EQ(statistics.records, threads * count);
  EXPECT_LE(statistics.syncs, statistics.records + 1);
  EXPECT_LE(statistics.batches, statistics.syncs);
  done = true;
  reader.join();
  EXPECT_EQ(log.close().done, threads * count);
}

TEST_F(AppendLogStress, SyncsOfNoTime) {
  Device device(0us);
  torture(log(), device, 8, test::rounds(2000));
}

TEST_F(AppendLogStress, SyncsThatTakeTheirTime) {
  Device device(200us);
  torture(log(), device, 32, test::rounds(100));
}

// One thread goes on and on, another one only now and then: it is not left waiting.
TEST_F(AppendLogStress, TwoThreadsTakeTurns) {
  Device device(0us);
  AppendLog log(this->log(), {.segment_bytes = 1 << 20, .tap = &device});
  test::in_parts(test::rounds(200'000), [&](std::size_t records) {
    std::thread other([&] {
      for (std::size_t i = 0; i < records; ++i) log.append("other").check();
    });
    for (std::size_t i = 0; i < records; ++i) log.append("mine").check();
    other.join();
    (void)log.trim(log.durable());
  });
}

}  // namespace

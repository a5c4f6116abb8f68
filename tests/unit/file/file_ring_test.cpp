// SPDX-License-Identifier: MIT
//
// What the driver by io_uring has of its own: more requests than its width, a thread that sleeps in
// the kernel and is woken, calls that the ring has no operation for, shortened calls, and refusals
// that leave nothing behind. What requests do is tested for all backends in file_engine_test.cpp.
#include "file/ring_driver.hpp"
#include "support/failing.hpp"
#include "support/file_tap.hpp"
#include "support/limit.hpp"
#include "support/test.hpp"
#include "unit/file/file_support.hpp"

namespace file_ring_test { namespace {

using namespace handoff;
using namespace handoff::test;

class FileRing : public testing::Test {
 protected:
  void SetUp() override {
    if (!handoff::test::possible(FileBackend::io_uring))
      GTEST_SKIP() << "io_uring is not to be had here";
  }
  Folder folder;
};

TEST_F(FileRing, MoreRequestsThanItsWidthFromSeveralThreads) {
  const std::string text = pattern(64 * 4096);
  put(folder / "a", text);
  const std::size_t rounds = handoff::test::rounds(300);
  for (const std::size_t width : std::initializer_list<std::size_t>{1, 3, 64}) {
    SCOPED_TRACE(width);
    FileEngine files({.width = width, .backend = FileBackend::io_uring});
    const OpenFile file = OpenFile::open(folder / "a");
    std::atomic<std::size_t> right{0};
    Crew(3U, [&](std::size_t t) {
      std::vector<std::string> got(rounds, std::string(4096, '\0'));
      std::vector<Future<FileResult>> results;
      for (std::size_t i = 0; i < rounds; ++i)
        results.push_back(files.read(file, room_of(got[i]), (t + i) % 64 * 4096));
      for (std::size_t i = 0; i < rounds; ++i) {
        if (results[i].get().bytes() == 4096 && got[i] == text.substr((t + i) % 64 * 4096, 4096)) {
          ++right;
        }
      }
    }).join();
    EXPECT_EQ(right, 3 * rounds);
    EXPECT_EQ(files.choice().width, width);
  }
}

// The rule of `automatic`, for requests that say so and for those to a file that was opened so.
TEST_F(FileRing, AutomaticTakesItForWhatBypassesThePageCache) {
  FileBuffer buffer(8192);
  const auto expect_ring = [](const FileEngine& files) {
    EXPECT_EQ(files.choice().backend, FileBackend::io_uring);
    EXPECT_EQ(files.choice().width, 64u);
    EXPECT_EQ(files.choice().why, "io_uring makes the calls that bypass the page cache");
  };
  FileEngine by_request;
  by_request.write(folder / "a", buffer.span(), {.direct = true}).get().check();
  expect_ring(by_request);
  by_request.read(folder / "a", buffer.span()).get().check();
  EXPECT_EQ(by_request.choice().backend, FileBackend::pool);

  OpenFile file;
  try {
    file = OpenFile::open(folder / "a", {.direct = true});
  } catch (const std::system_error&) {
    return;  // this file system has no such files
  }
  FileEngine by_file;
  EXPECT_EQ(by_file.read(file, buffer.span(), 0).get().bytes(), 8192u);
  expect_ring(by_file);
}

TEST_F(FileRing, AutomaticTakesThreadsWhereItIsNotToBeHad) {
  const FileBuffer buffer(8192);
  FileEngine files;
  handoff::test::fail_after(Call::thread, 0, EAGAIN);
  files.write(folder / "a", buffer.span(), {.direct = true}).get().check();
  EXPECT_TRUE(handoff::test::stop_failing(Call::thread));
  files.write(folder / "a", buffer.span(), {.direct = true}).get().check();
  const handoff::FileChoice choice = files.choice();
  EXPECT_EQ(choice.backend, FileBackend::pool);
  EXPECT_EQ(choice.io_uring_error, EAGAIN);
  EXPECT_EQ(choice.why, "threads make the calls that bypass the page cache: no io_uring, " +
                            std::generic_category().message(EAGAIN));
}

// Each request finds the ring's thread asleep, or about to fall asleep.
TEST_F(FileRing, AStartIsNeverSleptThrough) {
  put(folder / "a", "0123456789");
  FileEngine files({.backend = FileBackend::io_uring});
  std::string got(10, '\0');
  for (std::size_t i = 0; i < handoff::test::rounds(2000); ++i) {
    got.assign(10, '\0');
    ASSERT_EQ(files.read(folder / "a", room_of(got)).get().bytes(), 10u);
    ASSERT_EQ(got, "0123456789");
  }
}

TEST_F(FileRing, ALargeTransferInManyCallsAtOnce) {
  const std::size_t bytes = (std::size_t{5} << 20) + 123;
  const std::string text = pattern(bytes);
  for (const bool direct : {false, true}) {
    for (const std::size_t width : std::initializer_list<std::size_t>{1, 2, 64}) {
      FileEngine files({.width = width, .backend = FileBackend::io_uring});
      FileBuffer buffer(bytes);
      std::copy(text.begin(), text.end(), reinterpret_cast<char*>(buffer.data()));
      EXPECT_EQ(files
                    .write(folder / "large", buffer.span(),
                           {.durable = true, .preallocate = direct, .direct = direct})
                    .get()
                    .bytes(),
                bytes);
      EXPECT_EQ(contents(folder / "large"), text);
      std::fill_n(buffer.data(), bytes, std::byte{0});
      EXPECT_EQ(files.submit({.path = folder / "large", .into = buffer.span(), .direct = direct})
                    .get()
                    .bytes(),
                bytes);
      EXPECT_TRUE(
          std::equal(text.begin(), text.end(), reinterpret_cast<const char*>(buffer.data())));
    }
  }
}

// copy_file_range and FICLONE are no operations of a ring: threads make them, or the ring's own
// where no other is to be had.
TEST_F(FileRing, WhatARingCannotDoIsDoneAllTheSame) {
  const std::string text = pattern(300'000);
  put(folder / "from", text);
  FileEngine files({.backend = FileBackend::io_uring});
  handoff::test::fail_after(Call::thread, 0, EAGAIN);
  files.copy(folder / "from", folder / "to").get().check();
  EXPECT_TRUE(handoff::test::stop_failing(Call::thread)) << "the first copy starts a thread";
  EXPECT_EQ(contents(folder / "to"), text);
  std::vector<Future<FileResult>> copies;
  for (int i = 0; i < 20; ++i)
    copies.push_back(files.copy(folder / "from", folder / ("to" + std::to_string(i))));
  for (auto& copy : copies) copy.get().check();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(contents(folder / ("to" + std::to_string(i))), text);
}

TEST_F(FileRing, ShortenedCallsAreCompleted) {
  std::atomic<int> transfers{0};
  std::atomic<bool> too_much{false};
  // Each moves at most 1000 bytes.
  handoff::test::TapOf tap(
      [](const FileCallView& call) -> handoff::test::Verdict {
        if (!handoff::test::transfers(call.kind)) return {};
        return {handoff::test::Verdict::shorten, 1000};
      },
      [&](const FileCallView& call, long result) {
        if (!handoff::test::transfers(call.kind)) return;
        if (result > 1000) too_much = true;
        ++transfers;
      });
  const std::string text = pattern(10'000);
  FileEngine files({.backend = FileBackend::io_uring, .tap = &tap});
  FileRequest write{.operation = FileOperation::write, .path = folder / "a"};
  const auto all = bytes_of(text);
  write.from = {all.first(700), all.subspan(700, 1), all.subspan(701, 5000), all.subspan(5701)};
  files.submit(std::move(write)).get().check();
  EXPECT_EQ(contents(folder / "a"), text);
  std::string first(3'333, '\0');
  std::string rest(6'667, '\0');
  EXPECT_EQ(
      files.submit({.path = folder / "a", .into = {room_of(first), room_of(rest)}}).get().bytes(),
      text.size());
  EXPECT_EQ(first + rest, text);
  files.copy(folder / "a", folder / "b").get().check();
  EXPECT_EQ(contents(folder / "b"), text);
  EXPECT_FALSE(too_much);
  EXPECT_GE(transfers, 30);
}

TEST_F(FileRing, NothingIsLeftOpen) {
  const auto before = open_descriptors();
  for (int i = 0; i < 3; ++i) {
    FileEngine files({.backend = FileBackend::io_uring});
    files.write(folder / "a", bytes_of("abc")).get().check();
    files.copy(folder / "a", folder / "b").get().check();
    (void)files.read(folder / "missing").get();
    files.close();
    EXPECT_EQ(files.close().done + files.tally().failed, 3u);
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(FileRing, ARefusedRingSaysWhyAndLeavesNothing) {
  const auto before = open_descriptors();
  // Room for nothing; then for the bell and not for the ring.
  for (const std::size_t room : std::initializer_list<std::size_t>{0, 1}) {
    const int lowest = dup(0);  // of those that are free
    ASSERT_GE(lowest, 0);
    close(lowest);
    std::optional<test::Limit> limit(std::in_place, RLIMIT_NOFILE,
                                     static_cast<rlim_t>(lowest) + room);
    std::exception_ptr thrown;
    const int refusal = handoff::detail::ring_refusal();
    try {
      const FileEngine files({.backend = FileBackend::io_uring});
    } catch (...) {
      thrown = std::current_exception();
    }
    limit.reset();
    ASSERT_NE(thrown, nullptr);
    // Only now: UndefinedBehaviorSanitizer wants a descriptor to look at an object's type.
    EXPECT_EQ(failure_of([&] { std::rethrow_exception(thrown); }).error, EMFILE);
    EXPECT_EQ(refusal, room == 0 ? EMFILE : 0);
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(FileRing, AThreadThatCannotBeHadIsThrown) {
  const auto before = open_descriptors();
  const int places = handoff::test::until_whole(Call::thread, EAGAIN, [&] {
    try {
      FileEngine files({.backend = FileBackend::io_uring});
      files.write(folder / "a", bytes_of("abc")).get().check();
    } catch (const std::system_error& refused) {
      EXPECT_EQ(refused.code().value(), EAGAIN);
    }
  });
  EXPECT_GE(places, 1);
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(FileRing, NoMemoryIsThrownAndNothingIsLeft) {
  const auto before = open_descriptors();
  handoff::test::until_enough_memory(
      [&] { const FileEngine files({.backend = FileBackend::io_uring}); });
  EXPECT_EQ(open_descriptors(), before);
}

}}  // namespace file_ring_test

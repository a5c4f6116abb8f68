// SPDX-License-Identifier: MIT
//
// Order, room, group commit, shares, stops: what an engine does with many requests.
#include "file/pace.hpp"
#include "file_support.hpp"
#include "support/file_tap.hpp"
#include "support/test.hpp"

namespace {

using namespace handoff;
using namespace handoff::test;
using namespace std::chrono_literals;

class FileOrderTest : public OnEachBackend {};
HANDOFF_EACH_BACKEND(FileOrderTest);

TEST_P(FileOrderTest, ProgressIsToldToTheEnd) {
  FileEngine files(options());
  const std::string text = pattern(5 << 20);
  std::vector<std::uint64_t> told;
  FileRequest request{.operation = FileOperation::write, .path = folder / "a"};
  request.from = bytes_of(text);
  request.progress = [&](std::uint64_t moved, std::uint64_t all) {
    EXPECT_EQ(all, text.size());
    told.push_back(moved);
  };
  files.submit(std::move(request)).get().check();
  ASSERT_GE(told.size(), 5U);
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  EXPECT_EQ(told.back(), text.size());
  told.clear();
  FileRequest read{.path = folder / "a"};
  read.progress = [&](std::uint64_t moved, std::uint64_t all) {
    EXPECT_EQ(all, text.size());
    told.push_back(moved);
  };
  files.submit(std::move(read)).get().check();
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.back(), text.size());
}

TEST_P(FileOrderTest, WhatIsStoppedOrLateDoesNotBegin) {
  FileEngine files(options());
  sync::StopSource source;
  source.request_stop();
  const auto error_until = [&](auto until) {
    return files.submit({.operation = FileOperation::write, .path = folder / "a", .until = until})
        .get()
        .failure()
        .error;
  };
  EXPECT_EQ(error_until(source.token()), ECANCELED);
  EXPECT_EQ(error_until(-1s), ETIME);
  EXPECT_EQ(folder.names().size(), 0U);
  EXPECT_TRUE(came_to(files.close(), {.cancelled = 1, .expired = 1}));
}

TEST_P(FileOrderTest, AStopEndsAWriteBetweenPieces) {
  FileEngine files(options());
  const std::string text = pattern(20 << 20);
  sync::StopSource source;
  for (const FileOperation operation : {FileOperation::write, FileOperation::replace}) {
    FileRequest request{.operation = operation, .path = folder / "a"};
    request.from = bytes_of(text);
    sync::StopSource stop;
    request.until = stop.token();
    request.progress = [&](std::uint64_t, std::uint64_t) { stop.request_stop(); };
    const FileResult result = files.submit(std::move(request)).get();
    EXPECT_EQ(result.failure().error, ECANCELED);
    if (operation == FileOperation::write) {
      EXPECT_LT(result.bytes_before_failure(), text.size());
      EXPECT_EQ(contents(folder / "a").substr(0, result.bytes_before_failure()),
                text.substr(0, result.bytes_before_failure()));
      put(folder / "a", "old");
    } else {
      EXPECT_EQ(result.bytes_before_failure(), 0U);
      EXPECT_EQ(contents(folder / "a"), "old");
      EXPECT_EQ(folder.names().size(), 1U);
    }
  }
}

TEST_P(FileOrderTest, TheFirstFailureIsKept) {
  FileEngine files(options());
  (void)files.read(folder / "none").get();
  const Tally tally = files.close();
  EXPECT_EQ(tally.failed, 1U);
  ASSERT_NE(tally.first_failure, nullptr);
  const Told failure = failure_of([&] { std::rethrow_exception(tally.first_failure); });
  EXPECT_EQ(failure.error, ENOENT);
  EXPECT_EQ(failure.text, folder / "none" + ": open: No such file or directory");
}

TEST_P(FileOrderTest, AShareOfTheDeviceLetsAllThrough) {
  FileEngineOptions share = options();
  share.bytes_per_second = 200 << 20;
  FileEngine files(share);
  std::vector<std::string> texts;
  for (unsigned i = 0; i < 4; ++i) texts.push_back(pattern((4 << 20) + i, i));
  std::vector<Future<FileResult>> all;
  for (std::size_t i = 0; i < 4; ++i) {
    all.push_back(files.write(folder / std::to_string(i), bytes_of(texts[i])));
  }
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(all[i].get().bytes(), texts[i].size());
    EXPECT_TRUE(contents(folder / std::to_string(i)) == texts[i]);
  }
  EXPECT_EQ(files.close().done, 4U);
}

TEST_P(FileOrderTest, NothingStoppedOrLateWaitsForItsShare) {
  FileEngineOptions share = options();
  share.bytes_per_second = 1;
  FileEngine files(share);
  const std::string text = pattern(4096);
  files.write(folder / "debt", bytes_of(text)).get().check();
  put(folder / "source", text);
  std::filesystem::resize_file(folder / "source", 2 * text.size());
  const auto submit = [&](FileOperation operation, KeptUntil until) {
    return files.submit({.operation = operation,
                         .path = folder / (operation == FileOperation::copy ? "source" : "a"),
                         .to = folder / "b",
                         .length = 4096,
                         .from = bytes_of(text),
                         .until = until});
  };
  for (const FileOperation operation : {FileOperation::write, FileOperation::copy}) {
    EXPECT_EQ(submit(operation, 20ms).get().failure().error, ETIME);
    if (share.backend == FileBackend::caller) continue;  // its submit() is the wait
    Future<FileResult> waits = submit(operation, {});
    EXPECT_TRUE(waits.request_stop());
    EXPECT_EQ(waits.get().failure().error, ECANCELED);
  }
}

// Of many that wait for their share few hold a file, and those that have moved nothing end with
// the engine: what they were to change is as it was.
TEST_P(FileOrderTest, WhatWaitsForItsShareHoldsFewFilesAndIsCancelled) {
  if (GetParam() == FileBackend::caller) return;  // its submit() is the wait
  put(folder / "old", "old");
  put(folder / "source", pattern(8192));
  const OpenFile open = OpenFile::open(folder / "old");
  std::atomic<int> opens{0};
  TapOf tap([&](const FileCallView& call) {
    if (call.kind == FileCallKind::open) ++opens;
    return Verdict{};
  });
  FileEngineOptions share = options();
  share.bytes_per_second = 1;
  share.tap = &tap;
  FileEngine files(share);
  files.write(folder / "debt", bytes_of(pattern(4096))).get().check();
  opens = 0;
  std::string into(4, '\0');
  std::vector<Future<FileResult>> all;
  all.push_back(files.write(folder / "old", bytes_of("new")));
  all.push_back(files.append(folder / "new", bytes_of("new")));
  all.push_back(files.read(open, room_of(into), 0));
  for (const char* const name : {"b", "c"}) {
    all.push_back(files.submit({.operation = FileOperation::copy,
                                .path = folder / "source",
                                .to = folder / name,
                                .length = 4096}));
  }
  for (int i = 0; i < 100; ++i) all.push_back(files.read(folder / "source", room_of(into)));
  const int most = detail::FilePace::kPlaces - 2 + 2 * 2;  // a copy opens three
  while (opens < most) std::this_thread::yield();
  EXPECT_TRUE(came_to(files.close(Closing::abandon), {.done = 1, .cancelled = all.size()}));
  EXPECT_EQ(opens, most);
  for (auto& one : all) EXPECT_EQ(one.get().failure().error, ECANCELED);
  EXPECT_EQ(contents(folder / "old"), "old");
  EXPECT_EQ(folder.names().size(), 3U) << "old, source and debt";
}

TEST_P(FileOrderTest, FewBytesInFlightLetAllThrough) {
  FileEngineOptions few = options();
  few.bytes_in_flight = 5000;
  FileEngine files(few);
  std::vector<Future<FileResult>> all;
  const std::string text = pattern(4096);
  const std::string large = pattern(100000);
  for (int i = 0; i < 100; ++i) {
    all.push_back(files.write(folder / std::to_string(i), bytes_of(i % 10 == 0 ? large : text)));
  }
  for (auto& one : all) one.get().check();
  std::vector<Future<FileResult>> read;
  for (int i = 0; i < 100; ++i) read.push_back(files.read(folder / std::to_string(i)));
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(read[static_cast<std::size_t>(i)].get().bytes(), i % 10 == 0 ? 100000U : 4096U);
  }
}

TEST(FileRoomTest, FullIsSaidAndCounted) {
  const Folder folder;
  HoldingTap tap(FileCallKind::stat);
  FileEngineOptions options{
      .capacity = 1, .on_full = OnFull::reject, .backend = FileBackend::io_thread, .tap = &tap};
  FileEngine files(options);
  put(folder / "a", "x");
  Future<FileResult> first = files.read(folder / "a");
  tap.wait_for(1);
  const auto refused = caught<NotRun>([&] { return files.read(folder / "a"); }).value();
  EXPECT_EQ(refused.status(), Status::full);
  EXPECT_EQ(refused.what(), "the task '" + (folder / "a") + "' did not run: full");
  EXPECT_EQ(files.post({.path = folder / "a"}, [](FileResult) {}), Status::full);
  EXPECT_EQ(files.refused(), 2U);
  tap.open();
  first.get().check();
  EXPECT_EQ(files.close().accepted, 1U);
}

TEST(FileRoomTest, AStopByTheFutureKeepsARequestFromBeginning) {
  const Folder folder;
  HoldingTap tap(FileCallKind::stat);
  FileEngine files({.backend = FileBackend::io_thread, .tap = &tap});
  put(folder / "a", "x");
  Future<FileResult> first = files.read(folder / "a");
  tap.wait_for(1);
  Future<FileResult> stopped = files.remove(folder / "a");
  EXPECT_TRUE(stopped.request_stop());
  EXPECT_FALSE(stopped.request_stop()) << "it was asked before";
  tap.open();
  EXPECT_EQ(stopped.get().failure().error, ECANCELED);
  first.wait();
  EXPECT_FALSE(first.request_stop()) << "it has ended";
  EXPECT_EQ(first.get().bytes(), 1U);
  EXPECT_TRUE(came_to(files.close(), {.done = 1, .cancelled = 1}));
}

TEST(FileRoomTest, ToCloseOrWaitInACallbackIsMisuse) {
  const Folder folder;
  FileEngine files;
  const auto end = [&](const FileResult&) {
    EXPECT_THROW((void)files.close(), Misuse);
    EXPECT_THROW((void)files.wait(), Misuse);
  };
  EXPECT_EQ(files.post({.path = folder / "a"}, end), Status::ok);
  EXPECT_EQ(files.wait(), Status::ok);
  EXPECT_EQ(files.close().accepted, 1U);
}

TEST(FileRoomTest, AWaitForRoomEndsWithTheTime) {
  const Folder folder;
  HoldingTap tap(FileCallKind::stat);
  FileEngine files({.capacity = 1, .backend = FileBackend::io_thread, .tap = &tap});
  put(folder / "a", "x");
  Future<FileResult> first = files.read(folder / "a");
  tap.wait_for(1);
  FileRequest request{.path = folder / "a"};
  EXPECT_EQ(files.post(std::move(request), [](FileResult) {}, 1ms), Status::timed_out);
  EXPECT_EQ(files.try_post(std::move(request), [](FileResult) {}), Status::full);
  EXPECT_EQ(files.wait(1ms), Status::timed_out);
  std::thread other([&] { tap.open(); });
  EXPECT_EQ(files.post(std::move(request), [](FileResult) {}), Status::ok);
  other.join();
  first.get().check();
}

TEST(FileRoomTest, AFullEngineRunsItHere) {
  const Folder folder;
  HoldingTap tap(FileCallKind::read);
  FileEngine files(
      {.capacity = 1, .on_full = OnFull::run_here, .backend = FileBackend::io_thread, .tap = &tap});
  put(folder / "a", "x");
  Future<FileResult> first = files.read(folder / "a");
  tap.wait_for(1);
  Future<FileResult> here = files.write(folder / "b", bytes_of("y"), {.truncate = false});
  EXPECT_TRUE(here.is_ready());
  tap.open();
  first.get().check();
  here.get().check();
  EXPECT_EQ(contents(folder / "b"), "y");
}

TEST(FileSyncTest, OneSyncServesAllThatWait) {
  const Folder folder;
  HoldingTap tap(FileCallKind::fsync);
  FileEngine files({.width = 4, .backend = FileBackend::pool, .tap = &tap});
  const OpenFile file = OpenFile::open(folder / "a", {.write = true, .create = true});
  std::vector<Future<FileResult>> all;
  all.push_back(files.write(file, bytes_of("0"), 0, {.durable = true}));
  tap.wait_for(1);
  for (std::uint64_t i = 1; i < 30; ++i)
    all.push_back(files.write(file, bytes_of("1"), i, {.durable = true}));
  // All but the first are in the file before its sync ends.
  while (contents(folder / "a").size() < 30) std::this_thread::yield();
  std::this_thread::sleep_for(10ms);
  tap.open();
  for (auto& one : all) one.get().check();
  EXPECT_LE(tap.arrived(), 4);
}

TEST(FileChoiceTest, WhatIsAskedForIsTaken) {
  const FileEngine asked({.backend = FileBackend::io_thread});
  EXPECT_EQ(asked.choice().backend, FileBackend::io_thread);
  EXPECT_EQ(asked.choice().width, 1U);
  EXPECT_EQ(asked.choice().why, "the program asked for it");
}

TEST(FileChoiceTest, ThreadsMakeTheCallsThatUseThePageCache) {
  const Folder folder;
  FileEngine files({.width = 3});
  const std::string text = pattern(4096);
  const auto expect_threads = [&files] {
    const FileChoice choice = files.choice();
    EXPECT_EQ(choice.backend, FileBackend::pool);
    EXPECT_EQ(choice.width, 3U);
    EXPECT_EQ(choice.why, "threads make the calls that use the page cache");
    EXPECT_EQ(choice.io_uring_possible, choice.io_uring_error == 0);
  };
  expect_threads();
  files.write(folder / "a", bytes_of(text), {.durable = true}).get().check();
  expect_threads();
  const OpenFile file = OpenFile::open(folder / "a");
  std::string room(4096, 0);
  EXPECT_EQ(files.read(file, room_of(room), 0).get().bytes(), 4096U);
  EXPECT_EQ(room, text);
  expect_threads();
}

}  // namespace

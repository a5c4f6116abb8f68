// SPDX-License-Identifier: MIT
//
// The bandwidth share: what is paid for and in which order; what a close with a deadline lets
// begin; and paths beneath a directory where the kernel has no openat2.
#include "file/pace.hpp"
#include "file/driver.hpp"
#include "file/file_task.hpp"
#include "file_support.hpp"
#include "support/file_tap.hpp"
#include "support/test.hpp"

namespace pace_test { namespace {

using namespace handoff;
using namespace handoff::test;
using namespace handoff::detail;
using std::chrono::hours;
using std::chrono::seconds;

// ---- The share itself ---------------------------------------------------------------------------

// Takes down what it is asked for. Says "not yet" each `refuses`-th time.
class Services final : public FileServices {
 public:
  explicit Services(test::FileTap* tap = nullptr, unsigned refuses = 0)
      : tap_(tap), refuses_(refuses) {}

  FileTap* tap() const noexcept override { return tap_; }
  int beneath() const noexcept override { return AT_FDCWD; }
  int whether_to_begin() const noexcept override { return 0; }
  bool reserve(FileRun&, std::uint64_t) noexcept override { return true; }
  bool spend(FileRun&, std::uint64_t bytes, bool park) noexcept override {
    ++asked;
    most = std::max(most, bytes);
    if (refuses_ != 0 && asked % refuses_ == 0) {
      if (park) spent += bytes;  // it is started again when it has its share
      return false;
    }
    spent += bytes;
    return true;
  }
  bool join_sync(FileRun&) noexcept override { return true; }
  int begin_sync(FileRun& run) noexcept override { return run.sync_place.descriptor; }
  void end_sync(FileRun&, int) noexcept override {}

  std::uint64_t spent = 0;
  std::uint64_t most = 0;  // at once
  unsigned asked = 0;

 private:
  FileTap* tap_;
  unsigned refuses_;
};

// Drives a run to its end, with so many calls out at once.
FileResult drive(Services& services, FileRequest request, unsigned window) {
  FileRun run(services, std::move(request));
  run.set_paced();
  run.set_window(window);
  std::vector<FileCall> out;
  const auto complete_first = [&] {
    const FileCall call = out.front();
    out.erase(out.begin());
    run.completed(call, detail::perform(call, services.tap()));
  };
  for (FileCall call;;) {
    switch (run.next(call)) {
      case FileRun::Step::issue: out.push_back(call); break;
      case FileRun::Step::busy: complete_first(); break;
      case FileRun::Step::parked: break;  // started again
      case FileRun::Step::ended: return std::move(run.outcome());
    }
    if (out.size() >= window) complete_first();
  }
}

class FakeDriver final : public FileDriver {
 public:
  void start(FileRun& run) noexcept override {
    const std::lock_guard lock(mutex_);
    started_.push_back(&run);
    changed_.notify_all();
  }
  void close() noexcept override {}

  std::vector<FileRun*> wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return started_.size() >= count; });
    return started_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<FileRun*> started_;
};

// Tasks that are parked, and their end.
class Tasks {
 public:
  explicit Tasks(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      FileTask* const task = FileTask::make(services_, {.operation = FileOperation::write});
      task->driver = &driver;
      all_.push_back(task);
    }
  }
  ~Tasks() {
    for (FileTask* const task : all_) task->destroy();
  }
  Tasks(const Tasks&) = delete;
  Tasks& operator=(const Tasks&) = delete;
  FileTask& operator[](std::size_t i) { return *all_[i]; }

  FakeDriver driver;

 private:
  Services services_;
  std::vector<FileTask*> all_;
};

constexpr std::uint64_t kHour = 3600;  // bytes at one byte a second

TEST(PaceTest, ADebtIsPaidOffBeforeTheNext) {
  struct Spend {
    std::uint64_t bytes;
    bool at_once;
  };
  const std::vector<Spend> cases[]{
      {{kHour, true}, {1, false}, {0, false}},  // the first does not wait
      {{0, true}, {0, true}, {0, true}, {kHour, true}},  // nothing costs nothing
      {{~std::uint64_t{0}, true}, {1, false}, {1, false}}  // the moment does not wrap around
  };
  for (const std::vector<Spend>& spends : cases) {
    FilePace pace(1, "t");
    Tasks tasks(1);
    for (const auto& [bytes, at_once] : spends) {
      EXPECT_EQ(pace.spend(tasks[0], bytes, false), at_once) << bytes;
    }
    pace.close();
    EXPECT_EQ(tasks.driver.wait_for(0).size(), 0U) << "what is not parked is not started";
  }
}

// The first debt is so small that it is paid off soon; the last one is not.
TEST(PaceTest, WhatIsParkedIsStartedOnceAndInOrder) {
  FilePace pace(1'000'000, "t");
  Tasks tasks(4);
  std::size_t parked = 0;
  std::vector<FileRun*> expected;
  for (std::size_t i = 0; i < 4; ++i) {
    // 1 ms each: nearly always the next one comes in this time and is parked.
    if (!pace.spend(tasks[i], 1000, true)) {
      expected.push_back(&tasks[i]);
      ++parked;
    }
  }
  EXPECT_EQ(tasks.driver.wait_for(parked), expected);
  pace.close();
  EXPECT_EQ(tasks.driver.wait_for(parked), expected);
}

TEST(PaceTest, AWaitTakesItsShare) {
  FilePace pace(1'000'000, "t");
  Tasks tasks(1);
  pace.wait(tasks[0], 1000);
  pace.wait(tasks[0], 1000);  // waits for the first
  pace.wait(tasks[0], 1'000'000 * kHour);
  EXPECT_FALSE(pace.spend(tasks[0], 1, false));
}

TEST(PaceTest, WhatIsStoppedGoesOnWithoutAShare) {
  FilePace pace(1, "t");
  Tasks tasks(3);
  EXPECT_TRUE(pace.spend(tasks[0], kHour, true));
  EXPECT_FALSE(pace.spend(tasks[1], 1, true));
  EXPECT_FALSE(pace.spend(tasks[2], 1, true));
  tasks[2].stop();
  EXPECT_EQ(tasks.driver.wait_for(1), std::vector<FileRun*>{&tasks[2]});
  tasks[1].stop();
  tasks.driver.wait_for(2);
  EXPECT_TRUE(pace.spend(tasks[1], 1, true));
  pace.wait(tasks[1], 1);
  EXPECT_FALSE(pace.spend(tasks[0], 0, false)) << "the debt is the first one's";
}

TEST(PaceTest, APlaceGoesToTheNextOne) {
  constexpr std::size_t many = FilePace::kPlaces;
  FilePace pace(1, "t");
  Tasks tasks(many + 3);
  for (std::size_t i = 0; i < many; ++i) EXPECT_TRUE(pace.enter(tasks[i]));
  for (std::size_t i = many; i < many + 3; ++i) EXPECT_FALSE(pace.enter(tasks[i]));
  EXPECT_EQ(pace.leave(tasks[0]), &tasks[many]);
  tasks[many + 1].stop();
  EXPECT_EQ(tasks.driver.wait_for(1), std::vector<FileRun*>{&tasks[many + 1]});
  EXPECT_EQ(pace.leave(tasks[many + 1]), nullptr) << "it had none";
  EXPECT_TRUE(pace.enter(tasks[many + 1])) << "it is stopped";
  EXPECT_EQ(pace.leave(tasks[1]), &tasks[many + 2]);
  EXPECT_EQ(pace.leave(tasks[2]), nullptr);
  tasks[2].has_place = false;
  EXPECT_TRUE(pace.enter(tasks[2]));
}

// ---- What runs pay ------------------------------------------------------------------------------

class PayTest : public testing::Test {
 protected:
  Folder folder;
};

// Each byte once, whatever the calls move, how many are out, and how often it says "not yet".
TEST_F(PayTest, EachByteIsPaidForOnce) {
  const std::string text = pattern((std::size_t{3} << 20) + 12'345);
  for (const unsigned window : {1U, 4U}) {
    for (const unsigned refuses : {0U, 1U, 2U, 3U}) {
      for (const auto fault : {Fault::nothing, Fault::half, Fault::interrupted, Fault::again}) {
        FaultTap tap;
        Services services(&tap, refuses);
        const auto with_fault = [&](FileCallKind kind, FileRequest request) {
          services.spent = 0;
          if (fault != Fault::nothing) tap.arm(kind, 1, fault);
          const FileResult result = drive(services, std::move(request), window);
          tap.disarm();
          EXPECT_TRUE(result.ok());
          EXPECT_EQ(services.spent, text.size())
              << window << " at once, refused each " << refuses << ", " << to_string(fault);
        };
        // With every spend refused and several out, a run asks until nothing is out.
        with_fault(
            FileCallKind::write,
            {.operation = FileOperation::write, .path = folder / "a", .from = bytes_of(text)});
        std::string into(text.size(), '\0');
        with_fault(FileCallKind::read,
                   {.operation = FileOperation::read, .path = folder / "a", .into = room_of(into)});
        EXPECT_TRUE(into == text);
        with_fault(
            FileCallKind::write,
            {.operation = FileOperation::replace, .path = folder / "a", .from = bytes_of(text)});
        EXPECT_LE(services.most, FileRun::kPiece);
      }
    }
  }
}

TEST_F(PayTest, ManySmallPiecesPayForThemselvesOnly) {
  const std::string text = pattern(64 * 10);
  std::vector<std::span<const std::byte>> pieces;
  for (std::size_t i = 0; i < 64; ++i) pieces.push_back(bytes_of(text).subspan(i * 10, 10));
  Services services;
  FileRequest request{.operation = FileOperation::write, .path = folder / "a"};
  request.from = FileMemory<const std::byte>(pieces);
  EXPECT_TRUE(drive(services, std::move(request), 4).ok());
  EXPECT_EQ(contents(folder / "a"), text);
  EXPECT_EQ(services.spent, text.size());
}

TEST_F(PayTest, ACopyPaysForWhatItMoves) {
  const std::string text = pattern((std::size_t{2} << 20) + 77);
  put(folder / "a", text);
  Services services;
  EXPECT_TRUE(drive(services,
                    {.operation = FileOperation::copy, .path = folder / "a", .to = folder / "b"}, 1)
                  .ok());
  EXPECT_EQ(contents(folder / "b"), text);
  // Nothing where it is the same blocks.
  EXPECT_TRUE(services.spent == text.size() || services.spent == 0) << services.spent;
}

TEST_F(PayTest, NamesAreFree) {
  put(folder / "a", "x");
  Services services;
  for (const FileOperation operation :
       {FileOperation::stat, FileOperation::sync, FileOperation::remove}) {
    EXPECT_TRUE(drive(services, {.operation = operation, .path = folder / "a"}, 1).ok());
  }
  EXPECT_EQ(services.asked, 0U);
}

// ---- A close with a deadline --------------------------------------------------------------------

// What becomes of three writes to one file when a close comes while the first is under way.
struct CloseCase {
  const char* name;
  Closing (*how)();
  std::vector<int> errors;  // of the writes
  std::string contents;
};
const CloseCase kCloses[]{{"WhatCannotBeginByTheDeadlineExpires",
                           [] { return Closing::finish_until(sync::clock::now() - seconds(1)); },
                           {0, ETIME, ETIME},
                           "x"},
                          {"WhatCanBeginByTheDeadlineIsDone",
                           [] { return Closing::finish_until(hours(1)); },
                           {0, 0, 0},
                           "xxx"},
                          {"AbandonedIsCancelledNotExpired",
                           [] { return Closing(Closing::abandon); },
                           {0, ECANCELED, ECANCELED},
                           "x"}};

class CloseBehindAWrite : public testing::TestWithParam<CloseCase> {};
INSTANTIATE_TEST_SUITE_P(All, CloseBehindAWrite, testing::ValuesIn(kCloses),
                         [](const auto& given) { return given.param.name; });

TEST_P(CloseBehindAWrite, EndsTheOthersAsItSays) {
  const Folder folder;
  const std::string path = folder / "a";
  HoldingTap tap(FileCallKind::write);
  FileEngine files({.backend = FileBackend::io_thread, .tap = &tap});
  std::vector<Future<FileResult>> futures;
  for (int i = 0; i < 3; ++i) futures.push_back(files.append(path, bytes_of("x")));
  tap.wait_for(1);
  std::thread closes_seen([&] {
    // It is closed when it says so; what was let in before is counted.
    const auto is_open = [&] {
      return files.try_post({.operation = FileOperation::stat, .path = path}, [](FileResult) {}) !=
             Status::closed;
    };
    while (is_open()) std::this_thread::yield();
    tap.open();
  });
  const Tally tally = files.close(GetParam().how());
  closes_seen.join();
  std::vector<int> errors;
  for (Future<FileResult>& future : futures) {
    const FileResult result = future.get();
    errors.push_back(result.ok() ? 0 : result.failure().error);
  }
  EXPECT_EQ(errors, GetParam().errors) << "what had begun is done";
  EXPECT_EQ(contents(path), GetParam().contents);
  EXPECT_EQ(std::size_t(tap.arrived()), GetParam().contents.size()) << "the number of writes";
  EXPECT_TRUE(tally.balanced());
  EXPECT_EQ(tally.expired != 0, errors[1] == ETIME);
  EXPECT_EQ(tally.cancelled != 0, errors[1] == ECANCELED);
  EXPECT_EQ(tally.done == 1, errors[1] != 0);
  EXPECT_EQ(tally.failed, 0U);
}

// ---- Beneath a directory, with and without openat2 -------------------------------------------

class BeneathTest : public OnEachBackend {
 protected:
  void SetUp() override {
    OnEachBackend::SetUp();
    inside = folder / "in";
    std::filesystem::create_directories(inside + "/sub/deep");
    std::filesystem::create_directories(folder / "secret");
    put(folder / "secret/file", "secret");
    put(inside + "/old", "old");
    put(inside + "/sub/b", "b");
    std::filesystem::create_symlink("../secret/file", inside + "/out");
    std::filesystem::create_symlink("../secret", inside + "/way");
    std::filesystem::create_symlink("../../secret", inside + "/sub/way");
    std::filesystem::create_symlink(folder / "secret", inside + "/absolute");
    std::filesystem::create_symlink("../secret/new", inside + "/dangling");
    std::filesystem::create_symlink("/proc/self/root", inside + "/magic");
    std::filesystem::create_symlink("loop", inside + "/loop");
    beneath = options();
    beneath.beneath = inside;
    before_openat2 = beneath;
    before_openat2.tap = &old;
  }
  int error(FileEngine& files, FileOperation operation, const std::string& path) {
    FileRequest request{.operation = operation, .path = path};
    if (operation == FileOperation::copy) {
      request.path = "old";
      request.to = path;
    }
    request.from = bytes_of("changed");
    const FileResult result = files.submit(std::move(request)).get();
    return result.ok() ? 0 : result.failure().error;
  }
  void expect_unharmed(const std::string& by) {
    EXPECT_EQ(contents(folder / "secret/file"), "secret") << by;
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder / "secret"), {}), 1) << by;
  }

  std::string inside;
  FileEngineOptions beneath;
  FileEngineOptions before_openat2;
  std::atomic<unsigned> asked{0};
  TapOf old = without_openat2(asked);
};
HANDOFF_EACH_BACKEND(BeneathTest);

TEST_P(BeneathTest, TheSamePathsAreRefused) {
  FileEngine now(beneath);
  FileEngine before(before_openat2);
  using enum FileOperation;
  const std::string names[] = {"../secret/file",
                               "../in/old",
                               "sub/../../secret/file",
                               "way/file",
                               "way/new",
                               "sub/way/file",
                               "absolute/file",
                               "out",
                               "dangling",
                               "magic/etc/hosts",
                               "loop",
                               "loop/x",
                               "old/x",
                               "none/x",
                               folder / "secret/file",
                               "sub/",
                               "old/",
                               "..",
                               std::string(256, 'n')};
  for (const std::string& name : names) {
    for (const FileOperation operation : {read, write, append, replace, copy, stat, sync, remove}) {
      const bool directory = name == "sub/" && (operation == stat || operation == sync);
      // A link in the last place is itself replaced or removed, or asked for.
      const bool link = name == "out" || name == "dangling" || name == "loop";
      const bool itself = operation == replace || operation == copy || operation == remove;
      if (directory || (link && itself)) continue;
      const std::string what = std::string(to_string(operation)) + " " + name;
      const int said = error(now, operation, name);
      EXPECT_NE(said, 0) << what;
      const bool leaves = name.starts_with("../") || name.starts_with("/");
      if (leaves || (name == "out" && operation == read)) {
        EXPECT_EQ(said, EXDEV) << what;
      }
      EXPECT_NE(error(before, operation, name), 0) << what << " without openat2";
      expect_unharmed(what);
    }
  }
  EXPECT_GT(asked.load(), 0U);
  EXPECT_EQ(contents(inside + "/old"), "old");
}

// Links that stay inside, and ".." too: that is stricter.
TEST_P(BeneathTest, NoLinkIsFollowedAtAll) {
  std::filesystem::create_symlink("sub", inside + "/to_sub");
  std::filesystem::create_symlink("old", inside + "/to_old");
  FileEngine files(before_openat2);
  EXPECT_NE(error(files, FileOperation::read, "to_sub/b"), 0);
  EXPECT_EQ(error(files, FileOperation::read, "to_old"), ELOOP);
  const auto open = open_descriptors();
  EXPECT_EQ(error(files, FileOperation::stat, "to_old"), ELOOP);
  EXPECT_EQ(open_descriptors(), open);
  EXPECT_EQ(error(files, FileOperation::read, "sub/../old"), EXDEV);
  EXPECT_EQ(error(files, FileOperation::read, "../in/old"), EXDEV);
  EXPECT_EQ(error(files, FileOperation::read, inside + "/old"), EXDEV);
}

TEST_P(BeneathTest, OtherPathsDoWhatTheyDo) {
  for (const FileEngineOptions& kernel : {beneath, before_openat2}) {
    FileEngine files(kernel);
    EXPECT_EQ(error(files, FileOperation::read, "./old"), 0);
    EXPECT_EQ(error(files, FileOperation::stat, "sub//b"), 0);
    files.write("sub/deep/a", bytes_of("1"), {.durable = true}).get().check();
    files.append("sub/deep/a", bytes_of("2"), {.durable = true}).get().check();
    files.copy("sub/deep/a", "copy", {.durable = true}).get().check();
    files.replace("sub/deep/a", bytes_of("3"), {.durable = true}).get().check();
    files.sync("sub/deep/a").get().check();
    EXPECT_EQ(files.stat("copy").get().attributes().bytes, 2U);
    EXPECT_EQ(contents(inside + "/copy"), "12");
    EXPECT_EQ(contents(inside + "/sub/deep/a"), "3");
    files.remove("sub/deep/a", {.durable = true}).get().check();
    EXPECT_FALSE(std::filesystem::exists(inside + "/sub/deep/a"));
  }
  EXPECT_GT(asked.load(), 0U);
}

TEST_F(PayTest, AnOpenFileBeneathWithoutOpenat2) {
  std::filesystem::create_directories(folder / "in/sub");
  put(folder / "outside", "outside");
  put(folder / "in/sub/a", "inside");
  std::filesystem::create_symlink("../../outside", folder / "in/sub/out");
  std::filesystem::create_symlink("..", folder / "in/up");
  std::atomic<unsigned> asked{0};
  TapOf old = without_openat2(asked);
  const auto open = [&](const std::string& path) {
    return OpenFile::open(path, {.write = true, .beneath = folder / "in", .tap = &old});
  };
  EXPECT_TRUE(open("sub/a").valid());
  for (const char* const path : {"sub/out", "up/outside", "../outside", "sub/../sub/a"}) {
    EXPECT_THROW((void)open(path), std::system_error) << path;
  }
  EXPECT_THROW((void)open(folder / "in/sub/a"), std::system_error);
  EXPECT_GT(asked.load(), 0U);
}

}}  // namespace pace_test

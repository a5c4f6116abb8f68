// SPDX-License-Identifier: MIT
//
// A FileEngine whose calls an Executor of the user's makes: a pool, whose workers stay free, and
// executors that refuse, drop, or call at once.
#include <handoff/file/detail/file_tap.hpp>

#include "support/test.hpp"
#include "unit/file/file_support.hpp"

namespace file_executor_test { namespace {

using namespace handoff;
using namespace test;

// Holds each write until it is let go.
class HeldWrites final : public detail::FileTap {
 public:
  Verdict before(const detail::FileCallView& call) noexcept override {
    if (call.kind == detail::FileCallKind::write) {
      begun_ = true;
      begun_.notify_all();
      open_.wait(false);
    }
    return {};
  }
  void after(const detail::FileCallView&, long) noexcept override {}
  void wait_for_one() const { begun_.wait(false); }
  void let_go() {
    open_ = true;
    open_.notify_all();
  }

 private:
  std::atomic<bool> begun_{false};
  std::atomic<bool> open_{false};
};

TEST(FileExecutorTest, APoolMakesTheCallsAndItsWorkersStayFree) {
  const Folder folder;
  HeldWrites tap;
  ThreadPool pool(1);
  FileEngine files({.executor = pool, .tap = &tap});
  std::atomic<bool> on_the_pool{false};
  FileRequest request{.operation = FileOperation::write, .path = folder / "a"};
  request.from = bytes_of("text");
  ASSERT_EQ(files.post(std::move(request),
                       [&](FileResult result) {
                         on_the_pool = result.ok() && pool.worker_index().has_value();
                       }),
            Status::ok);
  tap.wait_for_one();
  EXPECT_EQ(pool.submit([] { return 7; }).get(), 7) << "its only worker waits for the write";
  tap.let_go();
  EXPECT_EQ(files.close().done, 1U);
  EXPECT_TRUE(on_the_pool);
  EXPECT_EQ(contents(folder / "a"), "text");
  EXPECT_EQ(files.choice().backend, FileBackend::pool);
}

// More than there are stand-ins.
TEST(FileExecutorTest, TasksOfThePoolWaitForFiles) {
  const Folder folder;
  ThreadPool pool({.mode = PoolMode::fixed, .width = 2});
  FileEngine files({.width = 3, .executor = pool});
  std::vector<Future<std::size_t>> sizes;
  for (int i = 0; i < 200; ++i) {
    sizes.push_back(pool.submit([&files, path = folder / std::to_string(i), i] {
      const std::string text(static_cast<std::size_t>(i), 'x');
      files.write(path, bytes_of(text)).get().check();
      return files.read(path).get().data().size();
    }));
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) EXPECT_EQ(sizes[i].get(), i);
  EXPECT_EQ(files.close().done, 400U);
}

// Refuses, keeps what it is given until it ends, or throws it away.
class Unwilling {
 public:
  enum class How { full, throws, drops, keeps };
  explicit Unwilling(How how) : how_(how) {}

  template <class F>
  Status try_post(F&& function) {
    if (how_ == How::full) return Status::full;
    if (how_ == How::throws) throw std::bad_alloc();
    UniqueFunction<void()> taken(std::forward<F>(function));
    if (how_ == How::keeps) kept_.push_back(std::move(taken));
    return Status::ok;
  }
  std::size_t width() const { return 1; }
  // What ends so may hand over more.
  void drop() {
    while (!kept_.empty()) std::exchange(kept_, {}).clear();
  }

 private:
  const How how_;
  std::vector<UniqueFunction<void()>> kept_;
};

TEST(FileExecutorTest, WhatIsRefusedOrDroppedIsDoneAllTheSame) {
  using How = Unwilling::How;
  const Folder folder;
  for (const How how : {How::full, How::throws, How::drops, How::keeps}) {
    SCOPED_TRACE(static_cast<int>(how));
    Unwilling executor(how);
    FileEngine files({.width = 2, .executor = executor});
    std::vector<Future<FileResult>> all;
    for (int i = 0; i < 10; ++i) all.push_back(files.append(folder / "log", bytes_of("x")));
    if (how == How::keeps) {
      EXPECT_FALSE(all.front().is_ready());
      executor.drop();
    }
    for (auto& one : all) one.get().check();
    EXPECT_EQ(files.close().done, 10U);
  }
  EXPECT_EQ(contents(folder / "log").size(), 40U);
}

TEST(FileExecutorTest, AnExecutorMayCallAtOnceOrBeClosed) {
  const Folder folder;
  InlineExecutor at_once;
  ThreadPool closed(1);
  closed.close();
  for (const detail::FileExecutor executor :
       {detail::FileExecutor(at_once), detail::FileExecutor(closed)}) {
    FileEngine files({.executor = executor});
    std::thread::id by;
    FileRequest request{.operation = FileOperation::write, .path = folder / "a"};
    request.from = bytes_of("text");
    (void)files.post(std::move(request),
                     [&](const FileResult&) { by = std::this_thread::get_id(); });
    EXPECT_EQ(by, std::this_thread::get_id());
    EXPECT_EQ(files.close().done, 1U);
  }
}

TEST(FileExecutorTest, OtherBackendsHaveNoUseForOne) {
  InlineExecutor executor;
  for (const FileBackend backend :
       {FileBackend::caller, FileBackend::io_thread, FileBackend::thread_per_request}) {
    EXPECT_THROW(FileEngine({.backend = backend, .executor = executor}), Misuse);
  }
}

}}  // namespace file_executor_test

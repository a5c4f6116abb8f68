// SPDX-License-Identifier: MIT
//
// An exception that nobody took: which Futures tell, what the three handlers do, how many lines
// there are, and which file gets them. Programs that write are this one once more.
#include <core/internal/line_limit.hpp>
#include <handoff/core/internal/promise.hpp>
#include <regex>

#include "support/failing.hpp"
#include "support/test.hpp"
#include "support/unheard.hpp"

namespace handoff { namespace {

// ---- Futures ------------------------------------------------------------------------------------

std::vector<std::string>& unheard_said = test::Unheard::told();

class UnheardFuture : public testing::Test {
  const test::Unheard unheard_;
};

std::exception_ptr disk_full() { return std::make_exception_ptr(std::runtime_error("disk full")); }

Future<int> made(std::exception_ptr error = disk_full()) {
  return failed_future<int>(std::move(error));
}

TEST_F(UnheardFuture, IsToldWhenItsLastOwnerEnds) {
  {
    Future<int> future = made();
    EXPECT_EQ(future.wait(std::chrono::seconds(1)), Status::ok);  // looks at nothing
    EXPECT_TRUE(unheard_said.empty());
    future = {};
    ASSERT_EQ(unheard_said.size(), 1U);
    EXPECT_EQ(unheard_said[0],
              "Future: its work threw: disk full; nobody took it: call get() or "
              "on_failure(), or post() what nobody waits for");
  }
  {
    Future<int> future;
    detail::Promise<int> promise(future);
    future = {};
    promise.set_exception(disk_full());  // nobody can ask any more
  }
  EXPECT_EQ(unheard_said.size(), 2U);
  {
    const SharedFuture<int> one = made().share();
    const SharedFuture<int> other = one;
  }
  EXPECT_EQ(unheard_said.size(), 3U);
}

TEST_F(UnheardFuture, WithoutAnExceptionIsNone) {
  Future<int> dropped;
  detail::Promise<int>(dropped).drop(Status::stopped);
  dropped = {};
  (void)ready_future(1);
  EXPECT_TRUE(unheard_said.empty());
}

TEST_F(UnheardFuture, WhoseExceptionSomebodyTookIsNone) {
  EXPECT_THROW((void)made().get(), std::runtime_error);
  const SharedFuture<int> shared = made().share();
  EXPECT_THROW((void)shared.get(), std::runtime_error);
  EXPECT_EQ(made().on_failure([](const std::exception_ptr&) { return 1; }).get(), 1);
  EXPECT_THROW((void)made().to_std().get(), std::runtime_error);
  EXPECT_TRUE(unheard_said.empty());
}

// Passed on, it is told once: by the last one that has it.
TEST_F(UnheardFuture, ThatOthersFollowTellsThere) {
  (void)made().then([](int) {}).then([] {});
  EXPECT_EQ(unheard_said.size(), 1U);
  (void)made().then([](int) { return made(); });
  EXPECT_EQ(unheard_said.size(), 2U);
  (void)ready_future(1).then([](int) { return made(); });
  EXPECT_EQ(unheard_said.size(), 3U);
  (void)when_all(made(), made());  // the first stands for all
  EXPECT_EQ(unheard_said.size(), 4U);
  std::vector<Future<int>> parts;
  parts.push_back(made());
  parts.push_back(made());
  (void)when_all(std::move(parts));  // each for itself
  EXPECT_EQ(unheard_said.size(), 6U);
}

struct Refusing {
  template <class F>
  Status try_post(F&&) {
    return why;
  }
  std::size_t width() const { return 1; }

  Status why;
};

// Nobody else knows that the function did not run. After a close nobody wants it any more.
TEST_F(UnheardFuture, WhoseExecutorIsFullTells) {
  Refusing full{Status::full};
  Refusing closed{Status::closed};
  const auto refused = [](Refusing& by) { return ready_future(1).then(by, [](int) {}); };
  (void)refused(closed);
  EXPECT_THROW(refused(full).get(), NotRun);
  EXPECT_TRUE(unheard_said.empty());
  (void)refused(full);
  (void)refused(full).then([] {});
  ASSERT_EQ(unheard_said.size(), 2U);
  EXPECT_EQ(unheard_said[0],
            "Future: its work threw: the task did not run: full; nobody took it: call get() or "
            "on_failure(), or post() what nobody waits for");
}

// Who asks for the first has asked for no other, ready or not.
TEST_F(UnheardFuture, OfALoserOfARaceIsDropped) {
  Future<int> late;
  detail::Promise<int> promise(late);
  std::vector<Future<int>> parts;
  parts.push_back(ready_future(1));
  parts.push_back(made());
  parts.push_back(std::move(late));
  EXPECT_EQ(when_any(std::move(parts)).get().index, 0U);
  promise.set_exception(disk_full());
  EXPECT_TRUE(unheard_said.empty());
  (void)when_any(made(), made());  // the winner's is told
  EXPECT_EQ(unheard_said.size(), 1U);
}

TEST_F(UnheardFuture, IsTheExceptionThatIsBeingHandled) {
  static bool is_it;
  set_unheard_handler([](const char*) noexcept {
    try {
      throw;
    } catch (const std::runtime_error& error) {
      is_it = std::strcmp(error.what(), "disk full") == 0;
    }
  });
  (void)made();
  EXPECT_TRUE(is_it);
}

TEST_F(UnheardFuture, IsToldWithoutMemoryToo) {
  Future<int> future = made();
  test::fail_after(test::Call::allocation, 0, 0);
  future = {};
  EXPECT_TRUE(test::stop_failing(test::Call::allocation));
  ASSERT_EQ(unheard_said.size(), 1U);
  EXPECT_EQ(unheard_said[0], "no memory is left to say what a task threw");
}

TEST(UnheardHandlers, AreReturned) {
  const UnheardHandler mine = [](const char*) noexcept {};
  EXPECT_EQ(set_unheard_handler(mine), UnheardHandler(&OnUnheard::tell));
  EXPECT_EQ(set_unheard_handler(nullptr), mine);
  EXPECT_EQ(set_unheard_handler(nullptr), UnheardHandler(&OnUnheard::tell));
}

// ---- Lines --------------------------------------------------------------------------------------

TEST(LineLimit, AllowsOneLineASecond) {
  constexpr std::int64_t second = detail::LineLimit::kPause_ns;
  detail::LineLimit limit;
  EXPECT_TRUE(limit.may(-5));
  EXPECT_FALSE(limit.may(-4));
  EXPECT_FALSE(limit.may(second - 6));
  EXPECT_EQ(limit.take_left_out(), 2U);
  EXPECT_EQ(limit.take_left_out(), 0U);
  EXPECT_TRUE(limit.may(second - 5));
  EXPECT_FALSE(limit.may(2 * second - 6));
  EXPECT_TRUE(limit.may(9 * second));
}

constexpr const char* kPart = "HANDOFF_TEST_UNHEARD";
constexpr int kMany = 100;

// What the program does that has this in its environment.
TEST(UnheardProgram, Part) {
  const char* const part = std::getenv(kPart);
  if (part == nullptr) return;
  const std::string is = part;
  if (is == "terminate") set_unheard_handler(&OnUnheard::terminate);
  if (is == "ignore") set_unheard_handler(&OnUnheard::ignore);
  if (is.starts_with('/')) {  // a file of its own where standard error is, or was not
    const int file = ::open(is.c_str(), O_WRONLY | O_CLOEXEC);
    ASSERT_GE(file, 0);
    ASSERT_EQ(::dup2(file, STDERR_FILENO), STDERR_FILENO);
  }
  for (int i = 0; i < (is == "many" ? kMany : 1); ++i) (void)made();
}

struct Ended {
  int status = -1;
  std::string said;
};

// Runs that part. `has_error`: it begins with a descriptor 2.
Ended run_part(const std::string& part, bool has_error = true) {
  Ended ended;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return ended;
  const pid_t id = ::fork();
  if (id == 0) {
    ::dup2(::open("/dev/null", O_WRONLY | O_CLOEXEC), STDOUT_FILENO);
    ::setenv(kPart, part.c_str(), 1);
    if (has_error) {
      ::dup2(ends[1], STDERR_FILENO);
    } else {
      ::close(STDERR_FILENO);
    }
    ::execl("/proc/self/exe", "test", "--gtest_brief=1", "--gtest_filter=UnheardProgram.Part",
            nullptr);
    ::_exit(254);
  }
  ::close(ends[1]);
  char text[256];
  for (ssize_t got = 0; (got = ::read(ends[0], text, sizeof text)) > 0;) {
    ended.said.append(text, static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  if (id > 0) (void)::waitpid(id, &ended.status, 0);
  return ended;
}

bool is_fine(const Ended& ended) { return WIFEXITED(ended.status) && ended.status == 0; }

TEST(UnheardPrograms, TellByDefault) {
  const Ended ended = run_part("tell");
  EXPECT_TRUE(is_fine(ended)) << ended.said;
  EXPECT_EQ(ended.said,
            "handoff: Future: its work threw: disk full; nobody took it: call get() or "
            "on_failure(), or post() what nobody waits for\n");
}

TEST(UnheardPrograms, TerminateIfTheyAskForIt) {
  const Ended ended = run_part("terminate");
  EXPECT_TRUE(WIFSIGNALED(ended.status) && WTERMSIG(ended.status) == SIGABRT) << ended.status;
  EXPECT_TRUE(test::says(ended.said, "threw: disk full")) << ended.said;
}

TEST(UnheardPrograms, AreSilentIfTheyAskForIt) {
  const Ended ended = run_part("ignore");
  EXPECT_TRUE(is_fine(ended));
  EXPECT_EQ(ended.said, "");
}

// However slow the machine is: a line is one, and says how many it left out.
TEST(UnheardPrograms, WriteALineASecondAndCountTheRest) {
  const auto begin = std::chrono::steady_clock::now();
  const Ended ended = run_part("many");
  const auto seconds =
      std::chrono::ceil<std::chrono::seconds>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_TRUE(is_fine(ended));
  static const std::regex told("disk full"), left_out("; ([0-9]+) more were left out");
  const std::sregex_iterator end;
  long lines = 0;
  long rest = 0;
  for (std::sregex_iterator it(ended.said.begin(), ended.said.end(), told); it != end; ++it) {
    ++lines;
  }
  for (std::sregex_iterator it(ended.said.begin(), ended.said.end(), left_out); it != end; ++it) {
    rest += std::stol((*it)[1]);
  }
  EXPECT_GE(lines, 1);
  EXPECT_LE(lines, 1 + seconds);
  EXPECT_EQ(lines + rest, kMany) << ended.said;
}

// A file that has the number 2 is the program's own.
TEST(UnheardPrograms, WriteIntoNoFileOfTheirOwn) {
  char path[] = "/tmp/handoff-unheard-XXXXXX";
  const int file = ::mkstemp(path);
  ASSERT_GE(file, 0);
  EXPECT_TRUE(is_fine(run_part(path, false)));
  EXPECT_EQ(::lseek(file, 0, SEEK_END), 0) << "reused";
  const Ended ended = run_part(path);
  EXPECT_TRUE(is_fine(ended));
  EXPECT_EQ(ended.said, "");
  EXPECT_EQ(::lseek(file, 0, SEEK_END), 0) << "put in the place of standard error";
  ::close(file);
  ::unlink(path);
}

}}  // namespace handoff

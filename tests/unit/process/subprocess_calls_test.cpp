// SPDX-License-Identifier: MIT
//
// Subprocess: each allocation and each call of the system that it makes fails once. Then nothing
// has started, no descriptor is left, and the next start is right.
#include "support/failing.hpp"
#include "support/test.hpp"
#include "unit/process/subprocess_support.hpp"

namespace subprocess_calls_test { namespace {

using namespace handoff;
using namespace std::chrono_literals;
using namespace subprocess_support;
using test::Call;

// Made beforehand, so that it is not this which fails.
const std::vector<std::string>& arguments() {
  static const std::vector<std::string> all{"sh", "-c", "cat; echo $A_NAME_OF_A_VARIABLE"};
  return all;
}
const SubprocessOptions& options() {
  static const SubprocessOptions all{.environment = {.set = {"A_NAME_OF_A_VARIABLE=with a value"}},
                                     .input = std::string(100, 'x'),
                                     .output = SubprocessOutput::captured(),
                                     .error = SubprocessOutput::null(),
                                     .limits = {.core_bytes = 0}};
  return all;
}

bool nobody_is_left() {
  int status = 0;
  return waitpid(-1, &status, WNOHANG | __WALL) == -1 && errno == ECHILD;
}

// Runs a child; true if it could. What may be said otherwise is `expected`: step and errno.
bool runs(const std::set<std::string>& expected) {
  try {
    auto child = Subprocess::start(arguments(), options());
    (void)child.wait();
    return child.output().ends_with("with a value\n");
  } catch (const std::bad_alloc&) {
    EXPECT_TRUE(expected.contains("bad_alloc"));
  } catch (const std::system_error& error) {
    const std::string said = said_by(error);
    EXPECT_TRUE(expected.contains(said)) << said;
  }
  return false;
}

void until_whole(Call call, int error, const std::set<std::string>& expected, int least) {
  ASSERT_TRUE(runs({}));
  const auto before = open_descriptors();
  int failed = 0;
  const int places = test::until_whole(
      call, error, [&] { failed += runs(expected) ? 0 : 1; },
      [&] {
        EXPECT_EQ(open_descriptors(), before);
        EXPECT_TRUE(nobody_is_left());
        EXPECT_TRUE(runs({}));
      });
  EXPECT_GE(places, least);
  EXPECT_GE(failed, least);
}

TEST(SubprocessCalls, NoMemory) { until_whole(Call::allocation, 0, {"bad_alloc"}, 10); }

TEST(SubprocessCalls, NoFile) { until_whole(Call::open, EMFILE, {"make its streams: EMFILE"}, 1); }

TEST(SubprocessCalls, NoRoomForTheInput) {
  until_whole(Call::write, ENOSPC, {"make its streams: ENOSPC"}, 1);
  until_whole(Call::write, EINTR, {}, 0);  // it is written after all
}

TEST(SubprocessCalls, ReadsThatFail) {
  auto child =
      Subprocess::start({"cat"}, {.input = "text", .output = SubprocessOutput::captured()});
  test::fail_after(Call::read, 0, EIO);
  try {
    (void)child.wait();
    ADD_FAILURE() << "the output could not be read";
  } catch (const std::system_error& error) {
    EXPECT_EQ(said_by(error), "read its output: EIO");
  }
  (void)test::stop_failing(Call::read);
  EXPECT_TRUE(child.wait().ok());  // once more
  EXPECT_EQ(child.output(), "text");
}

TEST(SubprocessCalls, WritesThatFail) {
  auto child = Subprocess::start(
      {"cat"}, {.input = SubprocessInput::pipe(), .output = SubprocessOutput::captured()});
  test::fail_after(Call::write, 0, EIO);
  EXPECT_THROW((void)child.write("text"), std::system_error);
  test::fail_after(Call::write, 0, EINTR);
  EXPECT_EQ(child.write("text"), 4U);
  (void)test::stop_failing(Call::write);
  child.close_input();
  EXPECT_TRUE(child.wait().ok());
  EXPECT_EQ(child.output(), "text");
}

// What was captured before memory ran out is there, and the rest comes with the next call.
TEST(SubprocessCalls, WaitsWithoutMemory) {
  for (int k = 0; k < 8; ++k) {
    auto child = Subprocess::start({"head", "-c", "200000", "/dev/zero"},
                                   {.output = SubprocessOutput::captured()});
    test::fail_after(Call::allocation, k, 0);
    for (bool whole = false; !whole;) {
      try {
        (void)child.wait();
        whole = true;
      } catch (const std::bad_alloc&) {
        EXPECT_LE(child.output().size(), 200'000U);
      }
    }
    (void)test::stop_failing(Call::allocation);
    EXPECT_EQ(child.output().size(), 200'000U);
    EXPECT_EQ(child.output_dropped(), 0U);
  }
  auto sleeper = Subprocess::start({"sleep", "1000"});
  std::stop_source stop;
  test::fail_after(Call::allocation, 0, 0);
  EXPECT_THROW((void)sleeper.wait(stop.get_token()), std::bad_alloc);
  (void)test::stop_failing(Call::allocation);
  EXPECT_FALSE(sleeper.wait(1ms).has_value());
}

// The spawner itself: in a fresh process, since it is started once.
const RoleEntry first_start("first_start", [](const std::string& argument) {
  const bool thread = argument == "thread";
  const std::set<std::string> expected{"start the thread that starts programs: " +
                                       std::string(thread ? "EAGAIN" : "ENOMEM")};
  for (int k = 0; k < 100; ++k) {
    const Call call = thread ? Call::thread : argument == "map" ? Call::map : Call::allocation;
    test::fail_after(call, k, thread ? EAGAIN : ENOMEM);
    std::string said = "runs";
    try {
      (void)Subprocess::start({"true"}).wait();
    } catch (const std::bad_alloc&) {
      said = "bad_alloc";
    } catch (const std::system_error& error) {
      said = said_by(error);
    }
    if (!test::stop_failing(call)) return k > 0 && said == "runs" ? 0 : 1;
    // What is only for speed may fail unseen.
    if (!expected.contains(said) && said != "bad_alloc" && said != "runs") return 2;
  }
  return 3;
});
TEST(SubprocessCalls, FirstStart) {
  for (const char* const call : {"thread", "map", "allocation"}) {
    (void)run_role("first_start", call);
  }
}

}}  // namespace subprocess_calls_test

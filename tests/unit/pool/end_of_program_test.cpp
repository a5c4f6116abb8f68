// SPDX-License-Identifier: MIT
//
// A program ends well, whichever of the library's objects it uses at whichever moment of its end: a
// program of its own for each pair (end_of_program.cpp, which has the table), with a trace and
// without.
#include "support/test.hpp"

namespace end_of_program_test { namespace {

using namespace std::chrono_literals;

// Static objects of the user's are gone when those that were made before them end.
const std::set<std::string> kEndWithStatics = {"own_pool", "process_pool", "team"};
const std::set<std::string> kAfterStatics = {"static_before", "atexit_before"};

struct Table {
  std::vector<std::string> objects;
  std::vector<std::string> moments;
};

Table read_table() {
  Table table;
  FILE* const lines = ::popen(HANDOFF_END_OF_PROGRAM, "r");
  std::array<char, 100> line{};
  while (lines != nullptr && std::fgets(line.data(), line.size(), lines) != nullptr) {
    std::string text = line.data();
    text.pop_back();
    const bool is_object = text.starts_with("object ");
    (is_object ? table.objects : table.moments).push_back(text.substr(7));
  }
  if (lines != nullptr) ::pclose(lines);
  return table;
}

// What waitpid() says of the program; -1: it had to be killed, as it did not end.
int run(const std::string& object, const std::string& moment, bool traced,
        std::chrono::seconds patience = 30s) {
  const pid_t program = ::fork();
  if (program == 0) {
    if (traced) ::setenv("HANDOFF_TRACE", "/dev/null", 1);
    ::execl(HANDOFF_END_OF_PROGRAM, "end_of_program", object.c_str(), moment.c_str(), nullptr);
    ::_exit(254);
  }
  int status = 0;
  for (const auto end = std::chrono::steady_clock::now() + patience;;) {
    if (::waitpid(program, &status, WNOHANG) == program) return status;
    if (std::chrono::steady_clock::now() > end) break;
    std::this_thread::sleep_for(2ms);
  }
  ::kill(program, SIGKILL);
  ::waitpid(program, &status, 0);
  return -1;
}

TEST(EndOfProgram, EachObjectAtEachMoment) {
  const Table table = read_table();
  ASSERT_GE(table.objects.size(), 5U);
  ASSERT_GE(table.moments.size(), 15U);
  for (const std::string& object : table.objects) {
    for (const std::string& moment : table.moments) {
      if (moment.starts_with("canary")) continue;
      if (kEndWithStatics.contains(object) && kAfterStatics.contains(moment)) continue;
      for (const bool traced : {false, true}) {
        const int status = run(object, moment, traced);
        EXPECT_TRUE(status == 0) << object << " at " << moment << (traced ? ", traced" : "") << ": "
                                 << (status == -1 ? "hangs" : "status ") << status;
      }
    }
  }
}

TEST(EndOfProgramCanary, ACrashAndAHangAreSeen) {
  const int crashed = run("default_pool", "canary_crash", false);
  EXPECT_TRUE(crashed != -1 && WIFSIGNALED(crashed));
  EXPECT_EQ(run("default_pool", "canary_hang", false, 1s), -1);
}

}}  // namespace end_of_program_test

// SPDX-License-Identifier: MIT
//
// ProcessTeam and ProcessPool where the system refuses a call that they need, as a container's
// filter, an old kernel or a limit does: an error before anything has started, with nothing left.
#include <gtest/gtest.h>

#include <errno.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <handoff/process/process_pool.hpp>
#include <handoff/process/process_team.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "support/support.hpp"
#include "unit/process/shared_memory_support.hpp"
#include "unit/process/subprocess_support.hpp"
#include "unit/process/worker_support.hpp"

namespace process_calls_test { namespace {

using namespace handoff;

// What a text says could not be done.
enum class Step { memory, server, support, worker };
constexpr const char* kWords[] = {"memory", "fork server", "pidfds", "start one"};

struct Forbidden {
  const char* name;
  std::vector<long> calls;
  int error;
  // What a team or pool of forks says could not be done, and a team of another program; none: it
  // does without.
  std::optional<Step> forks;
  std::optional<Step> programs;
};
const Forbidden kForbidden[] = {
    {"no_pidfds", {SYS_pidfd_open, SYS_pidfd_send_signal}, ENOSYS, Step::support, Step::worker},
    {"pidfd_eperm", {SYS_pidfd_open}, EPERM, Step::support, Step::worker},
    {"pidfd_emfile", {SYS_pidfd_open}, EMFILE, Step::server, Step::worker},
    {"fork", {SYS_clone, SYS_fork, SYS_vfork}, EAGAIN, Step::server, Step::worker},
    {"eventfd", {SYS_eventfd2}, EMFILE, Step::server, Step::server},
    {"socketpair", {SYS_socketpair}, ENFILE, Step::server, Step::server},
    // The memory of forks has no file, but pages that are taken at once; that of programs has one.
    {"memfd", {SYS_memfd_create}, EPERM, {}, Step::memory},
    {"no_room", {SYS_fallocate}, ENOSPC, {}, Step::memory},
    {"no_pages", {SYS_madvise}, ENOMEM, Step::memory, {}},
};

enum class Kind : char { team = 't', pool = 'p', programs = 'w' };

void make(Kind kind) {
  if (kind == Kind::team) ProcessTeam team(2);
  if (kind == Kind::pool) ProcessPool pool(2);
  if (kind == Kind::programs)
    ProcessTeam team{{.width = 2, .program = worker_support::worker("works")}};
}

const subprocess_support::RoleEntry without_a_call(
    "without_a_call", [](const std::string& argument) {
      const auto kind = static_cast<Kind>(argument.front());
      const std::string name = argument.substr(1);
      const auto* const each = std::find_if(std::begin(kForbidden), std::end(kForbidden),
                                            [&](const Forbidden& one) { return name == one.name; });
      if (each == std::end(kForbidden)) return 90;
      const int before = test::open_descriptors();
      const std::optional<Step> wanted = kind == Kind::programs ? each->programs : each->forks;
      if (!test::forbid(each->calls, each->error)) return 77;
      try {
        make(kind);
        std::printf("nothing was thrown\n");
        if (wanted) return 1;
      } catch (const std::system_error& error) {
        const std::string what = error.what();
        std::printf("%s\n", what.c_str());
        if (!wanted || error.code().value() != each->error) return 2;
        if (what.find(kWords[static_cast<int>(*wanted)]) == std::string::npos) return 2;
        if (what.find('\n') != std::string::npos) return 3;
      }
      const bool has_no_child = ::waitpid(-1, nullptr, WNOHANG | __WALL) == -1 && errno == ECHILD;
      if (!has_no_child) return 4;
      return test::open_descriptors() <= before ? 0 : 5;
    });

TEST(ProcessCalls, WhereACallIsForbiddenItIsAnErrorBeforeAnythingHasStarted) {
  if (test::in_child([] { return test::forbid({SYS_pidfd_open}, EPERM) ? 0 : 1; }) != 0) {
    GTEST_SKIP() << "no filter of system calls here";
  }
  for (const Forbidden& each : kForbidden) {
    for (const Kind kind : {Kind::team, Kind::pool, Kind::programs}) {
      // A program with a sanitizer does not start without some of them.
      if (test::sanitized && kind == Kind::programs && !each.programs) continue;
      (void)subprocess_support::run_role("without_a_call",
                                         static_cast<char>(kind) + std::string(each.name));
    }
  }
}

}}  // namespace process_calls_test

// SPDX-License-Identifier: MIT
//
// Subprocess: starts that fail, parents that die, descriptors that leak, numbers that come again,
// and programs that take the news of children for themselves.
#include <linux/sched.h>
#include <sys/ptrace.h>

#include "support/filtered_calls.hpp"
#include "support/limit.hpp"
#include "support/test.hpp"
#include "unit/process/subprocess_support.hpp"

namespace subprocess_faults_test { namespace {

using namespace handoff;
using namespace std::chrono_literals;
using namespace subprocess_support;
using test::caught;

// "step: errno" of a start that fails; "" of one that does not.
std::string failure_of(const std::vector<std::string>& arguments, SubprocessOptions options = {}) {
  const auto error =
      caught<std::system_error>([&] { return Subprocess::start(arguments, options); });
  return error ? said_by(*error) : "";
}

TEST(SubprocessFaults, WhatCannotBeRun) {
  const Folder folder;
  const std::string text = folder.file("text", "echo a\n", 0755);
  const std::string plain = folder.file("plain", "#!/bin/sh\n", 0644);
  const std::string lost = folder.file("lost", "#!/no/such/interpreter\n", 0755);
  const std::string empty = folder.file("empty", "", 0755);
  const std::string loop = folder.at("loop");
  ASSERT_EQ(symlink("loop", loop.c_str()), 0);
  const std::string busy = folder.file("busy", "#!/bin/sh\n", 0755);
  const int writer = open(busy.c_str(), O_WRONLY | O_CLOEXEC);
  const auto before = open_descriptors();
  SubprocessOptions options;
  options.output = options.error = SubprocessOutput::captured();
  options.input = SubprocessInput::pipe();
  const auto fails = [&](const std::string& program) { return failure_of({program}, options); };
  EXPECT_EQ(fails("/no/such/file"), "run: ENOENT");
  EXPECT_EQ(fails("handoff-no-such-program"), "run: ENOENT");
  EXPECT_EQ(fails(""), "run: ENOENT");
  EXPECT_EQ(fails("/"), "run: EACCES");
  EXPECT_EQ(fails(plain), "run: EACCES");
  EXPECT_EQ(fails(text), "run: ENOEXEC");
  EXPECT_EQ(fails(empty), "run: ENOEXEC");
  EXPECT_EQ(fails(lost), "run: ENOENT");
  EXPECT_EQ(fails(loop), "run: ELOOP");
  EXPECT_EQ(fails(plain + "/x"), "run: ENOTDIR");
  EXPECT_EQ(fails(busy), "run: ETXTBSY");
  EXPECT_EQ(fails(std::string(5000, 'x')), "run: ENAMETOOLONG");
  EXPECT_EQ(failure_of({"true", std::string(std::size_t{1} << 20, 'x')}), "run: E2BIG");
  EXPECT_EQ(failure_of({"true"}, {.directory = "/no/such"}), "go to the folder: ENOENT");
  EXPECT_EQ(failure_of({"true"}, {.directory = plain}), "go to the folder: ENOTDIR");
  EXPECT_EQ(failure_of({"true"}, {.cpus = {8000}}), "set its CPUs: EINVAL");
  EXPECT_EQ(failure_of({"true"}, {.descriptors = {{.from = 900, .to = 5}}}),
            "pass descriptors: EBADF");
  EXPECT_EQ(failure_of({"true"}, {.input = SubprocessInput::descriptor(900)}),
            "pass descriptors: EBADF");
  EXPECT_EQ(open_descriptors(), before);
  close(writer);
  int status = 0;
  EXPECT_EQ(waitpid(-1, &status, WNOHANG | __WALL), -1);  // none is left behind
}

// The signal would end this process: it is not ignored here.
TEST(SubprocessFaults, AnInputBeyondTheLimitOfFilesIsAnError) {
  const test::Limit limit(RLIMIT_FSIZE, 100'000);
  EXPECT_EQ(failure_of({"cat"}, {.input = std::string(200'000, 'x')}), "make its streams: EFBIG");
  EXPECT_EQ(failure_of({"cat"}, {.input = std::string(100'000, 'x')}), "");
}

TEST(SubprocessFaults, ErrorsAreOneLine) {
  const auto error =
      caught<std::system_error>([] { return Subprocess::start({"no\nsuch\x1b\xc2\x9b"}); }).value();
  EXPECT_STREQ(error.what(),
               "Subprocess no\\x0asuch\\x1b\\xc2\\x9b: run: No such file or directory");
  EXPECT_EQ(error.code(), std::errc::no_such_file_or_directory);
  const auto elsewhere = caught<std::system_error>(
      [] { return Subprocess::start({"true"}, {.directory = "/no/such"}); });
  EXPECT_STREQ(elsewhere.value().what(),
               "Subprocess /no/such: go to the folder: No such file or directory");
}

TEST(SubprocessFaults, WhatMakesNoSense) {
  const std::string zero("a\0b", 3);
  const auto refused = [](const std::vector<std::string>& arguments, SubprocessOptions options) {
    EXPECT_THROW((void)Subprocess::start(arguments, options), std::invalid_argument);
  };
  refused({}, {});
  refused({zero}, {});
  refused({"true"}, {.executable = zero});
  refused({"true"}, {.directory = zero});
  for (const std::string& bad : {zero, std::string("no value"), std::string("=x"), zero + "=1"}) {
    refused({"true"}, {.environment = {.set = {bad}}});
  }
  for (const std::string& bad : {zero, std::string("A=1"), std::string()}) {
    refused({"true"}, {.environment = {.unset = {bad}}});
  }
  refused({"true"}, {.input = SubprocessInput::descriptor(-1)});
  refused({"true"}, {.output = SubprocessOutput::descriptor(-1)});
  refused({"true"}, {.output = SubprocessOutput::same_as_output()});
  refused({"true"}, {.descriptors = {{.from = -1, .to = 3}}});
  refused({"true"}, {.descriptors = {{.from = 1, .to = 2}}});
  refused({"true"}, {.descriptors = {{.from = 1, .to = 3}, {.from = 2, .to = 3}}});
  refused({"true"}, {.cpus = {-1}});
  refused({"true"}, {.cpus = {1 << 20}});
  auto sleeper = Subprocess::start({"sleep", "1000"});
  const auto error = caught<std::system_error>([&] { return sleeper.signal(1000); });
  EXPECT_STREQ(error.value().what(), "Subprocess sleep: send a signal: Invalid argument");
}

// So many numbers below it are free.
rlim_t limit_with(rlim_t room, const std::set<int>& taken) {
  rlim_t limit = 0;
  for (rlim_t free = 0; free < room; ++limit) {
    if (taken.count(static_cast<int>(limit)) == 0) ++free;
  }
  return limit;
}

TEST(SubprocessFaults, NoDescriptorsLeft) {
  (void)Subprocess::start({"true"}).wait();
  const auto before = open_descriptors();
  std::set<std::string> failures;
  for (rlim_t room = 0; room < 12; ++room) {
    const test::Limit limit(RLIMIT_NOFILE, limit_with(room, before));
    failures.insert(failure_of({"true"}, {.input = SubprocessInput::pipe(),
                                          .output = SubprocessOutput::captured(),
                                          .error = SubprocessOutput::captured()}));
    failures.insert(failure_of({"true"}, {.input = "bytes", .output = SubprocessOutput::null()}));
    EXPECT_EQ(open_descriptors(), before) << room;
  }
  EXPECT_EQ(failures,
            (std::set<std::string>{"", "make its streams: EMFILE", "make a process: EMFILE"}));
}

TEST(SubprocessFaults, StopWithoutADescriptor) {
  sync::StopSource stop;
  auto sleeper = Subprocess::start({"sleep", "1000"});
  std::atomic<bool> runs{false};
  std::atomic<bool> waits{false};
  // Started before: UndefinedBehaviorSanitizer needs descriptors to look at virtual functions.
  std::thread later([&] {
    runs = true;
    while (!waits) std::this_thread::yield();
    stop.request_stop();
  });
  while (!runs) std::this_thread::yield();
  {
    const test::Limit none(RLIMIT_NOFILE, 0);
    waits = true;
    EXPECT_FALSE(sleeper.wait({1h, stop.token()}).has_value());
  }
  later.join();
}

// Eight threads at once, and another one that opens and closes files without O_CLOEXEC: each child
// has its three streams and the folder it lists.
TEST(SubprocessFaults, NoDescriptorIsTooHighToBeClosed) {
  const int high = fcntl(STDIN_FILENO, F_DUPFD, 2000);
  if (high < 0) GTEST_SKIP() << "there can be no such number here";
  auto list = Subprocess::start({"ls", "/proc/self/fd"}, {.output = SubprocessOutput::captured()});
  EXPECT_TRUE(list.wait().ok());
  EXPECT_EQ(list.output(), "0\n1\n2\n3\n");
  close(high);
}

TEST(SubprocessFaults, NothingLeaksToSiblings) {
  (void)Subprocess::start({"true"}).wait();
  const auto before = open_descriptors();
  std::atomic<bool> over{false};
  std::atomic<std::size_t> wrong{0};
  std::thread noise([&] {
    while (!over) {
      const int plain = open("/dev/null", O_RDONLY);
      int pair[2];
      const bool piped = pipe(pair) == 0;
      std::this_thread::yield();
      if (piped) close(pair[0]), close(pair[1]);
      close(plain);
    }
  });
  constexpr std::size_t threads = 8;
  test::Crew(threads, [&] {
    for (std::size_t round = 0; round < test::rounds(1000) / threads; ++round) {
      auto list = Subprocess::start(
          {"ls", "/proc/self/fd"},
          {.input = round % 2 == 0 ? SubprocessInput("some") : SubprocessInput::pipe(),
           .output = SubprocessOutput::captured(),
           .error = SubprocessOutput::captured()});
      if (!list.wait().ok() || list.output() != "0\n1\n2\n3\n") ++wrong;
    }
  }).join();
  over = true;
  noise.join();
  EXPECT_EQ(wrong, 0U);
  EXPECT_EQ(open_descriptors(), before);
}

// Roles: what these tests run in processes of their own.

TEST(SubprocessRole, Run) {
  const char* const name = getenv(kRoleVariable);
  if (name == nullptr) GTEST_SKIP() << "for other tests to run";
  const char* const argument = getenv(kRoleArgument);
  const int code = roles().at(name)(argument != nullptr ? argument : "");
  std::fflush(nullptr);
  _exit(code);
}

void tell(const std::string& line) {
  if (write(kRoleOutput, line.data(), line.size()) < 0) _exit(99);
}

// A process with children of its own, which is killed: a pipe whose other end only they have says
// when they are all gone.
const RoleEntry many_children("many_children", [](const std::string&) {
  std::vector<Subprocess> children;
  for (int i = 0; i < 4; ++i) {
    children.push_back(Subprocess::start({"sleep", "1000"}, {.descriptors = {{kRoleOutput, 5}}}));
  }
  std::thread([&] {
    children.push_back(Subprocess::start({"sleep", "1000"}, {.descriptors = {{kRoleOutput, 5}}}));
  }).join();
  tell("ready\n");
  for (;;) pause();
  return 1;
});
const RoleEntry starts_all_the_time("starts_all_the_time", [](const std::string&) {
  tell("ready\n");
  for (;;) {
    (void)Subprocess::start({"sleep", "1000"}, {.descriptors = {{kRoleOutput, 5}}});
  }
  return 1;
});

void expect_no_orphans(const std::string& role, std::chrono::microseconds after) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  SubprocessOptions options = role_options(role, "");
  options.descriptors = {{.from = ends[1], .to = kRoleOutput}};
  auto parent = Subprocess::start(role_arguments(), options);
  close(ends[1]);
  char text[16] = {};
  ASSERT_EQ(read(ends[0], text, sizeof text), 6);
  std::this_thread::sleep_for(after);
  EXPECT_TRUE(parent.signal(SIGKILL));
  EXPECT_EQ(parent.wait().text(), "killed by SIGKILL");
  pollfd all_gone{.fd = ends[0], .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&all_gone, 1, 20'000), 1);
  EXPECT_EQ(read(ends[0], text, sizeof text), 0);
  close(ends[0]);
}

TEST(SubprocessFaults, DiesWithItsParent) {
  expect_no_orphans("many_children", 0us);
  auto random = test::random();
  for (std::size_t round = 0; round < test::rounds(20); ++round) {
    expect_no_orphans("starts_all_the_time", std::chrono::microseconds(random() % 5000));
  }
}

struct Forbidden {
  const char* name;
  long call;
  std::uint32_t bits;
  int error;
  const char* failure;
};
const Forbidden kForbidden[] = {
    {"pidfd_open", SYS_pidfd_open, 0, ENOSYS,
     "find pidfds (Linux 5.4; a filter of system calls may forbid them): ENOSYS"},
    {"pidfd_open_eperm", SYS_pidfd_open, 0, EPERM,
     "find pidfds (Linux 5.4; a filter of system calls may forbid them): EPERM"},
    {"pidfd_open_emfile", SYS_pidfd_open, 0, EMFILE, "make its streams: EMFILE"},
    {"pidfd_send_signal", SYS_pidfd_send_signal, 0, EPERM,
     "find pidfds (Linux 5.4; a filter of system calls may forbid them): EPERM"},
    {"waitid", SYS_waitid, 0, EINVAL,
     "find pidfds (Linux 5.4; a filter of system calls may forbid them): ENOSYS"},
    {"clone", SYS_clone, CLONE_VFORK, EAGAIN, "make a process: EAGAIN"},
    {"clone_eperm", SYS_clone, CLONE_VFORK, EPERM, "make a process: EPERM"},
    {"clone_enosys", SYS_clone, CLONE_VFORK, ENOSYS, "make a process: ENOSYS"},
    {"thread", SYS_clone3, 0, EAGAIN, "start the thread that starts programs: EAGAIN"},
    {"memfd", SYS_memfd_create, 0, ENOSYS, "make its streams: ENOSYS"},
    {"pipe", SYS_pipe2, 0, ENFILE, "make its streams: ENFILE"},
    {"prctl", SYS_prctl, PR_SET_PDEATHSIG, EPERM, "have it end with this program: EPERM"},
    {"setpgid", SYS_setpgid, 0, EPERM, "give it a process group: EPERM"},
    {"limits", SYS_prlimit64, 0, EPERM, "set its limits: EPERM"},
    {"execve", SYS_execve, 0, ENOMEM, "run: ENOMEM"},
    {"close_range", SYS_close_range, 0, ENOSYS, ""},  // there is another way
    {"affinity", SYS_sched_getaffinity, 0, EPERM, ""},
};

const RoleEntry forbidden_call("forbidden_call", [](const std::string& name) {
  for (const Forbidden& each : kForbidden) {
    if (name != each.name) continue;
    const auto before = open_descriptors();
    std::optional<test::FilteredArgument> only;
    if (each.bits != 0) only = {.number = 0, .compare = BPF_JSET, .value = each.bits};
    if (!test::forbid({each.call}, each.error, only)) return 90;
    const std::string failure = failure_of(
        {"true"},
        {.input = "x", .output = SubprocessOutput::captured(), .limits = {.core_bytes = 0}});
    std::printf("%s: '%s', not '%s'\n", name.c_str(), failure.c_str(), each.failure);
    if (failure != each.failure || open_descriptors() != before) return 1;
    int status = 0;
    return waitpid(-1, &status, WNOHANG | __WALL) == -1 && errno == ECHILD ? 0 : 2;
  }
  return 91;
});

TEST(SubprocessFaults, CallsThatAreForbidden) {
  for (const Forbidden& each : kForbidden) {
    // What a sanitizer's runtime cannot do without.
    const bool for_runtime =
        each.call == SYS_clone3 || each.call == SYS_sched_getaffinity || each.call == SYS_pipe2;
    if (test::sanitized && for_runtime) continue;
    (void)run_role("forbidden_call", each.name);
  }
}

// Without close_range: the descriptors are found one by one, none is left out.
const RoleEntry closes_one_by_one("closes_one_by_one", [](const std::string&) {
  for (int i = 0; i < 300; ++i) {
    if (open("/dev/null", O_RDONLY) < 0) return 90;
  }
  if (!test::forbid({SYS_close_range}, ENOSYS)) return 91;
  const std::string listed =
      output_of({"ls", "/proc/self/fd"}, {.descriptors = {{.from = 250, .to = 100}}});
  std::printf("%s\n", listed.c_str());
  return listed == "0\n1\n100\n2\n3\n" ? 0 : 1;
});
TEST(SubprocessFaults, DescriptorsClosedOneByOne) { (void)run_role("closes_one_by_one"); }

// Streams of this process that are closed: nothing else may come under their numbers.
const RoleEntry no_streams("no_streams", [](const std::string&) {
  for (const int stream : {0, 1, 2}) close(stream);
  const int first = open("/dev/zero", O_RDONLY | O_CLOEXEC);
  const std::string here = output_of({"readlink", "/proc/self/fd/0", "/proc/self/fd/2"},
                                     {.input = SubprocessInput::inherited()});
  const std::string both = output_of({"sh", "-c", "cat; echo a >&2; echo b"},
                                     {.input = "x", .error = SubprocessOutput::same_as_output()});
  return first == 0 && here == "/dev/zero\n/dev/null\n" && both == "xa\nb\n" ? 0 : 1;
});
TEST(SubprocessFaults, ClosedStreams) { (void)run_role("no_streams"); }

// Others that take the news of children: the way it ended is known or said to be unknown.
bool is_seven_or_unknown(const SubprocessExit& end) {
  return end.kind == SubprocessExit::Kind::unknown || end.text() == "exited with 7";
}
const RoleEntry sigchld_ignored("sigchld_ignored", [](const std::string&) {
  signal(SIGCHLD, SIG_IGN);
  for (int i = 0; i < 50; ++i) {
    auto child = shell("echo a; exit 7", {.output = SubprocessOutput::captured()});
    if (!is_seven_or_unknown(child.wait()) || child.output() != "a\n") return 1;
    if (child.signal(SIGTERM)) return 2;
    child.kill();
  }
  std::puts(shell("kill -9 $$").wait().text().c_str());
  return 0;
});
const RoleEntry waits_for_any("waits_for_any", [](const std::string&) {
  std::atomic<bool> over{false};
  std::thread thief([&] {
    while (!over) {
      int status = 0;
      (void)waitpid(-1, &status, 0);
    }
  });
  for (int i = 0; i < 50; ++i) {
    if (!is_seven_or_unknown(shell("exit 7").wait())) return 1;
  }
  over = true;
  thief.join();
  return 0;
});
TEST(SubprocessFaults, ProgramsThatTakeTheNews) {
  (void)run_role("sigchld_ignored");
  (void)run_role("waits_for_any");
}

// Kernels that do not keep the news (PIDFD_GET_INFO), or signal groups by number only.
const RoleEntry news_is_lost("news_is_lost", [](const std::string&) {
  signal(SIGCHLD, SIG_IGN);
  if (!test::forbid({SYS_ioctl}, ENOTTY, {{1, BPF_JEQ, 0xC040FF0B}})) return 90;
  const SubprocessExit end = shell("exit 7").wait();
  return end.kind == SubprocessExit::Kind::unknown && end.code == 0 && !end.ok() ? 0 : 1;
});
const RoleEntry groups_by_number("groups_by_number", [](const std::string&) {
  constexpr std::uint32_t process_group = 1U << 2;
  if (!test::forbid({SYS_pidfd_send_signal}, EINVAL, {{3, BPF_JSET, process_group}})) return 90;
  for (const bool killed : {false, true}) {
    // The parent ends only when it is told to: its group is killed at its end.
    auto parent =
        shell(killed ? "sleep 1000 & echo $!; wait" : "sleep 1000 & echo $!; read line; exit 0",
              {.input = SubprocessInput::pipe(), .output = SubprocessOutput::captured()});
    const Watched grandchild(std::stoi(parent.read_output()));
    if (!grandchild.was_there()) return 1;
    killed ? parent.kill() : parent.close_input();
    if (parent.wait().text() != (killed ? "killed by SIGKILL" : "exited with 0")) return 2;
    if (!grandchild.goes()) return 3;
    parent.kill();  // nobody is there any more
  }
  // Without a leader that is known to be there, no number is signalled.
  auto stolen = shell("sleep 1000 & echo $!; read line",
                      {.input = SubprocessInput::pipe(), .output = SubprocessOutput::captured()});
  const Watched grandchild(std::stoi(stolen.read_output()));
  stolen.close_input();
  int status = 0;
  if (waitpid(stolen.id(), &status, 0) != stolen.id()) return 4;
  (void)stolen.wait();
  if (grandchild.is_gone()) return 5;
  grandchild.kill();
  return grandchild.goes() ? 0 : 6;
});
TEST(SubprocessFaults, OlderKernels) {
  (void)run_role("news_is_lost");
  (void)run_role("groups_by_number");
}

// A debugger sees the end of a child first, and its parent when the debugger has seen it.
TEST(SubprocessFaults, ChildInADebugger) {
  auto child = Subprocess::start({"sleep", "1000"});
  int told[2];
  int tell_it[2];
  ASSERT_EQ(pipe2(told, O_CLOEXEC), 0);
  ASSERT_EQ(pipe2(tell_it, O_CLOEXEC), 0);
  const pid_t debugger = fork();
  if (debugger == 0) {
    char said = ptrace(PTRACE_SEIZE, child.id(), nullptr, nullptr) == 0 ? 'y' : 'n';
    if (write(told[1], &said, 1) != 1 || read(tell_it[0], &said, 1) != 1) _exit(1);
    _exit(0);
  }
  char said = 0;
  ASSERT_EQ(read(told[0], &said, 1), 1);
  child.kill();
  const std::optional<SubprocessExit> early = child.wait(20ms);
  if (said == 'y') {
    EXPECT_FALSE(early.has_value());
  }
  ASSERT_EQ(write(tell_it[1], &said, 1), 1);
  EXPECT_EQ(child.wait().text(), "killed by SIGKILL");
  int status = 0;
  EXPECT_EQ(waitpid(debugger, &status, 0), debugger);
  for (const int each : {told[0], told[1], tell_it[0], tell_it[1]}) close(each);
}

const RoleEntry numbers_again("numbers_again", [](const std::string&) {
  if (getpid() != 1) return 77;
  for (const bool stolen : {false, true}) {
    for (int round = 0; round < 20; ++round) {
      auto child = shell("exit 7");
      const int number = child.id();
      if (stolen) {
        int status = 0;
        if (waitpid(number, &status, 0) != number) return 2;
      } else if (child.wait().code != 7) {
        return 3;
      }
      const int stranger = stranger_with(number);
      if (stranger != number) return 4;
      if (kill(number, 0) != 0) return 5;  // by number, one would find it
      if (child.signal(SIGKILL)) return 6;
      child.kill();
      if (!is_seven_or_unknown(child.wait())) return 7;
      {
        const Subprocess ended = std::move(child);
      }
      int status = 0;
      if (waitpid(stranger, &status, WNOHANG) != 0) return 8;
      kill(stranger, SIGKILL);
      if (waitpid(stranger, &status, 0) != stranger) return 9;
    }
  }
  return 0;
});
TEST(SubprocessFaults, NumbersThatComeAgain) {
  const auto end = run_role_among_own_numbers("numbers_again");
  if (!end.has_value()) GTEST_SKIP() << "no right to a space of numbers";
  EXPECT_EQ(end->text(), "exited with 0");
}

// A process that was forked from one with a spawner has none, and makes its own. Its copies of
// Subprocess leave the children alone.
const RoleEntry forks("forks", [](const std::string&) {
  auto kept = Subprocess::start({"sleep", "1000"});
  const pid_t copy = fork();
  if (copy == 0) {
    {
      const Subprocess destroyed = std::move(kept);
    }
    _exit(shell("exit 7").wait().code == 7 ? 0 : 1);
  }
  int status = 0;
  if (waitpid(copy, &status, 0) != copy || status != 0) return 1;
  if (kept.wait(0ms).has_value()) return 2;
  return shell("exit 7").wait().code == 7 ? 0 : 3;
});
TEST(SubprocessFaults, ForkedPrograms) {
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
  GTEST_SKIP() << "its runtime ends a fork that starts threads";
#endif
#endif
  (void)run_role("forks");
}

// exit() with children: a static Subprocess is destroyed after the spawner's end, or before it.
const RoleEntry exits("exits", [](const std::string&) {
  static std::optional<Subprocess> child;
  child.emplace(Subprocess::start({"sleep", "1000"}, {.descriptors = {{kRoleOutput, 5}}}));
  std::exit(0);
  return 1;
});
TEST(SubprocessFaults, ExitWithChildren) {
  SubprocessOptions options = role_options("exits", "");
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  options.descriptors = {{.from = ends[1], .to = kRoleOutput}};
  auto parent = Subprocess::start(role_arguments(), options);
  close(ends[1]);
  EXPECT_TRUE(parent.wait().ok());
  char text = 0;
  EXPECT_EQ(read(ends[0], &text, 1), 0);  // its child is gone
  close(ends[0]);
}

}}  // namespace subprocess_faults_test

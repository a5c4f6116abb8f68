// SPDX-License-Identifier: MIT
//
// Subprocess: what a child gets, what it says, how it ends. Its failures are in
// subprocess_faults_test.cpp.
#include "support/test.hpp"
#include "unit/process/subprocess_support.hpp"

namespace subprocess_test { namespace {

using namespace handoff;
using namespace std::chrono_literals;
using namespace subprocess_support;

SubprocessOptions captured() {
  return {.output = SubprocessOutput::captured(), .error = SubprocessOutput::captured()};
}

TEST(Subprocess, SortsNumbers) {
  auto sort = Subprocess::start({"sort", "-n"},
                                {.input = "10\n9\n100\n", .output = SubprocessOutput::captured()});
  EXPECT_GT(sort.id(), 0);
  const SubprocessExit end = sort.wait();
  EXPECT_TRUE(end.ok());
  EXPECT_EQ(end.text(), "exited with 0");
  EXPECT_EQ(sort.output(), "9\n10\n100\n");
  EXPECT_EQ(sort.output_dropped(), 0U);
  EXPECT_TRUE(sort.wait().ok());  // once more: the same
}

TEST(Subprocess, LargeInputAndOutput) {
  std::string bytes(std::size_t{test::slow ? 2 : 6} << 20, ' ');  // more than any pipe holds
  auto random = test::random();
  for (char& each : bytes) each = static_cast<char>(random());
  EXPECT_EQ(output_of({"cat"}, {.input = bytes}), bytes);
  // Both streams at once: a reader of one after the other would wait for ever.
  auto both = shell("head -c 3000000 /dev/zero & head -c 4000000 /dev/zero >&2; wait", captured());
  EXPECT_TRUE(both.wait().ok());
  EXPECT_EQ(both.output().size(), 3'000'000U);
  EXPECT_EQ(both.error().size(), 4'000'000U);
}

TEST(Subprocess, WritesWhileTheChildWrites) {
  SubprocessOptions options = captured();
  options.input = SubprocessInput::pipe();
  auto cat = Subprocess::start({"cat"}, options);
  const std::string bytes(std::size_t{2} << 20, 'x');
  EXPECT_TRUE(cat.input_is_open());
  EXPECT_EQ(cat.write(bytes), bytes.size());
  EXPECT_EQ(cat.write(std::as_bytes(std::span(bytes))), bytes.size());
  cat.close_input();
  EXPECT_FALSE(cat.input_is_open());
  EXPECT_EQ(cat.write(bytes), 0U);
  EXPECT_TRUE(cat.wait().ok());
  EXPECT_EQ(cat.output().size(), 2 * bytes.size());
}

TEST(Subprocess, TalksLineByLine) {
  auto cat = Subprocess::start(
      {"cat"}, {.input = SubprocessInput::pipe(), .output = SubprocessOutput::captured()});
  for (const char* const line : {"one\n", "two\n", "three\n"}) {
    EXPECT_EQ(cat.write(line), std::strlen(line));
    EXPECT_EQ(cat.read_output(), line);
  }
  EXPECT_EQ(cat.read_output(1ms), "");
  EXPECT_EQ(cat.read_error(), "");  // which is not captured
  cat.close_input();
  EXPECT_EQ(cat.read_output(), "");
  EXPECT_TRUE(cat.wait().ok());
}

TEST(Subprocess, ReaderThatIsGone) {
  auto none = Subprocess::start({"true"}, {.input = SubprocessInput::pipe()});
  const std::string bytes(std::size_t{1} << 20, 'x');
  EXPECT_LT(none.write(bytes), bytes.size());  // and no SIGPIPE, which would end this test
  EXPECT_FALSE(none.input_is_open());
  sigset_t pending;
  sigpending(&pending);
  EXPECT_EQ(sigismember(&pending, SIGPIPE), 0);
  EXPECT_TRUE(none.wait().ok());
}

TEST(Subprocess, CaptureIsBounded) {
  auto much = Subprocess::start({"head", "-c", "1000000", "/dev/zero"},
                                {.output = SubprocessOutput::captured(1000)});
  EXPECT_TRUE(much.wait().ok());
  EXPECT_EQ(much.output().size(), 1000U);
  EXPECT_EQ(much.output_dropped(), 999'000U);
  EXPECT_EQ(much.error_dropped(), 0U);

  auto nothing = shell("echo a", {.output = SubprocessOutput::captured(0)});
  EXPECT_TRUE(nothing.wait().ok());
  EXPECT_EQ(nothing.output(), "");
  EXPECT_EQ(nothing.output_dropped(), 2U);
}

TEST(Subprocess, Streams) {
  EXPECT_EQ(output_of({"cat"}), "");  // the usual input is at its end
  const Folder folder;
  const int file = open(folder.at("out").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_GE(file, 0);
  auto to_file = shell("echo out; echo err >&2", {.output = SubprocessOutput::descriptor(file),
                                                  .error = SubprocessOutput::same_as_output()});
  EXPECT_TRUE(to_file.wait().ok());
  lseek(file, 0, SEEK_SET);
  EXPECT_EQ(output_of({"cat"}, {.input = SubprocessInput::descriptor(file)}), "out\nerr\n");
  close(file);

  auto mixed = shell("echo 1; echo 2 >&2; echo 3", {.output = SubprocessOutput::captured(),
                                                    .error = SubprocessOutput::same_as_output()});
  EXPECT_TRUE(mixed.wait().ok());
  EXPECT_EQ(mixed.output(), "1\n2\n3\n");
  auto apart = shell("echo 1; echo 2 >&2", captured());
  EXPECT_TRUE(apart.wait().ok());
  EXPECT_EQ(apart.output() + apart.error(), "1\n2\n");
  auto none = shell("echo 1", {.output = SubprocessOutput::null()});
  EXPECT_TRUE(none.wait().ok());
  EXPECT_EQ(none.output(), "");
  const std::string own = output_of({"readlink", "/proc/self/fd/2"});
  std::error_code error;
  EXPECT_EQ(own, std::filesystem::read_symlink("/proc/self/fd/2", error).string() + "\n");
}

TEST(Subprocess, Environment) {
  setenv("HANDOFF_TEST_A", "caller's", 1);
  setenv("HANDOFF_TEST_B", "b", 1);
  const std::string line = "echo $HANDOFF_TEST_A,$HANDOFF_TEST_B,$HANDOFF_TEST_C";
  EXPECT_EQ(output_of_shell(line), "caller's,b,\n");
  EXPECT_EQ(output_of_shell(line, {.environment = {.unset = {"HANDOFF_TEST_B"},
                                                   .set = {"HANDOFF_TEST_A=x", "HANDOFF_TEST_C=",
                                                           "HANDOFF_TEST_C=a=b"}}}),
            "x,,a=b\n");
  EXPECT_EQ(output_of({"/usr/bin/env"}, {.environment = {.inherit = false}}), "");
  EXPECT_EQ(output_of({"env"}, {.environment = {.inherit = false, .set = {"A=1", "B="}}}),
            "A=1\nB=\n");
  unsetenv("HANDOFF_TEST_A");
  unsetenv("HANDOFF_TEST_B");
}

TEST(Subprocess, DirectoryAndExecutable) {
  const Folder folder;
  EXPECT_EQ(output_of({"pwd"}, {.directory = "/"}), "/\n");
  folder.file("tool", "#!/bin/sh\necho \"$0 $1\"\n", 0755);
  EXPECT_EQ(output_of({"./tool", "a b"}, {.directory = folder.path()}), "./tool a b\n");
  EXPECT_EQ(output_of({"other", "-c", "echo $0"}, {.executable = "/bin/sh"}), "other\n");
  EXPECT_EQ(output_of({"printf", "%s.", "", "*", "a\nb", "$HOME"}), ".*.a\nb.$HOME.");
}

TEST(Subprocess, PathIsSearchedInOrder) {
  const Folder first;
  const Folder second;
  first.file("handoff-tool", "not for running", 0644);
  second.file("handoff-tool", "#!/bin/sh\necho second\n", 0755);
  const std::string before = getenv("PATH");
  setenv("PATH", (first.path() + ":" + second.path() + ":" + before).c_str(), 1);
  EXPECT_EQ(output_of({"handoff-tool"}), "second\n");
  setenv("PATH", ("/no such folder::" + before).c_str(), 1);  // the empty part: where it runs
  EXPECT_EQ(output_of({"handoff-tool"}, {.directory = second.path()}), "second\n");
  setenv("PATH", first.path().c_str(), 1);
  try {
    (void)Subprocess::start({"handoff-tool"});
    ADD_FAILURE() << "it is no program";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code().value(), EACCES);
  }
  unsetenv("PATH");
  EXPECT_EQ(output_of({"echo", "a"}), "a\n");
  setenv("PATH", before.c_str(), 1);
}

TEST(Subprocess, ThePathIsTheChilds) {
  const Folder folder;
  const std::string text = "#!/bin/sh\necho found\n";
  folder.file("handoff-tool", text, 0755);
  const std::string path = "PATH=" + folder.path();
  const auto is_found = [](const SubprocessEnvironment& environment) {
    try {
      return output_of({"handoff-tool"}, {.environment = environment}) == "found\n";
    } catch (const std::system_error& error) {
      EXPECT_EQ(error.code().value(), ENOENT);
      return false;
    }
  };
  for (const bool inherit : {true, false}) {
    EXPECT_TRUE(is_found({.inherit = inherit, .set = {path}})) << inherit;
    EXPECT_TRUE(is_found({.inherit = inherit, .set = {"PATH=/nowhere", path}}))
        << "the last counts";
    EXPECT_FALSE(is_found({.inherit = inherit, .set = {"PATH=/nowhere"}})) << inherit;
  }
  const std::string before = getenv("PATH");
  setenv("PATH", (folder.path() + ":" + before).c_str(), 1);
  EXPECT_TRUE(is_found({}));
  EXPECT_FALSE(is_found({.inherit = false})) << "this program's is no matter";
  EXPECT_FALSE(is_found({.unset = {"PATH"}}));
  setenv("PATH", before.c_str(), 1);
}

TEST(Subprocess, AllExitCodes) {
  const int step = test::slow ? 15 : 1;  // it sees nothing of what the kernel says
  for (int code = 0; code < 256; code += step) {
    const SubprocessExit end = shell("exit " + std::to_string(code)).wait();
    EXPECT_EQ(end.kind, SubprocessExit::Kind::exited);
    EXPECT_EQ(end.code, code);
    EXPECT_EQ(end.ok(), code == 0);
    EXPECT_EQ(end.text(), "exited with " + std::to_string(code));
  }
}

TEST(Subprocess, EachSignalThatEnds) {
  for (const int number : {SIGHUP,  SIGINT,    SIGQUIT, SIGILL,  SIGTRAP, SIGABRT, SIGBUS,  SIGFPE,
                           SIGKILL, SIGUSR1,   SIGSEGV, SIGUSR2, SIGPIPE, SIGALRM, SIGTERM, SIGXCPU,
                           SIGXFSZ, SIGVTALRM, SIGPROF, SIGIO,   SIGPWR,  SIGSYS,  40,      64}) {
    auto sleeper = Subprocess::start({"sleep", "1000"}, {.limits = {.core_bytes = 0}});
    EXPECT_TRUE(sleeper.signal(number)) << number;
    const SubprocessExit end = sleeper.wait();
    EXPECT_EQ(end.kind, SubprocessExit::Kind::signalled) << number;
    EXPECT_EQ(end.signal, number);
    EXPECT_FALSE(end.core_dumped);
    EXPECT_FALSE(end.ok());
    EXPECT_FALSE(sleeper.signal(number));
  }
  SubprocessExit end;
  end.kind = SubprocessExit::Kind::signalled;
  end.signal = SIGSEGV;
  end.core_dumped = true;
  EXPECT_EQ(end.text(), "killed by SIGSEGV, core dumped");
  EXPECT_EQ(SubprocessExit{}.text(), "ended in an unknown way");
}

TEST(Subprocess, SignalsOfTheCaller) {
  // What this thread blocks and this process ignores is not the child's.
  sigset_t blocked;
  sigset_t before;
  sigfillset(&blocked);
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  const auto usr1 = signal(SIGUSR1, SIG_IGN);
  const auto usr2 = signal(SIGUSR2, [](int) { _exit(9); });
  const std::string status = output_of({"grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"});
  signal(SIGUSR1, usr1);
  signal(SIGUSR2, usr2);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(status, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

TEST(Subprocess, DescriptorsByNumber) {
  const Folder folder;
  const auto file = [&](const char* name) {
    return open(folder.file(name, name, 0600).c_str(), O_RDONLY | O_CLOEXEC);
  };
  const int a = file("a");
  const int b = file("b");
  const int plain = open("/dev/null", O_RDONLY);  // not named: not passed
  const auto at = [](int number) { return "/proc/self/fd/" + std::to_string(number); };
  // The two change their numbers, and one has another one as well.
  EXPECT_EQ(output_of({"cat", at(a), at(b), at(77)},
                      {.descriptors = {{.from = a, .to = b}, {.from = b, .to = a}, {a, 77}}}),
            "baa");
  EXPECT_EQ(output_of({"cat", at(a)}, {.descriptors = {{.from = a, .to = a}}}), "a");
  EXPECT_EQ(output_of_shell("echo /proc/self/fd/*", {.descriptors = {{a, 9}}})
                .find(std::to_string(plain) + " "),
            std::string::npos);
  for (const int each : {a, b, plain}) close(each);
}

TEST(Subprocess, Limits) {
  EXPECT_EQ(output_of_shell("ulimit -n; ulimit -c; ulimit -t; ulimit -v; ulimit -H -t",
                            {.limits = {.address_space_bytes = std::uint64_t{1} << 30,
                                        .cpu_seconds = 5,
                                        .open_files = 20,
                                        .core_bytes = 0}}),
            "20\n0\n5\n1048576\n6\n");
  if (test::deep()) {
    const SubprocessExit end =
        shell("while :; do :; done", {.limits = {.cpu_seconds = 1, .core_bytes = 0}}).wait();
    EXPECT_EQ(end.text(), "killed by SIGXCPU");
    EXPECT_GE(end.usage.user_time + end.usage.system_time, 500ms);
  }
}

TEST(Subprocess, CpusAndPrivileges) {
  const std::vector<std::string> allowed{"grep", "-E", "^Cpus_allowed_list", "/proc/self/status"};
  cpu_set_t own;
  ASSERT_EQ(sched_getaffinity(0, sizeof own, &own), 0);
  int last = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &own)) last = cpu;
  }
  const std::string only = "Cpus_allowed_list:\t" + std::to_string(last) + "\n";
  EXPECT_EQ(output_of(allowed, {.cpus = {last}}), only);
  // Where the thread may run that starts it, whichever thread makes it.
  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(last), &one);
    sched_setaffinity(0, sizeof one, &one);
    EXPECT_EQ(output_of(allowed), only);
  }).join();
  if (CPU_COUNT(&own) > 1) {
    EXPECT_NE(output_of(allowed), only);
  }

  const std::vector<std::string> privileges{"grep", "NoNewPrivs", "/proc/self/status"};
  EXPECT_EQ(output_of(privileges, {.no_new_privileges = true}), "NoNewPrivs:\t1\n");
}

TEST(Subprocess, WaitsNoLongerThanAsked) {
  auto sleeper = Subprocess::start({"sleep", "1000"});
  EXPECT_FALSE(sleeper.wait(0ms).has_value());
  EXPECT_FALSE(sleeper.wait(5ms).has_value());
  EXPECT_FALSE(sleeper.wait(std::chrono::steady_clock::now() + 1ms).has_value());

  std::stop_source standard;
  std::thread later([&] {
    std::this_thread::sleep_for(2ms);
    standard.request_stop();
  });
  EXPECT_FALSE(sleeper.wait(standard.get_token()).has_value());
  later.join();
  EXPECT_FALSE(sleeper.wait(standard.get_token()).has_value());  // at once
  sync::StopSource own;
  EXPECT_FALSE(sleeper.wait({3ms, own.token()}).has_value());
  own.request_stop();
  EXPECT_FALSE(sleeper.wait({1h, own.token()}).has_value());

  sleeper.kill();
  while (!sleeper.wait({1h, own.token()}).has_value()) {
  }
  EXPECT_TRUE(sleeper.wait(own.token()).has_value());  // it is known, stop or no stop
}

TEST(Subprocess, EndlessOutputAndADeadline) {
  auto yes = Subprocess::start({"yes"}, {.output = SubprocessOutput::captured(1000)});
  EXPECT_FALSE(yes.wait(20ms).has_value());
  EXPECT_NE(yes.read_output(), "");
  yes.kill();
  EXPECT_EQ(yes.wait().text(), "killed by SIGKILL");
}

TEST(Subprocess, DestroyedWhileItRuns) {
  std::optional<Watched> watched;
  {
    auto sleeper = Subprocess::start({"sleep", "1000"});
    watched.emplace(sleeper.id());
    EXPECT_FALSE(watched->is_gone());
  }
  EXPECT_TRUE(watched->is_gone());
}

TEST(Subprocess, IsMoved) {
  auto one = Subprocess::start({"sleep", "1000"});
  const Watched first(one.id());
  auto other = std::move(one);
  EXPECT_FALSE(first.is_gone());
  EXPECT_THROW((void)one.id(), std::logic_error);  // NOLINT(bugprone-use-after-move)
  one.kill();
  one.close_input();
  other = Subprocess::start({"true"});
  EXPECT_TRUE(first.is_gone());
  EXPECT_TRUE(other.wait().ok());
}

TEST(Subprocess, GroupEndsWithIt) {
  const auto number_in = [](Subprocess& child) { return std::stoi(child.read_output()); };
  {
    auto parent = shell("sleep 1000 & echo $!; wait", captured());
    const Watched grandchild(number_in(parent));
    parent.kill();
    EXPECT_EQ(parent.wait().text(), "killed by SIGKILL");
    EXPECT_TRUE(grandchild.goes());
  }
  {
    // It ends only when it is told to: if it had ended, so had its group.
    SubprocessOptions options = captured();
    options.input = SubprocessInput::pipe();
    auto parent = shell("sleep 1000 & echo $!; read line; exit 0", options);
    const Watched grandchild(number_in(parent));
    parent.close_input();
    EXPECT_TRUE(parent.wait().ok());  // although its child has the pipe
    EXPECT_TRUE(grandchild.goes());
  }
  std::optional<Watched> grandchild;
  {
    auto parent = shell("sleep 1000 & echo $!; wait", captured());
    grandchild.emplace(number_in(parent));
  }
  EXPECT_TRUE(grandchild->goes());
}

TEST(Subprocess, WithoutAGroup) {
  EXPECT_EQ(output_of_shell("cut -d ' ' -f 5 /proc/$$/stat", {.own_group = false}),
            std::to_string(getpgid(0)) + "\n");
  auto parent = shell("sleep 1000 & echo $!; wait",
                      {.output = SubprocessOutput::captured(), .own_group = false});
  const Watched grandchild(std::stoi(parent.read_output()));
  parent.kill();
  EXPECT_EQ(parent.wait().text(), "killed by SIGKILL");
  EXPECT_FALSE(grandchild.is_gone());
  grandchild.kill();
  EXPECT_TRUE(grandchild.goes());
}

TEST(Subprocess, OutlivesTheThreadThatStartedIt) {
  std::optional<Subprocess> cat;
  std::thread([&] {
    cat.emplace(Subprocess::start(
        {"cat"}, {.input = SubprocessInput::pipe(), .output = SubprocessOutput::captured()}));
  }).join();
  EXPECT_EQ(cat->write("still here\n"), 11U);
  EXPECT_EQ(cat->read_output(), "still here\n");
  cat->close_input();
  EXPECT_TRUE(cat->wait().ok());
}

TEST(Subprocess, SignalledByOthersWhileOneWaits) {
  for (std::size_t round = 0; round < test::rounds(50); ++round) {
    auto sleeper = Subprocess::start({"sleep", "1000"});
    std::jthread other([&] {
      while (sleeper.signal(SIGTERM)) std::this_thread::yield();
      sleeper.kill();
    });
    EXPECT_EQ(sleeper.wait().text(), "killed by SIGTERM");
  }
}

TEST(Subprocess, Usage) {
  const SubprocessExit end = shell("head -c 30000000 /dev/zero | tail -c 1 >/dev/null").wait();
  EXPECT_GT(end.usage.user_time + end.usage.system_time, 0ns);
  rusage own{};
  getrusage(RUSAGE_SELF, &own);
  const auto own_bytes = static_cast<std::uint64_t>(own.ru_maxrss) * 1024;
  EXPECT_EQ(Subprocess::start({"true"}).wait().usage.resident_bytes_max,
            0U);  // less than this test
  const std::uint64_t more = 2 * own_bytes + (std::uint64_t{64} << 20);
  const SubprocessExit large = Subprocess::start({"dd", "if=/dev/zero", "of=/dev/null", "count=1",
                                                  "bs=" + std::to_string(more)},
                                                 {.error = SubprocessOutput::null()})
                                   .wait();
  EXPECT_TRUE(large.ok());
  EXPECT_GE(large.usage.resident_bytes_max, more);
  EXPECT_LT(large.usage.resident_bytes_max, more + (std::uint64_t{64} << 20));
}

}}  // namespace subprocess_test

// SPDX-License-Identifier: MIT
//
// Other programs run beside this one: one that is given bytes and answers, one to talk to, one that
// takes too long, one that crashes, and one that does not exist. Each says how it ended.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <handoff/process/subprocess.hpp>

namespace {

using handoff::Subprocess;
using handoff::SubprocessExit;
using handoff::SubprocessInput;
using handoff::SubprocessOutput;
using namespace std::chrono_literals;

// Bytes in, bytes out. No shell: what looks like one stays what it is.
bool sorts() {
  auto sort = Subprocess::start(
      {"sort", "-n"}, {.input = "10\n9\n$HOME\n", .output = SubprocessOutput::captured()});
  const SubprocessExit end = sort.wait();
  std::printf("sort %s:\n%s", end.text().c_str(), sort.output().c_str());
  return end.ok() && sort.output() == "$HOME\n9\n10\n";
}

// A question and an answer at a time.
bool talks() {
  auto cat = Subprocess::start(
      {"cat"}, {.input = SubprocessInput::pipe(), .output = SubprocessOutput::captured()});
  for (const char* const line : {"one\n", "two\n"}) {
    if (cat.write(line) != 4 || cat.read_output(10s) != line) return false;
  }
  cat.close_input();
  return cat.wait().ok();
}

// Asked to end when its time is up, and killed if it does not listen.
bool ends_in_time() {
  auto stubborn =
      Subprocess::start({"sh", "-c", "trap '' TERM; echo ready; sleep 1000; sleep 1000"},
                        {.output = SubprocessOutput::captured()});
  (void)stubborn.read_output();
  if (stubborn.wait(10ms).has_value()) return false;
  stubborn.signal(SIGTERM);
  std::optional<SubprocessExit> end = stubborn.wait(50ms);
  if (!end.has_value()) {
    stubborn.kill();  // the shell, and its sleep
    end = stubborn.wait();
  }
  std::printf("stubborn: %s\n", end->text().c_str());
  return end->signal == SIGKILL;
}

// A crash over there is a value here.
bool survives_a_crash() {
  auto crash = Subprocess::start({"sh", "-c", "kill -SEGV $$"}, {.limits = {.core_bytes = 0}});
  const SubprocessExit end = crash.wait();
  std::printf("crash: %s\n", end.text().c_str());
  return end.kind == SubprocessExit::Kind::signalled && end.signal == SIGSEGV;
}

bool says_what_is_missing() {
  try {
    (void)Subprocess::start({"no-such-program"});
  } catch (const std::system_error& error) {
    std::printf("%s\n", error.what());
    return error.code() == std::errc::no_such_file_or_directory;
  }
  return false;
}

}  // namespace

int main() {
  const bool right =
      sorts() && talks() && ends_in_time() && survives_a_crash() && says_what_is_missing();
  return right ? 0 : 1;
}

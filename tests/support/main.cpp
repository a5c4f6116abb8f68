// SPDX-License-Identifier: MIT
//
// main() of every test: seed and watchdog.
//
// The watchdog makes a hang speak: after HANDOFF_TEST_WATCHDOG_S seconds (default 500, ten times as
// many in a deep run) it prints the stack of every thread and aborts. Threads are reached by
// SIGTRAP, which the library's own threads leave unblocked.
#include <execinfo.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

#include "books/books.hpp"
#include "support/support.hpp"
#include "support/threads_of_process.hpp"

namespace handoff::test {
namespace {

std::uint64_t the_seed = 0;
std::atomic<int> stacks_printed{0};
std::atomic<bool> is_watched{false};

void print_own_stack(int) {
  void* frames[64];
  backtrace_symbols_fd(frames, backtrace(frames, 64), STDERR_FILENO);
  stacks_printed.fetch_add(1);
}

// One after another, so that the lines do not mix.
void print_all_stacks() {
  const auto self = static_cast<pid_t>(syscall(SYS_gettid));
  for (const pid_t id : threads_of_process()) {
    if (id == self) continue;
    std::fprintf(stderr, "-- thread %d\n", static_cast<int>(id));
    const int before = stacks_printed.load();
    syscall(SYS_tgkill, getpid(), id, SIGTRAP);
    for (int i = 0; i < 100 && stacks_printed.load() == before; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
}

void start_watchdog() {
  const char* const given = std::getenv("HANDOFF_TEST_WATCHDOG_S");
  const long seconds = given != nullptr ? std::atol(given) : deep() ? 5000 : 500;
  void* warm_up[1];
  backtrace(warm_up, 1);  // loads the unwinder now: not in a signal handler
  signal(SIGTRAP, print_own_stack);
  std::thread([seconds] {
    is_watched = true;
    is_watched.notify_one();
    std::this_thread::sleep_for(std::chrono::seconds(seconds));
    std::fprintf(stderr, "watchdog: hung for %ld s, seed %llu; all stacks:\n", seconds,
                 static_cast<unsigned long long>(the_seed));
    print_all_stacks();
    std::abort();
  }).detach();
  // A sanitizer opens a pipe for a moment when a thread begins, to look at what is new to it; tests
  // look at which descriptors are open.
  is_watched.wait(false);
}

void choose_seed(int argc, char** argv) {
  the_seed = std::random_device{}();
  if (const char* const given = std::getenv("HANDOFF_TEST_SEED")) {
    the_seed = std::strtoull(given, nullptr, 10);
  }
  for (int i = 1; i < argc; ++i) {
    constexpr std::string_view option = "--seed=";
    const std::string_view argument = argv[i];
    if (argument.starts_with(option)) {
      the_seed = std::strtoull(std::string(argument.substr(option.size())).c_str(), nullptr, 10);
    }
  }
  std::printf("seed %llu (repeat with --seed=N or HANDOFF_TEST_SEED)\n",
              static_cast<unsigned long long>(the_seed));
  std::fflush(stdout);
}

}  // namespace

std::uint64_t seed() noexcept { return the_seed; }

bool deep() noexcept {
  const char* const value = std::getenv("HANDOFF_TEST_DEEP");
  return value != nullptr && std::string_view(value) == "1";
}

void tell_of_fault(const std::string& fault) { ADD_FAILURE() << fault; }

}  // namespace handoff::test

// ThreadSanitizer sleeps for a second at the end of a program that has other threads, for reports
// that may still come. Here the only other one is the watchdog's, and tests run this program again
// and again. TSAN_OPTIONS goes before this.
extern "C" const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() {
  return "atexit_sleep_ms=0:die_after_fork=0";  // a forked child may start threads of its own
}

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  handoff::test::choose_seed(argc, argv);
  handoff::test::start_watchdog();
  return RUN_ALL_TESTS();
}

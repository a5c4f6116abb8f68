// SPDX-License-Identifier: MIT
//
// A program that ends, for end_of_program_test.cpp: end_of_program OBJECT MOMENT.
//
// It uses one of the library's objects, and once more at one of the moments of a program's end. It
// returns 0 if what it used the object for was done, or was refused by an exception.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <handoff/core/not_run.hpp>
#include <handoff/pool/parallel_for.hpp>
#include <handoff/pool/task_group.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/process/process_pool.hpp>
#include <handoff/process/subprocess.hpp>
#include <handoff/team/thread_team.hpp>
#include <map>
#include <string>
#include <system_error>
#include <thread>

// A program that ends while threads run keeps what they hold: under a sanitizer that is no leak.
extern "C" int __lsan_is_turned_off();
extern "C" int __lsan_is_turned_off() { return 1; }

namespace {

using namespace handoff;
using namespace std::chrono_literals;

void check(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "end_of_program: %s\n", what);
  ::_exit(3);
}

// ---- The objects --------------------------------------------------------------------------------

bool may_be_refused = false;  // by a pool that drains

void use_all_of(ThreadPool& pool) {
  std::atomic<int> ran{0};
  const auto task = [&ran] { ++ran; };
  try {
    check(pool.submit([] { return 1; }).get() == 1, "submit()");
    pool.post(task);
    pool.post(task, {.priority = Priority::high});
    while (ran != 2) std::this_thread::yield();
  } catch (const NotRun&) {
    check(may_be_refused, "refused");
  }
  if (!pool.worker_index()) {
    const auto is_elsewhere = [here = std::this_thread::get_id()] {
      check(std::this_thread::get_id() != here, "try_post() runs nothing here");
    };
    (void)pool.try_post(is_elsewhere, {.worker = 0});
  }
  TaskGroup group(pool);
  ran = 0;
  for (int i = 0; i < 10; ++i) group.run(task);
  group.wait();
  parallel_for(pool, 0, 10, [&ran](std::size_t) { ++ran; });
  check(ran == 20, "groups and loops");
}

void use_default_pool() { use_all_of(default_pool()); }

void use_own_pool() {
  static ThreadPool pool(2);
  use_all_of(pool);
}

void use_timers() {
  static std::atomic<int> rang{0};
  try {
    const TimerHandle series = default_pool().post_every(1ms, [] { ++rang; });
    (void)default_pool().post_after(1h, [] {});
    const int before = rang;
    while (rang == before) std::this_thread::yield();
  } catch (const NotRun&) {
  }
}

void use_team() {
  static ThreadTeam team(3);
  std::atomic<int> ran{0};
  (void)team.run(100, [&ran](IndexRange range) {
    for ([[maybe_unused]] const std::size_t i : range) ++ran;
  });
  check(ran == 100, "run()");
}

void use_subprocess() {
  try {
    check(Subprocess::start({"true"}).wait().ok(), "a program");
  } catch (const std::system_error&) {  // where the thread that starts programs has ended
  }
}

int add_one(const int& number) { return number + 1; }

// With its fork server.
void use_process_pool() {
  static ProcessPool pool{{.width = 1}};
  check(pool.submit<add_one>(1).get() == 2, "a job");
}

void (*use)() = nullptr;

// ---- The moments --------------------------------------------------------------------------------

struct UsesAtItsEnd {
  ~UsesAtItsEnd() {
    if (is_on) use();
  }
  bool is_on = false;
};

UsesAtItsEnd made_before_main;

// What is under way when the program ends.
void leave_tasks() {
  for (int i = 0; i < 100; ++i) default_pool().post([] { std::this_thread::yield(); });
}

void wait_for_child(pid_t child) {
  int status = 0;
  check(child > 0 && ::waitpid(child, &status, 0) == child, "fork()");
  check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child's end");
}

int at_return() { return 0; }

int by_static_before() {
  use();
  made_before_main.is_on = true;
  return 0;
}
int by_static_after() {
  use();
  static const UsesAtItsEnd made_now{true};
  return 0;
}
int by_static_first_use() {
  made_before_main.is_on = true;  // used for the first time then
  return 0;
}
int by_atexit_before() {
  std::atexit([] { use(); });
  use();
  return 0;
}
int by_atexit_after() {
  use();
  std::atexit([] { use(); });
  return 0;
}
int by_thread_local() {
  thread_local const UsesAtItsEnd made_now{true};
  use();
  return 0;
}
int by_thread_local_of_a_worker() {
  use();  // first, so that what it uses ends last
  may_be_refused = true;
  default_pool().submit([] { thread_local const UsesAtItsEnd made_now{true}; }).get();
  return 0;
}
int by_exit_with_tasks() {
  use();
  leave_tasks();
  std::exit(0);
}
int by_exit_in_another_thread() {
  use();
  leave_tasks();
  std::thread([] { std::exit(0); }).join();
  return 4;
}
int by_exit_in_a_task() {
  use();
  leave_tasks();
  default_pool().post([] { std::exit(0); });
  for (;;) ::pause();
}
int by_quick_exit() {
  use();
  leave_tasks();
  std::at_quick_exit([] { use(); });
  std::quick_exit(0);
}
int by_exit_of_a_forked_child() {
  use();
  const pid_t child = ::fork();
  if (child == 0) std::exit(0);
  wait_for_child(child);
  use();
  return 0;
}
int by_exit_of_a_child_forked_amid_tasks() {
  use();
  static std::atomic<bool> over{false};
  default_pool().post([] {
    while (!over) std::this_thread::yield();
  });
  leave_tasks();
  const pid_t child = ::fork();
  if (child == 0) std::exit(0);
  wait_for_child(child);
  over = true;
  return 0;
}
int by_exit_of_a_child_forked_in_a_task() {
  use();
  default_pool()
      .submit([] {
        const pid_t child = ::fork();
        if (child == 0) std::exit(0);
        wait_for_child(child);
      })
      .get();
  return 0;
}
// The canaries: what the test must see.
int by_a_crash() {
  use();
  std::abort();
}
int by_no_end() {
  for (;;) ::pause();
}

const std::map<std::string, void (*)()> kObjects = {
    {"default_pool", use_default_pool},
    {"own_pool", use_own_pool},
    {"timers", use_timers},
    {"team", use_team},
    {"subprocess", use_subprocess},
    {"process_pool", use_process_pool},
};

const std::map<std::string, int (*)()> kMoments = {
    {"return", at_return},
    {"static_before", by_static_before},
    {"static_after", by_static_after},
    {"static_first_use", by_static_first_use},
    {"atexit_before", by_atexit_before},
    {"atexit_after", by_atexit_after},
    {"thread_local", by_thread_local},
    {"thread_local_of_a_worker", by_thread_local_of_a_worker},
    {"exit_with_tasks", by_exit_with_tasks},
    {"exit_in_another_thread", by_exit_in_another_thread},
    {"exit_in_a_task", by_exit_in_a_task},
    {"quick_exit", by_quick_exit},
    {"forked_child", by_exit_of_a_forked_child},
    {"child_forked_amid_tasks", by_exit_of_a_child_forked_amid_tasks},
    {"child_forked_in_a_task", by_exit_of_a_child_forked_in_a_task},
    {"canary_crash", by_a_crash},
    {"canary_hang", by_no_end},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc == 1) {  // the table, for the test to walk over
    for (const auto& object : kObjects) std::printf("object %s\n", object.first.c_str());
    for (const auto& moment : kMoments) std::printf("moment %s\n", moment.first.c_str());
    return 0;
  }
  const auto object = kObjects.find(argv[1]);
  const auto moment = argc == 3 ? kMoments.find(argv[2]) : kMoments.end();
  if (object == kObjects.end() || moment == kMoments.end()) return 2;
  use = object->second;
  return moment->second();
}

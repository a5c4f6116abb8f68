// SPDX-License-Identifier: MIT
//
// What options do not have, or do not take, and a loop without its header.

#include <chrono>
#include <cstddef>
#include <stop_token>

#include <handoff/pool/thread_pool.hpp>
#include <handoff/process/process_pool_options.hpp>
#include <handoff/team/thread_team.hpp>

using namespace std::chrono_literals;

int main() {
  handoff::ThreadPool pool({.name = "pool", .width = 4, .capacity = handoff::unbounded});
  std::stop_source source;
  pool.post([] {}, {.name = "task", .until = {10ms, source.get_token()}, .worker = 0});
  const handoff::ProcessJobOptions job{.name = "job", .until = source.get_token()};

#if defined(WRONG_threads_of_a_pool)  // expect: the number of threads is called .width
  handoff::ThreadPool wrong({.threads = 4});
#endif
#if defined(WRONG_threads_of_a_team)  // expect: the number of threads is called .width
  handoff::ThreadTeam team({.name = "team", .threads = 4});
#endif
#if defined(WRONG_deadline_of_a_task)  // expect: it is called .until, and takes a time
  pool.post([] {}, {.deadline = std::chrono::steady_clock::now()});
#endif
#if defined(WRONG_stop_of_a_task)  // expect: it is called .until, and takes a time, a stop token
  (void)pool.submit([] {}, {.stop = source.get_token()});
#endif
#if defined(WRONG_deadline_of_a_job)  // expect: it is called .until, and takes a time
  const handoff::ProcessJobOptions late{.deadline = std::chrono::steady_clock::now()};
#endif
#if defined(WRONG_time_without_a_unit)  // expect: .until takes a time with its unit \(10ms\)
  pool.post([] {}, {.until = 10});
#endif
#if defined(WRONG_moment_of_the_wall_clock)  // expect: .until takes .* a moment of steady_clock
  pool.post([] {}, {.until = std::chrono::system_clock::now() + 1s});
#endif
#if defined(WRONG_source_of_a_stop)  // expect: a stop token \(not its source\)
  pool.post([] {}, {.until = source});
#endif
#if defined(WRONG_loop_without_its_header)  // expect: include <handoff/pool/parallel_for.hpp>
  handoff::parallel_for(pool, 0, 1, [](std::size_t) {});
#endif
}

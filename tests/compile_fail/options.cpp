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

  // wrong: the number of threads is called .width
  // handoff::ThreadPool wrong({.threads = 4});
  // wrong: the number of threads is called .width
  // handoff::ThreadTeam team({.name = "team", .threads = 4});
  // wrong: it is called .until, and takes a time
  // pool.post([] {}, {.deadline = std::chrono::steady_clock::now()});
  // wrong: it is called .until, and takes a time, a stop token
  // (void)pool.submit([] {}, {.stop = source.get_token()});
  // wrong: it is called .until, and takes a time
  // const handoff::ProcessJobOptions late{.deadline = std::chrono::steady_clock::now()};
  // wrong: .until takes a time with its unit \(10ms\)
  // pool.post([] {}, {.until = 10});
  // wrong: .until takes .* a moment of steady_clock
  // pool.post([] {}, {.until = std::chrono::system_clock::now() + 1s});
  // wrong: a stop token \(not its source\)
  // pool.post([] {}, {.until = source});
  // wrong: include <handoff/pool/parallel_for.hpp>
  // handoff::parallel_for(pool, 0, 1, [](std::size_t) {});
}

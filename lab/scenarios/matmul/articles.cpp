// SPDX-License-Identifier: MIT
#include "scenarios/matmul/articles.hpp"

#include <string>

#include <fmt/format.h>

namespace handoff::lab::matmul {
namespace {

constexpr auto article = "C++17 parallel matrix multiplication (2026)";

Cell cell_of(const char* n, const char* width) {
  Cell cell("gflops");
  cell.set("n", n);
  cell.set("kernel", "naive");
  cell.set("width", width);
  return cell;
}

// The whole table, on 64 threads there, at one width here. Its figure of ZeroMQ is no measurement,
// and here ZeroMQ takes less than twice as long as bare threads. How "more than 3000" came of the
// figure at 128 x 128 is not said: 16 times the single thread, as there, would be 3500.
Article table(const char* width) {
  const std::string few = "64 threads gain at most as many times as there are CPUs";
  return {fmt::format("{}: 512 x 512 float, 64 threads there, {} here", article, width),
          cell_of("512", width),
          {{"single thread", 218, "", "seed.single", {}, {}},
           {"std::thread and one atomic", 8.6, "", "seed.threads", few, {}},
           {"newosp WorkerPool", 17.4, "", "seed.worker_pool", few, {}},
           {"newosp, processes and shared memory",
            17.4,
            "with starting the processes, which is said to take 1 to 2 ms",
            "seed.processes",
            few,
            {}},
           {"newosp AsyncBus", 220, "\"about\": one thread computes all", "seed.async_bus", {}, {}},
           {"ZeroMQ inproc",
            3000,
            "\"more than\": inferred from 128 x 128, we do not know how; 16 times 218 ms would fit",
            "seed.zeromq",
            "perhaps what took so long at 128 x 128 does not grow with the matrices",
            {}}}};
}

// The only one of ZeroMQ that was measured: 42.18 ms for 128 messages are 0.33 ms a message, which
// no message takes here. What was timed is not said, so what else it was is a guess.
Article smaller() {
  return {fmt::format("{}: 128 x 128 float, 64 threads", article),
          cell_of("128", "64"),
          {{"single thread", 2.62, "", "seed.single", {}, {}},
           {"ZeroMQ inproc",
            42.18,
            "0.33 ms for each of 128 messages; what was timed is not said",
            "seed.zeromq",
            "perhaps starting and ending 64 threads and 65 sockets was timed there; here that is "
            "done once, see the row's start",
            {}}}};
}

}  // namespace

std::vector<Article> articles_of_matrices() { return {table("64"), table("2"), smaller()}; }

}  // namespace handoff::lab::matmul

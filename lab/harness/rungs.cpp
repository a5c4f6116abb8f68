// SPDX-License-Identifier: MIT
#include "harness/rungs.hpp"

#include <initializer_list>
#include <utility>

namespace handoff::lab {
namespace {

Cell cell(const char* metric, std::initializer_list<std::pair<const char*, const char*>> values) {
  Cell made(metric);
  for (const auto& [name, value] : values) made.set(name, value);
  return made;
}

// Of a message on a bus only buses, since a ring does less; both orders that they keep are shown.
std::vector<RungKind> calls_and_queues() {
  return {{.name = "call",
           .title = "a call of a listener",
           .scenario = "events",
           .cell = cell("invoke", {{"listeners", "1"}}),
           .today = {"peer.std_functions"}},
          {.name = "event",
           .title = "an event through a queue",
           .scenario = "events",
           .cell = cell("enqueue_process", {{"count", "10000"}, {"ids", "1"}}),
           .today = {"peer.mutex_queue"}},
          {.name = "message",
           .title = "a message through a channel",
           .scenario = "channels",
           .cell = cell("message", {{"producers", "1"}, {"consumers", "1"}}),
           .today = {"peer.mutex_queue"}},
          {.name = "bus",
           .title = "a message on a bus, in batches",
           .scenario = "messages",
           .cell = cell("throughput", {{"producers", "1"},
                                       {"consumers", "1"},
                                       {"bytes", "72"},
                                       {"publish", "batch"},
                                       {"consumer", "spins"}}),
           .own = {"own.bus", "own.bus.lanes"},
           .named = {"own.bus", "own.bus.lanes"}},
          {.name = "command",
           .title = "a command recorded, sorted, submitted",
           .scenario = "commands",
           .cell = cell("command",
                        {{"threads", "2"}, {"calls", "40000"}, {"key_bits", "64"}, {"work", "0"}}),
           .today = {"peer.std_vectors"}}};
}

std::vector<RungKind> pools_threads_and_files() {
  return {
      {.name = "task",
       .title = "a task nobody waits for",
       .scenario = "tasks",
       .cell = cell("fire_and_forget",
                    {{"count", "1000"}, {"work", "0"}, {"state", "hot"}, {"width", "2"}}),
       .today = {"peer.mutex_pool"},
       .named = {"peer.onetbb"}},
      {.name = "future",
       .title = "a task with a result",
       .scenario = "tasks",
       .cell = cell("future", {{"count", "1000"}, {"work", "0"}, {"state", "hot"}, {"width", "2"}}),
       .today = {"peer.std_async"},
       .named = {"peer.onetbb"}},
      {.name = "fork",
       .title = "a fork",
       .scenario = "forkjoin",
       .cell = cell("ns_per_fork", {{"problem", "fib"}, {"width", "2"}}),
       .named = {"peer.onetbb"}},
      {.name = "iteration",
       .title = "one iteration of a loop",
       .scenario = "grain",
       .cell = cell("loop", {{"count", "1000000"}, {"width", "2"}}),
       .today = {"peer.std_for_each"}},
      {.name = "loop_1us",
       .title = "a loop of 1 us for each member",
       .scenario = "grain",
       .cell = cell("loop_1us", {{"width", "2"}}),
       .latency = true,
       .today = {"peer.std_threads"}},
      {.name = "process",
       .title = "8 bytes to another process",
       .scenario = "processes",
       .cell = cell("latency", {{"bytes", "8"}}),
       .latency = true,
       .today = {"peer.pipe", "peer.unix_socket"}},
      {.name = "ping",
       .title = "a ping to a sleeping thread",
       .scenario = "tasks",
       .cell = cell("ping", {{"width", "2"}}),
       .latency = true,
       .today = {"peer.mutex_pool"}},
      {.name = "thread",
       .title = "a thread started",
       .scenario = "spawn",
       .cell = cell("thread", {}),
       .latency = true,
       .today = {"peer.std_thread", "peer.std_async"}},
      {.name = "file",
       .title = "a small file written",
       .scenario = "files",
       .cell = cell("file", {{"files", "200"}, {"durable", "0"}}),
       .today = {"peer.fstream"}}};
}

}  // namespace

const std::vector<RungKind>& rung_kinds() {
  static const std::vector<RungKind> kinds = [] {
    std::vector<RungKind> all = calls_and_queues();
    const std::vector<RungKind> others = pools_threads_and_files();
    all.insert(all.end(), others.begin(), others.end());
    return all;
  }();
  return kinds;
}

const std::vector<OverviewCell>& cells_beside_the_rungs() {
  static const std::vector<OverviewCell> cells{
      {"machine", cell("cache_miss", {})},
      {"machine", cell("line_transfer", {})},
      {"machine", cell("system_call", {})},
      {"grain", cell("metg50", {{"unit", "task"}, {"width", "2"}})},
      {"tasks", cell("idle_cpu", {{"width", "2"}})}};
  return cells;
}

}  // namespace handoff::lab

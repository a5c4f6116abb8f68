// SPDX-License-Identifier: MIT
#include "harness/rungs.hpp"

namespace handoff::lab {
namespace {

std::vector<RungKind> calls_and_queues() {
  return {{.name = "call",
           .title = "a call of a listener",
           .scenario = "events",
           .cell = Cell("invoke", {{"listeners", "1"}}),
           .own = "own.event",
           .peers = {"peer.eventpp", "peer.std_functions", "peer.boost_signals2"},
           .today = "peer.std_functions",
           .limit = "limit.vector"},
          {.name = "event",
           .title = "an event through a queue",
           .scenario = "events",
           .cell = Cell("enqueue_process", {{"count", "10000"}, {"ids", "1"}}),
           .own = "own.event",
           .peers = {"peer.eventpp", "peer.concurrentqueue"},
           .today = "peer.mutex_queue",
           .limit = "limit.vector"},
          {.name = "message",
           .title = "a message, one thread to another",
           .scenario = "channels",
           .cell = Cell("message", {{"producers", "1"}, {"consumers", "1"}}),
           .own = "own.spsc_ring",
           .peers = {"peer.readerwriterqueue"},
           .today = "peer.mutex_queue",
           .limit = "limit.ring"},
          {.name = "bus",
           .title = "a message on a bus, in batches",
           .scenario = "messages",
           .cell = Cell("throughput", {{"producers", "1"},
                                       {"consumers", "1"},
                                       {"bytes", "72"},
                                       {"publish", "batch"},
                                       {"consumer", "spins"}}),
           .own = "own.bus",
           .peers = {"peer.moodycamel"},
           .limit = "limit.ring"},
          {.name = "command",
           .title = "a command recorded, sorted, dispatched",
           .scenario = "commands",
           .cell = Cell("command",
                        {{"threads", "2"}, {"calls", "40000"}, {"key_bits", "64"}, {"work", "0"}}),
           .own = "own.bucket",
           .peers = {"peer.std_vectors"},
           .today = "peer.std_vectors"}};
}

std::vector<RungKind> pools_and_loops() {
  return {
      {.name = "task",
       .title = "an empty task (1000 at a time)",
       .scenario = "tasks",
       .cell = Cell("fire_and_forget",
                    {{"count", "1000"}, {"work", "0"}, {"state", "hot"}, {"width", "2"}}),
       .own = "own.pool.stealing",
       .peers = {"peer.taskflow", "peer.onetbb", "peer.asio"},
       .today = "peer.mutex_pool"},
      {.name = "future",
       .title = "a task with a result",
       .scenario = "tasks",
       .cell = Cell("future", {{"count", "1000"}, {"work", "0"}, {"state", "hot"}, {"width", "2"}}),
       .own = "own.pool.stealing",
       .peers = {"peer.bs_thread_pool", "peer.onetbb", "peer.asio"},
       .today = "peer.std_async"},
      {.name = "fork",
       .title = "fork and join",
       .scenario = "forkjoin",
       .cell = Cell("ns_per_fork", {{"problem", "fib"}, {"width", "2"}}),
       .own = "own.pool.stealing",
       .peers = {"peer.taskflow", "peer.onetbb"},
       .limit = "limit.serial"},
      {.name = "iteration",
       .title = "one iteration of a loop",
       .scenario = "grain",
       .cell = Cell("loop", {{"count", "1000000"}, {"width", "2"}}),
       .own = "own.pool.stealing",
       .peers = {"peer.onetbb", "peer.openmp"},
       .today = "peer.std_for_each"},
      {.name = "sort",
       .title = "an int sorted, of a million",
       .scenario = "algorithms",
       .cell = Cell("sort", {{"algorithm", "sort"},
                             {"count", "1000000"},
                             {"item", "int"},
                             {"order", "random"},
                             {"width", "2"}}),
       .own = "own.algorithms",
       .peers = {"peer.boost_block_indirect_sort"},
       .today = "limit.serial"},
      {.name = "loop_1us",
       .title = "a loop of 1 us for each member",
       .scenario = "grain",
       .cell = Cell("loop_1us", {{"width", "2"}}),
       .latency = true,
       .own = "own.thread_team",
       .peers = {"peer.openmp", "peer.onetbb"},
       .today = "peer.std_threads"}};
}

std::vector<RungKind> graphs_and_pipelines() {
  return {{.name = "node",
           .title = "an empty node of a task graph",
           .scenario = "graph",
           .cell = Cell("node", {{"shape", "random"}, {"nodes", "10000"}, {"width", "2"}}),
           .own = "own.graph",
           .peers = {"peer.taskflow", "peer.onetbb_flow"},
           .limit = "limit.serial"},
          {.name = "item",
           .title = "an item through three stages",
           .scenario = "pipeline",
           .cell = Cell("item", {{"kind", "mixed"}, {"width", "2"}}),
           .own = "own.pipeline",
           .peers = {"peer.taskflow", "peer.onetbb"},
           .limit = "limit.serial"}};
}

std::vector<RungKind> processes_threads_and_files() {
  return {{.name = "process",
           .title = "8 bytes to another process",
           .scenario = "processes",
           .cell = Cell("latency", {{"bytes", "8"}}),
           .latency = true,
           .own = "own.shared_ring",
           .peers = {"peer.boost_spsc", "peer.boost_message_queue"},
           .today = "peer.pipe"},
          {.name = "ping",
           .title = "a ping to a sleeping thread",
           .scenario = "tasks",
           .cell = Cell("ping", {{"width", "2"}}),
           .latency = true,
           .own = "own.pool.stealing",
           .peers = {"peer.asio", "peer.mutex_pool"},
           .today = "peer.mutex_pool",
           .limit = "limit.wake"},
          {.name = "thread",
           .title = "a pool's first use",
           .scenario = "tasks",
           .cell = Cell("first_use", {{"width", "2"}}),
           .latency = true,
           .own = "own.pool.stealing",
           .peers = {"peer.bs_thread_pool", "peer.asio", "peer.mutex_pool"},
           .today = "peer.mutex_pool"},
          {.name = "file",
           .title = "a small file written",
           .scenario = "files",
           .cell = Cell("file", {{"files", "200"}, {"durable", "0"}}),
           .own = "own.automatic",
           .peers = {"peer.fstream", "peer.libuv"},
           .today = "peer.fstream",
           .limit = "limit.raw",
           .leaves_files = true}};
}

}  // namespace

const std::vector<RungKind>& rung_kinds() {
  static const std::vector<RungKind> kinds = [] {
    std::vector<RungKind> all = calls_and_queues();
    for (auto* part : {&pools_and_loops, &graphs_and_pipelines, &processes_threads_and_files}) {
      const std::vector<RungKind> others = part();
      all.insert(all.end(), others.begin(), others.end());
    }
    return all;
  }();
  return kinds;
}

std::vector<const RungKind*> rung_kinds_by_interest() {
  constexpr std::array first{"task",  "future", "fork",    "iteration", "message",
                             "event", "call",   "process", "file"};
  std::vector<const RungKind*> kinds;
  for (const char* name : first) kinds.push_back(rung_kind_named(name));
  for (const RungKind& kind : rung_kinds()) {
    if (!contains(kinds, &kind)) kinds.push_back(&kind);
  }
  return kinds;
}

std::vector<std::string> rung_names() {
  std::vector<std::string> names;
  for (const RungKind& kind : rung_kinds()) names.push_back(kind.name);
  return names;
}

const RungKind* rung_kind_named(const std::string& name) {
  const auto& kinds = rung_kinds();
  const auto found = std::ranges::find(kinds, name, &RungKind::name);
  return found == kinds.end() ? nullptr : &*found;
}

const std::vector<OverviewCell>& cells_beside_the_rungs() {
  static const std::vector<OverviewCell> cells{
      {"machine", Cell("cache_miss"), {"limit.bare"}},
      {"machine", Cell("line_transfer"), {"limit.bare"}},
      {"machine", Cell("system_call"), {"limit.bare"}},
      {"grain",
       Cell("metg50", {{"unit", "task"}, {"width", "2"}}),
       {"own.pool.stealing", "peer.onetbb", "peer.openmp"}},
      {"tasks",
       Cell("idle_cpu", {{"width", "2"}}),
       {"own.pool.stealing", "peer.onetbb", "peer.asio", "peer.mutex_pool"}}};
  return cells;
}

std::optional<std::size_t> next_rung(const std::vector<RungState>& rungs, double seconds_left,
                                     double share) {
  std::optional<std::size_t> next;
  for (std::size_t i = 0; i < rungs.size(); ++i) {
    const RungState& rung = rungs[i];
    if (rung.seconds > seconds_left || rung.spent + rung.seconds > share) continue;
    if (!next || rung.range > rungs[*next].range) next = i;
  }
  return next;
}

}  // namespace handoff::lab

// SPDX-License-Identifier: MIT
//
// Steps that depend on each other: a graph run again and again, a pipeline.
#include <atomic>
#include <handoff/graph/pipeline.hpp>
#include <handoff/graph/task_graph.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/queue/channel.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "plant.hpp"

namespace {

// Runs that end while helpers have them still.
void many_runs(handoff::ThreadPool& pool) {
  for (int round = 0; round < 20; ++round) {
    handoff::TaskGraph wide;
    for (int i = 0; i < 100; ++i) {
      const auto fails = wide.add("fails", [i] {
        if (i % 2 != 0) throw i;
      });
      wide.add("last", [] {}).after(fails);
    }
    std::atomic<std::size_t> told{0};
    wide.run(pool, {.on_error = [&told, own = std::string(40, 'o')](const handoff::TaskFailure&) {
               told += own.size();
             }});
  }
}

// A node waits for a part that it runs, and run_until() asks after each run whether to run again.
bool waits_inside(handoff::ThreadPool& pool) {
  std::vector<std::string> texts(20);
  std::size_t sum = 0;
  const auto add_up = [&] {
    for (const std::string& text : texts) sum += text.size();
    return sum >= 10 * 20 * 40;
  };
  handoff::TaskGraph part;
  for (std::string& text : texts) part.add("part", [&text] { text = std::string(40, 't'); });
  handoff::TaskGraph whole;
  whole.add("whole", [&](handoff::NodeContext& here) {
    here.run(part);
    add_up();
  });
  for (int round = 0; round < 5; ++round) whole.run(pool);
  part.run_until(pool, add_up);
  return sum == 10 * 20 * 40;
}

// What two runs do by turns, and what a node adds.
bool limited_runs(handoff::ThreadPool& pool) {
  handoff::GraphLimit two(2);
  handoff::GraphLimit one(1);
  std::string used;
  std::atomic<int> added{0};
  handoff::TaskGraph graph;
  const auto use = [&](handoff::NodeContext& here) {
    used = std::string(40, 'u');
    here.add("added", [&added, own = used] { added += own.size() == 40 ? 1 : 0; });
  };
  for (int i = 0; i < 30; ++i) graph.add("use", use).uses(two).uses(one);
  for (int round = 0; round < 10; ++round) {
    handoff::GraphRun first = graph.start(pool);
    graph.run(pool);
    first.wait();
  }
  return added == 2 * 10 * 30;
}

// Who comes last moves what others have copied.
bool values(handoff::ThreadPool& pool) {
  handoff::TaskGraph graph;
  std::vector nodes{graph.add("first", [] { return std::string(40, 'v'); })};
  for (std::size_t i = 1; i < 60; ++i) {
    nodes.push_back(graph.add("next", [](std::string s) { return s + 'n'; }, nodes[(i - 1) / 2]));
  }
  for (int round = 0; round < 20; ++round) {
    handoff::GraphRun run = graph.start(pool);
    run.wait();
    if (run.value(nodes.back()).size() != 45) return false;
  }
  return true;
}

// Threads that begin runs of one graph, whose memory goes from one to the other, while it grows.
bool many_callers(handoff::ThreadPool& pool) {
  std::atomic<int> whole{0};
  handoff::TaskGraph graph;
  const auto first = graph.add("first", [] { return std::string(40, 'c'); });
  const auto last = graph.add("last", [](const std::string& s) { return s + 'l'; }, first);
  std::vector<std::thread> callers;
  for (int k = 0; k < 4; ++k) {
    callers.emplace_back([&, k] {
      for (int round = 0; round < 50; ++round) {
        if (round % 10 == k) graph.add("more", [] {}).after(first).priority(handoff::Priority::low);
        graph.run(pool);
        handoff::GraphRun run = graph.start(pool);
        run.wait();
        whole += run.value(last).size() == 41 ? 1 : 0;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  return whole == 4 * 50;
}

}  // namespace

int main() {
  handoff::ThreadPool pool(3);
  many_runs(pool);
  if (!waits_inside(pool) || !limited_runs(pool) || !values(pool) || !many_callers(pool)) return 1;
  handoff::TaskGraph graph;
  std::string folder;
  std::string saved;
  auto load = graph.add("load", [] { return std::string(50, 'p'); });
  auto count = graph.add("count", [](const std::string& page) { return page.size(); }, load);
  auto links = graph.add("links", [](const std::string& page) { return page + "l"; }, load);
  auto make = graph.add("make", [&] { folder = std::string(40, 'f'); });
  graph
      .add(
          "save", [&](std::size_t n, std::string l) { saved = folder + l + std::to_string(n); },
          count, links)
      .after(make);
  for (int i = 0; i < 30; ++i) graph.run(pool);
  if (saved.size() != 40 + 51 + 2) return 1;
  {
    handoff::TaskGraph slow;
    slow.add("slow", [] { inside(); });
    handoff::GraphRun run = slow.start(pool);
    outside();
    run.wait();
  }

  int next = 0;
  std::vector<std::string> written;
  handoff::Pipeline pack(
      pool, {.tokens = 8},
      [&]() -> std::optional<int> { return next < 300 ? std::optional(next++) : std::nullopt; },
      handoff::parallel_stage([](int n) { return std::string(30, char('a' + n % 20)); }),
      handoff::ordered_stage([&](std::string text) { written.push_back(std::move(text)); }));
  pack.run();
  for (std::size_t i = 0; i < written.size(); ++i) {
    if (written[i][0] != char('a' + i % 20)) return 1;
  }
  return written.size() == 300 ? 0 : 1;
}

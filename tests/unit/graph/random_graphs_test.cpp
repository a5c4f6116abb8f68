// SPDX-License-Identifier: MIT
//
// Random graphs against a serial one: which nodes run, fail and are cancelled, each counted once,
// and what each value is. On pools of width 1 to 16, with nodes that throw, branches that are
// chosen, limits, priorities, retries, values that are shared and moved, and runs that are stopped.
#include <handoff/graph/task_graph.hpp>
#include <handoff/pool/thread_pool.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "support/support.hpp"

namespace handoff::test { namespace {

// On the heap, so that a leak or a second end is found.
using Number = std::shared_ptr<const std::uint64_t>;

Number number(std::uint64_t value) { return std::make_shared<const std::uint64_t>(value); }

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  return (a ^ (b >> 7)) * 0x9e3779b97f4a7c15;
}

enum class Fate : std::uint8_t { done, failed, cancelled, not_chosen };

struct PlainNode {
  std::vector<std::size_t> inputs;  // whose values it reads, two at most
  std::vector<std::size_t> after;
  std::vector<std::size_t> choices;  // which are chosen by no other
  bool is_choice = false;
  bool throws = false;
  bool takes = false;
  std::uint32_t retries = 0;
  // What is to come of it.
  Fate fate = Fate::done;
  std::uint64_t value = 0;
};

// A graph as a vector: nodes depend on earlier ones only.
class PlainGraph {
 public:
  PlainGraph(std::mt19937_64& random, std::size_t size) {
    const auto below = [&](std::size_t bound) {
      return static_cast<std::size_t>(random() % bound);
    };
    const std::size_t window = 1 + below(size);
    const bool has_failures = below(2) == 0;
    for (std::size_t i = 0; i < size; ++i) {
      PlainNode node;
      const auto earlier = [&] { return i - 1 - below(std::min(i, window)); };
      if (i != 0 && below(4) != 0) {
        for (std::size_t inputs = below(3); inputs != 0; --inputs) node.inputs.push_back(earlier());
        for (std::size_t edges = below(4); edges != 0; --edges) node.after.push_back(earlier());
      }
      node.throws = has_failures && below(50) == 0;
      node.takes = below(2) == 0;
      if (below(20) == 0) node.retries = 1;
      nodes.push_back(node);
    }
    // Branches: a condition behind each, and two nodes that wait for nothing else.
    for (std::size_t i = 0; i < size / 50; ++i) {
      const std::size_t condition = below(size);
      if (!nodes[condition].choices.empty()) continue;
      for (int k = 0; k < 2; ++k) {
        PlainNode choice;
        choice.is_choice = true;
        nodes[condition].choices.push_back(nodes.size());
        nodes.push_back(choice);
      }
    }
    settle();
  }

  // Which choice a node makes: by its value.
  static std::size_t choice_of(std::uint64_t value) { return value % 3; }

  std::vector<PlainNode> nodes;
  Tally tally;

 private:
  void settle() {
    std::vector<bool> is_chosen(nodes.size(), false);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      PlainNode& node = nodes[i];
      bool is_spoiled = false;
      const auto look = [&](std::size_t before) {
        is_spoiled = is_spoiled || nodes[before].fate != Fate::done;
      };
      for (const std::size_t input : node.inputs) look(input);
      for (const std::size_t before : node.after) look(before);
      node.fate = node.is_choice && !is_chosen[i] ? Fate::not_chosen
                  : is_spoiled                    ? Fate::cancelled
                  : node.throws                   ? Fate::failed
                                                  : Fate::done;
      if (node.fate == Fate::not_chosen) continue;
      ++tally.accepted;
      ++(node.fate == Fate::done     ? tally.done
         : node.fate == Fate::failed ? tally.failed
                                     : tally.cancelled);
      if (node.fate != Fate::done) continue;
      node.value = i + 1;
      for (const std::size_t input : node.inputs)
        node.value = mixed(node.value, nodes[input].value);
      if (const std::size_t choice = choice_of(node.value); choice < node.choices.size()) {
        is_chosen[node.choices[choice]] = true;
      }
    }
  }
};

// The same as a TaskGraph; each call says that it has been.
class RealGraph {
 public:
  RealGraph(const PlainGraph& plain, std::mt19937_64& random)
      : plain_(plain),
        calls_(plain.nodes.size()),
        limits_{GraphLimit(1 + random() % 3), GraphLimit(1)} {
    const bool is_limited = random() % 4 == 0;
    const bool has_priorities = random() % 4 == 0;
    for (std::size_t i = 0; i < plain.nodes.size(); ++i) {
      const GraphNode<Number> node = add(i);
      for (const std::size_t before : plain.nodes[i].after) node.after(nodes_[before]);
      if (plain.nodes[i].retries != 0) node.retries(plain.nodes[i].retries);
      for (std::size_t which : {random() % 2, random() % 2}) {
        if (is_limited && random() % 6 == 0) node.uses(limits_[which]);
      }
      if (has_priorities) node.priority(static_cast<Priority>(random() % 4));
      nodes_.push_back(node);
    }
    // A condition returns an index, so it is a node of its own behind the one that decides.
    for (std::size_t i = 0; i < plain.nodes.size(); ++i) {
      const auto& choices = plain.nodes[i].choices;
      if (choices.empty()) continue;
      ++conditions_[plain.nodes[i].fate == Fate::done ? 0 : 1];
      const auto condition = graph.add(
          "choose", [](const Number& value) { return PlainGraph::choice_of(*value); }, nodes_[i]);
      condition.chooses(nodes_[choices[0]], nodes_[choices[1]]);
    }
  }

  TaskGraph graph;

  // After runs that nothing stopped.
  void expect_all(const Tally& tally, std::uint64_t runs) {
    EXPECT_TRUE(tally.balanced());
    EXPECT_EQ(tally.accepted, runs * (plain_.tally.accepted + conditions_[0] + conditions_[1]));
    EXPECT_EQ(tally.done, runs * (plain_.tally.done + conditions_[0]));
    EXPECT_EQ(tally.failed, runs * plain_.tally.failed);
    EXPECT_EQ(tally.cancelled, runs * (plain_.tally.cancelled + conditions_[1]));
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      const PlainNode& node = plain_.nodes[i];
      const std::uint64_t expected = node.fate == Fate::done     ? runs
                                     : node.fate == Fate::failed ? runs * (1 + node.retries)
                                                                 : 0;
      wrong += calls_[i].exchange(0) != expected ? 1 : 0;
    }
    EXPECT_EQ(wrong, 0U) << "of the calls";
    EXPECT_EQ(wrong_values_.exchange(0), 0U);
    EXPECT_LE(most_inside_, plain_.nodes.size());
  }
  // After others.
  void expect_some(const Tally& tally) {
    EXPECT_TRUE(tally.balanced());
    EXPECT_EQ(wrong_values_.exchange(0), 0U);
    std::uint64_t calls = 0;
    for (auto& each : calls_) calls += each.exchange(0);
    EXPECT_LE(tally.done, calls + conditions_[0]);
  }

 private:
  Number called(std::size_t i, const std::vector<std::uint64_t>& inputs) {
    const PlainNode& node = plain_.nodes[i];
    ++calls_[i];
    std::uint64_t value = i + 1;
    for (const std::uint64_t input : inputs) value = mixed(value, input);
    if (node.throws) throw std::runtime_error("planned");
    if (value != node.value) ++wrong_values_;
    return number(value);
  }

  GraphNode<Number> add(std::size_t i) {
    const PlainNode& node = plain_.nodes[i];
    if (node.inputs.empty()) {
      return graph.add("none", [this, i] { return called(i, {}); });
    }
    const auto a = nodes_[node.inputs[0]];
    if (node.inputs.size() == 1) {
      if (node.takes) return graph.add("own", [this, i](Number x) { return called(i, {*x}); }, a);
      return graph.add("one", [this, i](const Number& x) { return called(i, {*x}); }, a);
    }
    const auto b = nodes_[node.inputs[1]];
    if (node.takes) {
      return graph.add(
          "mixed", [this, i](Number x, const Number& y) { return called(i, {*x, *y}); }, a, b);
    }
    return graph.add(
        "two", [this, i](const auto& x, const auto& y) { return called(i, {*x, *y}); }, a, b);
  }

  const PlainGraph& plain_;
  std::vector<std::atomic<std::uint64_t>> calls_;
  GraphLimit limits_[2];
  std::vector<GraphNode<Number>> nodes_;
  std::uint64_t conditions_[2] = {0, 0};  // that run; that are cancelled
  std::atomic<std::uint64_t> wrong_values_{0};
  std::size_t most_inside_ = 0;
};

void look_at(std::mt19937_64& random, ThreadPool& pool, std::size_t size) {
  const PlainGraph plain(random, size);
  RealGraph real(plain, random);
  const auto heard = [](const TaskFailure& failure) { ASSERT_NE(failure.error, nullptr); };
  for (int i = 0; i < 2; ++i) {
    real.expect_all(real.graph.run(pool, {.on_error = heard}), 1);
  }
  {
    GraphRun first = real.graph.start(pool, {.on_error = heard});
    GraphRun second = real.graph.start(pool, {.on_error = heard});
    Tally both = first.wait();
    const Tally other = second.wait();
    both.accepted += other.accepted;
    both.done += other.done;
    both.failed += other.failed;
    both.cancelled += other.cancelled;
    real.expect_all(both, 2);
  }
  GraphRun stopped = real.graph.start(pool, {.on_error = heard});
  for (std::uint64_t spin = random() % 2000; spin != 0; --spin) (void)stopped.is_done();
  stopped.cancel();
  real.expect_some(stopped.wait());
  real.expect_all(real.graph.run(pool, {.on_error = heard}), 1);
}

// A campaign: HANDOFF_GRAPHS=10000 and HANDOFF_GRAPH_NODES=1000 in the environment.
std::size_t from_environment(const char* name, std::size_t usual) {
  const char* const text = std::getenv(name);
  return text == nullptr ? usual : static_cast<std::size_t>(std::atoll(text));
}

TEST(RandomGraphs, AreAsTheSerialOnes) {
  auto random = test::random();
  std::vector<std::unique_ptr<ThreadPool>> pools;
  for (const std::size_t width : {1U, 2U, 3U, 5U, 16U}) {
    pools.push_back(std::make_unique<ThreadPool>(width));
  }
  const std::size_t graphs = from_environment("HANDOFF_GRAPHS", rounds(300));
  const std::size_t all = from_environment("HANDOFF_GRAPH_NODES", 0);
  const std::size_t largest = 400;
  for (std::size_t i = 0; i < graphs && !testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE(testing::Message() << "graph " << i);
    const std::size_t size = all != 0 ? all : i % 4 == 0 ? largest : 1 + random() % largest;
    look_at(random, *pools[i % pools.size()], size);
  }
}

}}  // namespace handoff::test

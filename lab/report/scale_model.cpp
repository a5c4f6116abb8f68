// SPDX-License-Identifier: MIT
#include "report/scale_model.hpp"

#include <handoff/core/index_range.hpp>

#include "mpi/block_plan.hpp"

namespace handoff::lab {
namespace {

using detail::BlockPlan;
using detail::RankPlans;

enum class Claims : std::uint8_t { by_node, by_thread };  // from the world

// Takes one at a time, in the order in which they come.
struct Server {
  double free_at = 0;
  double busy_ns = 0;

  double serve(double at, double ns) {
    busy_ns += ns;
    return free_at = std::max(at, free_at) + ns;
  }
};

// What a node was given by the world.
struct Part {
  IndexRange range;
  BlockPlan plan;
  std::uint64_t claimed = 0;  // of its blocks
};

struct Node {
  Server counter;
  Part part;
  IndexRange spare;  // claimed ahead of need
  bool ended = false;  // the world has no more
  std::vector<std::uint32_t> waiting;  // threads, for a spare one
};

enum class Step : std::uint8_t { thread_wants, claim_arrives, answer_arrives };

struct Event {
  double at;
  std::uint64_t number;  // events of the same time happen in the order in which they were made
  Step step;
  std::uint32_t who;  // a thread, or a node
  IndexRange range;   // that the thread has done, or the node was given

  bool operator>(const Event& other) const {
    return at != other.at ? at > other.at : number > other.number;
  }
};

class Simulation {
 public:
  explicit Simulation(const ScaleSetup& setup, Claims claims)
      : setup_(setup),
        claims_(claims),
        nodes_(setup.nodes()),
        threads_(setup.ranks, setup.threads) {
    plans_ = {.count = setup.rows,
              .nodes = nodes_.size(),
              .width = std::min(setup.ranks_a_node, setup.ranks) * setup.threads,
              .smallest = std::max<std::uint64_t>(setup.block, 1),
              .largest = detail::largest_block(static_cast<std::size_t>(setup.row_bytes))};
    world_ =
        claims == Claims::by_node
            ? plans_.of_world()
            : BlockPlan(
                  {.count = setup.rows, .claimers = nodes_.size(), .smallest = plans_.smallest});
  }

  ScalePrediction run() {
    if (claims_ == Claims::by_node && nodes_.size() == 1) {
      nodes_.front().part = part_of(world_.block(0));  // all, without a claim
      nodes_.front().ended = true;
    } else if (claims_ == Claims::by_node) {
      for (std::uint32_t node = 0; node < nodes_.size(); ++node) ask_world(node, 0);
    }
    const auto threads = static_cast<std::uint32_t>(setup_.ranks * setup_.threads);
    for (std::uint32_t thread = 0; thread < threads; ++thread) {
      add(setup_.wake_ns, Step::thread_wants, thread);
    }
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      switch (event.step) {
        case Step::thread_wants: thread_wants(event); break;
        case Step::claim_arrives: claim_arrives(event); break;
        case Step::answer_arrives: answer_arrives(event); break;
      }
    }
    finish(threads);
    return result_;
  }

 private:
  void add(double at, Step step, std::uint32_t who, IndexRange range = {}) {
    events_.push({at, ++number_, step, who, range});
  }

  [[nodiscard]] double latency_to_rank_0(std::uint64_t node) const {
    return node == 0 ? 0 : setup_.latency_ns;
  }

  // Of all its rows.
  double work_of(IndexRange block) {
    const auto rows = static_cast<double>(block.size());
    const auto middle = static_cast<double>(block.first) + rows / 2;
    const double by_index = 2 * middle / static_cast<double>(setup_.rows) - 1;
    const double draw = 2 * std::generate_canonical<double, 53>(random_) - 1;
    return setup_.row_ns * rows * (1 + setup_.skew * by_index) * (1 + setup_.imbalance * draw);
  }

  // At rank 0, which takes so many messages at a time.
  void send(std::uint64_t rank, double messages, double bytes, double at) {
    link_.serve(at + setup_.wake_ns + latency_to_rank_0(rank / setup_.ranks_a_node),
                messages * setup_.message_ns + bytes / setup_.bytes_per_ns);
  }

  // A report, and the results.
  void send_results(std::uint64_t rank, IndexRange block, double at) {
    if (rank == 0 || block.empty() || setup_.row_bytes == 0) return;
    const double bytes = static_cast<double>(block.size()) * setup_.row_bytes;
    const double messages = 1 + std::ceil(bytes / double{detail::kMostMessageBytes});
    result_.messages += static_cast<std::uint64_t>(messages);
    send(rank, messages, bytes, at);
  }

  // A rank without rows tells rank 0.
  void end_thread(std::uint64_t rank, double at) {
    last_ = std::max(last_, at);
    if (--threads_[rank] == 0 && rank != 0) send(rank, 1, 0, at);
  }

  void thread_wants(const Event& event) {
    const std::uint64_t rank = event.who / setup_.threads;
    const auto number = static_cast<std::uint32_t>(rank / setup_.ranks_a_node);
    send_results(rank, event.range, event.at);
    if (claims_ == Claims::by_thread) return ask_world(number, event.at);
    Node& node = nodes_[number];
    const double at = node.counter.serve(event.at, setup_.node_claim_ns);
    const bool used_up = node.part.claimed == node.part.plan.blocks();
    if (used_up && node.spare.empty()) {
      if (node.ended) return end_thread(rank, at);
      return node.waiting.push_back(event.who);
    }
    if (used_up) {
      node.part = part_of(std::exchange(node.spare, {}));
      // By the first rank of the node, which has to see first that it is time.
      ask_world(number, at + setup_.wake_ns);
    }
    const IndexRange block = node.part.plan.block(node.part.claimed++);
    const std::size_t first = node.part.range.first;
    work(event.who, {first + block.first, first + block.last}, at);
  }

  void work(std::uint32_t thread, IndexRange block, double at) {
    ++result_.blocks;
    if (thread < setup_.threads) ++result_.own_blocks;
    const double work = work_of(block);
    work_ns_ += work;
    add(at + work, Step::thread_wants, thread, block);
  }

  [[nodiscard]] Part part_of(IndexRange range) const { return {range, plans_.of_node(range)}; }

  void ask_world(std::uint32_t node, double at) {
    add(at + latency_to_rank_0(node), Step::claim_arrives, node);
  }

  void claim_arrives(const Event& event) {
    const double at = counter_.serve(event.at, setup_.claim_ns);
    const IndexRange part = world_.block(claimed_++);
    if (!part.empty()) ++result_.claims;
    add(at + latency_to_rank_0(event.who), Step::answer_arrives, event.who, part);
  }

  void answer_arrives(const Event& event) {
    if (claims_ == Claims::by_thread) {
      if (event.range.empty()) return end_thread(event.who, event.at);
      return work(event.who, event.range, event.at);
    }
    Node& node = nodes_[event.who];
    node.spare = event.range;
    node.ended = event.range.empty();
    for (const std::uint32_t thread : node.waiting) {
      add(event.at + setup_.wake_ns, Step::thread_wants, thread);
    }
    node.waiting.clear();
  }

  // Rank 0, when all have told it, tells each that it is done.
  void finish(double threads) {
    double end = std::max(last_, link_.free_at);
    if (setup_.ranks > 1) end += static_cast<double>(setup_.ranks - 1) * setup_.message_ns;
    if (nodes_.size() > 1) end += setup_.latency_ns;
    result_.ns = end;
    if (!(end > 0)) return;
    result_.efficiency = work_ns_ / (end * threads);
    result_.counter_busy = counter_.busy_ns / end;
    result_.link_busy = link_.busy_ns / end;
  }

  const ScaleSetup setup_;
  const Claims claims_;
  std::vector<Node> nodes_;
  std::vector<std::uint64_t> threads_;  // of each rank, that may still find rows
  RankPlans plans_;
  BlockPlan world_;
  std::uint64_t claimed_ = 0;  // of its blocks
  Server counter_;             // of the world
  Server link_;                // of rank 0
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t number_ = 0;
  std::mt19937_64 random_{setup_.seed};
  double work_ns_ = 0;
  double last_ = 0;
  ScalePrediction result_;
};

}  // namespace

ScalePrediction predict(const ScaleSetup& setup) {
  return Simulation(setup, Claims::by_node).run();
}

ScalePrediction predict_one_counter(const ScaleSetup& setup) {
  ScaleSetup flat = setup;
  flat.ranks *= flat.threads;
  flat.threads = 1;
  flat.ranks_a_node = 1;
  return Simulation(flat, Claims::by_thread).run();
}

std::uint64_t block_to_take(ScaleSetup setup, ScalePrediction (*predicted)(const ScaleSetup&)) {
  constexpr double as_good = 1.002;
  constexpr std::uint64_t most_each = 1024;  // more, and smaller ones, even out nothing
  const std::uint64_t each = std::max<std::uint64_t>(setup.rows / (setup.ranks * setup.threads), 1);
  std::vector<std::pair<std::uint64_t, double>> tried;
  double best = HUGE_VAL;
  for (setup.block = std::bit_ceil(each / most_each + 1); setup.block <= each || tried.empty();
       setup.block *= 2) {
    tried.emplace_back(setup.block, predicted(setup).ns);
    best = std::min(best, tried.back().second);
  }
  while (tried.back().second > as_good * best) tried.pop_back();
  return tried.back().first;
}

}  // namespace handoff::lab

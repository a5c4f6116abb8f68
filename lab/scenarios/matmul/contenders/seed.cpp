// SPDX-License-Identifier: MIT
// The articles' schemes for threads.
#include "peers/seed_bus.hpp"
#include "peers/seed_worker_pool.hpp"
#include "scenarios/matmul/contender.hpp"
#include "scenarios/matmul/row_messages.hpp"

namespace handoff::lab::matmul {
namespace {

// The article's base line: the caller computes all rows.
Operation single(const Task& task) {
  return [&task, rows = task.rows()] { rows(0, task.m); };
}

// The article's fastest scheme: threads started for each product, which claim rows from one
// counter.
Operation threads(const Task& task) {
  return [&task, rows = task.rows()] {
    std::atomic<std::size_t> next{0};
    const std::size_t claim = task.claim_rows();
    const auto work = [&] {
      for (;;) {
        const std::size_t first = next.fetch_add(claim, std::memory_order_relaxed);
        if (first >= task.m) return;
        rows(first, std::min(first + claim, task.m));
      }
    };
    std::vector<std::jthread> members;  // joins as it goes out of scope
    for (std::size_t member = 0; member < task.width; ++member) members.emplace_back(work);
  };
}

// The article's bus, whose one consumer computes all rows, whatever the width.
class AsyncBus {
 public:
  explicit AsyncBus(const Task& task) : messages_(task) {
    bus_.subscribe<RowMessage>([this](const RowMessage& message) { messages_.compute(message); });
  }

  void run() {
    messages_.hand_over([this](const RowMessage& message) { return bus_.publish(message); });
  }

 private:
  void consume(const std::stop_token& stop) {
    for (peers::SeedBackoff backoff; !stop.stop_requested();) {
      if (bus_.process_batch() != 0) {
        backoff.reset();
      } else {
        backoff.wait();
      }
    }
  }

  RowMessages messages_;
  peers::SeedBus<std::variant<RowMessage>> bus_;
  std::jthread consumer_{[this](const std::stop_token& stop) { consume(stop); }};
};

Operation async_bus(const Task& task) {
  return [bus = std::make_shared<AsyncBus>(task)] { bus->run(); };
}

// The article's workers behind a dispatcher: `width` of them compute, the caller only hands over.
class WorkerPool {
 public:
  explicit WorkerPool(const Task& task)
      : messages_(task),
        pool_(task.width, [this](const RowMessage& message) { messages_.compute(message); }) {}

  void run() {
    messages_.hand_over([this](const RowMessage& message) { return pool_.submit(message); });
  }

 private:
  RowMessages messages_;
  peers::SeedWorkerPool<RowMessage> pool_;
};

Operation worker_pool(const Task& task) {
  return [pool = std::make_shared<WorkerPool>(task)] { pool->run(); };
}

}  // namespace

Operation contender(const Task& task) {
  return chosen<Operation(const Task&)>({{"seed.single", single},
                                         {"seed.threads", threads},
                                         {"seed.async_bus", async_bus},
                                         {"seed.worker_pool", worker_pool}})(task);
}

}  // namespace handoff::lab::matmul

// SPDX-License-Identifier: MIT
//
// Empty task nodes on their way between the store and what each worker keeps.
#include <handoff/pool/detail/task.hpp>

#include "books/pool_books.hpp"
#include "explore/scenario.hpp"
#include "pool/task_store.hpp"

namespace task_store_scenarios { namespace {

using namespace handoff;
using namespace handoff::detail;
using test::Scenario;

// Batches come to the store from two workers and are taken again before new ones are made.
const Scenario batches("task_store/batches", [] {
  constexpr std::size_t count = 4 * TaskStore::batch;
  TaskStore store;
  NodeCache one(store);
  NodeCache another(store);
  const auto use = [](NodeCache& cache) {
    for (int round = 0; round < 2; ++round) {
      std::vector<Task*> nodes;
      for (std::size_t i = 0; i < count; ++i) nodes.push_back(cache.take());
      for (Task* const node : nodes) cache.give(node);
    }
  };
  explore::Thread thread([&] { use(another); });
  use(one);
  thread.join();
  Nodes all;
  std::size_t before = 0;
  for (const NodeCache* const cache : {&one, &another}) {
    Books<TaskStore>::add(all, *cache);
    explore::check(all.count() - before < 3 * TaskStore::batch, "the rest is passed on");
    before = all.count();
  }
  explore::check(Books<TaskStore>::fault(store, all).empty(), "each node in one place");
  explore::check(all.count() <= 2 * (count + TaskStore::batch), "used again");
});

}}  // namespace task_store_scenarios

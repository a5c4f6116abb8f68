// SPDX-License-Identifier: MIT
// The article's workers behind a dispatcher: a consumer is a worker.
#include <optional>

#include "peers/seed_worker_pool.hpp"
#include "scenarios/messages/measure.hpp"

namespace handoff::lab::messages {
namespace {

template <class Message>
class WorkerPool {
 public:
  explicit WorkerPool(const Task& task) : workers_(task.consumers) {}

  bool try_push(const Message& message) { return pool_->submit(message); }
  template <class F>
  void listen(F f) {
    pool_.emplace(workers_, f);
  }
  void close() { pool_.reset(); }

 private:
  const std::size_t workers_;
  std::optional<peers::SeedWorkerPool<Message, capacity>> pool_;
};

}  // namespace

Operation contender(const Task& task) { return measure<WorkerPool>(task); }

}  // namespace handoff::lab::messages

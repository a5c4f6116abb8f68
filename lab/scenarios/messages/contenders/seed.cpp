// SPDX-License-Identifier: MIT
// The articles' ways to hand messages on.
#include "peers/seed_worker_pool.hpp"
#include "scenarios/messages/measure.hpp"

namespace handoff::lab::messages {
namespace {

// The article's bus: one consumer, which looks up callbacks under a shared lock. One that waits
// spins, yields, then naps.
template <class Message>
class AsyncBus {
 public:
  explicit AsyncBus(const Task& /*task*/) {}

  bool try_push(const Message& message) { return bus_.publish(Payload(message)); }
  template <class F>
  void listen(F f) {
    bus_.template subscribe<Message>(f);
  }
  std::size_t process() { return bus_.process_batch(); }
  template <class F>
  void await(F& /*f*/) {
    std::this_thread::sleep_for(peers::SeedBackoff::nap);
  }

 private:
  using Payload = std::variant<Message>;
  peers::SeedBus<Payload, capacity> bus_;
};

// The article's workers behind a dispatcher: a consumer is a worker.
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

Operation contender(const Task& task) {
  return chosen<Operation(const Task&)>(
      {{"seed.async_bus", measure<AsyncBus>}, {"seed.worker_pool", measure<WorkerPool>}})(task);
}

}  // namespace handoff::lab::messages

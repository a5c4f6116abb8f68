// SPDX-License-Identifier: MIT
// The articles' ways, and the least that a broadcast needs.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "peers/seed_bus.hpp"
#include "peers/seed_worker_pool.hpp"
#include "scenarios/messages/bare_ends.hpp"
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

// The least that a broadcast needs where nobody shares a ring: a bare one for each consumer, in
// which the producer makes each message once more.
template <class Message>
class Rings {
 public:
  explicit Rings(const Task& task) : rings_(task.consumers) {}

  bool try_publish(const Content& content) {
    if (room(1) == 0) return false;
    for (auto& ring : rings_) ring.try_publish(content);
    return true;
  }
  std::size_t try_publish_batch(const Content& first, std::size_t count) {
    const std::size_t made = std::min(count, room(count));
    for (auto& ring : rings_) ring.try_publish_batch(first, made);
    return made;
  }
  BareEnds<Message>& consumer(std::size_t which) { return rings_[which]; }

 private:
  std::size_t room(std::size_t wanted) {
    std::size_t least = wanted;
    for (auto& ring : rings_) least = std::min(least, ring.room(wanted));
    return least;
  }

  std::vector<BareEnds<Message>> rings_;
};

}  // namespace

Operation contender(const Task& task) {
  return chosen<Operation(const Task&)>({{"seed.async_bus", measure<AsyncBus>},
                                         {"seed.worker_pool", measure<WorkerPool>},
                                         {"limit.three_rings", measure<Rings>}})(task);
}

}  // namespace handoff::lab::messages

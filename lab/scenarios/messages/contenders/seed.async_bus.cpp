// SPDX-License-Identifier: MIT
// The article's bus: one consumer, which looks up callbacks under a shared lock. One that waits
// spins, yields, then naps.
#include <thread>
#include <utility>
#include <variant>

#include "peers/seed_bus.hpp"
#include "scenarios/messages/measure.hpp"

namespace handoff::lab::messages {
namespace {

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

}  // namespace

Operation contender(const Task& task) { return measure<AsyncBus>(task); }

}  // namespace handoff::lab::messages

// SPDX-License-Identifier: MIT
//
// Threads that talk: channels, rings, a bus, active objects, message workers.
#include <atomic>
#include <handoff/bus/active_object.hpp>
#include <handoff/bus/message_bus.hpp>
#include <handoff/bus/message_workers.hpp>
#include <handoff/queue/channel.hpp>
#include <handoff/queue/spsc_ring.hpp>
#include <string>
#include <thread>

#include "plant.hpp"

namespace {

struct Order {
  int number;
  std::string text;
};
struct Paid {
  std::string who;
};
struct Ledger {
  void operator()(const Paid& paid) {
    if (++count == 1) inside();
    last = paid.who;
  }
  int count = 0;
  std::string last;
};

}  // namespace

int main() {
  handoff::Channel<Order> orders(16);
  handoff::SpscRing<std::string> names(16);
  std::size_t got = 0;
  std::thread consumer([&] {
    for (Order& order : orders) got += order.text.size();
  });
  std::thread namer([&] {
    for (int i = 0; i < 100; ++i) {
      while (names.try_push(std::string(20, 'n')) != handoff::Status::ok) std::this_thread::yield();
    }
  });
  std::string name;
  for (int i = 0; i < 100; ++i) {
    (void)orders.push(Order{i, std::string(30, 'o')});
    while (names.try_pop(name) != handoff::Status::ok) std::this_thread::yield();
  }
  orders.close();
  consumer.join();
  namer.join();

  handoff::MessageBus<Order, Paid> bus({.capacity = 64, .on_full = handoff::OnFull::wait});
  std::thread sender([&] {
    for (int i = 0; i < 300; ++i) (void)bus.publish(Order{i, std::string(25, 'b')});
    bus.shut();
  });
  const auto seen = bus.subscribe<Order>([&](const Order& order) { got += order.text.size(); });
  while (bus.wait() == handoff::Status::ok) bus.drain();
  sender.join();

  handoff::ActiveObject<Ledger, Paid> ledger;
  (void)ledger.publish(Paid{std::string(40, 'p')});
  outside();
  for (int i = 0; i < 200; ++i) (void)ledger.publish(Paid{std::string(40, 'q')});
  (void)ledger.close();

  std::atomic<int> handled{0};
  std::string sizes[4];
  handoff::MessageWorkers<Order, Paid> workers(
      {.width = 3}, [&](Order& order) { handled += int(order.text.size()); },
      [&](Paid& paid) { handled += int(paid.who.size()); });
  for (int i = 0; i < 300; ++i) {
    (void)workers.publish(Order{i, std::string(20, 'w')});
    (void)workers.publish(Paid{std::string(20, 'v')});
  }
  (void)workers.close();
  return got == 100 * 30 + 300 * 25 && handled == 600 * 20 ? 0 : 1;
}

// SPDX-License-Identifier: MIT
//
// What locks of the library put in order: a rendezvous, messages of a key, a pause, the nodes of a
// limit, two threads with one team.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <handoff/bus/message_workers.hpp>
#include <handoff/graph/graph_limit.hpp>
#include <handoff/graph/task_graph.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/queue/channel.hpp>
#include <handoff/queue/rendezvous_channel.hpp>
#include <handoff/queue/select.hpp>
#include <handoff/sync/stop_token.hpp>
#include <handoff/team/thread_team.hpp>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "plant.hpp"

namespace {

using handoff::Status;
using std::chrono_literals::operator""us;
using Text = std::unique_ptr<std::string>;
Text text() { return std::make_unique<std::string>(40, 't'); }

bool meets() {
  handoff::RendezvousChannel<Text> one;
  std::size_t got = 0;
  std::atomic<bool> is_pushed{false};  // from there on nothing orders the two
  std::thread taker([&] {
    while (const auto item = one.pop()) {
      while (!is_pushed.load(std::memory_order_relaxed)) std::this_thread::yield();
      if (got == 0) inside();
      got += (*item)->size();
    }
  });
  (void)one.push(text());
  is_pushed.store(true, std::memory_order_relaxed);
  outside();
  for (int i = 0; i < 300; ++i) (void)one.emplace(text());
  for (Text item = text(); one.try_push(std::move(item)) != Status::ok;) std::this_thread::yield();
  one.close();
  taker.join();
  if (got != 302 * 40) return false;

  // Both sides give up now and then: what was not taken is the pusher's again.
  handoff::RendezvousChannel<Text> hasty;
  std::atomic<std::size_t> sent{0};
  std::atomic<std::size_t> taken{0};
  std::vector<std::thread> threads;
  for (int side = 0; side < 2; ++side) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        Text item = text();
        if (hasty.push(std::move(item), 50us) == Status::ok) {
          ++sent;
        } else {
          *item += "back";
        }
      }
    });
    threads.emplace_back([&] {
      for (Text item;;) {
        const Status status = hasty.pop(item, 50us);
        if (status == Status::closed) return;
        if (status == Status::ok) taken += item->size() / 40;
      }
    });
  }
  threads[0].join();
  threads[2].join();
  hasty.close();
  threads[1].join();
  threads[3].join();
  return sent == taken;
}

bool selects() {
  handoff::RendezvousChannel<Text> one;
  handoff::Channel<Text> other(4);
  std::size_t got = 0;
  std::thread first([&] {
    for (int i = 0; i < 200; ++i) (void)one.push(text());
    one.close();
  });
  std::thread second([&] {
    for (int i = 0; i < 200; ++i) (void)other.push(text());
    other.close();
  });
  const auto take = [&](Text item) { got += item->size(); };
  while (handoff::select(handoff::on_item(one, take), handoff::on_item(other, take)) ==
         Status::ok) {
  }
  first.join();
  second.join();
  return got == 400 * 40;
}

struct Order {
  int account;
  Text text;
};
struct ByAccount {
  static std::uint64_t key(const Order& order) { return std::uint64_t(order.account); }
};

bool keys() {
  std::size_t booked[2] = {};
  std::atomic<int> handled{0};
  handoff::BasicMessageWorkers<ByAccount, Order> desk({.width = 3, .capacity = 64},
                                                      [&](const Order& order) {
                                                        booked[order.account] += order.text->size();
                                                        ++handled;
                                                      });
  std::vector<std::thread> senders;
  for (int sender = 0; sender < 3; ++sender) {
    senders.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        (void)desk.publish(Order{i % 2, text()});
        if (i % 7 == 0) std::this_thread::sleep_for(50us);  // the key is free meanwhile
      }
    });
  }
  for (std::thread& sender : senders) sender.join();
  while (handled < 600) std::this_thread::yield();
  if (desk.pause() != Status::ok || booked[0] + booked[1] != 600 * 40) return false;
  booked[0] = booked[1] = 0;
  desk.resume();
  (void)desk.publish(Order{1, text()});
  (void)desk.publish_and_wait(Order{1, text()});
  if (booked[1] != 2 * 40) return false;
  (void)desk.publish(Order{0, text()});
  (void)desk.wait();
  if (booked[0] != 40) return false;
  (void)desk.publish(Order{0, text()});
  (void)desk.close();
  return booked[0] == 2 * 40;
}

bool limits() {
  handoff::ThreadPool pool(3);
  handoff::TaskGraph graph;
  handoff::GraphLimit one(1);
  int count = 0;
  for (int i = 0; i < 40; ++i) {
    graph
        .add("node",
             [&count, i] {
               std::this_thread::sleep_for(50us * (i % 3));
               ++count;
             })
        .uses(one);
  }
  graph.run(pool);

  handoff::ThreadTeam team(2);
  const auto run = [&] {
    for (int i = 0; i < 50; ++i) team.run(1, [&](handoff::IndexRange) { ++count; });
  };
  std::thread other(run);
  run();
  other.join();
  return count == 140;
}

// Nodes that are left out end values which others made.
bool stops() {
  handoff::ThreadPool pool(3);
  std::uint64_t left_out = 0;
  for (int round = 0; round < 50; ++round) {
    handoff::sync::StopSource source;
    handoff::TaskGraph graph;
    const auto stop = graph.add("stop", [&source] {
      std::this_thread::sleep_for(50us);
      source.request_stop();
    });
    for (int i = 0; i < 20; ++i) {
      const auto made = graph.add("make", [] { return text(); });
      graph.add("read", [](const Text&) {}, made).after(stop);
    }
    left_out += graph.run(pool, {.until = source.token()}).cancelled;
  }
  return left_out != 0;
}

}  // namespace

int main() { return meets() && selects() && keys() && limits() && stops() ? 0 : 1; }

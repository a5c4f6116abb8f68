// SPDX-License-Identifier: MIT
//
// Events from other threads: a queue with listeners, a dispatcher, a broadcast, the latest value.
#include <atomic>
#include <handoff/bus/broadcast.hpp>
#include <handoff/bus/latest.hpp>
#include <handoff/event/event_dispatcher.hpp>
#include <handoff/event/event_queue.hpp>
#include <string>
#include <thread>
#include <vector>

#include "plant.hpp"

namespace {

// Consumers of two threads, one after the other with the same record.
void come_and_go() {
  handoff::Broadcast<int> visited(8);
  const auto visits = [&visited] {
    for (int i = 0; i < 200; ++i) (void)visited.consumer().consume([](int) {});
  };
  std::thread visitor(visits);
  visits();
  visitor.join();
}

}  // namespace

int main() {
  // Two queues in a row, whose memory goes from the one to the other.
  handoff::EventQueue<int, void(const std::string&)> queue;
  handoff::EventQueue<int, void(const std::string&)> behind;
  constexpr std::size_t kEvents = 20'000;
  constexpr std::size_t kLetters = 2 * kEvents * 20;
  std::size_t letters = 0;
  std::size_t shown = 0;
  const auto counts = queue.append_listener(1, [&](const std::string& text) {
    letters += text.size();
    (void)behind.enqueue(1, text);
  });
  const auto shows =
      behind.append_listener(1, [&](const std::string& text) { shown += text.size(); });
  const auto sense = [&queue] {
    for (std::size_t i = 0; i < kEvents; ++i) (void)queue.enqueue(1, std::string(20, 'e'));
  };
  std::thread sensor([&] {
    sense();
    inside();
  });
  std::thread another(sense);
  outside();
  std::thread screen([&] {
    while (shown < kLetters) behind.drain();
  });
  while (letters < kLetters) queue.drain();
  sensor.join();
  another.join();
  screen.join();

  handoff::EventDispatcher<int, void(int)> dispatcher;
  std::atomic<int> heard{0};
  std::atomic<bool> over{false};
  std::thread others([&] {
    while (!over.load(std::memory_order_relaxed)) dispatcher.dispatch(7, 1);
  });
  for (int i = 0; i < 50; ++i) {
    auto state = std::string(30, 's');
    const handoff::ScopedListener listener = dispatcher.append_listener(
        7, [&heard, state](int value) { heard += value * int(state.size()); });
    dispatcher.dispatch(7, 1);
    dispatcher.append_listener(100 + i, [](int) {});  // its table of keys grows under the others
  }
  over.store(true, std::memory_order_relaxed);
  others.join();

  come_and_go();

  handoff::Broadcast<std::string> stream(32);
  handoff::Latest<int> newest;
  auto reader = stream.consumer();
  std::vector<std::string> log;
  std::thread logging([&] {
    const auto write = [&](const std::string& text) { log.push_back(text); };
    while (reader.wait_and_consume(write) == handoff::Status::ok) {
    }
  });
  for (int i = 0; i < 300; ++i) {
    (void)stream.push(std::string(20, 'x'));
    (void)newest.store(i);
  }
  stream.close();
  logging.join();
  return log.size() == 300 && heard >= 50 * 30 ? 0 : 1;
}

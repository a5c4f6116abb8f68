// SPDX-License-Identifier: MIT
//
// A stranger's program: one thread enqueues events, another one serves them.

#include <cstdio>
#include <stop_token>
#include <string>
#include <thread>

#include <handoff/event/event_queue.hpp>

enum class Kind { sample, text };

int main() {
  handoff::EventQueue<Kind, void(int, const std::string&)> queue;
  int sum = 0;
  std::string text;
  queue.append_listener(Kind::sample, [&](int value, const std::string&) { sum += value; });
  queue.append_listener(Kind::text, [&](int, const std::string& words) { text += words; });

  std::jthread consumer([&queue](std::stop_token stop) {
    while (queue.wait(stop) == handoff::Status::ok) queue.drain();
  });

  bool accepted = true;
  for (int i = 1; i <= 1000; ++i) {
    accepted &= queue.enqueue(Kind::sample, i, "") == handoff::Status::ok;
  }
  accepted &= queue.enqueue(Kind::text, 0, "the end") == handoff::Status::ok;
  consumer.request_stop();
  consumer.join();

  if (!accepted || sum != 500'500 || text != "the end") return 1;
  std::puts("right");
}

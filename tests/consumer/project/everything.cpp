// SPDX-License-Identifier: MIT
//
// A stranger's program that includes the whole library: three of its types pass a number on.

#include <cstdio>
#include <optional>

#include <handoff/handoff.hpp>

int main() {
  handoff::ThreadPool pool;
  handoff::Channel<int> numbers(4);
  handoff::EventQueue<int, void(int)> events;
  int seen = 0;
  events.append_listener(1, [&](int number) { seen = number; });

  handoff::Future<handoff::Status> pushed = pool.submit([&] { return numbers.push(42); });
  const std::optional<int> number = numbers.pop();
  if (pushed.get() != handoff::Status::ok || !number) return 1;
  if (events.enqueue(1, *number) != handoff::Status::ok || events.drain() != 1) return 1;
  std::puts("all of it");
  return seen == 42 ? 0 : 1;
}

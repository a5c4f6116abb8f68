// SPDX-License-Identifier: MIT
//
// What may not be done with a channel.

#include <memory>
#include <string>

#include <handoff/queue/channel.hpp>
#include <handoff/queue/select.hpp>

struct ThrowingMove {
  ThrowingMove() = default;
  ThrowingMove(ThrowingMove&&) noexcept(false) {}
};

int main() {
  handoff::Channel<int> numbers(1);
  handoff::Channel<std::unique_ptr<int>> owners(1);
  const std::unique_ptr<int> owned = std::make_unique<int>(1);
  if (numbers.try_push(1) != owners.try_push(nullptr)) return 1;

  // wrong: no matching
  // handoff::Channel<int> endless;
  // wrong: no matching
  // handoff::UnboundedChannel<int> bounded(64);
  // wrong: values that move without throwing
  // handoff::Channel<ThrowingMove> throwing(4);
  // wrong: holds values
  // handoff::Channel<int&> references(4);
  // wrong: push
  // if (owners.push(owned) != handoff::Status::ok) return 1;
  // wrong: on_item: the handler takes an item of the channel
  // if (handoff::select(handoff::on_item(numbers, [](const std::string&) {})) !=
  //     handoff::Status::ok) {
  //   return 1;
  // }
  // wrong: says whether the call did what it should
  // handoff::UnboundedChannel<int> log;
  // log.push(1);
  // wrong: nodiscard
  // numbers.pop();
  // wrong: deleted
  // handoff::Channel<int> copy = numbers;
  return 0;
}

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

#if defined(WRONG_channel_without_a_bound)  // expect: no matching
  handoff::Channel<int> endless;
#endif
#if defined(WRONG_bound_of_what_has_none)  // expect: no matching
  handoff::UnboundedChannel<int> bounded(64);
#endif
#if defined(WRONG_throwing_move)  // expect: values that move without throwing
  handoff::Channel<ThrowingMove> throwing(4);
#endif
#if defined(WRONG_reference)  // expect: holds values
  handoff::Channel<int&> references(4);
#endif
#if defined(WRONG_item_that_cannot_be_copied)  // expect: push
  if (owners.push(owned) != handoff::Status::ok) return 1;
#endif
#if defined(WRONG_select_handler)  // expect: on_item: the handler takes an item of the channel
  if (handoff::select(handoff::on_item(numbers, [](const std::string&) {})) !=
      handoff::Status::ok) {
    return 1;
  }
#endif
#if defined(WRONG_push_nobody_looks_at)  // expect: says whether the call did what it should
  handoff::UnboundedChannel<int> log;
  log.push(1);
#endif
#if defined(WRONG_item_nobody_takes)  // expect: nodiscard
  numbers.pop();
#endif
#if defined(WRONG_copy)  // expect: deleted
  handoff::Channel<int> copy = numbers;
#endif
  return 0;
}

// SPDX-License-Identifier: MIT
//
// What may not be done with message workers and active objects.

#include <cstdint>
#include <utility>

#include <handoff/bus/active_object.hpp>
#include <handoff/bus/message_workers.hpp>

struct Known {
  int value = 0;
};
struct Unhandled {};
struct Stranger {};
struct ThrowsWhenMoved {
  ThrowsWhenMoved() = default;
  ThrowsWhenMoved(ThrowsWhenMoved&&) noexcept(false) {}
};

struct Knows {
  void operator()(const Known&) {}
};

// Its key() would never be called, and no order kept.
struct ByMutable {
  static std::uint64_t key(Known& known) { return static_cast<std::uint64_t>(known.value); }
};
struct ByName {
  static const char* key(const Known&) { return "known"; }
};

int main() {
  handoff::ActiveObject<Knows, Known> object;

  const auto handle = [](const Known&) {};
  handoff::MessageWorkers<Known> workers({.width = 1}, handle);
  (void)workers.publish(Known{});
  (void)workers.publish_and_wait(Known{});
  handoff::MessageWorkers<Known, Unhandled> late({.width = 1});
  late.set_handler<Known>(handle);

#if defined(WRONG_state_without_a_handler)  // expect: StateHandles<Knows, Unhandled>|Unhandled &
  handoff::ActiveObject<Knows, Known, Unhandled> wrong;
#endif
#if defined(WRONG_no_types)  // expect: have at least one type of message
  handoff::MessageWorkers<> nothing;
#endif
#if defined(WRONG_twice)  // expect: have each type of message once
  handoff::MessageWorkers<Known, Known> twice;
#endif
#if defined(WRONG_key_of_no_message)  // expect: takes none of the messages: it takes a const
  handoff::BasicMessageWorkers<ByMutable, Known> wrong;
#endif
#if defined(WRONG_key_that_is_no_number)  // expect: takes none of the messages: it takes a const
  handoff::BasicMessageWorkers<ByName, Known> wrong;
#endif
#if defined(WRONG_missing_handler)  // expect: overloaded<.*Unhandled
  handoff::MessageWorkers<Known, Unhandled> wrong({.width = 1}, handle);
#endif
#if defined(WRONG_mutable_handler)  // expect: no handler takes this message, or
  handoff::MessageWorkers<Known> wrong({.width = 1}, [n = 0](const Known&) mutable { ++n; });
#endif
#if defined(WRONG_stranger)  // expect: (MessageAmong|kHas)<.*Stranger
  (void)workers.publish(Stranger{});
#endif
#if defined(WRONG_stranger_tried)  // expect: (MessageAmong|kHas)<.*Stranger
  (void)workers.try_publish(Stranger{});
#endif
#if defined(WRONG_stranger_waited_for)  // expect: (MessageAmong|kHas)<.*Stranger
  (void)workers.publish_and_wait(Stranger{});
#endif
#if defined(WRONG_handler_of_a_stranger)  // expect: (MessageAmong|kHas)<.*Stranger
  late.set_handler<Stranger>([](const Stranger&) {});
#endif
#if defined(WRONG_handler_of_another_message)  // expect: the handler takes the message
  late.set_handler<Unhandled>(handle);
#endif
#if defined(WRONG_mutable_handler_set_later)  // expect: the handler takes the message, and is const
  late.set_handler<Known>([n = 0](const Known&) mutable { ++n; });
#endif
#if defined(WRONG_message_that_throws_when_moved)  // expect: a message is moved into its place
  handoff::MessageWorkers<ThrowsWhenMoved> wrong({.width = 1}, [](const ThrowsWhenMoved&) {});
#endif
#if defined(WRONG_ignored_status)  // expect: nodiscard
  workers.publish(Known{});
#endif
#if defined(WRONG_copy)  // expect: deleted
  handoff::MessageWorkers<Known> copy = workers;
#endif
}

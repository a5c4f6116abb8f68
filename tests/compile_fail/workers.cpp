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

  // wrong: StateHandles<Knows, Unhandled>|Unhandled &
  // handoff::ActiveObject<Knows, Known, Unhandled> wrong;
  // wrong: have at least one type of message
  // handoff::MessageWorkers<> nothing;
  // wrong: have each type of message once
  // handoff::MessageWorkers<Known, Known> twice;
  // wrong: takes none of the messages: it takes a const
  // handoff::BasicMessageWorkers<ByMutable, Known> wrong;
  // wrong: takes none of the messages: it takes a const
  // handoff::BasicMessageWorkers<ByName, Known> wrong;
  // wrong: overloaded<.*Unhandled
  // handoff::MessageWorkers<Known, Unhandled> wrong({.width = 1}, handle);
  // wrong: no handler takes this message, or
  // handoff::MessageWorkers<Known> wrong({.width = 1}, [n = 0](const Known&) mutable { ++n; });
  // wrong: (MessageAmong|kHas)<.*Stranger
  // (void)workers.publish(Stranger{});
  // wrong: (MessageAmong|kHas)<.*Stranger
  // (void)workers.try_publish(Stranger{});
  // wrong: (MessageAmong|kHas)<.*Stranger
  // (void)workers.publish_and_wait(Stranger{});
  // wrong: (MessageAmong|kHas)<.*Stranger
  // late.set_handler<Stranger>([](const Stranger&) {});
  // wrong: the handler takes the message
  // late.set_handler<Unhandled>(handle);
  // wrong: the handler takes the message, and is const
  // late.set_handler<Known>([n = 0](const Known&) mutable { ++n; });
  // wrong: a message is moved into its place
  // handoff::MessageWorkers<ThrowsWhenMoved> wrong({.width = 1}, [](const ThrowsWhenMoved&) {});
  // wrong: nodiscard
  // workers.publish(Known{});
  // wrong: deleted
  // handoff::MessageWorkers<Known> copy = workers;
}

// SPDX-License-Identifier: MIT
// This library's ways that are no pool and no team, and the serial one.
#include <handoff/bus/message_workers.hpp>
#include <handoff/event/event_queue.hpp>

#include "peers/serial.hpp"
#include "scenarios/loads/measure.hpp"

namespace handoff::lab::loads {
namespace {

// This library's event queue: a kind is a key with a listener. The caller enqueues, then drains
// with the other threads, one event at a time: a drain without a limit takes a whole run of events
// for one thread, and long ones leave the others idle.
class Events : Pinned {
 public:
  explicit Events(std::size_t width) {
    for (std::uint32_t kind = 0; kind < kMostKinds; ++kind) {
      handles_.push_back(queue_.append_listener(kind, [this](const Run& run) {
        run();
        outstanding_.done();
      }));
    }
    for (std::size_t i = 1; i < width; ++i) threads_.emplace_back([this] { serve(); });
  }
  ~Events() { queue_.shut(); }

  void begin(std::size_t count) { outstanding_.begin(count); }
  void post(Run run) {
    static_cast<void>(queue_.enqueue(static_cast<std::uint32_t>(run.kind()), run));
  }
  void wait() {
    while (queue_.drain(1) > 0) continue;
    outstanding_.wait();
  }

 private:
  void serve() {
    while (queue_.wait() == Status::ok) static_cast<void>(queue_.drain(1));
  }

  EventQueue<std::uint32_t, void(const Run&)> queue_;
  std::vector<decltype(queue_.append_listener(0U, [](const Run& /*run*/) {}))> handles_;
  peers::Outstanding outstanding_;
  std::vector<std::jthread> threads_;  // joined first
};

// This library's message workers: a kind is a type of message, and each has its handler. The caller
// only publishes, so all the threads are workers.
template <std::size_t kKind>
struct Message {
  Run run;
};

template <class Kinds>
class Workers;

template <std::size_t... kKinds>
class Workers<std::index_sequence<kKinds...>> {
 public:
  explicit Workers(std::size_t width)
      : workers_({.width = width}, [](const auto& message) { message.run(); }) {}

  void begin(std::size_t /*count*/) {}
  void post(Run run) { kPublishes[run.kind()](*this, run); }
  void wait() { static_cast<void>(workers_.wait()); }

 private:
  using Publish = void (*)(Workers&, Run);
  static constexpr Publish kPublishes[] = {[](Workers& workers, Run run) {
    static_cast<void>(workers.workers_.publish(Message<kKinds>{run}));
  }...};

  MessageWorkers<Message<kKinds>...> workers_;
};

}  // namespace

Operation contender(const Task& task) {
  return chosen<Operation(const Task&)>(
      {{"own.serial", measure<peers::Serial>},
       {"own.events", measure<Events>},
       {"own.workers", measure<Workers<std::make_index_sequence<kMostKinds>>>}})(task);
}

}  // namespace handoff::lab::loads

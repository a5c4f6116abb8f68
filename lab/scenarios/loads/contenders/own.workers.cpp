// SPDX-License-Identifier: MIT
// This library's message workers: a kind is a type of message, and each has its handler. The caller
// only publishes, so all the threads are workers.
#include <cstddef>
#include <utility>

#include <handoff/bus/message_workers.hpp>

#include "scenarios/loads/measure.hpp"

namespace handoff::lab::loads {
namespace {

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
  return measure<Workers<std::make_index_sequence<kMostKinds>>>(task);
}

}  // namespace handoff::lab::loads

// SPDX-License-Identifier: MIT
// From the lab's parameters to a task, with a second thread alive beside it: without one the C++
// library leaves out atomic operations that a program with threads pays for.
#include "scenarios/events/contender.hpp"

#include <memory>
#include <new>
#include <optional>
#include <span>

#include <sys/mman.h>

#include "scenarios/events/second_thread.hpp"

namespace handoff::lab {

namespace {

// A number in memory that the processes of an operation share.
class SharedSum {
 public:
  SharedSum() {
    void* const memory = mmap(nullptr, sizeof(std::uint64_t), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("no memory to share");
    sum_ = ::new (memory) std::uint64_t(0);
  }
  ~SharedSum() { munmap(sum_, sizeof *sum_); }
  SharedSum(const SharedSum&) = delete;
  SharedSum& operator=(const SharedSum&) = delete;
  std::uint64_t& operator*() const { return *sum_; }

 private:
  std::uint64_t* sum_;
};

struct State {
  SharedSum sum;
  events::Task task;
  std::optional<events::SecondThread> second;
  Operation operation;
};

}  // namespace

Prepared prepare(const Parameters& parameters, std::span<const std::byte> /*input*/) {
  auto state = std::make_shared<State>();
  events::Task& task = state->task;
  task.metric = parameters.text("metric");
  task.listeners = parameters.number("listeners", 1);
  task.count = parameters.number("count", events::events_of(task.metric));
  task.ids = parameters.number("ids", 1);
  task.producers = parameters.number("producers", 1);
  task.spins = parameters.text("consumer", "sleeps") == "spins";
  task.sum = &*state->sum;
  // The processes of that metric each have their own.
  if (task.metric != "second_queue") state->second.emplace();
  state->operation = events::contender(task);
  const double items = static_cast<double>(
      task.metric == "invoke" ? events::passes(task.listeners) * task.listeners : task.count);
  return {[state, items](Burst& burst) {
            *state->sum = 0;
            state->operation(burst);
            burst.items(items);
          },
          std::as_writable_bytes(std::span(&*state->sum, 1))};
}

}  // namespace handoff::lab

// SPDX-License-Identifier: MIT
//
// The mode `fixed`: one queue for all tasks, taken one by one, so they begin in the order in which
// they were handed over. What a task makes by a TaskGroup or a loop stays with its worker, which
// waits for it, and can be stolen by workers that find nothing in the queue.
#include <memory>

#include "scheduler.hpp"

namespace handoff::inline HANDOFF_ABI::detail {
namespace {

class Fixed final : public Scheduler {
 public:
  explicit Fixed(Crew& crew) : crew_(crew) {}

  Task* reserve() override { return queue_.reserve(); }
  void close() noexcept override { queue_.close(); }
  std::uint64_t accepted() const noexcept override { return queue_.accepted(); }
  bool has_tasks() const noexcept override { return queue_.has_tickets(); }
  bool keeps_local() const noexcept override { return false; }

  Task* next(Worker& worker) noexcept override {
    Task* task = nullptr;
    if (worker.spawned.pop(task) == Status::ok) return task;
    if ((task = claim(queue_, worker, 1)) != nullptr) return task;
    return steal(crew_, worker);
  }

 private:
  Crew& crew_;
  TaskQueue queue_;
};

}  // namespace

std::unique_ptr<Scheduler> make_fixed(Crew& crew) { return std::make_unique<Fixed>(crew); }

}  // namespace handoff::inline HANDOFF_ABI::detail

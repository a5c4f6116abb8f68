// SPDX-License-Identifier: MIT
//
// The mode `stealing`: tasks from outside wait in one queue and are claimed in batches; tasks made
// by tasks wait in the deque of the worker that made them; who has neither robs the others. So a
// task never waits for one particular thread, and a divided problem is worked on depth first.
#include <memory>

#include "task_source.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

class Stealing final : public TaskSource {
 public:
  Stealing(Crew& crew, bool bounded)
      : crew_(crew), bounded_(bounded), batch_(bounded ? 1 : Worker::batch_most) {}

  Task* reserve() override { return queue_.reserve(); }
  void close() noexcept override { queue_.close(); }
  std::uint64_t accepted() const noexcept override { return queue_.accepted(); }
  bool has_tasks() const noexcept override { return queue_.has_tickets(); }
  bool keeps_local() const noexcept override { return !bounded_; }

  Task* next(Worker& worker) noexcept override {
    Task* task = nullptr;
    // Now and then the queue first, or tasks that go on making tasks would keep the others out.
    if (++worker.tick % kQueueFirst == 0) {
      if ((task = claim(queue_, worker, 1)) != nullptr) return task;
    }
    if (worker.spawned.pop(task) == Status::ok) return task;
    if (worker.claimed.pop(task) == Status::ok) return task;
    if ((task = claim(queue_, worker, batch_)) != nullptr) return task;
    return steal(crew_, worker);
  }

 private:
  static constexpr std::uint32_t kQueueFirst = 64;

  Crew& crew_;
  const bool bounded_;
  const std::size_t batch_;
  TaskQueue queue_;
};

}  // namespace

std::unique_ptr<TaskSource> make_stealing(Crew& crew, bool bounded) {
  return std::make_unique<Stealing>(crew, bounded);
}

}}}  // namespace handoff::HANDOFF_ABI::detail

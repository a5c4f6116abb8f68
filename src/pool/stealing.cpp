// SPDX-License-Identifier: MIT
//
// The mode `stealing`: tasks from outside wait in one queue and are claimed in batches; tasks made
// by tasks wait in the deque of the worker that made them; a worker that has neither robs the
// others. So a task never waits for one particular thread, and a divided problem is worked on depth
// first.
#include <memory>

#include "modes.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

class Stealing final : public TaskSource {
 public:
  Stealing(Claimer& claimer, bool bounded)
      : claimer_(claimer), bounded_(bounded), batch_(bounded ? 1 : Worker::batch_most) {}

  Task* reserve() override { return queue_.reserve(); }
  void close() noexcept override { queue_.close(); }
  std::uint64_t accepted() const noexcept override { return queue_.accepted(); }
  bool has_tasks() const noexcept override { return queue_.has_tickets(); }
  bool keeps_local() const noexcept override { return !bounded_; }

  Task* next(Worker& worker) noexcept override {
    Task* task = nullptr;
    // Now and then the queue first, or tasks that go on making tasks would keep the others out.
    if (++worker.tick % kQueueFirst == 0) {
      if ((task = claimer_.claim(queue_, worker, 1)) != nullptr) return task;
    }
    if (worker.spawned.pop(task) == Status::ok) return task;
    if (worker.claimed.pop(task) == Status::ok) return task;
    if ((task = claimer_.claim(queue_, worker, batch_)) != nullptr) return task;
    return claimer_.steal(worker);
  }

 private:
  static constexpr std::uint32_t kQueueFirst = 64;

  Claimer& claimer_;
  const bool bounded_;
  const std::size_t batch_;
  TaskQueue queue_;
};

}  // namespace

std::unique_ptr<TaskSource> make_stealing(Claimer& claimer, bool bounded) {
  return std::make_unique<Stealing>(claimer, bounded);
}

}}}  // namespace handoff::HANDOFF_ABI::detail

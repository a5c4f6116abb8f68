// SPDX-License-Identifier: MIT
//
// The mode `active`: each worker has a public queue, which submitters fill, those with less to do
// first, and a private one; it empties the private one in batches and then swaps the two. A worker
// that has nothing robs the others, of their deques first, then of their queues: what lies behind a
// long task waits for nobody. Tasks made by tasks stay with their worker, as in `stealing`.
#include <cstddef>
#include <cstdint>
#include <memory>

#include "active_queues.hpp"
#include "modes.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

class Active final : public TaskSource {
 public:
  Active(Claimer& claimer, std::size_t workers, bool bounded)
      : claimer_(claimer),
        bounded_(bounded),
        batch_(bounded ? 1 : Worker::batch_most),
        queues_(workers) {}

  Task* reserve() override { return queues_.reserve(); }
  void close() noexcept override { queues_.close(); }
  std::uint64_t accepted() const noexcept override { return queues_.accepted(); }
  bool has_tasks() const noexcept override { return queues_.has_tickets(); }
  // equivalent(negate): only speed: which queue a worker's own task goes to
  bool keeps_local() const noexcept override { return !bounded_; }

  Task* next(Worker& worker) noexcept override {
    Task* task = nullptr;
    // Now and then the queues first, or tasks that go on making tasks would keep the others out.
    if (++worker.tick % kQueuesFirst == 0 && (task = claim_own(worker, 1)) != nullptr) return task;
    if (worker.spawned.pop(task) == Status::ok) return task;
    if (worker.claimed.pop(task) == Status::ok) return task;
    if ((task = claim_own(worker, batch_)) != nullptr) return task;
    if ((task = claimer_.steal(worker)) != nullptr) return task;
    return rob(worker);
  }

 private:
  static constexpr std::uint32_t kQueuesFirst = 64;

  Task* claim_own(Worker& worker, std::size_t most) noexcept {
    // equivalent(return_early) all: rob() comes by its own queue, too: speed
    if (worker.index >= queues_.size()) return nullptr;  // a guest
    const auto take = [&mine = queues_.of(worker.index)](std::size_t count, auto&& into) noexcept {
      return mine.claim(count, into);
    };
    return claimer_.claim_by(take, worker, most);
  }

  Task* rob(Worker& thief) noexcept {
    std::size_t index = thief.index;
    // equivalent(bound): one queue is looked at twice
    for (std::size_t tried = 0; tried < queues_.size(); ++tried) {
      if (++index >= queues_.size()) index = 0;
      const auto take = [&others = queues_.of(index)](std::size_t count, auto&& into) noexcept {
        return others.rob(count, into);
      };
      if (Task* const task = claimer_.claim_by(take, thief, batch_)) return task;
    }
    return nullptr;
  }

  Claimer& claimer_;
  const bool bounded_;
  const std::size_t batch_;
  ActiveQueues queues_;
};

}  // namespace

std::unique_ptr<TaskSource> make_active(Claimer& claimer, std::size_t workers, bool bounded) {
  return std::make_unique<Active>(claimer, workers, bounded);
}

}}}  // namespace handoff::HANDOFF_ABI::detail

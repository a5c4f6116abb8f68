// SPDX-License-Identifier: MIT
//
// The queue of a pool against a std::deque: tickets that are filled late, segments in their second,
// third and tenth life, claims that find no node, the close in between.

#include "books/pool_books.hpp"
#include "model/model.hpp"
#include "pool/task_queue.hpp"

namespace task_queue_model { namespace {

using namespace handoff;
using namespace handoff::test;
using detail::Task;

const std::vector<Word> words{{"push", 6},      {"reserve", 2}, {"publish", 3},   {"claim", 5},
                              {"claim_all", 1}, {"close", 1},   {"begin_anew", 1}};

// A task is a number.
template <class Queue>
class TaskQueueModel : public Model {
 public:
  void step(const Step& step) override {
    switch (step.what) {
      case 0:
        if (reserve(step)) publish(late_.size() - 1);
        break;
      case 1: reserve(step); break;
      case 2:
        if (!late_.empty()) publish(step.a % late_.size());
        break;
      case 3: claim(step.a % 5, step.b % 5); break;
      case 4: claim(100, 100); break;
      case 5:
        queue_->close();
        closed_ = true;
        break;
      default:
        publish_all();
        *this = TaskQueueModel();
        break;
    }
    compare();
  }

  void end() override {
    publish_all();
    agree_with_book(*queue_);
    claim(1000, 1000);
    agree(plain_.empty(), "all that was accepted comes out");
    agree_with_book(*queue_);
  }

  TaskQueueModel() = default;
  TaskQueueModel& operator=(TaskQueueModel&& other) noexcept {
    queue_ = std::move(other.queue_);
    plain_ = {};
    late_ = {};
    accepted_ = 0;
    closed_ = false;
    return *this;
  }

 private:
  struct Expected {
    std::size_t number;
    bool published = false;
  };
  struct Late {
    Task* task;
    std::size_t number;
  };

  bool reserve(const Step& step) {
    Task* task = nullptr;
    if (!has_memory_for(step, [&] { task = queue_->reserve(); })) return false;
    agree_on("reserve", task != nullptr, !closed_);
    if (task == nullptr) return false;
    const auto same = [task](const Late& late) { return late.task == task; };
    agree(std::none_of(late_.begin(), late_.end(), same), "a slot is given out once");
    ++accepted_;
    task->group.write() = nullptr;
    ::new (static_cast<void*>(task->storage)) std::size_t(accepted_);
    late_.push_back({task, accepted_});
    plain_.push_back({accepted_});
    return true;
  }

  void publish(std::size_t which) {
    const Late late = late_[which];
    late_.erase(late_.begin() + static_cast<std::ptrdiff_t>(which));
    late.task->publish(detail::StillbornKind::kind);
    for (Expected& each : plain_) {
      if (each.number == late.number) each.published = true;
    }
  }
  void publish_all() {
    while (!late_.empty()) publish(0);
  }

  void claim(std::size_t most, std::size_t nodes_there) {
    std::vector<Task> nodes(std::min(most, nodes_there));
    std::size_t used = 0;
    const std::size_t count = queue_->claim(
        most, [&]() -> Task* { return used < nodes.size() ? &nodes[used++] : nullptr; });
    std::size_t expected = 0;
    while (expected < nodes.size() && expected < plain_.size() && plain_[expected].published) {
      ++expected;
    }
    agree_on("claim", count, expected);
    for (std::size_t i = 0; i < count; ++i) {
      agree_on("the oldest task", nodes[i].template as<std::size_t>(), plain_.front().number);
      agree(&nodes[i].kind_here() == &detail::StillbornKind::kind, "what was published");
      plain_.pop_front();
    }
  }

  void compare() {
    agree_on("accepted", queue_->accepted(), std::uint64_t{accepted_});
    agree_on("has_tickets", queue_->has_tickets(), !plain_.empty());
    if (!plain_.empty() && plain_.front().published) {
      agree(!queue_->looks_empty(), "what is there is seen");
    }
    if (late_.empty()) agree_with_book(*queue_);
  }

  std::unique_ptr<Queue> queue_ = std::make_unique<Queue>();
  std::deque<Expected> plain_;
  std::vector<Late> late_;
  std::size_t accepted_ = 0;
  bool closed_ = false;
};

const ModelTest of_two("task_queue/2", model<TaskQueueModel<detail::BasicTaskQueue<2>>>(words),
                       1500);
const ModelTest of_three("task_queue/3", model<TaskQueueModel<detail::BasicTaskQueue<3>>>(words),
                         1500);

// A queue that claims one too few where a segment ends.
class Stopping : public detail::BasicTaskQueue<2> {
 public:
  template <class NodeSource>
  std::size_t claim(std::size_t most, NodeSource&& into) noexcept {
    return BasicTaskQueue<2>::claim(std::min<std::size_t>(most, 2), into);
  }
};

}}  // namespace task_queue_model

template <>
struct handoff::detail::Books<task_queue_model::Stopping> : Books<BasicTaskQueue<2>> {};

namespace task_queue_model { namespace {

// Three tasks and a claim.
const ModelCanary stopping("task_queue/stops_too_early", model<TaskQueueModel<Stopping>>(words), 4);

}}  // namespace task_queue_model

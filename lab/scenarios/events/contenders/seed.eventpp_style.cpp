// SPDX-License-Identifier: MIT
// The article's base: a list of shared nodes with a mutex taken for every step, std::function, and
// a queue that is a list of recycled nodes under two mutexes.
#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "scenarios/events/contender.hpp"

namespace handoff::lab::events {
namespace {

using Function = std::function<void(const Payload&)>;

class NodeList {
 public:
  void append(Function function) {
    const auto node = std::make_shared<Node>(Node{std::move(function), nullptr, ++added_});
    const std::scoped_lock lock(mutex_);
    (last_ != nullptr ? last_->next : first_) = node;
    last_ = node;
  }

  void operator()(const Payload& payload) {
    std::shared_ptr<Node> node;
    std::uint64_t newest = 0;
    {
      const std::scoped_lock lock(mutex_);
      node = first_;
      newest = added_;
    }
    while (node != nullptr) {
      if (node->number <= newest) node->function(payload);
      const std::scoped_lock lock(mutex_);
      node = node->next;
    }
  }

 private:
  struct Node {
    Function function;
    std::shared_ptr<Node> next;
    std::uint64_t number;
  };

  std::mutex mutex_;
  std::shared_ptr<Node> first_;
  std::shared_ptr<Node> last_;
  std::uint64_t added_ = 0;
};

class NodeQueue {
 public:
  void append(int key, Function function) {
    auto& list = lists_[key];
    if (list == nullptr) list = std::make_shared<NodeList>();
    list->append(std::move(function));
  }

  void enqueue(int key, const Payload& payload) {
    Items one;
    {
      const std::scoped_lock lock(free_mutex_);
      if (!free_.empty()) one.splice(one.end(), free_, free_.begin());
    }
    if (one.empty()) one.emplace_back();
    one.front().emplace(key, payload);
    {
      const std::scoped_lock lock(mutex_);
      waiting_.splice(waiting_.end(), one);
    }
    arrived_.notify_one();
  }

  template <class Visitor>
  void process_with(Visitor&& visitor) {
    Items taken;
    {
      const std::scoped_lock lock(mutex_);
      taken.swap(waiting_);
    }
    for (auto& item : taken) {
      visitor(item->first, item->second);
      item.reset();
    }
    const std::scoped_lock lock(free_mutex_);
    free_.splice(free_.end(), taken);
  }

  void process() {
    process_with([this](int key, const Payload& payload) {
      std::shared_ptr<NodeList> list;
      {
        const std::scoped_lock lock(lists_mutex_);
        const auto found = lists_.find(key);
        if (found == lists_.end()) return;
        list = found->second;
      }
      (*list)(payload);
    });
  }

 private:
  using Items = std::list<std::optional<std::pair<int, Payload>>>;

  std::mutex lists_mutex_;
  std::unordered_map<int, std::shared_ptr<NodeList>> lists_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  Items waiting_;
  std::mutex free_mutex_;
  Items free_;
};

}  // namespace

Operation contender(const Task& task) {
  const auto listener = [sum = task.sum](std::size_t i) {
    return [i, sum](const Payload& payload) { *sum += heard(i, payload); };
  };
  if (task.metric == "invoke") {
    const auto list = std::make_shared<NodeList>();
    for (std::size_t i = 0; i < task.listeners; ++i) list->append(listener(i));
    return [&task, list] { run_passes(task, [&](const Payload& payload) { (*list)(payload); }); };
  }
  const auto queue = std::make_shared<NodeQueue>();
  for (std::size_t i = 0; i < task.ids; ++i) queue->append(static_cast<int>(i), listener(i));
  return [&task, queue, calls = task.metric == "enqueue_process"] {
    enqueue_all(task, [&](int key, const Payload& payload) { queue->enqueue(key, payload); });
    if (calls) return queue->process();
    queue->process_with([sum = task.sum](int key, const Payload& payload) {
      *sum += heard(static_cast<std::uint64_t>(key), payload);
    });
  };
}

}  // namespace handoff::lab::events

// SPDX-License-Identifier: MIT
// The article's scheme: lists of shared nodes that are walked under a lock, a map under another
// one, and a queue that is a list of recycled nodes under two. `Choices` are what its two states
// differ in:
//
//   Mutex, MapMutex, MapLock     of lists and queues; of the map, and how a dispatch takes it
//   std::size_t batch            nodes of a list that are read under one lock
//   bool tries                   enqueue() makes a node where the free ones are locked just now
//   Allocator<T>                 of the queue's nodes
//   void look(ready)             before a consumer sleeps
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "scenarios/events/measure.hpp"

namespace handoff::lab::events {

using Function = std::function<void(const Payload&)>;

template <class Choices>
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
      if constexpr (Choices::batch == 1) {
        if (node->number <= newest) node->function(payload);
        const std::scoped_lock lock(mutex_);
        node = node->next;
      } else {
        node = call_batch(node, newest, payload);
      }
    }
  }

 private:
  struct Node {
    Function function;
    std::shared_ptr<Node> next;
    std::uint64_t number;
  };

  // Returns the node behind those that it has called.
  std::shared_ptr<Node> call_batch(std::shared_ptr<Node> node, std::uint64_t newest,
                                   const Payload& payload) {
    std::array<std::shared_ptr<Node>, Choices::batch> batch;
    std::size_t count = 0;
    {
      const std::scoped_lock lock(mutex_);
      for (; node != nullptr && count < batch.size(); node = node->next) batch[count++] = node;
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (batch[i]->number <= newest) batch[i]->function(payload);
    }
    const std::scoped_lock lock(mutex_);
    return batch[count - 1]->next;
  }

  typename Choices::Mutex mutex_;
  std::shared_ptr<Node> first_;
  std::shared_ptr<Node> last_;
  std::uint64_t added_ = 0;
};

template <class Choices>
class NodeQueue {
  using Mutex = typename Choices::Mutex;
  using Item = std::optional<std::pair<int, Payload>>;
  using Items = std::list<Item, typename Choices::template Allocator<Item>>;

 public:
  explicit NodeQueue(const Task& task) : spins_(task.spins) {}

  void listen(int key, Function function) {
    const std::scoped_lock lock(lists_mutex_);
    auto& list = lists_[key];
    if (list == nullptr) list = std::make_shared<NodeList<Choices>>();
    list->append(std::move(function));
  }

  void enqueue(int key, const Payload& payload) {
    Items one;
    reuse(one);
    if (one.empty()) one.emplace_back();
    one.front().emplace(key, payload);
    {
      const std::scoped_lock lock(mutex_);
      waiting_.splice(waiting_.end(), one);
    }
    arrived_.notify_one();
  }

  template <class Visitor>
  void visit(Visitor&& visitor) {
    if (waiting_.empty()) return;  // as there: without the lock
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
    visit([this](int key, const Payload& payload) {
      std::shared_ptr<NodeList<Choices>> list;
      {
        const typename Choices::MapLock lock(lists_mutex_);
        const auto found = lists_.find(key);
        if (found == lists_.end()) return;
        list = found->second;
      }
      (*list)(payload);
    });
  }

  void await() {
    if (spins_) return;
    if (Choices::look([this] { return !waiting_.empty(); })) return;
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [this] { return !waiting_.empty(); });
  }

 private:
  void reuse(Items& one) {
    if constexpr (Choices::tries) {
      if (free_.empty()) return;
      const std::unique_lock lock(free_mutex_, std::try_to_lock);
      if (lock.owns_lock() && !free_.empty()) one.splice(one.end(), free_, free_.begin());
    } else {
      const std::scoped_lock lock(free_mutex_);
      if (!free_.empty()) one.splice(one.end(), free_, free_.begin());
    }
  }

  // Each on a line of its own, which changes nothing for the scheme without.
  const bool spins_;
  typename Choices::MapMutex lists_mutex_;
  std::unordered_map<int, std::shared_ptr<NodeList<Choices>>> lists_;
  alignas(Choices::line) Mutex mutex_;
  std::conditional_t<std::is_same_v<Mutex, std::mutex>, std::condition_variable,
                     std::condition_variable_any>
      arrived_;
  Items waiting_;
  alignas(Choices::line) Mutex free_mutex_;
  Items free_;
};

template <class Choices>
Operation measure_style(const Task& task) {
  if (task.metric != "invoke") return measure<NodeQueue<Choices>>(task);
  const auto list = std::make_shared<NodeList<Choices>>();
  for (std::size_t i = 0; i < task.listeners; ++i) {
    list->append([i, sum = task.sum](const Payload& payload) { *sum += heard(i, payload); });
  }
  return [&task, list](Burst&) {
    run_passes(task, [&](const Payload& payload) { (*list)(payload); });
  };
}

}  // namespace handoff::lab::events

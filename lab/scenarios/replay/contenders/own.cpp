// SPDX-License-Identifier: MIT
// This library's ways that are no pool.
#include <handoff/bus/message_workers.hpp>
#include <handoff/event/event_queue.hpp>
#include <handoff/pool/task_group.hpp>
#include <handoff/pool/thread_pool.hpp>

#include "scenarios/replay/measure.hpp"

namespace handoff::lab::replay {
namespace {

// This library's event queue: each piece is an event, and the threads drain.
using Call = std::function<void()>;  // a job fits into it

class Events : Pinned {
 public:
  explicit Events(std::size_t threads) {
    for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { serve(); });
  }
  ~Events() { queue_.shut(); }

  template <class F>
  void execute(F job) {
    static_cast<void>(queue_.enqueue(0, job));
  }

 private:
  // One kind of event and one handler: a visitor needs no listener. One at a time: a drain takes
  // many events for itself, and the other threads would have nothing to do while it runs them.
  void serve() {
    const auto run = [](int /*kind*/, const Call& job) { job(); };
    while (queue_.wait() == Status::ok) static_cast<void>(queue_.drain(run, 1));
  }

  EventQueue<int, void(const Call&)> queue_;
  std::vector<std::jthread> threads_;  // joined first
};

// This library's task group: all pieces are tasks that are waited for together, and the caller
// helps once it has handed them over.
class Group {
 public:
  static constexpr bool calls_enter = true;

  explicit Group(std::size_t threads) : pool_({.width = threads - 1}) {}

  template <class F>
  void execute(F job) {
    group_->run(job);
  }
  template <class F>
  void enter(const F& submit) {
    TaskGroup group(pool_);
    group_ = &group;
    submit();
    group.wait();
  }

 private:
  ThreadPool pool_;
  TaskGroup* group_ = nullptr;  // of this replay
};

Operation task_group(const Task& task) {
  if (task.width == 1) throw Unavailable("it has two threads: its pool's, and the one that helps");
  return measure<Group>(task);
}

// This library's message workers: each piece is a message, and whichever worker is free handles it.
struct Message {
  std::function<void()> job;  // fits into it
};

class Workers {
 public:
  explicit Workers(std::size_t threads)
      : workers_({.width = threads}, [](const Message& message) { message.job(); }) {}

  // Waits where too many messages are under way: the load is late then, and its latencies say so.
  template <class F>
  void execute(F job) {
    static_cast<void>(workers_.publish(Message{job}));
  }

 private:
  MessageWorkers<Message> workers_;
};

// This library's message workers with keys: they keep the pieces of a key in order, so that these
// need not wait for each other before they are handed over.
struct KeyedMessage {
  std::uint64_t key;
  std::function<void()> job;  // fits into it
};

struct ByKey {
  static std::uint64_t key(const KeyedMessage& message) { return message.key; }
};

class KeyedWorkers {
 public:
  explicit KeyedWorkers(std::size_t threads)
      : workers_({.width = threads}, [](const KeyedMessage& message) { message.job(); }) {}

  template <class F>
  void execute(F job, std::uint64_t key) {
    static_cast<void>(workers_.publish(KeyedMessage{key, job}));
  }

 private:
  BasicMessageWorkers<ByKey, KeyedMessage> workers_;
};

// A task without the dependencies that keys stand for.
struct WithKeys {
  explicit WithKeys(const Task& whole)
      : pieces(whole.load.pieces.begin(), whole.load.pieces.end()) {
    // Pieces without a key get one of their own, which no other one has.
    auto unused = static_cast<std::uint32_t>(pieces.size()) + 1;
    for (LoadPiece& piece : pieces) piece.key = piece.key == 0 ? unused++ : piece.key;
    for (std::size_t i = 0; i < pieces.size(); ++i) drop_of(i, whole.load.children_of(i));
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (whole.load.pieces[i].key == 0 || pieces[i].parents == 0) continue;
      throw Unavailable("some of its pieces with keys wait for others as well");
    }
    task = {{pieces, children}, whole.width, whole.step_ns, whole.output};
  }

  void drop_of(std::size_t piece, std::span<const std::uint32_t> all) {
    pieces[piece].first_child = static_cast<std::uint32_t>(children.size());
    for (const std::uint32_t child : all) {
      if (pieces[child].key != pieces[piece].key) {
        children.push_back(child);
      } else {
        --pieces[child].parents;
      }
    }
    pieces[piece].children =
        static_cast<std::uint32_t>(children.size()) - pieces[piece].first_child;
  }

  std::vector<LoadPiece> pieces;
  std::vector<std::uint32_t> children;
  Task task;
};

Operation workers_by_key(const Task& task) {
  const auto with_keys = std::make_shared<WithKeys>(task);
  return [with_keys, operation = measure<KeyedWorkers>(with_keys->task)](Burst& burst) {
    operation(burst);
  };
}

}  // namespace

Operation contender(const Task& task) {
  return chosen<Operation(const Task&)>({{"own.events", measure<Events>},
                                         {"own.group", task_group},
                                         {"own.workers", measure<Workers>},
                                         {"own.workers_by_key", workers_by_key}})(task);
}

}  // namespace handoff::lab::replay

// SPDX-License-Identifier: MIT
// Measures a list in `invoke`, and a queue in the other metrics of `events`. A contender's List has
// `append(f)` and is called with a payload. Its Queue is made from a task and has
//
//   void listen(int key, f)         f(payload) is called for events of this key; keys are 0, 1, ...
//   void enqueue(int key, payload)  by any thread, unless the metric has one producer
//   void process()                  gives all that is there to its listeners
//   void visit(f)                   gives it to f(key, payload); where it has no such thing, not
//   void await()                    until there may be something, as task.spins says; a queue
//                                   without it is polled
//
// What it cannot do is not asked of it (WHEN in CMakeLists.txt).
#pragma once

#include <pthread.h>

#include "peers/threads.hpp"
#include "scenarios/events/contender.hpp"

namespace handoff::lab::events {

using peers::clock_ns;
using peers::kApart;

// A thread that owns a queue and handles what others enqueue: saturated, or at a steady pace with
// each event's latency taken from the clock that both threads read.
template <class Queue>
class ActiveObject : Pinned {
 public:
  explicit ActiveObject(const Task& task)
      : task_(task), timed_(is_latency(task.metric)), queue_(task) {
    queue_.listen(0, [this](const Payload& payload) { hear(payload); });
    consumer_ = std::thread([this] { serve(); });
  }
  ~ActiveObject() {
    quit_.store(true, std::memory_order_release);
    queue_.enqueue(0, Payload());  // a sleeping consumer looks
    consumer_.join();
  }

  // All events as fast as they can be enqueued, by this thread and as many others as it takes.
  void saturate(Burst& burst) {
    const Bracket bracket(*this, burst);
    std::vector<std::jthread> others;
    for (std::size_t p = 1; p < task_.producers; ++p) {
      others.emplace_back([this, p] { produce(p); });
    }
    produce(0);
  }

  // One event at a time, at its time. Where this thread has been held up the pace begins anew: the
  // events of that time at once would be another load.
  void keep_pace(Burst& burst) {
    {
      const Bracket bracket(*this, burst);
      const auto pace_ns = static_cast<std::uint64_t>(pace.count());
      std::uint64_t due = clock_ns();
      for (std::size_t i = 0; i < task_.count; ++i) {
        due += pace_ns;
        Payload event = payload(i);
        while ((event.sent() = clock_ns()) < due) {
        }
        if (event.sent() - due > pace_ns) due = event.sent();
        queue_.enqueue(0, event);
      }
    }
    burst.latencies().merge(*latencies_);
    *latencies_ = {};
  }

 private:
  // From before the first event until the last one was heard; says what the consumer used.
  class Bracket : Pinned {
   public:
    Bracket(ActiveObject& object, Burst& burst) : object_(object), burst_(burst) {
      object_.expected_.fetch_add(object_.task_.count, std::memory_order_relaxed);
    }
    ~Bracket() {
      object_.await_end();
      const auto wall = static_cast<double>(clock_ns() - start_ns_);
      burst_.figure("consumer_cpu", 100 * (object_.cpu_ns() - cpu_ns_) / wall);
    }

   private:
    ActiveObject& object_;
    Burst& burst_;
    const double cpu_ns_ = object_.cpu_ns();
    const std::uint64_t start_ns_ = clock_ns();
  };

  void produce(std::size_t first) {
    for (std::size_t i = first; i < task_.count; i += task_.producers) {
      queue_.enqueue(0, payload(i));
    }
  }

  void serve() {
    while (!quit_.load(std::memory_order_acquire)) {
      if constexpr (requires { queue_.await(); }) queue_.await();
      queue_.process();
    }
  }

  void hear(const Payload& payload) {
    if (timed_) latencies_->record(clock_ns() - payload.sent());
    *task_.sum += heard(0, payload);
    if (++heard_ != expected_.load(std::memory_order_relaxed)) return;
    ended_.store(heard_, std::memory_order_release);
    ended_.notify_one();
  }

  void await_end() {
    const std::uint64_t expected = expected_.load(std::memory_order_relaxed);
    for (std::uint64_t ended = 0; (ended = ended_.load(std::memory_order_acquire)) != expected;) {
      ended_.wait(ended, std::memory_order_relaxed);
    }
  }

  double cpu_ns() {
    clockid_t clock{};
    timespec time{};
    if (pthread_getcpuclockid(consumer_.native_handle(), &clock) != 0) return 0;
    if (clock_gettime(clock, &time) != 0) return 0;
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
  }

  const Task& task_;
  const bool timed_;
  alignas(kApart) std::uint64_t heard_ = 0;  // the consumer's, as the latencies are in a burst
  std::unique_ptr<Histogram> latencies_ = std::make_unique<Histogram>();
  alignas(kApart) std::atomic<std::uint64_t> expected_{0};
  std::atomic<std::uint64_t> ended_{0};
  std::atomic<bool> quit_{false};
  alignas(kApart) Queue queue_;
  alignas(kApart) std::thread consumer_;
};

template <class Queue>
Operation active_object(const Task& task) {
  const auto object = std::make_shared<ActiveObject<Queue>>(task);
  if (is_latency(task.metric)) return [object](Burst& burst) { object->keep_pace(burst); };
  return [object](Burst& burst) { object->saturate(burst); };
}

// What it costs to use another queue in a program that has used one: each time in a process of its
// own, since a second first use does not exist.
// Runs `work` in a child of this process and returns what it returned. This process has one thread,
// so the child may do all that a program may.
template <class Work>
auto in_fresh_process(Work&& work) {
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) throw std::runtime_error("no pipe");
  const pid_t child = fork();
  if (child == -1) throw std::runtime_error("no further process");
  decltype(work()) result{};
  if (child == 0) {
    result = [&]() noexcept { return work(); }();
    _exit(write(pipe_ends[1], &result, sizeof result) == sizeof result ? 0 : 1);
  }
  close(pipe_ends[1]);
  const bool whole = read(pipe_ends[0], &result, sizeof result) == sizeof result;
  close(pipe_ends[0]);
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0 || !whole) {
    throw std::runtime_error("the process that used two queues failed");
  }
  return result;
}

// `use(queue)` is the work on each of two queues; the second one's is timed, its making included,
// its end not.
template <class Queue, class Use>
Operation second_queue(const Task& task, Use use) {
  struct Used {
    std::uint64_t ns;
    std::uint64_t sum;
  };
  return [&task, use](Burst& burst) {
    const Used used = in_fresh_process([&] {
      const SecondThread thread;
      Queue first(task);
      use(first);
      *task.sum = 0;
      const std::uint64_t start = clock_ns();
      Queue second(task);
      use(second);
      return Used{clock_ns() - start, *task.sum};
    });
    burst.latencies().record(used.ns);
    *task.sum = used.sum;
  };
}

namespace detail {

struct AnyVisitor {
  void operator()(int /*key*/, const Payload& /*payload*/) const {}
};

template <class Queue>
void listen_to_all(const Task& task, Queue& queue) {
  for (std::size_t i = 0; i < task.ids; ++i) {
    queue.listen(static_cast<int>(i),
                 [i, sum = task.sum](const Payload& payload) { *sum += heard(i, payload); });
  }
}

template <class Queue>
void enqueue_all(const Task& task, Queue& queue) {
  int key = 0;
  for (std::size_t i = 0; i < task.count; ++i) {
    queue.enqueue(key, payload(i));
    if (static_cast<std::size_t>(++key) == task.ids) key = 0;
  }
}

// A pass calls all listeners once.
template <class List>
Operation invoke(const Task& task) {
  const auto list = std::make_shared<List>();
  for (std::size_t i = 0; i < task.listeners; ++i) {
    list->append([i, sum = task.sum](const Payload& payload) { *sum += heard(i, payload); });
  }
  return [&task, list](Burst&) {
    const std::size_t count = passes(task.listeners);
    for (std::size_t pass = 0; pass < count; ++pass) (*list)(payload(pass));
  };
}

}  // namespace detail

template <class Queue>
Operation measure(const Task& task) {
  if (task.metric == "second_queue") {
    return second_queue<Queue>(task, [&task](Queue& queue) {
      detail::listen_to_all(task, queue);
      detail::enqueue_all(task, queue);
      queue.process();
    });
  }
  if (task.metric == "throughput" || is_latency(task.metric)) return active_object<Queue>(task);
  const auto queue = std::make_shared<Queue>(task);
  if (task.metric == "enqueue_process") {
    detail::listen_to_all(task, *queue);
    return [&task, queue](Burst&) {
      detail::enqueue_all(task, *queue);
      queue->process();
    };
  }
  if constexpr (requires { queue->visit(detail::AnyVisitor()); }) {
    if (task.metric == "enqueue_visit") {
      return [&task, queue](Burst&) {
        detail::enqueue_all(task, *queue);
        queue->visit([sum = task.sum](int key, const Payload& payload) {
          *sum += heard(static_cast<std::uint64_t>(key), payload);
        });
      };
    }
  }
  throw Unavailable("it has no way to do that");
}

template <class List, class Queue>
Operation measure_both(const Task& task) {
  return task.metric == "invoke" ? detail::invoke<List>(task) : measure<Queue>(task);
}

}  // namespace handoff::lab::events

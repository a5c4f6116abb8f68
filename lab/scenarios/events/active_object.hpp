// SPDX-License-Identifier: MIT
// A thread that owns a queue and handles what others enqueue: saturated, or at a steady pace with
// each event's latency taken from the clock that both threads read.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "peers/apart.hpp"
#include "peers/clock.hpp"
#include "scenarios/events/contender.hpp"
#include "scenarios/events/second_thread.hpp"

namespace handoff::lab::events {

using peers::clock_ns;
using peers::kApart;

template <class Queue>
class ActiveObject {
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
  ActiveObject(const ActiveObject&) = delete;
  ActiveObject& operator=(const ActiveObject&) = delete;

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
  class Bracket {
   public:
    Bracket(ActiveObject& object, Burst& burst) : object_(object), burst_(burst) {
      object_.expected_.fetch_add(object_.task_.count, std::memory_order_relaxed);
    }
    ~Bracket() {
      object_.await_end();
      const auto wall = static_cast<double>(clock_ns() - start_ns_);
      burst_.figure("consumer_cpu", 100 * (object_.cpu_ns() - cpu_ns_) / wall);
    }
    Bracket(const Bracket&) = delete;
    Bracket& operator=(const Bracket&) = delete;

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
// Runs `work`, which returns a number, in a child of this process and returns what it returned.
// This process has one thread, so the child may do all that a program may.
template <class Work>
std::uint64_t in_fresh_process(Work&& work) {
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) throw std::runtime_error("no pipe");
  const pid_t child = fork();
  if (child == -1) throw std::runtime_error("no further process");
  if (child == 0) {
    const std::uint64_t result = [&]() noexcept { return work(); }();
    _exit(write(pipe_ends[1], &result, sizeof result) == sizeof result ? 0 : 1);
  }
  close(pipe_ends[1]);
  std::uint64_t result = 0;
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
  return [&task, use](Burst& burst) {
    burst.latencies().record(in_fresh_process([&] {
      const SecondThread thread;
      Queue first(task);
      use(first);
      *task.sum = 0;
      const auto start = std::chrono::steady_clock::now();
      Queue second(task);
      use(second);
      const std::chrono::nanoseconds time = std::chrono::steady_clock::now() - start;
      return static_cast<std::uint64_t>(time.count());
    }));
  };
}

}  // namespace handoff::lab::events

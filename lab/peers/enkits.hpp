// SPDX-License-Identifier: MIT
// enkiTS: `width` threads, the caller included, which helps as it waits. Its tasks are objects of
// the caller's, used again or on the stack, as its examples have them.
#pragma once

#include <TaskScheduler.h>

#include "peers/job.hpp"

namespace handoff::lab::peers {

class EnkiTs {
 public:
  explicit EnkiTs(std::size_t width) { scheduler_.Initialize(static_cast<std::uint32_t>(width)); }

  void batch(std::size_t count, std::size_t steps) {
    if (tasks_.size() < count) tasks_ = std::vector<Task<Job>>(count);
    for (std::size_t i = 0; i < count; ++i) {
      tasks_[i].function = Job{i + 1, steps};
      scheduler_.AddTaskSetToPipe(&tasks_[i]);
    }
    scheduler_.WaitforAll();
  }
  // One at a time.
  template <class F>
  void execute(F job) {
    scheduler_.WaitforTask(&single_);
    single_.m_Function = [job](enki::TaskSetPartition, std::uint32_t) { job(); };
    scheduler_.AddTaskSetToPipe(&single_);
  }
  void run_then_wait(Job job) { batch(job.number, job.steps); }

  template <class Body>
  void loop(std::size_t count, const Body& body) {
    Loop<Body> set(count, body);
    scheduler_.AddTaskSetToPipe(&set);
    scheduler_.WaitforTask(&set);
  }

  template <class F>
  void enter(const F& root) {
    root();
  }
  class Group : Pinned {
   public:
    explicit Group(EnkiTs& pool) : scheduler_(pool.scheduler_) {}
    ~Group() {
      for (std::size_t i = 0; i < count_; ++i) tasks_[i]->~ITaskSet();
    }

    template <class F>
    void run(F function) {
      static_assert(sizeof(Task<F>) <= sizeof(Place) && alignof(Task<F>) <= alignof(Place));
      auto* const task = ::new (static_cast<void*>(&places_[count_])) Task<F>(function);
      tasks_[count_++] = task;
      scheduler_.AddTaskSetToPipe(task);
    }
    void wait() {
      for (std::size_t i = 0; i < count_; ++i) scheduler_.WaitforTask(tasks_[i]);
    }

   private:
    struct alignas(16) Place {
      std::byte bytes[192];
    };
    static constexpr std::size_t most_tasks = 11;  // of one group: the queens' columns

    enki::TaskScheduler& scheduler_;
    std::size_t count_ = 0;
    std::array<enki::ITaskSet*, most_tasks> tasks_;
    std::array<Place, most_tasks> places_;
  };

 private:
  template <class F>
  struct Task final : enki::ITaskSet {
    explicit Task(const F& f = F()) : function(f) {}
    F function;
    void ExecuteRange(enki::TaskSetPartition, std::uint32_t) override {
      static_cast<void>(function());
    }
  };
  template <class Body>
  struct Loop final : enki::ITaskSet {
    Loop(std::size_t count, const Body& body_of_all)
        : ITaskSet(static_cast<std::uint32_t>(count)), body(body_of_all) {}
    const Body& body;
    void ExecuteRange(enki::TaskSetPartition range, std::uint32_t) override {
      for (std::uint32_t i = range.start; i < range.end; ++i) body(i);
    }
  };

  std::vector<Task<Job>> tasks_;
  enki::TaskSet single_{1, {}};
  enki::TaskScheduler scheduler_;  // ended first
};

}  // namespace handoff::lab::peers

// SPDX-License-Identifier: MIT
//
// The conformance suite of the tier "executor", in the part that every executor has: what is handed
// over runs once, sees what came before it, may hand over itself, and its closure ends.
//
// A typed suite over families. A family is a struct that names the executor:
//
//   struct Stealing {
//     class Executor {
//      public:
//       explicit Executor(std::size_t width);
//       template <class F> bool execute(F function);  // false: refused
//       // its destructor comes after the tasks are done
//       std::size_t width();  // if it is not what was asked for
//     };
//   };
//
// A model of the concept handoff::Executor that is made with a width is made one by OfConcept<E>.
#pragma once

#include "conformance/made.hpp"
#include "support/compiled_once.hpp"
#include "support/test.hpp"

namespace handoff::test {

// What became of a number of tasks. All zero is right.
struct ExecutorVerdict {
  std::size_t refused = 0;
  std::size_t lost = 0;
  std::size_t repeated = 0;
  std::size_t unseen = 0;  // ran without seeing what was written before they were handed over
  std::size_t kept = 0;  // closures that did not end
  friend bool operator==(const ExecutorVerdict&, const ExecutorVerdict&) = default;
  friend std::ostream& operator<<(std::ostream& out, const ExecutorVerdict& v) {
    return out << v.refused << " refused, " << v.lost << " lost, " << v.repeated << " repeated, "
               << v.unseen << " did not see what came before, " << v.kept << " closures kept";
  }
};

struct ExecutorPlan {
  unsigned submitters = 4;
  std::size_t roots_each = 100;  // tasks that a submitter hands over
  std::size_t of_a_root = 15;  // it and those that it makes, as a binary tree
  std::chrono::milliseconds patience{60'000};  // without progress: lost
};

// Hands over tasks from several threads and from tasks, and looks at what became of each.
template <class Executor>
class ExecutorAudit {
 public:
  ExecutorAudit(Executor& executor, const ExecutorPlan& plan)
      : executor_(executor),
        plan_(plan),
        tasks_(plan.submitters * plan.roots_each * plan.of_a_root) {}

  ExecutorVerdict run() {
    std::vector<std::thread> submitters;
    for (unsigned s = 0; s < plan_.submitters; ++s) {
      submitters.emplace_back([this, s] {
        for (std::size_t i = 0; i < plan_.roots_each; ++i) {
          hand_over((s * plan_.roots_each + i) * plan_.of_a_root, 0);
        }
      });
    }
    for (auto& thread : submitters) thread.join();
    await([this] { return ran_ + refused_ >= tasks_.size(); });
    await([this] { return *alive_ == 0; });
    ExecutorVerdict verdict{.refused = refused_, .unseen = unseen_, .kept = *alive_};
    for (const Task& task : tasks_) {
      verdict.lost += task.times == 0;
      verdict.repeated += task.times > 1;
    }
    verdict.lost -= refused_;
    return verdict;
  }

 private:
  struct Task {
    std::uint64_t written = 0;  // plain: the hand-over has to order it
    std::atomic<unsigned> times{0};
  };

  // What a closure holds: move-only, larger than what fits without an allocation, and counted.
  class Held {
   public:
    explicit Held(std::shared_ptr<std::atomic<std::size_t>> alive)
        : alive_(std::move(alive)), own_(std::make_unique<int>()) {
      ++*alive_;
    }
    Held(Held&&) noexcept = default;
    ~Held() {
      if (alive_ != nullptr) --*alive_;
    }
    bool whole() const { return own_ != nullptr; }

   private:
    std::shared_ptr<std::atomic<std::size_t>> alive_;  // shared: what is kept may outlive the audit
    std::unique_ptr<int> own_;
    std::array<std::uint64_t, 8> bulk_{};
  };

  void hand_over(std::size_t root, std::size_t place) {
    const std::size_t number = root + place;
    tasks_[number].written = number + 1;
    const bool accepted = executor_.execute(
        [this, root, place, held = Held(alive_)] { run_task(root, place, held); });
    if (!accepted) ++refused_;
  }

  void run_task(std::size_t root, std::size_t place, const Held& held) {
    Task& task = tasks_[root + place];
    const bool again = task.times.fetch_add(1) != 0;
    if (again) return;
    if (task.written != root + place + 1 || !held.whole()) ++unseen_;
    for (const std::size_t next : {2 * place + 1, 2 * place + 2}) {
      if (next < plan_.of_a_root) hand_over(root, next);
    }
    ++ran_;
  }

  // Until it is so, or nothing has moved for too long.
  template <class Condition>
  void await(Condition&& condition) {
    using Clock = std::chrono::steady_clock;
    auto moved = Clock::now();
    for (std::size_t before = ran_; !condition();) {
      if (ran_ != before) {
        before = ran_;
        moved = Clock::now();
      } else if (Clock::now() - moved > plan_.patience) {
        return;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  }

  Executor& executor_;
  const ExecutorPlan plan_;
  std::vector<Task> tasks_;
  std::atomic<std::size_t> ran_{0};
  std::atomic<std::size_t> refused_{0};
  std::atomic<std::size_t> unseen_{0};
  const std::shared_ptr<std::atomic<std::size_t>> alive_ =
      std::make_shared<std::atomic<std::size_t>>(0);
};

template <class Family>
class ExecutorSuite : public ChosenFamily<Family> {};
TYPED_TEST_SUITE_P(ExecutorSuite);

HANDOFF_TYPED_TEST_P(ExecutorSuite, EachTaskOnceAndItsClosureEnds) {
  for (const std::size_t width : {1U, 2U, 4U}) {
    typename TypeParam::Executor executor(width);
    for (std::size_t round = 0; round < 3; ++round) {  // what was idle must wake up again
      ExecutorAudit audit(executor, {.roots_each = rounds(200)});
      EXPECT_EQ(audit.run(), ExecutorVerdict{}) << "width " << width << ", round " << round;
    }
  }
}

// As many as the width are inside at once, or this hangs.
HANDOFF_TYPED_TEST_P(ExecutorSuite, AsManyAtOnceAsItsWidth) {
  std::size_t width = 3;
  typename TypeParam::Executor executor(width);
  if constexpr (requires { executor.width(); }) width = executor.width();
  std::atomic<std::size_t> inside{0};
  std::atomic<std::size_t> left{0};
  for (std::size_t i = 0; i < width; ++i) {
    ASSERT_TRUE(executor.execute([&] {
      ++inside;
      while (inside < width) std::this_thread::yield();
      ++left;
    }));
  }
  while (left < width) std::this_thread::yield();
}

// Short lives: a task each, handed over by a thread and by a task, and the end at once.
HANDOFF_TYPED_TEST_P(ExecutorSuite, ItsEndComesAfterItsTasks) {
  for (std::size_t i = 0; i < rounds(300); ++i) {
    std::atomic<int> ran{0};
    {
      typename TypeParam::Executor executor(1 + i % 3);
      ASSERT_TRUE(executor.execute([&] { ++ran; }));
    }
    ASSERT_EQ(ran, 1) << "round " << i;
  }
}

REGISTER_TYPED_TEST_SUITE_P(ExecutorSuite, EachTaskOnceAndItsClosureEnds, AsManyAtOnceAsItsWidth,
                            ItsEndComesAfterItsTasks);

// ---- What the concept handoff::Executor adds ----------------------------------------------------

// Whether a refusal left the function as it was. The executor has been made to refuse.
template <class E>
bool refuses_untouched(E& executor) {
  static_assert(Executor<E>);
  auto one = std::make_unique<int>(1);
  int sum = 0;
  auto function = [&sum, one = std::move(one)] { sum += one != nullptr ? *one : 100; };
  if (executor.try_post(std::move(function)) == Status::ok) return false;
  if (sum != 0) return false;  // refused and called
  function();
  return sum == 1;
}

template <class E>
struct OfConcept {
  static_assert(handoff::Executor<E>);
  class Executor {
   public:
    explicit Executor(std::size_t width) : executor_(new E(made<E>(width))) {}
    template <class F>
    bool execute(F function) {
      return executor_->try_post(std::move(function)) == Status::ok;
    }
    std::size_t width() const { return executor_->width(); }

   private:
    std::unique_ptr<E> executor_;
  };
};

// A loop, whose caller takes part: it ends, whatever the executor does, with each index once.
template <class E>
bool loops_each_once(E& executor) {
  std::vector<unsigned char> times(1000);
  parallel_for(executor, 0, times.size(), [&](std::size_t i) { ++times[i]; });
  return times == std::vector<unsigned char>(1000, 1);
}

}  // namespace handoff::test

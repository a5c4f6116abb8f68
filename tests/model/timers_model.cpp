// SPDX-License-Identifier: MIT
//
// The timers of a pool against a sorted list. Their thread is held up, in the hand-over of a task
// made for that, while tasks come, are cancelled and are left; let go, it hands over all that is
// due, one after the other: so there is an order to compare, and nothing depends on the clock.
#include <chrono>

#include <handoff/sync/clock.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/mutex.hpp>

#include "books/pool_books.hpp"
#include "model/item.hpp"
#include "model/model.hpp"
#include "pool/timers.hpp"

namespace timers_model { namespace {

using namespace handoff;
using namespace handoff::test;
using detail::Outcome;
using detail::TimedTask;
using detail::Timers;
using Clock = sync::clock;

const std::vector<Word> words{{"add", 8},    {"add_far", 4}, {"add_series", 2}, {"add_copy", 1},
                              {"cancel", 6}, {"leave", 2},   {"let_go", 1}};

// The pool: keeps what is handed over, in that order, while it is not asked to hold up the thread.
class HoldingPool {
 public:
  Timers& timers = *new Timers({this, &hand_over, {}, {}});

  HoldingPool() = default;
  HoldingPool(const HoldingPool&) = delete;
  HoldingPool& operator=(const HoldingPool&) = delete;
  ~HoldingPool() { timers.release(); }

  // From here on the thread is in the hand-over of `mark`, which becomes due at once.
  void await_held() {
    (void)news_.await([this]() noexcept { return is(held_); });
    due_.clear();
  }
  // What it hands over until it comes to the next mark, which is due and behind all that is.
  std::vector<TimedTask*> let_go() {
    set(held_, false);
    (void)news_.await([this]() noexcept { return is(held_); });
    return std::exchange(due_, {});
  }
  // Closes. What was handed over until then.
  std::vector<TimedTask*> close() {
    set(over_, true);
    set(held_, false);
    timers.close();
    return std::exchange(due_, {});
  }
  void mark_is(TimedTask* task) {
    const sync::Lock lock(mutex_);
    mark_ = task;
  }

 private:
  static void hand_over(void* self, TimedTask& due) {
    auto& pool = *static_cast<HoldingPool*>(self);
    pool.due_.push_back(&due);
    {
      const sync::Lock lock(pool.mutex_);
      if (pool.over_ || &due != pool.mark_) return;
    }
    pool.set(pool.held_, true);
    (void)pool.news_.await([&pool]() noexcept { return !pool.is(pool.held_); });
  }

  bool is(const bool& flag) noexcept {
    const sync::Lock lock(mutex_);
    return flag;
  }
  void set(bool& flag, bool value) noexcept {
    {
      const sync::Lock lock(mutex_);
      flag = value;
    }
    news_.notify_all();
  }

  sync::Mutex mutex_;
  sync::EventCount news_;
  std::vector<TimedTask*> due_;
  TimedTask* mark_ = nullptr;
  bool held_ = false;
  bool over_ = false;
};

class TimersModel : public Model {
 public:
  TimersModel() { hold(); }
  ~TimersModel() override {
    if (broken_) return;  // to close it might hang
    const std::unique_ptr<HoldingPool> end(&pool_);
    for (TimedTask* const due : pool_.close()) (void)Timers::run(*due);
    for (TimedTask* const due : outside_) (void)Timers::run(*due);
    (void)Timers::run(*mark_);
    for (const Known& known : known_) {
      if (known.has_handle) leave(known);
    }
  }

  void step(const Step& step) override {
    const unsigned choice = step.b;
    switch (step.what) {
      case 0: add(step, past_ + std::chrono::nanoseconds(step.a), 0); break;
      case 1: add(step, far_ + std::chrono::nanoseconds(step.a), 0); break;
      case 2: add(step, far_ + std::chrono::nanoseconds(step.a), 1); break;
      case 3: add_copy(step); break;
      case 4:
        if (!known_.empty()) cancel(known_[choice % known_.size()]);
        break;
      case 5: leave_one(choice); break;
      default: let_go(); break;
    }
    compare();
  }

  void end() override {
    let_go();
    compare();
  }

 protected:
  // What comes out first among those that are due.
  virtual bool comes_before(const std::pair<sync::Deadline, std::size_t>& a,
                            const std::pair<sync::Deadline, std::size_t>& b) const {
    return a < b;
  }

 private:
  struct Known {
    TimedTask* task;
    sync::Deadline moment;
    std::size_t number;  // in the order of adding
    bool series;
    bool waiting = true;
    bool has_handle = true;
  };

  void hold() {
    begin_mark(past_);
    pool_.await_held();
  }

  // The thread is held up once it comes here. All that was asked for before is handed over before.
  void begin_mark(sync::Deadline moment) {
    detail::RawBox<detail::TimedFunction<void (*)()>> box;
    (void)pool_.timers.prepare();
    mark_ = box.make(pool_.timers, moment, TimedTask::Duration::zero(), TaskOptions{}, +[] {});
    pool_.mark_is(mark_);
    pool_.timers.leave(*mark_);
    pool_.timers.add(*mark_);
  }

  void add(const Step& step, sync::Deadline moment, int period) {
    TimedTask* task = nullptr;
    const bool had_memory = has_memory_for(step, [&] {
      task = detail::add_timed(pool_.timers, moment, std::chrono::hours(period), {},
                               [item = Item(0), this] { runs_ += item.number() + 1; });
    });
    if (!had_memory) return;
    agree(task != nullptr, "it is not closed");
    known_.push_back({task, moment, ++added_, period != 0});
  }

  // A closure whose copy throws is given up.
  void add_copy(const Step& step) {
    const auto function = [item = Item(0), this] { runs_ += item.number() + 1; };
    try {
      const Item::FailingCopies failing(true);
      (void)has_memory_for(step, [&] {
        (void)detail::add_timed(pool_.timers, far_, TimedTask::Duration::zero(), {}, function);
      });
    } catch (const Item::CopyFailed&) {
    }
  }

  // A task that was handed over, and has not begun, is cancelled too; the worker ends it.
  void cancel(Known& known) {
    const bool is_outside =
        std::find(outside_.begin(), outside_.end(), known.task) != outside_.end();
    const bool more_to_come = known.has_handle && (known.waiting || is_outside);
    if (!known.has_handle) return;
    agree_on("cancel", pool_.timers.cancel(*known.task), more_to_come && !is_cancelled(known));
    if (!is_outside) {
      if (known.waiting && !known.series) ++cancelled_;
    } else if (!is_cancelled(known)) {
      cancelled_outside_.push_back(known.task);
    }
    known.waiting = false;
  }
  bool is_cancelled(const Known& known) const {
    return std::find(cancelled_outside_.begin(), cancelled_outside_.end(), known.task) !=
           cancelled_outside_.end();
  }

  void leave(const Known& known) {
    known.task->timers().leave(*known.task);
    pool_.timers.release();
  }
  void leave_one(unsigned choice) {
    if (known_.empty()) return;
    Known& known = known_[choice % known_.size()];
    if (known.has_handle) leave(known);
    known.has_handle = false;
  }

  // Those whose moment has passed, in the order of their moments; then the workers run them.
  void let_go() {
    run_outside();
    TimedTask* const held = mark_;
    begin_mark(sync::clock::now());
    std::vector<TimedTask*> due = pool_.let_go();
    agree(!due.empty() && due.back() == mark_, "the mark comes last");
    due.pop_back();
    (void)Timers::run(*held);
    outside_ = due;  // ours to run, also if they are not what was expected
    std::vector<Known*> expected;
    for (Known& known : known_) {
      if (known.waiting && known.moment < far_) expected.push_back(&known);
    }
    std::sort(expected.begin(), expected.end(), [this](const Known* a, const Known* b) {
      return comes_before({a->moment, a->number}, {b->moment, b->number});
    });
    agree_on("what is due", due.size(), expected.size());
    for (std::size_t i = 0; i < due.size(); ++i) {
      agree(due[i] == expected[i]->task, "the earliest comes first, of equal ones the first asked");
      expected[i]->waiting = false;
    }
  }

  void run_outside() {
    for (TimedTask* const due : outside_) {
      const bool cancelled = std::find(cancelled_outside_.begin(), cancelled_outside_.end(), due) !=
                             cancelled_outside_.end();
      const int before = runs_;
      const Outcome outcome = Timers::run(*due);
      agree(outcome == (cancelled ? Outcome::cancelled : Outcome::done), "what becomes of it");
      agree_on("runs", runs_ - before, cancelled ? 0 : 1);
    }
    std::erase_if(known_, [this](const Known& known) {
      const bool over = std::find(outside_.begin(), outside_.end(), known.task) != outside_.end();
      if (over && known.has_handle) leave(known);
      return over;
    });
    outside_.clear();
    cancelled_outside_.clear();
  }

  void compare() {
    std::uint64_t waiting = 0;
    int closures = static_cast<int>(outside_.size());
    for (const Known& known : known_) {
      if (!known.waiting) continue;
      ++closures;
      if (!known.series) ++waiting;
    }
    const Timers::Figures figures = pool_.timers.figures();
    agree_on("waiting", figures.waiting, waiting);
    agree_on("cancelled", figures.cancelled, cancelled_);
    agree_on("closures alive", Item::alive() - alive_before_, closures);
    if (const std::string fault = detail::Books<Timers>::fault(pool_.timers, outside_.size() + 1);
        !fault.empty()) {  // with the mark, which is held
      broken_ = true;
      disagree(fault);
    }
  }

  const int alive_before_ = Item::alive();
  const sync::Deadline past_ = sync::clock::now() - std::chrono::hours(1);
  const sync::Deadline far_ = sync::clock::now() + std::chrono::hours(1);
  HoldingPool& pool_ = *new HoldingPool;
  bool broken_ = false;
  TimedTask* mark_ = nullptr;
  std::vector<Known> known_;
  std::vector<TimedTask*> outside_;  // handed over, not run
  std::vector<TimedTask*> cancelled_outside_;
  std::size_t added_ = 0;
  std::uint64_t cancelled_ = 0;
  int runs_ = 0;
};

const ModelTest sorted("timers", model<TimersModel>(words), 500);

// A list that is sorted wrong: of equal moments the last one first.
class LastFirst : public TimersModel {
 protected:
  bool comes_before(const std::pair<sync::Deadline, std::size_t>& a,
                    const std::pair<sync::Deadline, std::size_t>& b) const override {
    return a.first != b.first ? a.first < b.first : a.second > b.second;
  }
};

const ModelCanary last_first("timers/wrong_order", model<LastFirst>(words), 2);

}}  // namespace timers_model

// SPDX-License-Identifier: MIT
#include "tracing/reruns.hpp"
#include "tracing/timeline.hpp"

namespace handoff::lab::tracing {
namespace {

constexpr std::uint32_t none = UINT32_MAX;

// A moment of a task, in any run of it: when so many of its steps are done. 0: it has begun.
struct Place {
  std::uint32_t task = none;
  std::uint32_t step = 0;
};

// So much work; or, if `after` names a task, nothing until that has got there.
struct Step {
  std::uint64_t work_ns = 0;
  Place after;
  std::uint32_t next = none;
};

struct Task {
  bool of_a_worker = false;
  Place after;  // it begins then, and not before ...
  std::uint64_t earliest_ns = 0;
  std::uint32_t first = none;  // of its steps
  std::uint32_t last = none;
  std::uint32_t count = 0;
};

struct Model {
  std::vector<Task> tasks;
  std::vector<Step> steps;
  std::size_t workers = 0;

  void add(std::uint32_t number, const Step& step) {
    Task& task = tasks[number];
    const auto place = static_cast<std::uint32_t>(steps.size());
    (task.last == none ? task.first : steps[task.last].next) = place;
    task.last = place;
    ++task.count;
    steps.push_back(step);
  }
};

// Makes the model of a recording.
class Modeller {
 public:
  Modeller(const Recording& recording, const std::vector<double>& at_work)
      : recording_(recording),
        timeline_(recording, at_work),
        lanes_(recording.lanes.size()),
        departures_(recording.hands.size()) {}

  Model make() {
    timeline_.walk(*this);
    for (std::uint32_t i = 0; i < lanes_.size(); ++i) flush(lanes_[i]);
    const auto had_a_task = [](const LaneState& lane) { return lane.had_a_task; };
    model_.workers = static_cast<std::size_t>(std::ranges::count_if(lanes_, had_a_task));
    return std::move(model_);
  }

  void advance(std::uint32_t number, std::uint64_t ns) { reach(number, ns); }

  void started(std::uint32_t number, std::uint64_t ns) {
    LaneState& lane = lanes_[number];
    const auto& open = timeline_.at(number).open();
    if (lane.task != none || is_wait(recording_.names.kind(open.back().name))) return;
    begin(lane, ns, true);
    lane.depth = open.size();
    lane.had_a_task = true;
  }

  void ended(std::uint32_t number, std::uint64_t ns, const Slice& slice) {
    LaneState& lane = lanes_[number];
    if (lane.task == none) return;
    const SliceKind kind = recording_.names.kind(slice.name);
    if (kind == SliceKind::full) await(lane, last_of(arrived_, number, slice.start_ns));
    if (kind == SliceKind::wait || kind == SliceKind::join) {
      await(lane, last_of(ended_, number, slice.start_ns));
    }
    if (is_wait(kind)) return;
    note(ended_, {ns, number, here(lane)});
    if (timeline_.at(number).open().size() < lane.depth) lane.task = none;
  }

  void depart(std::uint32_t place) {
    const Hand& hand = recording_.hands.all()[place];
    LaneState& lane = reach(hand.from_lane(), hand.from_ns());
    if (lane.task != none) departures_[place] = here(lane);
  }

  void arrive(std::uint32_t place) {
    const Hand& hand = recording_.hands.all()[place];
    LaneState& lane = reach(hand.to_lane(), hand.to_ns());
    if (lane.task == none) return;
    Task& task = model_.tasks[lane.task];
    if (task.of_a_worker && lane.begun_ns == hand.to_ns() && task.after.task == none) {
      task.after = departures_[place];
      task.earliest_ns = task.after.task == none ? hand.from_ns() - recording_.first_ns : 0;
    } else {
      await(lane, departures_[place]);
    }
    note(arrived_, {hand.to_ns(), hand.to_lane(), here(lane)});
  }

 private:
  struct LaneState {
    std::uint64_t last_ns = never;
    std::uint64_t begun_ns = never;
    std::uint64_t worked_ns = 0;  // that is no step yet
    std::uint32_t task = none;
    std::size_t depth = 0;  // of the slices that are open in the task
    bool had_a_task = false;
  };
  struct Moment {
    std::uint64_t ns = 0;
    std::uint32_t lane = none;
    Place place;
  };
  using Lasts = std::array<Moment, 2>;  // of two threads

  static void note(Lasts& lasts, const Moment& moment) {
    if (lasts[0].lane != moment.lane) lasts[1] = lasts[0];
    lasts[0] = moment;
  }
  // On another thread, since then.
  static Place last_of(const Lasts& lasts, std::uint32_t lane, std::uint64_t since_ns) {
    const Moment& last = lasts[lasts[0].lane == lane ? 1 : 0];
    return last.lane == none || last.ns <= since_ns ? Place{} : last.place;
  }

  void begin(LaneState& lane, std::uint64_t ns, bool of_a_worker) {
    lane.task = static_cast<std::uint32_t>(model_.tasks.size());
    lane.begun_ns = ns;
    model_.tasks.push_back({of_a_worker, {}, ns - recording_.first_ns});
  }

  LaneState& reach(std::uint32_t number, std::uint64_t ns) {
    LaneState& lane = lanes_[number];
    const LaneCursor& cursor = timeline_.at(number);
    if (lane.task == none && !cursor.is_worker()) begin(lane, ns, false);
    if (lane.task != none && lane.last_ns != never && cursor.works()) {
      lane.worked_ns += cursor.work_between(lane.last_ns, ns);
    }
    lane.last_ns = ns;
    return lane;
  }

  void flush(LaneState& lane) {
    if (lane.task == none || lane.worked_ns == 0) return;
    model_.add(lane.task, {std::exchange(lane.worked_ns, 0), {}});
  }
  Place here(LaneState& lane) {
    flush(lane);
    return {lane.task, model_.tasks[lane.task].count};
  }
  void await(LaneState& lane, const Place& place) {
    if (place.task == none || place.task == lane.task) return;
    flush(lane);
    model_.add(lane.task, {0, place});
  }

  const Recording& recording_;
  Timeline timeline_;
  std::vector<LaneState> lanes_;
  std::vector<Place> departures_;  // of the hand-overs
  Lasts ended_{};  // slices of work
  Lasts arrived_{};
  Model model_;
};

// One run of a model, event by event.
class Run {
 public:
  Run(const Model& model, std::size_t workers)
      : model_(model), tasks_(model.tasks.size()), free_(workers) {}

  // How long it takes.
  std::uint64_t go() {
    for (std::uint32_t i = 0; i < tasks_.size(); ++i) {
      const Task& task = model_.tasks[i];
      tasks_[i].step = task.first;
      if (task.after.task == none) {
        events_.emplace(task.earliest_ns, i);
      } else {
        wait(i, task.after);
      }
    }
    do {
      while (!events_.empty()) {
        const auto [ns, number] = events_.top();
        events_.pop();
        happen(ns, number);
      }
    } while (end_a_wait());
    return now_ns_;
  }

 private:
  enum class State : std::uint8_t { waits_to_be_ready, waits_for_a_worker, begins, runs };
  struct TaskRun {
    std::uint32_t step = none;  // that it is in
    std::uint32_t done = 0;
    State state = State::waits_to_be_ready;
    bool waits = false;
    Place place;  // for which it waits
  };

  [[nodiscard]] bool is_there(const Place& place) const {
    const TaskRun& task = tasks_[place.task];
    return task.state == State::runs && task.done >= place.step;
  }

  void wait(std::uint32_t number, const Place& place) {
    tasks_[number].waits = true;
    tasks_[number].place = place;
    waiters_[place.task].emplace(place.step, number);
    blocked_.push(number);
  }

  // Something happened to the task at this moment: it is ready, has a worker, or ends a step.
  void happen(std::uint64_t ns, std::uint32_t number) {
    now_ns_ = std::max(now_ns_, ns);
    TaskRun& task = tasks_[number];
    if (task.state == State::waits_to_be_ready && model_.tasks[number].of_a_worker) {
      if (free_ == 0) {
        task.state = State::waits_for_a_worker;
        ready_.push(number);
        return;
      }
      --free_;
    }
    if (task.state == State::runs) {
      ++task.done;
      task.step = model_.steps[task.step].next;
    }
    task.state = State::runs;
    tell(ns, number);
    proceed(ns, number);
  }

  void proceed(std::uint64_t ns, std::uint32_t number) {
    TaskRun& task = tasks_[number];
    if (task.step == none) return end(ns, number);
    const Step& step = model_.steps[task.step];
    if (step.after.task == none || is_there(step.after)) {
      events_.emplace(ns + step.work_ns, number);
    } else {
      wait(number, step.after);
    }
  }

  void end(std::uint64_t ns, std::uint32_t number) {
    if (!model_.tasks[number].of_a_worker) return;
    if (ready_.empty()) {
      ++free_;
      return;
    }
    tasks_[ready_.front()].state = State::begins;
    events_.emplace(ns, ready_.front());
    ready_.pop();
  }

  // Those who wait for this one to get where it is now.
  void tell(std::uint64_t ns, std::uint32_t number) {
    const auto found = waiters_.find(number);
    if (found == waiters_.end()) return;
    // The earliest step is at the top: each look costs what it releases, however many wait.
    for (auto& waiters = found->second; !waiters.empty(); waiters.pop()) {
      const auto [step, waiter] = waiters.top();
      if (step > tasks_[number].done) return;
      const TaskRun& told = tasks_[waiter];
      if (told.waits && told.place.task == number && is_there(told.place)) release(ns, waiter);
    }
    waiters_.erase(found);
  }

  void release(std::uint64_t ns, std::uint32_t number) {
    tasks_[number].waits = false;
    const Task& task = model_.tasks[number];
    const bool begins = tasks_[number].state == State::waits_to_be_ready;
    events_.emplace(begins ? std::max(ns, task.earliest_ns) : ns, number);
  }

  // Where all that is left waits for each other, a guess was wrong; that of the first one, maybe.
  bool end_a_wait() {
    while (!blocked_.empty()) {
      const std::uint32_t number = blocked_.top();
      blocked_.pop();
      if (!tasks_[number].waits) continue;
      release(now_ns_, number);
      return true;
    }
    return false;
  }

  template <class T>
  using LeastFirst = std::priority_queue<T, std::vector<T>, std::greater<>>;

  const Model& model_;
  std::vector<TaskRun> tasks_;
  LeastFirst<std::pair<std::uint64_t, std::uint32_t>> events_;  // when, and to which task
  std::queue<std::uint32_t> ready_;
  // For a task: for which of its steps, and who.
  std::unordered_map<std::uint32_t, LeastFirst<std::pair<std::uint32_t, std::uint32_t>>> waiters_;
  LeastFirst<std::uint32_t> blocked_;
  std::size_t free_;
  std::uint64_t now_ns_ = 0;
};

}  // namespace

std::optional<Reruns> reruns_of(const Recording& recording, const std::vector<double>& at_work,
                                std::uint64_t cpu_ns) {
  std::size_t slices = recording.hands.size();
  for (const Lane& lane : recording.lanes) slices += lane.size();
  if (slices > most_rerun) return {};
  const Model model = Modeller(recording, at_work).make();
  if (model.workers == 0) return {};
  Reruns reruns;
  reruns.workers = model.workers;
  reruns.cpus_ns = recording.cpus > 0 ? cpu_ns / recording.cpus : 0;
  const auto with = [&](std::size_t workers) {
    return std::max(Run(model, workers).go(), reruns.cpus_ns);
  };
  reruns.as_it_was_ns = with(model.workers);
  reruns.one_more_ns = with(model.workers + 1);
  reruns.any_number_ns = with(model.tasks.size());
  return reruns;
}

}  // namespace handoff::lab::tracing

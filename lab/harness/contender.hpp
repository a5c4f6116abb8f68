// SPDX-License-Identifier: MIT
// The contender's side of the lab. A scenario's contenders share one `prepare`, which turns the
// parameters and the input into an operation to time; everything else is done here. It stays small
// on purpose: what a contender links beside its own libraries runs in its process.
#pragma once

#include "harness/histogram.hpp"

namespace handoff::lab {

// The cell to measure, as the coordinator sent it: the metric is the parameter `metric`.
class Parameters {
 public:
  explicit Parameters(std::map<std::string, std::string> values) : values_(std::move(values)) {}
  // Both throw where a parameter without `otherwise` was not sent.
  [[nodiscard]] std::string text(const std::string& name, const char* otherwise = nullptr) const;
  [[nodiscard]] std::size_t number(const std::string& name) const;
  [[nodiscard]] std::size_t number(const std::string& name, std::size_t otherwise) const;

 private:
  std::map<std::string, std::string> values_;
};

// Thrown by `prepare`: this contender cannot run here, and why. Its row says so and has no time.
struct Unavailable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A burst as its operation sees it: what it did beside taking time. An operation that says nothing
// did one item, and all of its time counts. Only the thread that runs the operation may call this.
class Burst {
 public:
  // This call did so many items, where it was not one.
  void items(double count) { items_ += count - 1; }

  // Of the items, so many were executed by this member: 0 is the thread that hands them over.
  void executed(std::size_t member, double count);

  // Only the time inside counts. What else the operation does, such as letting a pool fall asleep,
  // is left out; an operation that uses this uses it for all that is to be timed.
  template <typename Work>
  void timed(Work&& work) {
    start();
    std::forward<Work>(work)();
    stop();
  }

  // How long single items took, in ns: record() into it. The burst's p50, p90, p99 and p99_9 become
  // figures of these names; the row keeps the percentiles of all its bursts together.
  [[nodiscard]] Histogram& latencies();

  // A further figure of this burst, shown beside the metric or the metric itself; said again, the
  // last one stands. And a point of a curve that the row keeps. Names: letters, digits, `_`, `.`.
  void figure(const std::string& name, double value) { figures_[name] = value; }
  void point(const std::string& curve, double x, double y) { curves_[curve].emplace_back(x, y); }

 private:
  friend class BurstReply;
  void start();
  void stop();

  double items_ = 0;  // beyond one a call
  std::vector<double> executed_;
  std::unique_ptr<Histogram> latencies_;
  std::map<std::string, double> figures_;
  std::map<std::string, std::vector<std::pair<double, double>>> curves_;
  bool times_itself_ = false;
  long long wall_ns_ = 0;
  long long cpu_ns_ = 0;
};

// One operation, which fills all of `output` each time it runs. The output is poisoned before each
// burst and published to the coordinator after it. An operation shorter than some microseconds
// repeats itself and says how many items that were: the clock is read after each call.
struct Prepared {
  std::function<void(Burst&)> operation;
  std::span<std::byte> output;
};

// Which of its contenders a program is, where it is several: its argument.
[[nodiscard]] std::string_view contender_name();

// What is listed for that name. Throws where nothing is.
template <typename Function>
Function* chosen(std::initializer_list<std::pair<std::string_view, Function*>> contenders) {
  for (const auto& [name, function] : contenders) {
    if (name == contender_name()) return function;
  }
  throw std::invalid_argument("there is no contender '" + std::string(contender_name()) +
                              "' in this program");
}

// Written by the scenario. What it captures must live as long as the operation.
Prepared prepare(const Parameters& parameters, std::span<const std::byte> input);

// What most contenders make of a task, which outlives it; the answer goes to the task's `output`.
using Operation = std::function<void(Burst&)>;

// The task is made from the parameters.
template <typename Task>
Prepared prepared(Operation (*contender)(const Task&), const Parameters& parameters) {
  struct Bench {
    explicit Bench(const Parameters& given) : task(given) {}
    std::remove_pointer_t<decltype(Task::output)> output{};
    Task task;
  };
  const auto bench = std::make_shared<Bench>(parameters);
  bench->task.output = &bench->output;
  return {[bench, operation = contender(bench->task)](Burst& burst) { operation(burst); },
          std::as_writable_bytes(std::span(&bench->output, 1))};
}

// Where a contender wants no more than the parameters.
inline Prepared prepared(Prepared (*contender)(const Parameters&), const Parameters& parameters) {
  return contender(parameters);
}

// For a `work` that returns its answer.
template <typename Work>
Prepared answering(Work work) {
  using Answer = std::invoke_result_t<Work&, Burst&>;
  const auto answer = std::make_shared<Answer>();
  return {[answer, work = std::move(work)](Burst& burst) mutable { *answer = work(burst); },
          std::as_writable_bytes(std::span(answer.get(), 1))};
}

}  // namespace handoff::lab

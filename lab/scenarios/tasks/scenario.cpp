// SPDX-License-Identifier: MIT
// `tasks`: what it costs to hand over a task and to know that it is done.
#include "peers/answer.hpp"
#include "scenarios/registry.hpp"
#include "scenarios/rules.hpp"
#include "scenarios/tasks/batches.hpp"

namespace handoff::lab::tasks { namespace {

// Of the `width` threads that ran most, the share of the one that ran least, in %.
double least_share(std::vector<double> executed, std::size_t width) {
  if (executed.size() < width) return 0;
  std::ranges::sort(executed, std::greater<>());
  return 100 * executed[width - 1] / std::accumulate(executed.begin(), executed.end(), 0.0);
}

bool is_idle(const Cell& cell) {
  const std::string* const state = cell.find("state");
  return (state != nullptr ? *state : usual_state(cell.metric())) == "idle";
}

std::shared_ptr<const Problem> batch(const Cell& cell) {
  const std::string metric = cell.metric();
  const std::size_t width = cell.number("width");
  const std::size_t count = cell.number("count", 1);
  const std::size_t times = batches(metric, count, is_idle(cell));
  const std::uint64_t work_ns = cell.number("work", usual_work_ns(metric));
  const std::uint64_t slowest_task_ns = metric == "future" ? 1'000'000 : 20'000;  // a thread
  constexpr std::uint64_t slowest_batch_ns = 10'000'000;  // its threads woken among others' work
  return problem_by<peers::Answer>(
      {.fault = [right = peers::right_answer(count, times)](
                    const auto& answer) { return peers::fault_of(answer, right); },
       .metric =
           [metric, width](const Reading& reading) {
             if (metric == "idle_cpu") return 100 * reading.cpu_ns / reading.wall_ns;
             if (metric == "balance") return least_share(reading.executed, width);
             if (metric == "spread") return reading.figure("p90") / reading.figure("p50");
             return reading.ns_per_item() / (is_of_one_task(metric) ? 1000 : 1);
           },
       .slowest_operation = std::chrono::milliseconds(500) +
                            std::chrono::nanoseconds(
                                times * (slowest_batch_ns + count * (slowest_task_ns + work_ns)))});
}

std::vector<Article> articles() {
  std::vector<Article> articles;
  const auto add = [&](const char* count, double fixed, double active, double cached) {
    const Cell cell("fire_and_forget",
                    {{"count", count}, {"work", "0"}, {"state", "hot"}, {"width", "2"}});
    articles.push_back({fmt::format("C++14 thread pool in three modes: {} empty tasks", count),
                        cell,
                        {{"fixed", fixed, "submission only, Debug build", "seed.pool.fixed"},
                         {"active", active, "submission only, Debug build", "seed.pool.active"},
                         {"cached", cached, "submission only, Debug build", "seed.pool.cached"}}});
    articles.back().items = std::stod(count);
  };
  add("100", 0.765, 0.304, 4.17);
  add("1000", 4.258, 2.774, 4.329);
  add("10000", 38.184, 35.581, 63.865);
  add("100000", 323.904, 185.178, 647.432);
  add("1000000", 3195.76, 2020.53, 6036.63);
  return articles;
}

}}  // namespace handoff::lab::tasks

handoff::lab::ScenarioTable handoff::lab::tasks_scenario() {
  using namespace tasks;
  return {
      .name = "tasks",
      .summary = "tasks handed to a pool of `width` threads, and waited for",
      .metrics =
          {{"fire_and_forget", "ns", false,
            "a task: `count` are handed over, then waited for together"},
           {"future", "ns", false,
            "a task with a future whose result is read: `count` are handed over together"},
           {"spread", "x", false,
            "p90 over the median of fire_and_forget's time, in samples of a millisecond or more"},
           {"balance", "%", true,
            "share of tasks of 1 us that the least busy of `width` threads ran, in "
            "fire_and_forget"},
           {"crowded", "ns", false, "fire_and_forget, with all threads on one CPU"},
           {"ping", "us", false,
            "from the hand-over to an idle pool until the caller knows that the task has run on "
            "another thread"},
           {"run_and_wait", "us", false,
            "one task given to an idle pool and waited for in one call; the caller may run it"},
           {"run_then_wait", "us", false,
            "the same in two calls, between which another thread may begin it"},
           {"first_use", "us", false, "a pool made, given one task, waited for, and stopped"},
           {"idle_cpu", "%", false, "share of one CPU that an idle pool uses"}},
      .parameters =
          {Parameter::number("count", "tasks in a batch", {"1000", "100000"}, 1, 1'000'000,
                             {"fire_and_forget", "future", "spread", "balance", "crowded"}),
           Parameter::number("work", "ns of work in each task", {"0"}, 0, 1'000'000,
                             {"fire_and_forget", "future"}),
           Parameter::one_of(
               "state",
               "of the pool when a batch comes: hot (threads awake), or idle for a millisecond",
               {"hot", "idle"}, {"fire_and_forget", "future"}),
           {"width", "threads that execute, the caller included where it helps", {"2"}, {}, 1, 64}},
      .problem = batch,
      .articles = articles()};
}

// SPDX-License-Identifier: MIT
#include "report/try_text.hpp"
#include "report/view.hpp"

namespace handoff::lab {
namespace {

constexpr const char* kSerialWay = "limit.serial";

struct WayText {
  const char* contender;
  const char* name;
  const char* code;  // with {0} for the width
};

constexpr std::array<WayText, 11> kWays{{
    {kSerialWay, "serial", "for (std::size_t i = 0; i < n; ++i) item(i);"},
    {"own.thread_team", "ThreadTeam",
     "#include <handoff/team/thread_team.hpp>\n"
     "handoff::ThreadTeam team({.width = {0}});  // once\n"
     "team.run(n, [&](handoff::IndexRange r) {\n"
     "  for (const std::size_t i : r) item(i);\n"
     "});"},
    {"own.pool", "ThreadPool loop",
     "#include <handoff/pool/parallel_for.hpp>\n"
     "handoff::ThreadPool pool({.width = {1}});  // once; the caller works too\n"
     "handoff::parallel_for(pool, 0, n, [&](std::size_t i) { item(i); });"},
    {"own.pool.tasks", "ThreadPool tasks",
     "#include <handoff/pool/task_group.hpp>\n"
     "handoff::ThreadPool pool({.width = {1}});  // once; the caller works too\n"
     "handoff::TaskGroup group(pool);\n"
     "for (std::size_t first = 0; first < n; first += {2}) {\n"
     "  group.run([=] { items(first, std::min<std::size_t>(first + {2}, n)); });\n"
     "}\n"
     "group.wait();"},
    {"own.event_queue", "EventQueue",
     "#include <handoff/event/event_queue.hpp>\n"
     "handoff::EventQueue<int, void(std::size_t)> queue;  // once, with {1} threads that do:\n"
     "//   while (queue.wait() == handoff::Status::ok) queue.drain(1);\n"
     "auto handle = queue.append_listener(1, [&](std::size_t first) { items(first, first + {2}); "
     "});\n"
     "for (std::size_t first = 0; first < n; first += {2}) queue.enqueue(1, first);\n"
     "while (queue.drain(1) > 0) continue;  // then wait for the threads' last ones"},
    {"own.workers", "MessageWorkers",
     "#include <handoff/bus/message_workers.hpp>\n"
     "struct Block { std::size_t first, last; };\n"
     "handoff::MessageWorkers<Block> workers(  // once; the caller works too\n"
     "    {.width = {1}, .on_full = handoff::OnFull::run_here},\n"
     "    [&](const Block& b) { items(b.first, b.last); });\n"
     "for (std::size_t first = 0; first < n; first += {2}) {\n"
     "  workers.publish(Block{first, std::min<std::size_t>(first + {2}, n)});\n"
     "}\n"
     "workers.wait();"},
    {"own.process_team", "ProcessTeam",
     "#include <handoff/process/process_team.hpp>\n"
     "void work(handoff::IndexRange r, const Args& args);  // writes to shared memory only\n"
     "handoff::ProcessTeam team({.width = {0}});  // once, when that memory is mapped\n"
     "team.run<work>(n, args);"},
    {"peer.openmp", "OpenMP",
     "#pragma omp parallel for schedule(guided) num_threads({0})\n"
     "for (std::size_t i = 0; i < n; ++i) item(i);"},
    {"peer.onetbb", "oneTBB",
     "#include <tbb/parallel_for.h>\n"
     "tbb::parallel_for(std::size_t(0), n, [&](std::size_t i) { item(i); });"},
    {"peer.std_thread", "std::thread",
     "std::vector<std::jthread> others;\n"
     "for (std::size_t first = {3}; first < n; first += {3}) {\n"
     "  others.emplace_back([=] { items(first, std::min<std::size_t>(first + {3}, n)); });\n"
     "}\n"
     "items(0, {3});"},
    {"peer.std_async", "std::async",
     "std::vector<std::future<void>> others;\n"
     "for (std::size_t first = {3}; first < n; first += {3}) {\n"
     "  others.push_back(std::async(std::launch::async, [=] {\n"
     "    items(first, std::min<std::size_t>(first + {3}, n));\n"
     "  }));\n"
     "}\n"
     "items(0, {3});"},
}};

const WayText* way_text(const std::string& contender) {
  const auto found =
      std::ranges::find_if(kWays, [&](const WayText& way) { return contender == way.contender; });
  return found == kWays.end() ? nullptr : &*found;
}

std::string code_of(const Row& row, const Tried& tried) {
  const WayText* const way = way_text(row.contender);
  if (way == nullptr) return {};
  const std::uint64_t width = std::max<std::uint64_t>(tried.width, 1);
  const std::array<std::uint64_t, 4> numbers{width, std::max<std::uint64_t>(width - 1, 1),
                                             std::max<std::uint64_t>(tried.items / (width * 16), 1),
                                             (tried.items + width - 1) / width};
  std::string code = "    ";
  for (const char* c = way->code; *c != '\0'; ++c) {
    const bool is_number = c[0] == '{' && c[1] >= '0' && c[1] <= '3' && c[2] == '}';
    if (is_number) {
      code += std::to_string(numbers.at(static_cast<std::size_t>(c[1] - '0')));
      c += 2;
    } else {
      code += *c;
      if (*c == '\n') code += "    ";
    }
  }
  return code + '\n';
}

// What was measured, beside the serial way.
class Ranking {
 public:
  explicit Ranking(const Tried& tried) : tried_(tried) {
    for (const Row& row : tried.rows) {
      if (row.contender == kSerialWay) serial_ = &row;
      if (is_broken(row.status)) broken_.push_back(&row);
      const bool is_left_out = !row.is_measured() && !is_broken(row.status);
      if (is_left_out) left_out_.push_back(&row);
      if (row.is_measured()) measured_.push_back(&row);
    }
    std::ranges::sort(measured_, {}, &Row::median);
  }

  [[nodiscard]] bool told() const {
    return !is_ranked() || best_against_serial() != Change::too_noisy;
  }

  [[nodiscard]] std::string text() const {
    std::string text = first_line() + '\n';
    for (const Row* row : broken_) {
      text += fmt::format("  {}: {}\n", way_named(row->contender), row->reason);
    }
    if (is_ranked()) text += table() + losses() + code();
    if (left_out_.empty()) return text;
    if (!is_ranked() && reasons().size() == 1) {
      return text + fmt::format("not timed, all {}: {}\n", left_out_.size(), left_out_[0]->reason);
    }
    text += is_ranked() ? "\nleft out:\n" : "not timed:\n";
    for (const auto& [reason, names] : reasons()) {
      text += fmt::format("  {}: {}\n", fmt::join(names, ", "), reason);
    }
    return text;
  }

 private:
  [[nodiscard]] bool is_ranked() const {
    return serial_ != nullptr && serial_->is_measured() && measured_.size() > 1;
  }

  // The fastest that is not the serial one.
  [[nodiscard]] const Row* best_other() const {
    for (const Row* row : measured_) {
      if (row != serial_) return row;
    }
    return nullptr;
  }

  [[nodiscard]] double speed(const Row& row) const { return serial_->median / row.median; }
  [[nodiscard]] double efficiency(const Row& row) const {
    return 100 * speed(row) / static_cast<double>(tried_.width);
  }

  [[nodiscard]] JudgedChange judged(const Row& row, const Row& against) const {
    Judging judging;
    judging.disturbed = row.status == RowStatus::noisy || against.status == RowStatus::noisy;
    judging.disturbed_margin = kDisturbedMargin;
    return judge_change(row.launches, against.launches, judging, tried_.seed);
  }

  // A few launches, fewer than a verdict takes, are believed if they are far apart.
  [[nodiscard]] Change best_against_serial() const {
    constexpr double far = 1.1;
    const Row& best = *best_other();
    if (best.launches.size() >= kLooks.front()) return judged(best, *serial_).change;
    if (speed(best) > far) return Change::improved;
    return speed(best) < 1 / far ? Change::worse : Change::too_noisy;
  }

  std::string first_line() const {
    if (serial_ != nullptr && is_broken(serial_->status)) {
      return "take no way: the kernel does not even run serially";
    }
    if (!is_ranked()) {
      return broken_.empty() ? "no way was measured"
                             : "stay serial: the kernel is not safe under other ways";
    }
    const Row& best = *best_other();
    const std::string name = way_named(best.contender);
    const auto times = [&] {
      return fmt::format("{:.2f}x of serial, {:.0f} % efficiency on {} {}", speed(best),
                         efficiency(best), tried_.width, tried_.members);
    };
    std::string line;
    switch (best_against_serial()) {
      case Change::improved: line = fmt::format("take {}: {}", name, times()); break;
      case Change::too_noisy:
        line = fmt::format("too noisy to tell: {} would be at {}", name, times());
        break;
      default:
        line = fmt::format("stay serial: the best other way, {}, is at {:.2f}x of it", name,
                           speed(best));
    }
    if (best.status == RowStatus::noisy) line += "; the machine was disturbed, try again";
    if (!broken_.empty()) line += "; under others the kernel is not safe:";
    return line;
  }

  std::string table() const {
    std::string text = fmt::format(
        "\n{}: {} items, {} serially; every result was the serial one\n\n"
        "  {:<25}{:>10}{:>9}{:>12}   {}\n",
        tried_.kernel, tried_.items, short_duration(serial_->median * 1000), "way", "a pass",
        "speed", "efficiency", "lost: slower items, start, between, end");
    bool any_tied = false;
    for (const Row* row : measured_) {
      text += fmt::format("  {:<25}{:>10}{:>8.2f}x{:>10.0f} %", way_named(row->contender),
                          short_duration(row->median * 1000), speed(*row),
                          row == serial_ ? 100.0 : efficiency(*row));
      if (const auto lost = lost_by(*row); lost && row != serial_) {
        text += fmt::format("{:>9.0f} %{:>9.0f} %{:>7.0f} %{:>5.0f} %", lost->slower, lost->late,
                            lost->between, lost->early);
      }
      const bool tied = row != best_other() && row != serial_ &&
                        judged(*row, *best_other()).change != Change::worse;
      any_tied = any_tied || tied;
      if (tied) text += "  ~";
      text += '\n';
    }
    if (any_tied) {
      text += fmt::format("\n~ no measured difference to {}\n", way_named(best_other()->contender));
    }
    return text;
  }

  // Shares of the CPUs' time of a pass, in %.
  struct Lost {
    double slower;   // items took longer than serially
    double late;     // until the members had their first item
    double between;  // between items: what it costs to hand over
    double early;    // the others were still at work
  };

  std::optional<Lost> lost_by(const Row& row) const {
    const double all =
        figure_named(row.figures, "watched_ns") * static_cast<double>(tried_.width) / 100;
    if (!(all > 0)) return {};
    const double slower =
        figure_named(row.figures, "busy_ns") - figure_named(serial_->figures, "busy_ns");
    const auto share = [&](const char* name) { return figure_named(row.figures, name) / all; };
    return Lost{slower / all, share("late_ns"), share("between_ns"), share("early_ns")};
  }

  std::string losses() const {
    const auto lost = lost_by(*best_other());
    if (!lost) return {};
    constexpr double much = 5;  // % of the CPUs' time
    const std::array<std::pair<double, const char*>, 4> kinds{
        {{lost->slower,
          "items take longer than serially: memory, caches or a shared core slow them down"},
         {lost->late, "threads start late: a pass is short compared with the time to wake them"},
         {lost->between, "between items: items are small compared with the cost of a hand-over"},
         {lost->early, "at the end threads wait for the last item: items are large or uneven"}}};
    const auto worst = std::ranges::max_element(kinds);
    const std::string name = way_named(best_other()->contender);
    if (worst->first < much || efficiency(*best_other()) > 100 - much) {
      return fmt::format("\n{} loses little\n", name);
    }
    return fmt::format("\n{} loses most, {:.0f} % of the CPUs' time, to this: {}\n", name,
                       worst->first, worst->second);
  }

  std::string code() const {
    const bool faster = speed(*best_other()) > 1;
    const bool stays = told() && best_against_serial() != Change::improved;
    const Row& taken = faster && !stays ? *best_other() : *serial_;
    return fmt::format("\nthe code for {}:\n\n{}", way_named(taken.contender),
                       code_of(taken, tried_));
  }

  // Those with the same reason together, in the order they came in.
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons() const {
    std::vector<std::pair<std::string, std::vector<std::string>>> all;
    for (const Row* row : left_out_) {
      const auto same =
          std::ranges::find_if(all, [&](const auto& entry) { return entry.first == row->reason; });
      auto& names =
          same == all.end() ? all.emplace_back(row->reason, std::vector<std::string>{}) : *same;
      names.second.push_back(way_named(row->contender));
    }
    return all;
  }

  const Tried& tried_;
  const Row* serial_ = nullptr;
  std::vector<const Row*> broken_;
  std::vector<const Row*> left_out_;
  std::vector<const Row*> measured_;  // the fastest first
};

}  // namespace

std::string way_named(const std::string& contender) {
  const WayText* const way = way_text(contender);
  return way == nullptr ? contender : way->name;
}

TryText try_text(const Tried& tried) {
  const Ranking ranking(tried);
  return {ranking.text(), ranking.told()};
}

}  // namespace handoff::lab

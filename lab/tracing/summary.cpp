// SPDX-License-Identifier: MIT
#include "tracing/summary.hpp"
#include "harness/plain_text.hpp"
#include "report/columns.hpp"
#include "tracing/words.hpp"

namespace handoff::lab::tracing {
namespace {

constexpr std::size_t most_lines = 20;  // of a table

std::string counted(std::uint64_t number, const char* what) {
  return fmt::format("{} {}{}", grouped(number), what, number == 1 ? "" : "s");
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "-";
  return fmt::format("{:.{}f} %", 100 * static_cast<double>(part) / static_cast<double>(whole),
                     part < whole / 10 ? 1 : 0);
}

class SummaryText {
 public:
  SummaryText(const Summary& summary, int columns, bool styled)
      : summary_(summary),
        recording_(summary.recording),
        usage_(summary.usage),
        wall_(summary.recording.wall_ns()),
        columns_(static_cast<std::size_t>(std::max(columns, 60))),
        styled_(styled) {
    for (std::size_t i = 0; i < usage_.lanes.size(); ++i) {
      if (recording_.lanes[i].size() > 0) lanes_.push_back(&usage_.lanes[i]);
    }
    std::ranges::stable_sort(lanes_, std::ranges::greater(), &LaneUsage::busy_ns);
  }

  std::string text() {
    answers();
    threads();
    path();
    sleeps();
    names();
    rest();
    return text_;
  }

 private:
  [[nodiscard]] std::string cut(const std::string& name, std::size_t others) const {
    const std::size_t room = columns_ > others + 16 ? columns_ - others : 16;
    std::string kept = in_ascii(name.empty() ? "(no name)" : name);
    if (kept.size() > room) kept = kept.substr(0, room - 3) + "...";
    return kept;
  }
  void more(std::size_t count, const char* what) {
    if (count > 0) text_ += fmt::format("  and {} (--json has more)\n", counted(count, what));
  }

  void answers() {
    text_ += fmt::format("{}: {}, {}\n", replay::shown(summary_.file), time_text(wall_),
                         counted(lanes_.size(), "thread"));
    const std::uint64_t whole = wall_ * lanes_.size();
    const auto share = [&](std::uint64_t LaneUsage::* part) { return percent(sum(part), whole); };
    const std::string counted_by_kernel = fmt::format(
        "on a CPU {}, ready for one {}", share(&LaneUsage::on_cpu_ns), share(&LaneUsage::ready_ns));
    text_ += fmt::format(
        "  {}, waiting for room {}, asleep {} of the threads' time\n",
        is_counted() ? counted_by_kernel : fmt::format("in slices {}", share(&LaneUsage::busy_ns)),
        share(&LaneUsage::for_room_ns), share(&LaneUsage::slept_ns));
    const CriticalPath& path = summary_.path;
    if (path.length_ns > 0) {
      text_ += fmt::format(
          "  critical path {}, {} of the wall time: the longest chain of dependent work\n",
          time_text(path.length_ns), percent(path.length_ns, wall_));
    }
    if (summary_.reruns) computed(*summary_.reruns);
    how_it_ended();
  }

  [[nodiscard]] std::uint64_t sum(std::uint64_t LaneUsage::* part) const {
    return std::accumulate(
        lanes_.begin(), lanes_.end(), std::uint64_t{0},
        [part](std::uint64_t so_far, const LaneUsage* lane) { return so_far + lane->*part; });
  }
  // By the kernel; threads of a program that was killed are not.
  [[nodiscard]] bool is_counted() const {
    return std::ranges::any_of(lanes_, [](const LaneUsage* lane) { return lane->is_counted; });
  }

  void computed(const Reruns& reruns) {
    const std::uint64_t gain =
        reruns.as_it_was_ns - std::min(reruns.as_it_was_ns, reruns.one_more_ns);
    text_ += fmt::format("  computed: {} with its {}, {} ({} less) with {}, {} with any number\n",
                         time_text(reruns.as_it_was_ns), counted(reruns.workers, "worker"),
                         time_text(reruns.one_more_ns), percent(gain, reruns.as_it_was_ns),
                         reruns.workers + 1, time_text(reruns.any_number_ns));
    if (!is_counted()) {
      text_ += "  as if each worker had a CPU: what the kernel counted is not in the trace\n";
    }
    if (reruns.cpus_ns > 0 && reruns.any_number_ns == reruns.cpus_ns) {
      text_ += fmt::format("  {} {} {} for the work: no number of workers is faster on {}\n",
                           counted(recording_.cpus, "CPU"), recording_.cpus == 1 ? "needs" : "need",
                           time_text(reruns.cpus_ns), recording_.cpus == 1 ? "it" : "them");
    }
  }

  void how_it_ended() {
    if (!recording_.closed) {
      text_ += fmt::format("  the program was killed, or still runs: {} whole events were read{}\n",
                           grouped(recording_.events),
                           recording_.torn ? "; the last line is torn and left out" : "");
    }
    const auto& tally = recording_.tally;
    if (tally && tally->dropped > 0) {
      text_ += fmt::format("  {} of {} events were dropped: the figures below lack them\n",
                           grouped(tally->dropped), grouped(tally->recorded + tally->dropped));
    }
  }

  void threads() {
    if (lanes_.empty()) return;
    text_ += heading("Threads", styled_);
    const bool is_counted = this->is_counted();
    Columns table;
    std::vector<std::string> titles{"thread", is_counted ? "on CPU" : "in slices"};
    if (is_counted) titles.emplace_back("ready");
    titles.insert(titles.end(), {"room", "asleep", "other", "slices", "sleeps"});
    table.add(std::move(titles));
    std::size_t shown = 0;
    for (const LaneUsage* lane : lanes_) {
      if (shown++ == most_lines) break;
      const auto of_the_kernel = [&](std::uint64_t ns) {
        return lane->is_counted ? percent(ns, wall_) : std::string("-");
      };
      const std::uint64_t known = is_counted ? 0 : lane->busy_ns;
      std::vector<std::string> row{cut(lane->name, 58), is_counted ? of_the_kernel(lane->on_cpu_ns)
                                                                   : percent(lane->busy_ns, wall_)};
      if (is_counted) row.push_back(of_the_kernel(lane->ready_ns));
      row.insert(row.end(), {percent(lane->for_room_ns, wall_), percent(lane->slept_ns, wall_),
                             percent(lane->other_ns - std::min(lane->other_ns, known), wall_),
                             grouped(lane->slices), grouped(lane->sleeps)});
      table.add(std::move(row));
    }
    text_ += table.text();
    more(lanes_.size() - std::min(lanes_.size(), most_lines), "thread");
    text_ += is_counted
                 ? "  ready: had to wait for a CPU; room: waited for it in a queue, asleep or "
                   "spinning\n  other: asleep in the program's own code, not started yet, or "
                   "over\n"
                 : "  room: waited for it in a queue, asleep or spinning; other: outside of "
                   "slices\n";
  }

  void path() {
    const CriticalPath& path = summary_.path;
    if (path.length_ns == 0) return;
    text_ += heading("Along the critical path", styled_);
    Columns table;
    table.add({"what", "kind", "time", "of it"});
    constexpr std::size_t most_parts = 10;
    std::size_t shown = 0;
    for (const PathPart& part : path.parts) {
      if (shown++ == most_parts) break;
      table.add({cut(part.name, 40), kind_of(part), time_text(part.ns),
                 percent(part.ns, path.length_ns)});
    }
    text_ += table.text();
    more(path.parts.size() - std::min(path.parts.size(), most_parts), "name");
    if (path.hand_overs > 0 || path.between_ns > 0) {
      text_ += fmt::format("  {} on it; another {} passed between hand-over and start, or waking\n",
                           counted(path.hand_overs, "hand-over"), time_text(path.between_ns));
    }
  }

  static std::string kind_of(const PathPart& part) {
    if (part.outside) return "outside of slices";
    return part.category.empty() ? "-" : replay::shown(part.category).substr(0, 16);
  }

  static std::uint64_t together(const std::array<std::uint64_t, sleep_causes.size()>& each) {
    return std::accumulate(each.begin(), each.end(), std::uint64_t{0});
  }

  void sleeps() {
    std::array<std::uint64_t, sleep_causes.size()> all{};
    std::uint64_t spun = 0;
    for (const LaneUsage* lane : lanes_) {
      for (std::size_t i = 0; i < all.size(); ++i) all[i] += lane->asleep_ns[i];
      spun += together(lane->spun_ns);
    }
    if (together(all) == 0) return;
    text_ += heading("Asleep, by cause", styled_);
    Columns table;
    const auto add = [&](const std::string& name, const auto& ns, std::uint64_t sum) {
      std::vector<std::string> cells{name};
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i] > 0) cells.push_back(ns[i] == 0 ? "-" : time_text(ns[i]));
      }
      cells.push_back(time_text(sum));
      table.add(std::move(cells));
    };
    std::vector<std::string> titles{"thread"};
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i] > 0) titles.emplace_back(sleep_causes[i]);
    }
    titles.emplace_back("together");
    const std::size_t others = 10 * titles.size();
    table.add(std::move(titles));
    std::vector<const LaneUsage*> sleepers = lanes_;
    std::ranges::stable_sort(sleepers, [](const auto* a, const auto* b) {
      return a->all_asleep_ns() > b->all_asleep_ns();
    });
    std::erase_if(sleepers, [](const LaneUsage* lane) { return lane->all_asleep_ns() == 0; });
    for (std::size_t i = 0; i < std::min(sleepers.size(), most_lines); ++i) {
      add(cut(sleepers[i]->name, others), sleepers[i]->asleep_ns, sleepers[i]->all_asleep_ns());
    }
    add("all threads", all, together(all));
    text_ += table.text();
    if (spun > 0) text_ += fmt::format("  beside these {} awake, spinning\n", time_text(spun));
    more(sleepers.size() - std::min(sleepers.size(), most_lines), "thread");
  }

  void names() {
    if (usage_.names.empty()) return;
    text_ += heading("Slices by their own time, without what runs inside them", styled_);
    Columns table;
    table.add({"name", "kind", "count", "together", "median", "p99"});
    const std::size_t rows = std::min(usage_.names.size(), most_lines);
    for (std::size_t i = 0; i < rows; ++i) {
      const NameUsage& name = usage_.names[i];
      table.add({cut(name.name, 50),
                 name.category.empty() ? "-" : cut(name.category, 60).substr(0, 12),
                 grouped(name.count), time_text(name.own_ns), time_text(name.median_ns),
                 time_text(name.p99_ns)});
    }
    text_ += table.text();
    more(usage_.names.size() - rows + usage_.names_left_out, "name");
  }

  void rest() {
    text_ += '\n';
    std::string line = fmt::format("{}, {}", counted(recording_.events, "event"),
                                   counted(recording_.hands.size(), "hand-over"));
    for (const auto& [name, count] : recording_.instants) {
      line += fmt::format(", {}", counted(count, replay::shown(name).c_str()));
      if (line.size() > columns_ - 20) break;
    }
    text_ += line + '\n';
    std::size_t shown = 0;
    for (const auto& [name, depth] : recording_.depths) {
      if (shown++ == most_lines) break;
      text_ += fmt::format("{}: at most {}\n", replay::shown(name), grouped(depth));
    }
    if (const auto& tally = recording_.tally) {
      text_ += fmt::format("recorded {}, dropped {}, open at the end {}\n",
                           grouped(tally->recorded), grouped(tally->dropped), grouped(tally->open));
    }
    if (recording_.one_ended > 0) {
      text_ += fmt::format("{} one end only, or end before they begin: left out\n",
                           counted(recording_.one_ended, "hand-over") +
                               (recording_.one_ended == 1 ? " has" : " have"));
    }
    if (recording_.unbegun > 0) {
      text_ +=
          fmt::format("left out: {} without a beginning\n", counted(recording_.unbegun, "slice"));
    }
    if (recording_.unended > 0) {
      text_ += fmt::format("left out: {} without an end\n", counted(recording_.unended, "slice"));
    }
  }

  const Summary& summary_;
  const Recording& recording_;
  const Usage& usage_;
  std::uint64_t wall_;
  std::size_t columns_;
  bool styled_;
  std::vector<const LaneUsage*> lanes_;  // those with slices, the busiest first
  std::string text_;
};

}  // namespace

Summary summarise(const std::string& file, Recording& recording) {
  Usage usage = usage_of(recording);
  const std::vector<double> at_work = usage.at_work();
  CriticalPath path = critical_path(recording, at_work);
  const auto cpu_ns = std::accumulate(
      usage.lanes.begin(), usage.lanes.end(), std::uint64_t{0},
      [](std::uint64_t sum, const LaneUsage& lane) { return sum + lane.on_cpu_ns; });
  auto reruns = reruns_of(recording, at_work, cpu_ns);
  return {file, recording, std::move(usage), std::move(path), reruns};
}

std::string summary_text(const Summary& summary, int columns, bool styled) {
  return SummaryText(summary, columns, styled).text();
}

}  // namespace handoff::lab::tracing

// SPDX-License-Identifier: MIT
#include "tracing/recording.hpp"
#include "harness/user_error.hpp"
#include "replay/chrome_events.hpp"

namespace handoff::lab::tracing {

using replay::ChromeEvent;
using replay::Field;

void Lane::add(const Slice& slice) {
  const std::uint64_t ns = slice.end_ns - slice.start_ns;
  const bool elsewhere = ns > PackedSlice::longest;
  const std::uint64_t kept = elsewhere ? long_ns_.size() : ns;
  slices_.push_back(
      PackedSlice(slice.start_ns, slice.name, static_cast<std::uint32_t>(kept), elsewhere));
  if (elsewhere) long_ns_.push_back(ns);
}

Slice Lane::unpacked(const PackedSlice& slice) const {
  const std::uint64_t start = slice.start_ns();
  const std::uint64_t ns = slice.elsewhere() ? long_ns_[slice.duration()] : slice.duration();
  return {start, start + ns, slice.name()};
}

void Lane::sort() {
  const auto before = [&](const PackedSlice& one, const PackedSlice& other) {
    const Slice a = unpacked(one);
    const Slice b = unpacked(other);
    return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns > b.end_ns;
  };
  const auto all = slices_.all();
  if (!std::ranges::is_sorted(all, before)) std::ranges::sort(all, before);
}

namespace {

constexpr std::size_t most_lanes = 10'000;
constexpr std::size_t deepest = 10'000;          // slices in slices
constexpr std::size_t most_waiting = 1'000'000;  // hand-overs whose other end may still come

class Recorder final : public replay::ChromeSink {
 public:
  Recorder(const replay::TraceFile& file, Recording& recording)
      : file_(file), recording_(recording) {}

  void event(const ChromeEvent& event) override {
    if (event.phase() == 0) return;
    ++recording_.events;
    switch (event.phase()) {
      case 'X': return add_slice(event);
      case 'B': return begin(event);
      case 'E': return end(event);
      case 's': return hand_from(event);
      case 't': return hand_on(event);
      case 'f': return hand_to(event);
      case 'i':
      case 'I': return count(event);
      case 'C': return add_depth(event);
      case 'M': return learn(event);
      default: return;
    }
  }

  void finish(const replay::ChromeEnding& ending) {
    recording_.closed = ending.end == replay::ChromeEnd::closed;
    recording_.torn = ending.end == replay::ChromeEnd::torn;
    recording_.one_ended += waiting_.size() + (last_ ? 1 : 0);
    for (const auto& open : open_) recording_.unended += open.size();
    for (Lane& lane : recording_.lanes) lane.sort();
    const auto before = [](const Hand& a, const Hand& b) { return a.from_ns() < b.from_ns(); };
    const auto hands = recording_.hands.all();
    std::ranges::sort(hands, before);
    if (recording_.last_ns < recording_.first_ns) recording_.first_ns = recording_.last_ns = 0;
  }

 private:
  struct Moment {
    std::uint64_t ns;
    std::uint32_t lane;
  };
  struct Open {
    std::uint64_t start_ns;
    std::uint32_t name;
  };
  struct HandOver {
    std::string id;
    Moment from;
  };

  // Times far from 0 (some tracers count since the machine started) count from the first one on.
  std::uint64_t time_of(const ChromeEvent& event) {
    if (!event.time_ns) {
      file_.fail_at(event.line, fmt::format("an event of phase {} has no ts", event.phase()));
    }
    constexpr std::uint64_t margin = times_end / 4;
    const std::uint64_t time = *event.time_ns;
    if (!base_) base_ = time > times_end / 2 ? time - margin : 0;
    if (time < *base_ || time - *base_ >= times_end) {
      file_.fail_at(event.line, "its ts is days away from that of the first event");
    }
    note(time - *base_);
    return time - *base_;
  }
  void note(std::uint64_t ns) {
    recording_.first_ns = std::min(recording_.first_ns, ns);
    recording_.last_ns = std::max(recording_.last_ns, ns);
  }

  // Most events are of the same thread as the one before.
  std::uint32_t lane_of(const ChromeEvent& event) {
    const std::string_view process = event.at(Field::process);
    const std::string_view thread = event.at(Field::thread);
    auto& lanes = recording_.lanes;
    if (lane_ < lanes.size() && lanes[lane_].process_id == process &&
        lanes[lane_].thread_id == thread) {
      return lane_;
    }
    const auto [found, is_new] = numbers_.emplace(fmt::format("{}\n{}", process, thread),
                                                  static_cast<std::uint32_t>(lanes.size()));
    if (is_new) {
      if (lanes.size() == most_lanes) {
        file_.fail_at(event.line, fmt::format("there are more than {} threads", most_lanes));
      }
      Lane& lane = lanes.emplace_back();
      lane.process_id = process;
      lane.thread_id = thread;
      open_.emplace_back();
    }
    return lane_ = found->second;
  }

  std::uint32_t name_of(const ChromeEvent& event) {
    return recording_.names.number(event.at(Field::category), event.at(Field::name));
  }

  void add_slice(const ChromeEvent& event) {
    const std::uint64_t start = time_of(event);
    if (!event.duration_ns) file_.fail_at(event.line, "an event of phase X has no dur");
    if (start + *event.duration_ns >= times_end) file_.fail_at(event.line, "lasts for days");
    const std::uint64_t end = start + *event.duration_ns;
    note(end);
    const std::uint32_t lane = lane_of(event);
    if (replay::holds_an_arrow(event.at(Field::category))) return;
    recording_.lanes[lane].add({start, end, name_of(event)});
  }

  void begin(const ChromeEvent& event) {
    const std::uint64_t start = time_of(event);
    std::vector<Open>& open = open_[lane_of(event)];
    if (open.size() == deepest) {
      file_.fail_at(event.line,
                    fmt::format("more than {} spans have begun and not ended", deepest));
    }
    open.push_back({start, name_of(event)});
  }

  void end(const ChromeEvent& event) {
    const std::uint64_t end = time_of(event);
    const std::uint32_t lane = lane_of(event);
    std::vector<Open>& open = open_[lane];
    if (open.empty()) {
      ++recording_.unbegun;
      return;
    }
    if (end < open.back().start_ns) file_.fail_at(event.line, "ends a span before it starts");
    recording_.lanes[lane].add({open.back().start_ns, end, open.back().name});
    open.pop_back();
  }

  // The two ends of a hand-over mostly stand together.
  void hand_from(const ChromeEvent& event) {
    if (last_ && waiting_.size() < most_waiting) {
      waiting_.insert_or_assign(last_->id, last_->from);
    } else if (last_) {
      ++recording_.one_ended;
    }
    const std::uint64_t ns = time_of(event);
    last_ = HandOver{std::string(event.at(Field::id)), {ns, lane_of(event)}};
  }
  void hand_to(const ChromeEvent& event) {
    const std::uint64_t ns = time_of(event);
    const std::uint32_t lane = lane_of(event);
    if (last_ && last_->id == event.at(Field::id)) {
      add_hand(last_->from, {ns, lane});
      last_.reset();
      return;
    }
    const auto found = waiting_.find(std::string(event.at(Field::id)));
    if (found == waiting_.end()) {
      ++recording_.one_ended;
      return;
    }
    add_hand(found->second, {ns, lane});
    waiting_.erase(found);
  }
  void hand_on(const ChromeEvent& event) {
    hand_to(event);
    hand_from(event);
  }
  void add_hand(Moment from, Moment to) {
    if (to.ns < from.ns) {
      ++recording_.one_ended;
      return;
    }
    recording_.hands.push_back(Hand(from.ns, from.lane, to.ns, to.lane));
  }

  void count(const ChromeEvent& event) {
    time_of(event);
    lane_of(event);
    ++counter_of(recording_.instants, event.at(Field::name));
  }
  void add_depth(const ChromeEvent& event) {
    time_of(event);
    std::uint64_t& most = counter_of(recording_.depths, event.at(Field::name));
    most = std::max(most, number_in(event, Field::value));
  }
  static std::uint64_t& counter_of(std::map<std::string, std::uint64_t>& counters,
                                   std::string_view name) {
    constexpr std::size_t most_counters = 1000;
    return counters[counters.size() < most_counters ? std::string(name) : "(others)"];
  }

  [[nodiscard]] std::uint64_t number_in(const ChromeEvent& event, Field field) const {
    if (event.at(field).empty()) return 0;
    try {
      return replay::time_ns(event.at(field), 1, "the argument");
    } catch (const std::string& wrong) {
      file_.fail_at(event.line, wrong);
    }
  }

  void learn(const ChromeEvent& event) {
    const std::string_view what = event.at(Field::name);
    if (what == "thread_name") {
      recording_.lanes[lane_of(event)].name = event.at(Field::given_name);
    } else if (what == "process_name") {
      recording_.processes[std::string(event.at(Field::process))] = event.at(Field::given_name);
    } else if (what == "handoff_cpus") {
      recording_.cpus = std::max(recording_.cpus, number_in(event, Field::cpus));
    } else if (what == "handoff_times") {
      std::optional<ThreadTimes>& times = recording_.lanes[lane_of(event)].times;
      if (!times) times.emplace();
      times->cpu_ns += number_in(event, Field::cpu_ns);
      times->ready_ns += number_in(event, Field::ready_ns);
    } else if (what == "handoff_tally") {
      TraceTally& sum = recording_.tally ? *recording_.tally : recording_.tally.emplace();
      sum.recorded += number_in(event, Field::recorded);
      sum.dropped += number_in(event, Field::dropped);
      sum.written += number_in(event, Field::written);
      sum.open += number_in(event, Field::open);
    }
  }

  const replay::TraceFile& file_;
  Recording& recording_;
  std::optional<std::uint64_t> base_;
  std::uint32_t lane_ = 0;
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<std::vector<Open>> open_;  // by lane
  std::optional<HandOver> last_;
  std::unordered_map<std::string, Moment> waiting_;
};

void require_a_trace(const std::filesystem::path& path, std::string_view begin) {
  if (begin.starts_with("\xef\xbb\xbf")) begin.remove_prefix(3);
  const std::size_t first = begin.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) {
    throw UserError(
        "{} is empty: did the program end, and does it use the library? HANDOFF_TRACE=FILE PROGRAM "
        "writes a trace",
        path.string());
  }
  if (begin[first] != '[' && begin[first] != '{') {
    throw UserError("{} is no trace: it begins with '{}', not with [ or {{", path.string(),
                    replay::shown(begin.substr(first, 12)));
  }
}

}  // namespace

std::vector<std::string> Recording::lane_names() const {
  const bool several = std::ranges::any_of(
      lanes, [&](const Lane& lane) { return lane.process_id != lanes.front().process_id; });
  std::vector<std::string> all;
  std::map<std::string, std::size_t> times;
  for (const Lane& lane : lanes) {
    std::string name = lane.name.empty() ? "thread " + lane.thread_id : lane.name;
    if (several) {
      const auto known = processes.find(lane.process_id);
      const std::string process = known == processes.end() ? "process" : known->second;
      name = fmt::format("{}[{}] {}", process, lane.process_id, name);
    }
    all.push_back(replay::shown(name));
    ++times[all.back()];
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (times[all[i]] > 1) all[i] += fmt::format(" ({})", replay::shown(lanes[i].thread_id));
  }
  return all;
}

Recording read_recording(const std::filesystem::path& path, replay::Tick tick) {
  replay::TraceFile file(path, std::move(tick));
  require_a_trace(path, file.peek());
  Recording recording;
  recording.first_ns = times_end;
  Recorder recorder(file, recording);
  recorder.finish(replay::read_chrome_events(file, recorder));
  if (recording.events == 0) {
    throw UserError("{} has no events: is it a trace?", path.string());
  }
  return recording;
}

}  // namespace handoff::lab::tracing

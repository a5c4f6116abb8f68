// SPDX-License-Identifier: MIT
// `handoff replay`: a trace of one's own program under every way, and which one to take.
#include "commands/commands.hpp"
#include "commands/output.hpp"
#include "commands/session.hpp"
#include "harness/cpus.hpp"
#include "replay/read_trace.hpp"
#include "report/json.hpp"
#include "report/replay_report.hpp"
#include "scenarios/replay/scenario.hpp"

namespace handoff::lab {
namespace {

// The launches of a replay: all ways take turns in each, until every makespan is known well enough
// or the time is over. A launch that other programs disturbed is thrown away and repeated. The
// command shows how far it is, on a terminal or not.

struct ReplayPlan {
  std::optional<std::size_t> launches;  // so many; nothing: see above
  std::chrono::duration<double> time{};  // for all of it, but for one launch, which there always is
  bool ends_in_time = true;  // else when the launches were made, however long they take
  std::uint64_t seed = 0;
};

constexpr int most_rounds = 3;  // of a launch: the median leaves out the burst that something hit
constexpr int most_in_a_row = 3;  // disturbed launches: then they are kept

Clock::duration in_clock(std::chrono::duration<double> time) {
  return std::chrono::duration_cast<Clock::duration>(time);
}

std::string counted(std::size_t launches) {
  return fmt::format("{} launch{}", launches, launches == 1 ? "" : "es");
}

// Progress draws on a terminal. Elsewhere this prints a line now and then.
class SignsOfLife {
 public:
  explicit SignsOfLife(Clock::time_point end) : silent_(isatty(STDERR_FILENO) == 1), end_(end) {}

  void begin(std::size_t ways, const ReplayPlan& plan) {
    const std::string until = plan.ends_in_time ? fmt::format("{:.0f} s at most", left_s())
                                                : counted(plan.launches.value_or(1));
    say(fmt::format("replaying in {} ways in turns: {}", ways, until));
  }
  void launched(std::size_t launches) {
    constexpr std::chrono::seconds often_enough(10);
    if (Clock::now() - said_ < often_enough) return;
    say(fmt::format("replaying: launched {} times, {:.0f} s left", launches, left_s()));
  }

 private:
  [[nodiscard]] double left_s() const {
    return std::max(0.0, std::chrono::duration<double>(end_ - Clock::now()).count());
  }
  void say(const std::string& line) {
    said_ = Clock::now();
    if (!silent_) fmt::print(stderr, "{}\n", line);
  }

  bool silent_;
  Clock::time_point end_;
  Clock::time_point said_;
};

class Replays {
 public:
  Replays(Session& session, std::vector<Measurement>& ways, const ReplayPlan& plan,
          Clock::time_point end)
      : session_(session), ways_(ways), plan_(plan), end_(end), signs_(end) {
    for (Measurement& way : ways) all_.push_back(&way);
    if (plan.ends_in_time) {
      progress_.emplace(end_);
    } else {
      progress_.emplace(static_cast<int>(plan.launches.value_or(1)));
    }
    signs_.begin(ways.size(), plan);
  }

  void measure() {
    while (!is_enough()) add_launch();
  }

  // Why the figures are not enough to tell, whatever they are; empty: they may be.
  [[nodiscard]] std::string too_few() const {
    if (plan_.launches || launches_ >= kLooks.front()) return "";
    return fmt::format("{} in the time; at least {} are needed", counted(launches_),
                       kLooks.front());
  }

  // What happened on the machine; nothing where it was not watched.
  [[nodiscard]] std::optional<BlockReport> report() const {
    return seen_.report(repeats_, disturbed_);
  }

 private:
  [[nodiscard]] bool is_enough() const {
    if (std::ranges::none_of(ways_, goes_on)) return launches_ > 0 || tried_;
    if (plan_.launches && launches_ >= *plan_.launches) return true;
    if (plan_.ends_in_time && launches_ > 0 && Clock::now() + slowest_ > end_) return true;
    if (plan_.launches || launches_ < kLooks.front()) return false;
    const bool is_look = contains(kLooks, launches_);
    return launches_ >= kLooks.back() || (is_look && are_steady());
  }

  static bool goes_on(const Measurement& way) { return way.status == RowStatus::ok; }

  [[nodiscard]] bool are_steady() const {
    constexpr int resamples = 500;
    return std::ranges::all_of(ways_, [&](const Measurement& way) {
      if (!goes_on(way)) return true;
      const Interval bounds = interval(resample(metric_of(way), plan_.seed, resamples));
      return is_steady(bounds.low, bounds.high);
    });
  }

  void add_launch() {
    const auto start = Clock::now();
    tried_ = true;
    const std::size_t wanted = plan_.launches.value_or(kLooks.front());
    const std::size_t missing = std::max<std::size_t>(wanted - std::min(wanted, launches_), 1);
    const auto share = (end_ - start) / static_cast<int>(missing);
    const auto seen = session_.bench().add_launch(all_, most_rounds, start + share, *progress_);
    const auto took = Clock::now() - start;
    slowest_ = std::max(slowest_, took);
    if (seen && !keep(*seen, std::chrono::duration<double>(took).count())) return;
    ++launches_;
    progress_->step();
    signs_.launched(launches_);
  }

  // A slow machine is slow for all that take turns, and pieces compute by the clock of their CPU.
  bool keep(const Disturbance& seen, double took_s) {
    seen_.add(seen, took_s);
    const bool disturbed = !seen.reason.empty() && !seen.only_slow;
    in_a_row_ = disturbed ? in_a_row_ + 1 : 0;
    if (!disturbed) return true;
    if (in_a_row_ >= most_in_a_row || Clock::now() + slowest_ > end_) {
      disturbed_ = seen.reason;
      return true;
    }
    for (Measurement& way : ways_) {
      if (!way.launches.empty()) erase_launch(way, way.launches.size() - 1);
    }
    ++repeats_;
    return false;
  }

  Session& session_;
  std::vector<Measurement>& ways_;
  const ReplayPlan& plan_;
  std::vector<Measurement*> all_;
  Clock::time_point end_;
  SignsOfLife signs_;
  std::optional<Progress> progress_;
  std::size_t launches_ = 0;  // that are kept
  bool tried_ = false;
  Clock::duration slowest_{};  // launch
  int repeats_ = 0;
  int in_a_row_ = 0;
  std::string disturbed_;  // why the last one that was kept was; empty: none was
  Disturbances seen_;
};

// Adds the block to the session. Throws Interrupted, and then what was measured is there.
void measure_replays(Session& session, Scenario& scenario, const Session::Block& block,
                     const ReplayPlan& plan) {
  session.build({block});
  const Clock::time_point end = Clock::now() + in_clock(plan.time);
  {
    Progress progress(end);
    progress.show("how fast and how steady the machine is");
    session.prepare(scenario, {block});
  }
  std::vector<Measurement> ways = session.measurements_of(scenario, block);
  Replays replays(session, ways, plan, end);
  try {
    replays.measure();
  } catch (const Interrupted&) {
    session.end_early();
    session.finish(scenario, ways, {});
    throw;
  }
  const std::optional<BlockReport> report = replays.report();
  const std::string disturbed = report ? report->seen.reason : "";
  const std::string reason = disturbed.empty() ? replays.too_few() : disturbed;
  for (Measurement& way : ways) {
    if (reason.empty() || way.status != RowStatus::ok) continue;
    way.status = RowStatus::noisy;
    way.reason = reason;
  }
  session.finish(scenario, ways, report);
}

constexpr std::size_t most_width = 64;

std::filesystem::path trace_of(const ReplayOptions& options) {
  if (options.file.empty() == options.from_ninja.empty()) {
    throw UserError("replay takes one trace: handoff replay FILE, or --from-ninja BUILD_FOLDER");
  }
  if (options.from_ninja.empty()) return options.file;
  const std::filesystem::path log = options.from_ninja / ".ninja_log";
  if (!std::filesystem::exists(log)) {
    throw UserError("--from-ninja: there is no {}; ninja writes it into its build folder",
                    log.string());
  }
  return log;
}

std::size_t width_of(const ReplayOptions& options) {
  const std::size_t cpus = allowed_cpus().size();
  const std::size_t width = options.width.value_or(std::clamp<std::size_t>(cpus, 1, most_width));
  if (width >= 1 && width <= most_width) return width;
  throw UserError("--width takes 1 to {} threads, not {}", most_width, width);
}

// Starts in a trace are when its pieces came, unless a scheduler chose them. Those that are not
// there cannot be kept.
bool keeps_arrivals(const ReplayOptions& options, const replay::Trace& trace) {
  if (options.arrivals.empty()) return trace.has_starts && trace.starts_are_arrivals;
  if (options.arrivals != "kept" && options.arrivals != "at-once") {
    throw UserError("--arrivals takes kept or at-once, not '{}'", options.arrivals);
  }
  if (options.arrivals == "kept" && !trace.has_starts) {
    throw UserError("--arrivals kept needs starts, and the trace has no such column");
  }
  return options.arrivals == "kept";
}

replay::Trace read(const std::filesystem::path& path, Interrupt& interrupt) {
  ReadProgress progress(path, interrupt);
  return replay::read_trace(path, [&](std::uint64_t bytes) { progress.show(bytes); });
}

// A replay is an operation, and long enough to be a burst by itself.
MeasureOptions how_to_measure(const ReplayOptions& options) {
  constexpr double usual_s = 90;
  MeasureOptions how = options.measure;
  how.burst = std::chrono::nanoseconds(1);
  if (how.quick && !how.launches) how.launches = 1;
  if (!how.time_budget_s && !how.quick) how.time_budget_s = usual_s;
  return how;
}

ReplayPlan plan_of(const Session& session, const MeasureOptions& how, const MeasureOptions& asked) {
  ReplayPlan plan{{}, session.plan().budget, true, session.plan().seed};
  if (how.launches) plan.launches = static_cast<std::size_t>(*how.launches);
  plan.ends_in_time = !how.launches || asked.time_budget_s;
  return plan;
}

void require_speed(const ReplayOptions& options) {
  constexpr double least = 1e-6;
  constexpr double most = 1e9;
  const double speed = options.speed.value_or(1);
  if (speed >= least && speed <= most) return;
  throw UserError("--speed takes {} to {}, as 100 for a hundred times as fast, not {}", least, most,
                  speed);
}

}  // namespace

int replay_trace(const ReplayOptions& options) {
  const std::filesystem::path path = trace_of(options);
  require_speed(options);
  require_output(options.measure.output, {path});
  replay::LoadChoice choice{width_of(options), true, options.speed};
  Interrupt interrupt;
  const replay::Trace trace = read(path, interrupt);
  choice.keeps_arrivals = keeps_arrivals(options, trace);
  const auto load = std::make_shared<const replay::Load>(trace, choice);
  if (load->bounds().lower_ns() == 0) {
    throw UserError(
        "at a speed of {} nothing is left to replay: all of {} takes less "
        "than a nanosecond; choose a smaller --speed",
        load->speed(), path.string());
  }
  Scenario scenario(replay::scenario(load));
  const MeasureOptions how = how_to_measure(options);
  Session session(how, interrupt);
  const Cell cell("makespan", {{"pieces", fmt::format("{}", trace.pieces.size())},
                               {"arrivals", choice.keeps_arrivals ? "kept" : "at-once"},
                               {"keys", trace.has_keys ? "some" : "none"},
                               {"width", fmt::format("{}", choice.width)}});
  std::vector<Contender> ways = contenders_of("replay", session.contenders());
  std::erase_if(ways, [&](const Contender& way) { return !way.applies(cell); });
  const Session::Block block = block_of(chosen(ways, options.contenders), cell);
  const auto interrupted = until_interrupted(session, [&] {
    measure_replays(session, scenario, block, plan_of(session, how, options.measure));
  });
  const std::string busy = session.busy();
  if (!busy.empty()) fmt::print(stderr, "{}\n", busy);
  const ReplayReport report = replay_report(path.string(), trace, *load, choice, session.rows());
  keep_and_show([&] { write_result(options.measure, session.result()); },
                [&] { write_text({}, options.json ? to_json_text(report) : replay_text(report)); });
  if (interrupted) return exit_code::signal + interrupted->signal;
  if (session.broken()) return exit_code::broken;
  return report.is_told() ? exit_code::ok : exit_code::too_noisy;
}

}  // namespace handoff::lab

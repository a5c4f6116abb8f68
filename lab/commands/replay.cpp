// SPDX-License-Identifier: MIT
// `handoff replay`: a trace of one's own program under every way, and which one to take.
#include "commands/commands.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "commands/output.hpp"
#include "commands/replay_launches.hpp"
#include "commands/session.hpp"
#include "harness/cpus.hpp"
#include "harness/user_error.hpp"
#include "replay/read_trace.hpp"
#include "report/json.hpp"
#include "report/replay_report.hpp"
#include "scenarios/replay/scenario.hpp"

namespace handoff::lab {
namespace {

constexpr std::size_t most_width = 64;

std::filesystem::path trace_of(const ReplayOptions& options) {
  if (options.file.empty() == options.from_ninja.empty()) {
    throw UserError("replay takes one trace: handoff replay FILE, or --from-ninja BUILD_FOLDER");
  }
  if (options.from_ninja.empty()) return options.file;
  const std::filesystem::path log = options.from_ninja / ".ninja_log";
  if (!std::filesystem::exists(log)) {
    throw UserError(fmt::format(
        "--from-ninja: there is no {}; ninja writes it into its build folder", log.string()));
  }
  return log;
}

std::size_t width_of(const ReplayOptions& options) {
  const std::size_t cpus = allowed_cpus().size();
  const std::size_t width = options.width.value_or(std::clamp<std::size_t>(cpus, 1, most_width));
  if (width >= 1 && width <= most_width) return width;
  throw UserError(fmt::format("--width takes 1 to {} threads, not {}", most_width, width));
}

// Starts in a trace are when its pieces came, unless a scheduler chose them. Those that are not
// there cannot be kept.
bool keeps_arrivals(const ReplayOptions& options, const replay::Trace& trace) {
  if (options.arrivals.empty()) return trace.has_starts && trace.starts_are_arrivals;
  if (options.arrivals != "kept" && options.arrivals != "at-once") {
    throw UserError(fmt::format("--arrivals takes kept or at-once, not '{}'", options.arrivals));
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
  throw UserError(fmt::format("--speed takes {} to {}, as 100 for a hundred times as fast, not {}",
                              least, most, speed));
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
        fmt::format("at a speed of {} nothing is left to replay: all of {} takes less "
                    "than a nanosecond; choose a smaller --speed",
                    load->speed(), path.string()));
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
  std::optional<Interrupted> interrupted;
  try {
    measure_replays(session, scenario, block, plan_of(session, how, options.measure));
  } catch (const Interrupted& signal) {
    if (session.rows().empty()) throw;
    interrupted = signal;
  }
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

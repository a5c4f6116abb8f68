// SPDX-License-Identifier: MIT
// `handoff trace`: what a trace says, of a program or of a scenario's contender.
#include "commands/commands.hpp"
#include "commands/output.hpp"
#include "commands/session.hpp"
#include "harness/atomic_file.hpp"
#include "harness/build_tree.hpp"
#include "harness/temporary_folder.hpp"
#include "tracing/flames.hpp"
#include "tracing/summary.hpp"

namespace handoff::lab {
namespace {

namespace fs = std::filesystem;

// A trace of one contender of a scenario.

struct Traced {
  Contender contender;
  Cell cell;
};

std::vector<Contender> contenders_of(const Scenario& scenario, const TraceOptions& options) {
  std::vector<Contender> all = contenders_of(scenario.name(), read_contenders(options.manifests));
  if (options.contender.empty()) {
    std::erase_if(all, [](const Contender& one) { return one.kind() != "own" || !one.built(); });
    return all;
  }
  std::vector<std::string> names;
  for (const Contender& one : all) names.push_back(one.name);
  std::erase_if(all, [&](const Contender& one) { return one.name != options.contender; });
  if (all.empty()) {
    throw UserError("--contender: {} has no '{}'; {}", scenario.name(), options.contender,
                    nearest_name(options.contender, names));
  }
  if (!all.front().built()) {
    throw UserError("--contender: {}: {}", options.contender, all.front().why_not_built());
  }
  return all;
}

// The first cell in which one of them can be traced.
Traced choose(const Scenario& scenario, const TraceOptions& options) {
  const std::vector<Contender> contenders = contenders_of(scenario, options);
  std::vector<std::string> metrics;
  if (!options.metric.empty()) metrics.push_back(options.metric);
  for (const Cell& cell : scenario.cells(values_of(options.settings), metrics)) {
    for (const Contender& contender : contenders) {
      if (contender.applies(cell)) return {contender, cell};
    }
  }
  throw UserError(
      "scenario '{}': {} applies to none of the cells; `handoff list` says where it applies",
      scenario.name(), options.contender.empty() ? "no own.* contender" : options.contender);
}

// Starts one contender with HANDOFF_TRACE, has it work for a short burst, checks its answer and
// lets it end. Returns what was traced, in words. Throws UserError if there is no such thing to
// trace, Dropped if it breaks.
std::string trace_contender(const TraceOptions& options, const std::filesystem::path& into,
                            Interrupt& interrupt) {
  const Scenarios scenarios = all_scenarios();
  Scenario& scenario = scenario_named(scenarios, options.what);
  const auto [contender, cell] = choose(scenario, options);
  build_missing({contender}, interrupt);
  const auto problem = scenario.problem(cell);
  const std::vector<Variable> variables{{"HANDOFF_TRACE", into.string()}};
  const auto patience = std::max<std::chrono::nanoseconds>(std::chrono::seconds(60),
                                                           4 * problem->slowest_operation());
  Launch launch(contender, *problem, variables, {}, interrupt);
  launch.prepare(cell, patience);
  static_cast<void>(launch.burst(std::chrono::milliseconds(20), patience));
  if (auto fault = problem->fault(contender.kind() == "limit", launch.answer())) {
    throw Dropped{RowStatus::wrong, *fault};
  }
  launch.finish(patience);
  launch.leave(patience);
  return fmt::format("{} {}, {} {}", scenario.name(), contender.name, cell.metric(), cell.text());
}

// Of a trace that a contender has written into a folder that goes away.
void keep(const fs::path& trace, const fs::path& output) {
  std::error_code failed;
  fs::rename(trace, output, failed);
  if (failed) {
    throw UserError("{}: cannot be written: {}", output.string(), failed.message());
  }
}

bool is_scenario(const std::string& name, std::vector<std::string>& names) {
  for (const auto& scenario : all_scenarios()) names.push_back(scenario->name());
  return contains(names, name);
}

// A file goes first: its name is what was typed.
bool names_a_file(const TraceOptions& options) {
  std::error_code not_there;
  const bool for_a_contender = !options.contender.empty() || !options.settings.empty() ||
                               !options.metric.empty() || !options.output.empty();
  std::vector<std::string> names;
  const bool scenario = is_scenario(options.what, names);
  const bool file = fs::exists(options.what, not_there) &&
                    !(scenario && fs::is_directory(options.what, not_there));
  if (file && !(scenario && for_a_contender)) {
    if (!for_a_contender) return true;
    throw UserError("{} is a file: --contender, --set, --metric and --output go with a scenario",
                    options.what);
  }
  if (scenario) return false;
  const bool path = options.what.find_first_of("/.") != std::string::npos;
  throw UserError(path ? fmt::format("{} cannot be read: there is no such file", options.what)
                       : fmt::format("there is no file '{0}' and no scenario '{0}'; {1}",
                                     options.what, nearest_name(options.what, names)));
}

tracing::Recording read_recording(const fs::path& path, Interrupt& interrupt) {
  ReadProgress progress(path, interrupt);
  return tracing::read_recording(path, [&](std::uint64_t bytes) { progress.show(bytes); });
}

void summarise(const TraceOptions& options, const fs::path& shown, tracing::Recording& recording) {
  const std::string source = replay::shown(shown.filename().string());
  if (!options.flame.empty()) {
    write_atomically(options.flame, tracing::flame_svg(tracing::on_cpu_flames(recording), source));
  }
  if (!options.off_cpu.empty()) {
    write_atomically(options.off_cpu,
                     tracing::flame_svg(tracing::off_cpu_flames(recording), source));
  }
  const tracing::Summary summary = tracing::summarise(shown.string(), recording);
  write_text({}, options.json
                     ? to_json_text(summary)
                     : summary_text(summary, columns_of(STDOUT_FILENO), may_style(STDOUT_FILENO)));
}

void require_outputs(const TraceOptions& options, const std::vector<fs::path>& inputs) {
  require_output(options.flame, inputs, "--flame");
  require_output(options.off_cpu, inputs, "--off-cpu");
  const auto whole = [](const fs::path& path) { return fs::weakly_canonical(fs::absolute(path)); };
  const std::vector<fs::path> all{options.output, options.flame, options.off_cpu};
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = i + 1; j < all.size(); ++j) {
      if (all[i].empty() || all[j].empty() || whole(all[i]) != whole(all[j])) continue;
      throw UserError("{} is to be written twice: name two files", all[i].string());
    }
  }
}

// The contender has ended well, so its trace has an end, unless the disk had none for it.
void require_whole(const tracing::Recording& recording, const fs::path& path) {
  if (recording.closed) return;
  throw UserError("{}: the trace could not be written whole: is the disk full?",
                  path.parent_path().parent_path().string());
}

int of_scenario(const TraceOptions& options, Interrupt& interrupt) {
  if (!options.output.empty()) require_writable(options.output);
  require_outputs(options, {});
  const fs::path& output = options.output;
  const TemporaryFolder folder("handoff_trace", output.empty()
                                                    ? fs::temp_directory_path()
                                                    : fs::absolute(output).parent_path());
  const fs::path trace = folder.path() / "trace.json";
  std::string traced;
  try {
    traced = trace_contender(options, trace, interrupt);
  } catch (const Dropped& dropped) {
    if (!is_broken(dropped.status)) throw UserError(dropped.reason);
    throw std::runtime_error(dropped.reason);
  }
  if (!fs::exists(trace)) {
    throw UserError("{} wrote no trace: contenders that use this library (own.*) do",
                    options.contender.empty() ? options.what : options.contender);
  }
  tracing::Recording recording = read_recording(trace, interrupt);
  require_whole(recording, trace);
  fmt::print(stderr, "{}\n", traced);
  if (!output.empty()) keep(trace, output);
  summarise(options, output.empty() ? fs::path(options.what) : output, recording);
  return exit_code::ok;
}

}  // namespace

int show_trace(const TraceOptions& options) {
  Interrupt interrupt;
  if (!names_a_file(options)) return of_scenario(options, interrupt);
  require_outputs(options, {options.what});
  tracing::Recording recording = read_recording(options.what, interrupt);
  summarise(options, options.what, recording);
  return exit_code::ok;
}

}  // namespace handoff::lab

// SPDX-License-Identifier: MIT
// The program `handoff`: reads the command line, runs a command, turns what went wrong into one
// line on stderr and an exit code.
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "commands/gate.hpp"
#include "commands/list.hpp"
#include "commands/run.hpp"
#include "harness/environment.hpp"
#include "harness/interrupt.hpp"
#include "harness/nearest_name.hpp"
#include "harness/user_error.hpp"

namespace handoff::lab {
namespace {

void add_measure_options(CLI::App& command, MeasureOptions& options) {
  command.add_option("--launches", options.launches, "new processes of each contender (default 5)");
  command.add_option("--time-budget", options.time_budget_s, "seconds for a cell (default 20)");
  command.add_flag("--quick", options.quick, "3 launches and 8 s for a cell");
  command.add_option("--seed", options.seed, "of the random order (default: a new one)")
      ->check([](const std::string& text) {
        return std::string(text.starts_with('-') ? "it is not below 0" : "");
      });
  command.add_option("--output", options.output, "write the result file there")
      ->type_name("FILE");
  command.add_option("--manifest", options.manifests, "a list of more contenders")
      ->allow_extra_args(false)
      ->type_name("FILE");
}

CLI::App* add_run(CLI::App& program, RunOptions& options) {
  CLI::App* run = program.add_subcommand("run", "measure scenarios, or multiply real matrices");
  run->add_option("scenario", options.scenarios, "which ones (default: all)");
  run->add_option("--set", options.settings, "values of a parameter, each a cell of its own")
      ->allow_extra_args(false)
      ->type_name("PARAMETER=VALUE,...");
  run->add_option("--contenders", options.contenders, "which ones, as in own.*,peer.open*")
      ->allow_extra_args(false)
      ->delimiter(',')
      ->type_name("PATTERN,...");
  add_measure_options(*run, options.measure);
  run->add_flag("--json", options.json, "the result file on stdout, no tables");
  run->add_option("--page", options.page, "write an HTML page there")->type_name("FILE");
  run->add_option("--a", options.a, "matmul: left matrix, NumPy file")->type_name("A.npy");
  run->add_option("--b", options.b, "matmul: right matrix, NumPy file")->type_name("B.npy");
  run->add_option("--result", options.result, "matmul: write their product")->type_name("C.npy");
  return run;
}

CLI::App* add_gate(CLI::App& program, GateOptions& options) {
  CLI::App* gate = program.add_subcommand("gate", "measure the figures that must hold");
  gate->add_option("figures", options.figures, "the figures, a TOML file")->required();
  gate->add_option("--results", options.results, "judge a result file instead of measuring")
      ->type_name("FILE");
  add_measure_options(*gate, options.measure);
  gate->get_option("--results")->excludes("--output");
  return gate;
}

// One line; for an unknown command with the one that was probably meant.
std::string bad_usage(const CLI::ParseError& error, const CLI::App& program, int argc,
                      char** argv) {
  std::vector<std::string> names;
  for (const CLI::App* command : program.get_subcommands(nullptr)) {
    names.push_back(command->get_name());
  }
  const std::string first = argc > 1 ? argv[1] : "";
  const bool known = std::find(names.begin(), names.end(), first) != names.end();
  if (!first.empty() && first.front() != '-' && !known) {
    return fmt::format("there is no command '{}'; {}", first, nearest_name(first, names));
  }
  const std::string what = error.what();
  return fmt::format("{} (--help explains)", what.substr(0, what.find('\n')));
}

int command(int argc, char** argv) {
  CLI::App program("Ways to hand work to threads and processes, measured side by side.", "handoff");
  program.require_subcommand(1);
  program.set_version_flag("--version", build_description());
  RunOptions run_options;
  GateOptions gate_options;
  MeasureOptions list_options;
  const CLI::App* run_command = add_run(program, run_options);
  const CLI::App* gate_command = add_gate(program, gate_options);
  program.add_subcommand("list", "what can be measured, and with what")
      ->add_option("--manifest", list_options.manifests, "a list of more contenders")
      ->type_name("FILE");
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& asked_for_help) {
    return program.exit(asked_for_help);
  } catch (const CLI::ParseError& error) {
    throw UserError(bad_usage(error, program, argc, argv));
  }
  run_options.measure.command_line.assign(argv, argv + argc);
  gate_options.measure.command_line = run_options.measure.command_line;
  if (run_command->parsed()) return run(run_options);
  if (gate_command->parsed()) return gate(gate_options);
  return list(list_options);
}

}  // namespace
}  // namespace handoff::lab

int main(int argc, char** argv) {
  using namespace handoff::lab;
  try {
    return command(argc, argv);
  } catch (const UserError& error) {
    fmt::print(stderr, "handoff: {}\n", error.what());
    return exit_code::bad_usage;
  } catch (const Interrupted& interrupted) {
    return exit_code::signal + interrupted.signal;
  } catch (const std::exception& failure) {
    fmt::print(stderr, "handoff: {}\n", failure.what());
    return exit_code::broken;
  }
}

// SPDX-License-Identifier: MIT
// The program `handoff`: reads the command line, runs a command, turns what went wrong into one
// line on stderr and an exit code.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <type_traits>

#include <CLI/CLI.hpp>

#include "commands/commands.hpp"
#include "commands/guard.hpp"
#include "harness/environment.hpp"
#include "harness/interrupt.hpp"
#include "harness/plain_text.hpp"
#include "harness/user_error.hpp"

namespace handoff::lab { namespace {

template <class Number>
bool does_not_fit(const std::string& text) {
  Number number = 0;
  return std::from_chars(text.data(), text.data() + text.size(), number).ec ==
         std::errc::result_out_of_range;
}

// CLI11 takes -1, and what does not fit, for the largest number there is.
std::string not_below_0(const std::string& text) {
  if (text.starts_with('-')) return "must not be below 0";
  return does_not_fit<std::uint64_t>(text) ? "must be below 2^64" : "";
}

// CLI11 says of a number that fits no int only that it could not convert it.
std::function<std::string(const std::string&)> from_1_to(int most) {
  return [most](const std::string& text) {
    return does_not_fit<int>(text) ? fmt::format("must be 1 to {}", most) : "";
  };
}

template <class Value>
CLI::Option* value(CLI::App& command, const char* name, Value& target, const char* help,
                   const char* type) {
  return command.add_option(name, target, help)->type_name(type);
}

template <class Value>
CLI::Option* number(CLI::App& command, const char* name, Value& target, const char* help) {
  return command.add_option(name, target, help)->check(not_below_0);
}

// One each time that it is given.
template <class Value>
CLI::Option* values(CLI::App& command, const char* name, Value& target, const char* help,
                    const char* type) {
  return command.add_option(name, target, help)->allow_extra_args(false)->type_name(type);
}

void manifests(CLI::App& command, std::vector<std::filesystem::path>& lists) {
  values(command, "--manifest", lists, "file that lists more contenders", "FILE");
}

void settings(CLI::App& command, std::vector<std::string>& target) {
  values(command, "--set", target, "values of a parameter, each in its own cell",
         "PARAMETER=VALUE,...");
}

// Of names that are divided by commas.
void names(CLI::App& command, const char* name, std::vector<std::string>& target, const char* help,
           const char* type) {
  values(command, name, target, help, type)->delimiter(',');
}

void metrics(CLI::App& command, std::vector<std::string>& target) {
  names(command, "--metrics", target, "metrics to measure (default: all)", "METRIC,...");
}

void no_probe(CLI::App& command, MeasureOptions& options) {
  command.add_flag("--no-probe", options.no_probe,
                   "do not watch for other programs that disturb it");
}

void add_measure_options(CLI::App& command, MeasureOptions& options) {
  command.add_option("--launches", options.launches, "new processes per contender (default 5)")
      ->check(from_1_to(most_launches));
  command.add_option("--time-budget", options.time_budget_s, "seconds per cell (default 20)");
  command.add_flag("--quick", options.quick,
                   "3 launches and 8 s per cell; a run of all scenarios is only an overview");
  command.add_flag("--no-probe", options.no_probe,
                   "trust the machine: do not watch for other programs that disturb it");
  number(command, "--seed", options.seed, "seed of the random order (default: a new one)");
  value(command, "--output", options.output, "write the results to FILE", "FILE");
  manifests(command, options.manifests);
}

CLI::App* add_run(CLI::App& program, RunOptions& options) {
  CLI::App* run = program.add_subcommand("run", "measure scenarios, or multiply your matrices");
  run->add_option("scenario", options.scenarios,
                  "scenarios to measure (default: all), or rungs of the ladder, measured longer");
  settings(*run, options.settings);
  metrics(*run, options.metrics);
  names(*run, "--contenders", options.contenders, "contenders to run, such as own.*,peer.open*",
        "PATTERN,...");
  add_measure_options(*run, options.measure);
  value(*run, "--wait-quiet", options.wait_quiet_s,
        "wait up to SECONDS for other programs to use less than 0.1 CPUs", "SECONDS");
  value(*run, "--kill", options.kill,
        "matmul: kill RATE random workers a second, and show what that costs", "RATE");
  run->add_flag("--json", options.json, "print the results as JSON, no tables");
  run->add_flag("--targets", options.targets, "only list the build targets that this run needs");
  run->add_flag("--verbose", options.verbose, "print the tables of an overview too");
  value(*run, "--page", options.page, "write an HTML page to FILE", "FILE");
  value(*run, "--a", options.a, "matmul: left matrix, NumPy file", "A.npy");
  value(*run, "--b", options.b, "matmul: right matrix, NumPy file", "B.npy");
  value(*run, "--result", options.result, "matmul: write the product to C.npy", "C.npy");
  return run;
}

CLI::App* add_gate(CLI::App& program, GateOptions& options) {
  CLI::App* gate = program.add_subcommand("gate", "measure figures and check their bounds");
  gate->footer(
      "A figure holds if its whole 99 % interval is inside the bound, and falls short if the "
      "whole\n"
      "interval is outside. Else it is measured again; after the last pass it is open.\n"
      "exit code: 3 if a figure falls short, else 4 if one is open or unmeasured, else 0");
  gate->add_option("figures", options.figures, "TOML file with the figures")->required();
  gate->add_option("part", options.parts,
                   "only figures with this in their name, or of this scenario (default: all)");
  value(*gate, "--results", options.results, "judge a result file instead of measuring", "FILE");
  gate->add_option("--passes", options.passes,
                   "at most this many passes (default 4); each measures the open figures again")
      ->check(from_1_to(most_passes));
  add_measure_options(*gate, options.measure);
  gate->remove_option(gate->get_option("--output"));
  value(*gate, "--keep", options.keep,
        "store each measured block in DIR, and go on from the blocks that are there", "DIR")
      ->excludes("--results");
  return gate;
}

CLI::App* add_guard(CLI::App& program, GuardOptions& options) {
  CLI::App* guard = program.add_subcommand(
      "guard", "check whether this build is slower than a revision in a few cells");
  guard->footer(
      "A cell is worse only if its whole 99 % interval is beyond 3 % (or beyond the measured\n"
      "difference of two equal builds, if that is more), in two runs with different layouts.\n"
      "exit code: 3 if a cell is worse, else 4 if one is undecided, else 0; with --plant 3 unless\n"
      "17 of 20 planted cells are found and no other cell is called worse");
  guard->add_option("cells", options.cells, "TOML file with the cells")->required();
  CLI::Option* revision =
      value(*guard, "--ref", options.revision,
            "build this revision's contenders from the git clone in the current folder", "GITREF");
  value(*guard, "--within", options.within_s,
        "seconds for all of it, with the build (default and maximum: 1500)", "SECONDS")
      ->check(CLI::Range(1.0, std::chrono::duration<double>(kMostGuardTime).count()));
  value(*guard, "--plant", options.planted,
        "test the guard: slow down half of the cells by PERCENT", "PERCENT")
      ->check(CLI::Range(1, 100));
  CLI::Option* targets = guard->add_flag("--targets", options.targets,
                                         "only list the build targets that the guard needs");
  revision->excludes(targets);
  no_probe(*guard, options.measure);
  number(*guard, "--seed", options.measure.seed, "seed of the random order (default: a new one)");
  manifests(*guard, options.measure.manifests);
  return guard;
}

CLI::App* add_compare(CLI::App& program, CompareOptions& options) {
  CLI::App* compare =
      program.add_subcommand("compare", "compare two result files, or a revision and this build");
  compare->footer("exit code: 3 if a row is worse, else 4 if a row is too noisy, else 0");
  value(*compare, "what", options.what, "result files before and now; with --ref: scenarios",
        "FILE FILE | SCENARIO...");
  CLI::Option* revision =
      value(*compare, "--ref", options.revision,
            "build this revision from the git clone in the current folder and measure its own.* "
            "contenders alternately with those of this build",
            "GITREF");
  settings(*compare, options.settings);
  metrics(*compare, options.metrics);
  add_measure_options(*compare, options.measure);
  for (CLI::Option* option : compare->get_options()) {
    if (!option->get_positional() && option != revision && option->get_name() != "--help") {
      option->needs(revision);  // files are not measured
    }
  }
  compare->add_flag("--json", options.json, "print the comparison as JSON");
  return compare;
}

CLI::App* add_report(CLI::App& program, ReportOptions& options) {
  CLI::App* report = program.add_subcommand(
      "report", "make one HTML page from result files of one machine or several");
  value(*report, "results", options.results, "result files of `run --output`", "FILE")->required();
  value(*report, "-o,--output", options.output, "write the page to FILE (default: stdout)", "FILE");
  value(*report, "--ladder", options.ladder,
        "write the ladder to FILE as an SVG picture; a page only with --output", "FILE");
  return report;
}

CLI::App* add_export(CLI::App& program, ExportOptions& options) {
  CLI::App* command = program.add_subcommand("export", "convert a result file to another format");
  value(*command, "result", options.result, "a result file of `run --output`", "FILE")->required();
  value(*command, "--to", options.form, "google-benchmark (JSON), csv, markdown or ladder", "FORM")
      ->required();
  value(*command, "-o,--output", options.output, "write it to FILE (default: stdout)", "FILE");
  return command;
}

CLI::App* add_doctor(CLI::App& program, DoctorOptions& options) {
  CLI::App* doctor =
      program.add_subcommand("doctor", "check whether this machine is fit for measuring");
  doctor->add_flag("--json", options.json, "print JSON");
  value(*doctor, "--output", options.output, "write the JSON to FILE", "FILE");
  manifests(*doctor, options.manifests);
  CLI::Option* test = doctor->add_flag("--self-test", options.self_test,
                                       "check verdicts: compare equal programs, and planted 5 %");
  doctor->add_option("--equals", options.equals, "comparisons of equal programs (default 200)")
      ->check(CLI::Range(1, 10'000))
      ->needs(test);
  doctor->add_option("--planted", options.planted, "comparisons with a planted 5 % (default 100)")
      ->check(CLI::Range(1, 10'000))
      ->needs(test);
  doctor
      ->add_option("--canary-launches", options.canary_launches,
                   "at most this many launches of a canary (default 128)")
      ->check(CLI::Range(5, 10'000))
      ->needs(test);
  number(*doctor, "--seed", options.seed, "seed of the random order (default: a new one)")
      ->needs(test);
  return doctor;
}

void add_questions(CLI::App& advise, AdviseOptions& options) {
  for (const AdviseQuestion& question : advise_questions()) {
    const auto add = [&](auto answer) {
      CLI::Option* option = advise.add_option(question.flag, options.*answer, question.help);
      if (*question.type != '\0') option->type_name(question.type);
      if constexpr (std::is_same_v<decltype(answer), WholeAnswer>) option->check(not_below_0);
    };
    std::visit(add, question.answer);
  }
}

CLI::App* add_advise(CLI::App& program, AdviseOptions& options) {
  CLI::App* advise =
      program.add_subcommand("advise", "which way fits your work, by measured results");
  advise->footer(
      "Without options about the work, advise asks its questions on the terminal.\n"
      "If rows are missing, --measure measures them; without it, advise asks on a terminal. The\n"
      "new rows are used for this answer only; --output keeps them in a file to name next time.\n"
      "exit code: 4 if a needed row is missing; advise prints the command that measures it");
  value(*advise, "results", options.results,
        "result files of `run --output` (default: report/results.json)", "FILE");
  add_questions(*advise, options);
  advise->add_flag("--json", options.json, "print JSON");
  advise->add_flag("--measure", options.measure_missing,
                   "measure missing rows without asking: 3 launches per contender");
  value(*advise, "--time-budget", options.measure.time_budget_s,
        "seconds per measured cell (default 8)", "SECONDS");
  no_probe(*advise, options.measure);
  value(*advise, "--output", options.measure.output, "keep the measured rows in FILE", "FILE");
  manifests(*advise, options.measure.manifests);
  return advise;
}

CLI::App* add_try(CLI::App& program, TryOptions& options) {
  CLI::App* command =
      program.add_subcommand("try", "run your own loop in every way, and say which to take");
  value(*command, "kernel", options.kernel, "shared object, as handoff/core/try_kernel.h says",
        "KERNEL.so");
  value(*command, "--new", options.create, "write a project with a kernel to begin with into DIR",
        "DIR");
  command->add_flag("--tsan", options.races,
                    "look for races; KERNEL.so must be built with -fsanitize=thread");
  number(*command, "--width", options.width, "threads or processes (default: the CPUs)");
  number(*command, "--block", options.block, "hand over at least this many items at once");
  value(*command, "--limit", options.limit_s,
        "seconds after which a silent way counts as hung (default 10)", "SECONDS");
  names(*command, "--contenders", options.contenders, "ways to try, such as own.*,peer.one*",
        "PATTERN,...");
  command->add_option("--launches", options.measure.launches, "new processes per way (default 3)")
      ->check(from_1_to(most_launches));
  value(*command, "--time-budget", options.measure.time_budget_s,
        "seconds to measure (default 16, at most twice the limit)", "SECONDS");
  no_probe(*command, options.measure);
  number(*command, "--seed", options.measure.seed, "seed of the random order");
  command->add_flag("--json", options.json, "print the result as JSON");
  value(*command, "--output", options.measure.output, "write the result to FILE", "FILE");
  manifests(*command, options.measure.manifests);
  return command;
}

CLI::App* add_replay(CLI::App& program, ReplayOptions& options) {
  CLI::App* replay =
      program.add_subcommand("replay", "replay your own trace in every way, and say which to take");
  replay->footer(
      "FILE is a .ninja_log, a Chrome or Perfetto trace as JSON, or a CSV table with a column\n"
      "duration and maybe start, kind, key, bytes and parent (docs/guide/replay.md). Each piece "
      "is\n"
      "replayed as calibrated work. A replay takes 0.1 s at most: longer traces are replayed\n"
      "faster, unless --speed sets the speed. Exit code 4: too noisy to tell.");
  value(*replay, "file", options.file, "the trace", "FILE");
  value(*replay, "--from-ninja", options.from_ninja,
        "take the log of ninja's last build in FOLDER instead of a FILE", "FOLDER");
  value(*replay, "--arrivals", options.arrivals,
        "kept: pieces arrive at their start in the trace; at-once: all are ready at the "
        "beginning (default: kept; for ninja's logs at-once)",
        "HOW");
  value(*replay, "--speed", options.speed, "replay the trace TIMES as fast", "TIMES");
  number(*replay, "--width", options.width, "threads (default: as many as CPUs)");
  names(*replay, "--contenders", options.contenders, "ways to replay it, such as own.*",
        "PATTERN,...");
  replay->add_flag("--json", options.json, "print JSON");
  add_measure_options(*replay, options.measure);
  replay->get_option("--launches")
      ->description("new processes for each way (default: until intervals are narrow)");
  replay->get_option("--time-budget")
      ->description("seconds in all, besides one launch of each way (default 90)");
  replay->get_option("--quick")->description("launch each way once, for a look");
  return replay;
}

CLI::App* add_trace(CLI::App& program, TraceOptions& options) {
  CLI::App* trace = program.add_subcommand(
      "trace", "sum up a program's trace: busy threads, critical path, causes of sleep");
  trace->footer(
      "HANDOFF_TRACE=out.json ./program traces any program that is linked with the library; "
      "then\n"
      "`handoff trace out.json` sums it up, and ui.perfetto.dev shows it (docs/guide/tracing.md).\n"
      "Chrome and Perfetto traces of other programs are read too, as JSON.\n"
      "With the name of a scenario, one of its contenders is traced, in the scenario's first cell\n"
      "or in the one that --set and --metric choose.");
  value(*trace, "what", options.what, "a trace, or a scenario to trace", "FILE|SCENARIO")
      ->required();
  value(*trace, "--flame", options.flame, "draw a flame graph of the work, by name and nesting",
        "FILE.svg");
  value(*trace, "--off-cpu", options.off_cpu, "draw a flame graph of sleep: thread, slice, cause",
        "FILE.svg");
  trace->add_flag("--json", options.json, "print the summary as JSON");
  value(*trace, "--contender", options.contender,
        "which contender of the scenario (default: the first own.*)", "NAME");
  values(*trace, "--set", options.settings, "a value of a parameter of the scenario",
         "PARAMETER=VALUE");
  value(*trace, "--metric", options.metric, "which metric of the scenario (default: the first)",
        "METRIC");
  value(*trace, "-o,--output", options.output, "keep the scenario's trace in FILE", "FILE");
  manifests(*trace, options.manifests);
  return trace;
}

CLI::App* add_list(CLI::App& program, ListOptions& options) {
  CLI::App* list =
      program.add_subcommand("list", "list scenarios, metrics, parameters and contenders");
  value(*list, "name", options.name, "a scenario, or a rung of the ladder (default: all)", "NAME");
  manifests(*list, options.manifests);
  return list;
}

CLI::App* add_check_advice(CLI::App& program, CheckAdviceOptions& options) {
  CLI::App* check = program.add_subcommand(
      "check-advice", "check advice on loads that it has not seen (docs/methodology.md)");
  value(*check, "known", options.known, "result of `run loads` that advice may see", "KNOWN")
      ->required();
  value(*check, "unseen", options.unseen, "results of `run loads` with other seeds", "UNSEEN")
      ->required();
  check->add_flag("--verbose", options.verbose, "a line for each load");
  return check;
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
  return fmt::format("{} (see --help)", what.substr(0, what.find('\n')));
}

struct Command {
  CLI::App* app;
  std::function<int(const std::vector<std::string>& command_line)> run;
};

template <class Options>
Command made(CLI::App& program, CLI::App* (*add)(CLI::App&, Options&), int (*run)(const Options&)) {
  const auto options = std::make_shared<Options>();
  return {add(program, *options), [options, run](const std::vector<std::string>& command_line) {
            if constexpr (requires { options->command_line; }) options->command_line = command_line;
            if constexpr (requires { options->measure; })
              options->measure.command_line = command_line;
            return run(*options);
          }};
}

int command(int argc, char** argv) {
  CLI::App program("Ways to hand work to threads and processes, measured side by side.", "handoff");
  program.require_subcommand(1);
  program.set_version_flag("--version", build_description());
  const std::vector<Command> commands{
      made(program, add_run, run),          made(program, add_gate, gate),
      made(program, add_guard, guard),      made(program, add_compare, compare),
      made(program, add_report, report),    made(program, add_export, export_result),
      made(program, add_doctor, doctor),    made(program, add_advise, advise),
      made(program, add_try, try_kernel),   made(program, add_replay, replay_trace),
      made(program, add_trace, show_trace), made(program, add_check_advice, check_advice),
      made(program, add_list, list)};
  program.add_subcommand("copy", "copy trees of files, as the program handoff-copy does")
      ->prefix_command();
  try {
    if (argc > 1 && std::string(argv[1]) == "copy") copy(argv);  // its arguments are its own
    program.parse(argc, argv);
  } catch (const CLI::Success& asked_for_help) {
    return program.exit(asked_for_help);
  } catch (const CLI::ParseError& error) {
    throw UserError(bad_usage(error, program, argc, argv));
  }
  for (const Command& asked : commands) {
    if (asked.app->parsed()) return asked.run({argv, argv + argc});
  }
  return exit_code::bad_usage;
}

// A program may be started without stdin, stdout or stderr. Then the next file that it opens would
// get their number, and with it what is printed there.
void fill_the_first_descriptors() {
  for (int descriptor = 0; descriptor <= STDERR_FILENO; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) == -1) {
      // What nobody hears may be said; what was asked for must not be lost in silence.
      static_cast<void>(open("/dev/null", descriptor == STDERR_FILENO ? O_WRONLY : O_RDONLY));
    }
  }
}

// Names of files are in it. Where stderr cannot be written either, the exit code has to do.
void complain(const char* what) { std::fputs(("handoff: " + plain(what) + '\n').c_str(), stderr); }

int perform(int argc, char** argv) {
  try {
    return command(argc, argv);
  } catch (const UserError& error) {
    complain(error.what());
    return exit_code::bad_usage;
  } catch (const Interrupted& interrupted) {
    return exit_code::signal + interrupted.signal;
  } catch (const std::filesystem::filesystem_error& error) {  // a path that was asked for
    complain((error.path1().string() + ": " + error.code().message()).c_str());
    return exit_code::bad_usage;
  } catch (const std::exception& failure) {
    if (std::ferror(stdout) != 0) return exit_code::ok;  // see finish()
    complain(failure.what());
    return exit_code::broken;
  }
}

// The exit code, once all that was printed is seen to be there.
int finish(int code) {
  const bool flushed = std::fflush(stdout) == 0;
  const int why = errno;
  if (flushed && std::ferror(stdout) == 0) return code;
  const char* const reason = flushed ? "its reader is gone, or its disk is full" : strerror(why);
  complain(("stdout cannot be written: " + std::string(reason)).c_str());
  return exit_code::bad_usage;
}

}}  // namespace handoff::lab

int main(int argc, char** argv) {
  using namespace handoff::lab;
  fill_the_first_descriptors();
  return finish(perform(argc, argv));
}

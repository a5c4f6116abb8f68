// SPDX-License-Identifier: MIT
// `handoff advise`: which way fits some work, by what was measured on this machine.
#include "commands/advise_questions.hpp"
#include "commands/commands.hpp"
#include "commands/output.hpp"
#include "commands/session.hpp"
#include "harness/plain_text.hpp"
#include "report/json.hpp"

namespace handoff::lab {
namespace {

// Where ./run leaves what it measured.
constexpr const char* usual_results = "report/results.json";

std::vector<std::filesystem::path> files_of(const AdviseOptions& options) {
  if (!options.results.empty()) return options.results;
  if (std::filesystem::exists(usual_results)) return {usual_results};
  return {};
}

void say_what_differs(const Result& result, const std::filesystem::path& path) {
  const std::string machine = Environment::here({}, 0, {}).machine();
  const std::string there = result.environment.machine();
  if (machine == there) return;
  fmt::print(stderr, "note: {} was measured on {}, this is {}: its times may differ here\n",
             plain(path.string()), there, machine);
}

using AllMissing = std::vector<Missing>;

template <class Text>
std::string joined(const AllMissing& all, Text text) {
  std::vector<std::string> texts;
  for (const Missing& missing : all) texts.push_back(text(missing));
  return fmt::format("{}", fmt::join(texts, " and "));
}

std::string names_of(const AllMissing& all) {
  return joined(all, [](const Missing& missing) { return text_of(missing); });
}

// How to measure it oneself.
int say_the_commands(const AllMissing& all, bool no_files) {
  const std::string where =
      no_files ? fmt::format("there is no {}", usual_results) : "they are not among the rows";
  const std::string commands = joined(all, [](const Missing& missing) {
    return fmt::format("`handoff run {} --output FILE`", run_arguments(missing));
  });
  fmt::print(stderr, "handoff: this needs rows of {}, and {}; {} {} them, and so does --measure\n",
             names_of(all), where, commands, all.size() == 1 ? "measures" : "measure");
  return exit_code::too_noisy;
}

// The cells that would tell, by the ways that advice may name and the limits they are set against.
std::vector<Session::Block> blocks_of(const Session& session, const Missing& missing) {
  const Scenario& scenario = scenario_named(session.scenarios(), missing.scenario);
  std::vector<std::string> settings;
  for (const auto& [name, value] : missing.parameters) settings.push_back(name + '=' + value.text);
  std::vector<Contender> ways = contenders_of(missing.scenario, session.contenders());
  std::erase_if(ways, [](const Contender& way) { return way.kind() == "seed"; });
  std::vector<Session::Block> blocks;
  for (const Cell& cell : scenario.cells(values_of(settings), {missing.metric})) {
    Session::Block block = block_of(ways, cell);
    if (!block.empty()) blocks.push_back(std::move(block));
  }
  return blocks;
}

// A block takes its budget, or as long as a burst of each contender in each launch; before the
// first one the machine is looked at.
std::chrono::seconds about(const Plan& plan, const std::vector<std::vector<Session::Block>>& all) {
  constexpr std::chrono::milliseconds starting(50);
  std::chrono::nanoseconds time = std::chrono::seconds(4);
  for (const auto& blocks : all) {
    for (const Session::Block& block : blocks) {
      const auto bursts = static_cast<long>(block.size()) * plan.launches;
      time += std::max<std::chrono::nanoseconds>(plan.budget, bursts * (plan.burst + starting));
    }
  }
  return std::chrono::ceil<std::chrono::seconds>(time);
}

// An empty line is a yes, the end of the input is a no.
bool says_yes(Interrupt& interrupt) {
  const std::optional<std::string> line = line_of_terminal(interrupt);
  return line && (line->empty() || line->front() == 'y' || line->front() == 'Y');
}

// Measures all that is missing, unless the person at the terminal does not want it.
std::optional<Result> measured_now(const AdviseOptions& options, const AllMissing& all) {
  if (!options.measure_missing && !is_at_a_terminal()) return {};
  MeasureOptions how = options.measure;
  how.quick = true;
  Interrupt interrupt;
  Session session(how, interrupt);
  std::vector<std::vector<Session::Block>> blocks;
  for (const Missing& missing : all) blocks.push_back(blocks_of(session, missing));
  const auto seconds = about(session.plan(), blocks).count();
  const bool one = all.size() == 1;
  if (options.measure_missing) {
    fmt::print(stderr, "measuring {}, about {} s\n", names_of(all), seconds);
  } else {
    fmt::print(stderr, "{} {} not measured. Measure {} now? It takes about {} s. [Y/n] ",
               names_of(all), one ? "was" : "were", one ? "it" : "them", seconds);
    if (!says_yes(interrupt)) return {};
  }
  const auto keep = [&] { write_result(how, session.result()); };
  try {
    for (std::size_t i = 0; i < all.size(); ++i) {
      session.measure(scenario_named(session.scenarios(), all[i].scenario), blocks[i]);
    }
  } catch (const Interrupted&) {
    keep();
    throw;
  }
  keep();
  if (how.output.empty()) {
    fmt::print(stderr,
               "note: the new rows are used for this answer only; --output FILE would keep them\n");
  }
  return session.result();
}

// What was measured just now has no figure either.
int say_why(const AllMissing& all, const Result& measured) {
  std::string why = "no contender can do it";
  bool broken = false;
  for (const Row& row : measured.rows) {
    if (row.is_measured() || row.is_limit()) continue;
    if (!broken) why = fmt::format("{} is {}", row.contender, row.state());
    broken = broken || is_broken(row.status);
  }
  fmt::print(stderr, "handoff: {} {} measured, but gave no figures: {}\n", names_of(all),
             all.size() == 1 ? "was" : "were", why);
  return broken ? exit_code::broken : exit_code::too_noisy;
}

// All ways that were measured are ruled out.
int say_none(const Advice& advice) {
  std::vector<std::string> reasons;
  for (const auto& [name, why] : advice.left_out) reasons.push_back(name + ' ' + why);
  fmt::print(stderr, "handoff: no measured way fits: {}\n", fmt::join(reasons, "; "));
  return exit_code::too_noisy;
}

}  // namespace

int advise(const AdviseOptions& given) {
  AdviseOptions options = given;
  if (!has_answers(options) && is_at_a_terminal() && !ask_all(options)) return exit_code::ok;
  const Question question = question_of(options);
  const std::vector<std::filesystem::path> paths = files_of(options);
  require_output(options.measure.output, paths);
  std::vector<Result> files;
  for (const auto& path : paths) {
    files.push_back(read_result(path));
    say_if_interrupted(files.back(), path);
    say_what_differs(files.back(), path);
  }
  Results results;
  for (const Result& file : files) results.push_back(&file);
  Advice advice = advice_on(question, results);
  std::optional<Result> measured;
  if (!advice.missing.empty()) {
    measured = measured_now(options, advice.missing);
    if (!measured) return say_the_commands(advice.missing, files.empty());
    results.push_back(&*measured);
    advice = advice_on(question, results);
    if (!advice.missing.empty()) return say_why(advice.missing, *measured);
  } else if (!options.measure.output.empty()) {
    fmt::print(stderr, "note: nothing was missing, so nothing was measured or written to {}\n",
               plain(options.measure.output.string()));
  }
  if (advice.ways.empty()) return say_none(advice);
  write_text({}, options.json ? to_json_text(question, advice)
                              : advice_text(question, advice, may_style(STDOUT_FILENO)));
  return exit_code::ok;
}

}  // namespace handoff::lab

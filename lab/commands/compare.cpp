// SPDX-License-Identifier: MIT
// `handoff compare`: two result files, or this build against another revision of the source,
// measured interleaved.
#include "commands/commands.hpp"
#include "commands/output.hpp"
#include "commands/revision.hpp"
#include "commands/session.hpp"
#include "report/json.hpp"

namespace handoff::lab {
namespace {

int exit_code_of(const std::vector<Compared>& rows) {
  if (count(rows, Change::worse) > 0) return exit_code::falls_short;
  return count(rows, Change::too_noisy) > 0 ? exit_code::too_noisy : exit_code::ok;
}

void print(const std::vector<Compared>& rows, bool as_json) {
  const std::string text =
      as_json ? to_json_text(rows) : comparison_table(rows, may_style(STDOUT_FILENO));
  write_text({}, text);
}

std::string scenarios_in(const Result& result) {
  std::set<std::string> names;
  for (const Row& row : result.rows) names.insert(row.scenario);
  return names.empty() ? "nothing" : fmt::format("{}", fmt::join(names, ", "));
}

void say_what_differs(const Result& before, const Result& now) {
  const std::string machine_before = before.environment.machine();
  const std::string machine_now = now.environment.machine();
  if (machine_before != machine_now) {
    fmt::print(stderr, "note: measured on different machines: {} and {}\n", machine_before,
               machine_now);
  }
}

int compare_files(const CompareOptions& options) {
  if (options.what.size() != 2) {
    throw UserError("compare takes two result files, or --ref GITREF; got {} (see --help)",
                    options.what.size());
  }
  if (std::error_code not_there;
      std::filesystem::equivalent(options.what[0], options.what[1], not_there)) {
    throw UserError("{} and {} are the same file: name an earlier result and a new one",
                    options.what[0], options.what[1]);
  }
  const Result before = read_result(options.what[0]);
  const Result now = read_result(options.what[1]);
  const std::vector<Compared> rows = compared_results(before, now);
  if (rows.empty()) {
    throw UserError("{} and {} have no row in common: one measured {}, the other {}",
                    options.what[0], options.what[1], scenarios_in(before), scenarios_in(now));
  }
  if (std::ranges::none_of(rows, [](const Compared& row) { return row.change().has_value(); })) {
    throw UserError("{} and {} have no row that both measured: {}", options.what[0],
                    options.what[1], rows.front().remark);
  }
  say_if_interrupted(before, options.what[0]);
  say_if_interrupted(now, options.what[1]);
  say_what_differs(before, now);
  print(rows, options.json);
  return exit_code_of(rows);
}

// Our own contenders of one scenario, each with the revision's beside it.
struct Pair {
  Contender now;
  Contender before;  // its name carries the revision's commit
};

std::vector<Pair> pairs_of(const std::vector<Contender>& own, const Revision& revision,
                           const Scenario& scenario) {
  std::vector<Pair> pairs;
  for (const Contender& now : contenders_of(scenario.name(), own)) {
    if (auto before = revision.like(now)) pairs.push_back({now, std::move(*before)});
  }
  return pairs;
}

std::vector<Contender> own_of(const Session& session, const std::set<std::string>& scenarios) {
  std::vector<Contender> own;
  for (const Contender& contender : session.contenders()) {
    const bool is_one =
        contender.kind() == "own" && contender.built() && scenarios.contains(contender.scenario);
    if (is_one) own.push_back(contender);
  }
  return own;
}

// A block for each cell and contender: the two builds meet the same noise.
std::vector<Session::Block> blocks_of(const Scenario& scenario, const std::vector<Pair>& pairs,
                                      const CompareOptions& options) {
  std::vector<Session::Block> blocks;
  for (const Cell& cell : scenario.cells(values_of(options.settings), options.metrics)) {
    for (const auto& [now, before] : pairs) {
      if (!now.applies(cell) || !before.applies(cell)) continue;
      blocks.push_back({{now, cell}, {before, cell}});
    }
  }
  return blocks;
}

std::vector<Compared> compared_blocks(const Result& result) {
  const std::vector<Row>& rows = result.rows;
  std::vector<Compared> all;
  for (const Row& before : rows) {
    const auto at = before.contender.find('@');
    if (at == std::string::npos) continue;
    const auto now = std::ranges::find_if(rows, [&](const Row& row) {
      return row.block == before.block && row.contender == before.contender.substr(0, at);
    });
    if (now != rows.end()) all.push_back(compared(before, *now, result.environment.floor()));
  }
  return all;
}

std::vector<Scenario*> wanted_scenarios(const CompareOptions& options, const Session& session) {
  std::vector<Scenario*> scenarios;
  for (const std::string& name : options.what) {
    scenarios.push_back(&scenario_named(session.scenarios(), name));
  }
  if (!scenarios.empty()) return scenarios;
  for (const auto& scenario : session.scenarios()) scenarios.push_back(scenario.get());
  return scenarios;
}

int compare_revision(const CompareOptions& options) {
  Interrupt interrupt;
  Session session(options.measure, interrupt);
  const std::vector<Scenario*> scenarios = wanted_scenarios(options, session);
  std::set<std::string> names;
  for (const Scenario* scenario : scenarios) {
    names.insert(scenario->name());
    static_cast<void>(scenario->cells(values_of(options.settings), options.metrics));
  }
  require_output(options.measure.output, {});
  const std::vector<Contender> own = own_of(session, names);
  const Revision revision(options.revision, own, interrupt);
  std::vector<std::pair<Scenario*, std::vector<Session::Block>>> all;
  for (Scenario* scenario : scenarios) {
    auto blocks = blocks_of(*scenario, pairs_of(own, revision, *scenario), options);
    if (!blocks.empty()) all.emplace_back(scenario, std::move(blocks));
  }
  if (all.empty()) {
    throw UserError("revision '{}' and this build have no own.* contender in common for {}",
                    options.revision, fmt::join(names, ", "));
  }
  fmt::print(stderr, "before: {} ({}); now: this build; launches {}, seed {}\n", options.revision,
             revision.commit(), session.plan().launches, session.plan().seed);
  const auto interrupted = until_interrupted(session, [&] {
    for (const auto& [scenario, blocks] : all) session.measure(*scenario, blocks);
  });
  if (interrupted) fmt::print(stderr, "note: interrupted: the measurement is incomplete\n");
  const Result result = session.result();
  const std::vector<Compared> rows = compared_blocks(result);
  keep_and_show([&] { write_result(options.measure, result); }, [&] { print(rows, options.json); });
  if (interrupted) return exit_code::signal + interrupted->signal;
  return session.broken() ? exit_code::broken : exit_code_of(rows);
}

}  // namespace

int compare(const CompareOptions& options) {
  return options.revision.empty() ? compare_files(options) : compare_revision(options);
}

}  // namespace handoff::lab

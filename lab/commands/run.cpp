// SPDX-License-Identifier: MIT
#include "commands/run.hpp"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

#include "commands/session.hpp"
#include "harness/atomic_file.hpp"
#include "harness/user_error.hpp"
#include "report/html.hpp"
#include "report/json.hpp"
#include "report/table.hpp"
#include "scenarios/matmul/files.hpp"

namespace handoff::lab {
namespace {

using nlohmann::json;

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

Scenario::Values values_of(const std::vector<std::string>& settings) {
  Scenario::Values values;
  for (const std::string& setting : settings) {
    const auto equals = setting.find('=');
    if (equals == std::string::npos) {
      throw UserError(fmt::format("--set takes PARAMETER=VALUE,..., not '{}'", setting));
    }
    values.emplace_back(setting.substr(0, equals), split(setting.substr(equals + 1), ','));
  }
  return values;
}

struct Chosen {
  Scenario* scenario;
  std::vector<Session::Block> blocks;
};

// A block a cell. Without settings the article's own cell is one of them.
Chosen choose(const RunOptions& options, const Session& session, Scenario& scenario) {
  std::vector<Cell> cells = scenario.cells(values_of(options.settings));
  const auto article = scenario.article();
  if (article && options.settings.empty()) cells.push_back(article->cell);
  std::vector<Contender> contenders;
  for (const Contender& contender : session.contenders()) {
    if (contender.scenario == scenario.name()) contenders.push_back(contender);
  }
  contenders = chosen(contenders, options.contenders);
  Chosen result{&scenario, {}};
  for (const Cell& cell : cells) {
    Session::Block block;
    for (const Contender& contender : contenders) {
      if (contender.applies(cell)) block.push_back({contender, cell});
    }
    if (!block.empty()) result.blocks.push_back(std::move(block));
  }
  if (result.blocks.empty()) {
    throw UserError(fmt::format("scenario '{}': the contenders chosen apply to none of the cells; "
                                "`handoff list` says where they do",
                                scenario.name()));
  }
  return result;
}

std::vector<Chosen> choose(const RunOptions& options, const Session& session) {
  std::vector<Chosen> all;
  if (options.scenarios.empty()) {
    for (const auto& scenario : session.scenarios()) {
      all.push_back(choose(options, session, *scenario));
    }
  }
  for (const std::string& name : options.scenarios) {
    all.push_back(choose(options, session, scenario_named(session.scenarios(), name)));
  }
  return all;
}

void require_writable_outputs(const RunOptions& options) {
  for (const auto& path : {options.measure.output, options.page}) {
    if (!path.empty()) require_writable(path);
  }
}

bool has_real_input(const RunOptions& options) {
  return !options.a.empty() || !options.b.empty() || !options.result.empty();
}

int run_real_input(const RunOptions& options, Interrupt& interrupt) {
  const bool complete = !options.a.empty() && !options.b.empty() && !options.result.empty();
  if (!complete || options.scenarios != std::vector<std::string>{"matmul"}) {
    throw UserError("real matrices: handoff run matmul --a A.npy --b B.npy --result C.npy");
  }
  if (options.json || !options.measure.output.empty() || !options.page.empty()) {
    throw UserError("--json, --output and --page do not go with real matrices");
  }
  Session session(options.measure, interrupt);
  const auto outcome = matmul::multiply_files(
      {options.a, options.b, options.result, values_of(options.settings), options.contenders},
      session.contenders(), session.plan(), interrupt);
  fmt::print(outcome.right ? stdout : stderr, "{}\n", outcome.line);
  return outcome.right ? exit_code::ok : exit_code::broken;
}

}  // namespace

int run(const RunOptions& options) {
  Interrupt interrupt;
  if (has_real_input(options)) return run_real_input(options, interrupt);
  Session session(options.measure, interrupt);
  const std::vector<Chosen> all = choose(options, session);
  require_writable_outputs(options);
  fmt::print(stderr, "launches {}, seed {}\n", session.plan().launches, session.plan().seed);
  json articles = json::array();
  for (const auto& [scenario, blocks] : all) {
    session.measure(*scenario, blocks);
    if (const auto article = scenario->article()) {
      articles.push_back(article_to_json(*scenario, *article));
    }
  }
  const json result = session.result(std::move(articles));
  if (!options.measure.output.empty()) write_atomically(options.measure.output, to_text(result));
  if (!options.page.empty()) write_atomically(options.page, page(result));
  const bool styled = may_style(STDOUT_FILENO);
  fmt::print("{}", options.json ? to_text(result) : tables(result, styled));
  return session.broken() ? exit_code::broken : exit_code::ok;
}

}  // namespace handoff::lab

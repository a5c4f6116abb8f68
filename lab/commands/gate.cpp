// SPDX-License-Identifier: MIT
#include "commands/gate.hpp"

#include <algorithm>
#include <cstdio>
#include <map>

#include <fmt/format.h>

#include "commands/figures.hpp"
#include "commands/session.hpp"
#include "harness/atomic_file.hpp"
#include "harness/nearest_name.hpp"
#include "harness/user_error.hpp"
#include "report/json.hpp"

namespace handoff::lab {
namespace {

using nlohmann::json;

const char* name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::holds:
      return "holds";
    case Verdict::falls_short:
      return "falls short";
    case Verdict::noisy:
      return "noisy";
    case Verdict::unmeasured:
      break;
  }
  return "unmeasured";
}

Contender contender_named(const Session& session, const Scenario& scenario,
                          const std::string& name) {
  std::vector<std::string> names;
  for (const Contender& contender : session.contenders()) {
    if (contender.scenario != scenario.name()) continue;
    if (contender.name == name) return contender;
    names.push_back(contender.name);
  }
  throw UserError(fmt::format("scenario '{}' has no contender '{}'; {}", scenario.name(), name,
                              nearest_name(name, names)));
}

// Whoever is compared is measured in one block, so that all met the same noise.
Session::Block block_of(const Session& session, const Figure& figure,
                        const Comparison& comparison) {
  Session::Block block{
      {contender_named(session, *figure.scenario, comparison.contender), comparison.cell}};
  for (const std::string& name : comparison.against) {
    block.push_back({contender_named(session, *figure.scenario, name), comparison.against_cell});
  }
  return block;
}

// The rows that each figure needs. Figures that compare the same share the measurement.
std::vector<json> measure(Session& session, const std::vector<Figure>& figures) {
  std::map<std::string, json> measured;  // by what is compared
  for (const auto& scenario : session.scenarios()) {
    std::vector<std::string> keys;
    std::vector<Session::Block> blocks;
    for (const Figure& figure : figures) {
      if (figure.scenario->name() != scenario->name()) continue;
      for (const Comparison& comparison : figure.comparisons) {
        const std::string key = comparison.text();
        if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
        keys.push_back(key);
        blocks.push_back(block_of(session, figure, comparison));
      }
    }
    if (blocks.empty()) continue;
    const auto rows = session.measure(*scenario, blocks);
    for (std::size_t i = 0; i < keys.size(); ++i) measured[keys[i]] = rows[i];
  }
  std::vector<json> rows;
  for (const Figure& figure : figures) {
    auto& of_figure = rows.emplace_back(json::array());
    for (const Comparison& comparison : figure.comparisons) {
      for (const json& row : measured.at(comparison.text())) of_figure.push_back(row);
    }
  }
  return rows;
}

void print(const Figure& figure, const Judged& judged) {
  const std::string ratio = figure.in_time ? "time" : figure.scenario->metric();
  const std::string figures =
      judged.verdict == Verdict::unmeasured
          ? judged.reason
          : fmt::format("{} {:.3f} ({:.3f} .. {:.3f}), bound {} {}", ratio, judged.value,
                        judged.bounds.low, judged.bounds.high, figure.at_most ? "<=" : ">=",
                        figure.bound);
  fmt::print("{:<11}  {}: {}: {}\n", name_of(judged.verdict), figure.name, judged.what, figures);
}

int exit_code_of(const std::vector<Verdict>& verdicts) {
  const auto any = [&](Verdict verdict) {
    return std::find(verdicts.begin(), verdicts.end(), verdict) != verdicts.end();
  };
  if (any(Verdict::falls_short)) return exit_code::falls_short;
  if (any(Verdict::noisy) || any(Verdict::unmeasured)) return exit_code::too_noisy;
  return exit_code::ok;
}

}  // namespace

int gate(const GateOptions& options) {
  Interrupt interrupt;
  Session session(options.measure, interrupt);
  const std::vector<Figure> figures = read_figures(options.figures, session.scenarios());
  std::vector<json> rows;
  if (options.results.empty()) {
    if (!options.measure.output.empty()) require_writable(options.measure.output);
    rows = measure(session, figures);
  } else {
    rows.assign(figures.size(), read_result(options.results).at("rows"));
  }
  std::vector<Verdict> verdicts;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    for (const Judged& judged : judge(figures[i], rows[i], session.plan().seed)) {
      print(figures[i], judged);
      verdicts.push_back(judged.verdict);
    }
  }
  if (options.results.empty() && !options.measure.output.empty()) {
    write_atomically(options.measure.output, to_text(session.result(json::array())));
  }
  return session.broken() ? exit_code::broken : exit_code_of(verdicts);
}

}  // namespace handoff::lab

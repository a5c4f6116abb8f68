// SPDX-License-Identifier: MIT
#include "commands/gate.hpp"

#include <cstdio>
#include <set>

#include <fmt/format.h>

#include "commands/figures.hpp"
#include "commands/output.hpp"
#include "commands/session.hpp"
#include "harness/atomic_file.hpp"
#include "harness/nearest_name.hpp"
#include "harness/user_error.hpp"
#include "report/json.hpp"
#include "report/read_result.hpp"

namespace handoff::lab {
namespace {

const char* name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::holds: return "holds";
    case Verdict::falls_short: return "falls short";
    case Verdict::noisy: return "noisy";
    case Verdict::unmeasured: break;
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

using Verdicts = std::vector<std::vector<Judged>>;  // figure by figure

Verdicts judge_all(const std::vector<Figure>& figures, const std::vector<Row>& rows,
                   std::uint64_t seed) {
  Verdicts verdicts;
  for (const Figure& figure : figures) verdicts.push_back(judge(figure, rows, seed));
  return verdicts;
}

// What must be measured next: at first all that is compared, later only what is too noisy to tell.
// A mean has one verdict for all of its cells.
std::vector<Session::Block> blocks_to_measure(const Session& session, const Scenario& scenario,
                                              const std::vector<Figure>& figures,
                                              const Verdicts& verdicts) {
  std::set<std::string> seen;  // figures that compare the same share the measurement
  std::vector<Session::Block> blocks;
  for (std::size_t f = 0; f < figures.size(); ++f) {
    if (figures[f].scenario->name() != scenario.name()) continue;
    for (std::size_t c = 0; c < figures[f].comparisons.size(); ++c) {
      const bool open = verdicts.empty() ||
                        verdicts[f][figures[f].geometric_mean ? 0 : c].verdict == Verdict::noisy;
      const Comparison& comparison = figures[f].comparisons[c];
      if (!open || !seen.insert(figures[f].metric->name + ' ' + comparison.text()).second) {
        continue;
      }
      blocks.push_back(block_of(session, figures[f], comparison));
    }
  }
  return blocks;
}

Verdicts judge_file(const std::vector<Figure>& figures, const std::filesystem::path& path,
                    std::uint64_t seed) {
  const Result result = read_result(path);
  say_if_interrupted(result, path);
  return judge_all(figures, result.rows, seed);
}

int count(const Verdicts& verdicts, Verdict wanted) {
  int found = 0;
  for (const auto& figure : verdicts) {
    for (const Judged& judged : figure) found += judged.verdict == wanted ? 1 : 0;
  }
  return found;
}

// Repeats what is too noisy to tell, each time with new launches beside those that are there.
Verdicts measure(Session& session, const std::vector<Figure>& figures, int most_passes) {
  Verdicts verdicts;
  for (int pass = 0; pass < most_passes; ++pass) {
    bool measured = false;
    for (const auto& scenario : session.scenarios()) {
      const auto blocks = blocks_to_measure(session, *scenario, figures, verdicts);
      if (blocks.empty()) continue;
      session.measure(*scenario, blocks);
      measured = true;
    }
    if (!measured) break;
    verdicts = judge_all(figures, session.rows(), session.plan().seed);
    fmt::print(stderr, "pass {} of at most {}: {} hold, {} fall short, {} too noisy to tell\n",
               pass + 1, most_passes, count(verdicts, Verdict::holds),
               count(verdicts, Verdict::falls_short), count(verdicts, Verdict::noisy));
  }
  return verdicts;
}

void print(const Figure& figure, const Judged& judged) {
  const std::string ratio = figure.in_time ? "time" : figure.metric->name;
  const std::string figures = !judged.reason.empty()
                                  ? judged.reason
                                  : fmt::format("{} {:.3f} ({:.3f} .. {:.3f}), bound {} {}", ratio,
                                                judged.value, judged.bounds.low, judged.bounds.high,
                                                figure.at_most ? "<=" : ">=", figure.bound);
  fmt::print("{:<11}  {}: {}: {}\n", name_of(judged.verdict), figure.name, judged.what, figures);
}

int exit_code_of(const Verdicts& verdicts) {
  if (count(verdicts, Verdict::falls_short) > 0) return exit_code::falls_short;
  const int untold = count(verdicts, Verdict::noisy) + count(verdicts, Verdict::unmeasured);
  return untold > 0 ? exit_code::too_noisy : exit_code::ok;
}

}  // namespace

int gate(const GateOptions& options) {
  if (options.passes < 1 || options.passes > most_passes) {
    throw UserError(fmt::format("--passes takes 1 to {}, not {}", most_passes, options.passes));
  }
  Interrupt interrupt;
  Session session(options.measure, interrupt);
  const std::vector<Figure> figures = read_figures(options.figures, session.scenarios());
  const std::filesystem::path& output = options.measure.output;
  if (!output.empty()) require_writable(output);
  Verdicts verdicts;
  try {
    verdicts = options.results.empty() ? measure(session, figures, options.passes)
                                       : judge_file(figures, options.results, session.plan().seed);
  } catch (const Interrupted&) {
    if (!output.empty() && !session.rows().empty()) {
      write_atomically(output, to_json_text(session.result()));
      fmt::print(stderr, "note: interrupted: {} has what was measured until then\n",
                 output.string());
    }
    throw;
  }
  for (std::size_t f = 0; f < figures.size(); ++f) {
    for (const Judged& judged : verdicts[f]) print(figures[f], judged);
  }
  if (!output.empty()) write_atomically(output, to_json_text(session.result()));
  return session.broken() ? exit_code::broken : exit_code_of(verdicts);
}

}  // namespace handoff::lab

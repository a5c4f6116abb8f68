// SPDX-License-Identifier: MIT
// `handoff gate`: the figures that must hold, each with a verdict.
#include "commands/commands.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "commands/figures.hpp"
#include "commands/output.hpp"
#include "commands/session.hpp"
#include "harness/atomic_file.hpp"
#include "harness/user_error.hpp"
#include "report/json.hpp"

namespace handoff::lab {
namespace {

const char* name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::holds: return "holds";
    case Verdict::falls_short: return "falls short";
    case Verdict::open: return "open";
    case Verdict::unmeasured: break;
  }
  return "unmeasured";
}

// Contenders that are compared are measured in one block, so that all met the same noise.
Session::Block block_of(const Session& session, const Figure& figure,
                        const Comparison& comparison) {
  Session::Block block{
      {session.contender_named(*figure.scenario, comparison.contender), comparison.cell}};
  for (const std::string& name : comparison.against) {
    block.push_back({session.contender_named(*figure.scenario, name), comparison.against_cell});
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

// What must be measured next: what has not been, and what is open, so often at most. A mean has one
// verdict for all of its cells.
std::vector<Session::Block> blocks_to_measure(const Session& session, const Scenario& scenario,
                                              const std::vector<Figure>& figures,
                                              const Verdicts& verdicts, int most_passes) {
  std::set<std::string> seen;  // figures that compare the same share the measurement
  std::vector<Session::Block> blocks;
  for (std::size_t f = 0; f < figures.size(); ++f) {
    const Figure& figure = figures[f];
    if (figure.scenario->name() != scenario.name()) continue;
    for (std::size_t c = 0; c < figure.comparisons.size(); ++c) {
      const Comparison& comparison = figure.comparisons[c];
      const int passes = passes_of(figure, comparison, session.rows());
      const bool open = verdicts[f][figure.geometric_mean ? 0 : c].verdict == Verdict::open;
      if (passes > 0 && !(open && passes < most_passes)) continue;
      if (!seen.insert(figure.metric->name + ' ' + comparison.text()).second) continue;
      blocks.push_back(block_of(session, figure, comparison));
    }
  }
  return blocks;
}

int count(const Verdicts& verdicts, Verdict wanted) {
  int found = 0;
  for (const auto& figure : verdicts) {
    for (const Judged& judged : figure) found += judged.verdict == wanted ? 1 : 0;
  }
  return found;
}

std::filesystem::path kept(const std::filesystem::path& folder, const Scenario& scenario) {
  return folder / (scenario.name() + ".json");
}

void take_up_what_is_kept(Session& session, const std::filesystem::path& folder) {
  for (const auto& scenario : session.scenarios()) {
    const std::filesystem::path path = kept(folder, *scenario);
    if (std::filesystem::exists(path)) session.take_up(read_result(path));
  }
}

void keep(const Session& session, const Scenario& scenario, const std::filesystem::path& folder) {
  Result all = session.result();
  std::erase_if(all.rows, [&](const Row& row) { return row.scenario != scenario.name(); });
  std::vector<std::optional<BlockReport>> blocks;
  std::optional<std::int64_t> last;
  for (Row& row : all.rows) {  // those of a block stand together
    if (row.block != last) {
      last = row.block;
      blocks.push_back(all.blocks.at(static_cast<std::size_t>(row.block.value())));
    }
    row.block = static_cast<std::int64_t>(blocks.size()) - 1;
  }
  all.blocks = std::move(blocks);
  write_atomically(kept(folder, scenario), to_json_text(all));
}

void say(const Verdicts& verdicts) {
  fmt::print(stderr, "{} hold, {} fall short, {} are open, {} unmeasured\n",
             count(verdicts, Verdict::holds), count(verdicts, Verdict::falls_short),
             count(verdicts, Verdict::open), count(verdicts, Verdict::unmeasured));
}

// Repeats what is open, each time with new launches beside those that are there.
void measure(Session& session, const std::vector<Figure>& figures, const GateOptions& options) {
  for (bool measured = true; measured;) {
    measured = false;
    const Verdicts verdicts = judge_all(figures, session.rows(), session.plan().seed);
    if (!session.rows().empty()) say(verdicts);
    for (const auto& scenario : session.scenarios()) {
      const auto blocks = blocks_to_measure(session, *scenario, figures, verdicts, options.passes);
      if (blocks.empty()) continue;
      session.measure(*scenario, blocks, [&] {
        if (!options.keep.empty()) keep(session, *scenario, options.keep);
      });
      measured = true;
    }
  }
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
  const int untold = count(verdicts, Verdict::open) + count(verdicts, Verdict::unmeasured);
  return untold > 0 ? exit_code::too_noisy : exit_code::ok;
}

// Those whose name has one of the parts in it, or whose scenario is one.
void keep_only(std::vector<Figure>& figures, const std::vector<std::string>& parts) {
  if (parts.empty()) return;
  std::erase_if(figures, [&](const Figure& figure) {
    return std::none_of(parts.begin(), parts.end(), [&](const std::string& part) {
      return figure.scenario->name() == part || figure.name.find(part) != std::string::npos;
    });
  });
  if (!figures.empty()) return;
  throw UserError(
      fmt::format("no figure has {} in its name or as its scenario", fmt::join(parts, " or ")));
}

}  // namespace

int gate(const GateOptions& options) {
  if (options.passes < 1 || options.passes > most_passes) {
    throw UserError(fmt::format("--passes takes 1 to {}, not {}", most_passes, options.passes));
  }
  Interrupt interrupt;
  Session session(options.measure, interrupt);
  std::vector<Figure> figures = read_figures(options.figures, session.scenarios());
  keep_only(figures, options.parts);
  std::optional<Interrupted> interrupted;
  if (!options.results.empty()) {
    Result result = read_result(options.results);
    say_if_interrupted(result, options.results);
    session.take_up(std::move(result));
  } else {
    if (!options.keep.empty()) {
      std::error_code failed;
      std::filesystem::create_directories(options.keep, failed);
      if (failed) {
        throw UserError(fmt::format("{}: the folder cannot be made: {}", options.keep.string(),
                                    failed.message()));
      }
      take_up_what_is_kept(session, options.keep);
    }
    try {
      measure(session, figures, options);
    } catch (const Interrupted& signal) {
      interrupted = signal;
    }
  }
  const Verdicts verdicts = judge_all(figures, session.rows(), session.plan().seed);
  for (std::size_t f = 0; f < figures.size(); ++f) {
    for (const Judged& judged : verdicts[f]) print(figures[f], judged);
  }
  if (interrupted) {
    fmt::print(stderr, "note: interrupted: {}\n",
               options.keep.empty() ? "the measurement is incomplete"
                                    : options.keep.string() +
                                          " has the measured blocks; the same command continues");
    return exit_code::signal + interrupted->signal;
  }
  return session.broken() && options.results.empty() ? exit_code::broken : exit_code_of(verdicts);
}

}  // namespace handoff::lab

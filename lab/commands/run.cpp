// SPDX-License-Identifier: MIT
// `handoff run`: measures scenarios side by side, or multiplies real matrices.
#include "commands/commands.hpp"
#include "commands/output.hpp"
#include "commands/overview.hpp"
#include "harness/atomic_file.hpp"
#include "harness/temporary_folder.hpp"
#include "harness/tool.hpp"
#include "report/html.hpp"
#include "report/json.hpp"
#include "scenarios/matmul/files.hpp"

namespace handoff::lab {
namespace {

namespace fs = std::filesystem;

// What the program of examples/render says of its frame; drivers may say something as well. Else
// its last words.
std::string told_by(const std::string& output) {
  std::istringstream lines(output);
  std::string last = "it said nothing";
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("frame ")) return line;
    if (!line.empty()) last = line;
  }
  return last;
}

// The picture on the page of `commands`: a frame that command buckets have drawn. Nothing if the
// program is not there; or if it cannot draw here, which is said on stderr.
std::optional<FramePicture> draw_frame(Interrupt& interrupt) {
  const fs::path program = folder_of_the_build() / "render";
  if (!fs::exists(program)) return {};
  const TemporaryFolder folder("handoff-frame");
  const fs::path picture = folder.path() / "frame.png";
  const ToolResult drawn = run_tool({program.string(), picture.string()}, &interrupt);
  const std::string told = told_by(drawn.output);
  if (drawn.exit_code != 0) {
    fmt::print(stderr, "the page has no picture of a frame: {}\n", told);
    return {};
  }
  std::ifstream file(picture, std::ios::binary);
  return FramePicture{{std::istreambuf_iterator<char>(file), {}}, told};
}

bool has_real_input(const RunOptions& options) {
  return !options.a.empty() || !options.b.empty() || !options.result.empty();
}

// --kill RATE is a setting of the scenario whose workers can be killed.
RunOptions with_kills(RunOptions options) {
  if (options.kill.empty()) return options;
  if (options.scenarios != std::vector<std::string>{"matmul"} || has_real_input(options)) {
    throw UserError(
        "--kill works only with matmul and its own matrices: "
        "handoff run matmul --kill RATE");
  }
  options.settings.push_back(fmt::format("{}={}", kill_parameter, options.kill));
  return options;
}

// --ranks without real matrices measures the ways that are ranks, on this machine.
RunOptions with_ranks(RunOptions options) {
  if (options.ranks == 0 || has_real_input(options)) return options;
  if (options.scenarios != std::vector<std::string>{"matmul"} || !options.hosts.empty() ||
      options.oversubscribe) {
    throw UserError(
        "--ranks: handoff run matmul --ranks N; --hosts and --oversubscribe go with --a, --b and "
        "--result");
  }
  options.settings.push_back(fmt::format("width={}", options.ranks));
  if (options.contenders.empty()) options.contenders = {"own.rank_team", "peer.mpi*"};
  return options;
}

// Rungs of the ladder may be named instead of scenarios.
RunOptions with_rungs(RunOptions options) {
  for (const std::string& name : std::exchange(options.scenarios, {})) {
    auto& names = rung_kind_named(name) == nullptr ? options.scenarios : options.rungs;
    if (!contains(names, name)) names.push_back(name);
  }
  if (options.rungs.empty()) return options;
  const std::string& rung = options.rungs.front();
  if (!options.scenarios.empty()) {
    throw UserError("'{}' is a rung of the ladder and '{}' is a scenario: name rungs or scenarios",
                    rung, options.scenarios.front());
  }
  if (!options.settings.empty() || !options.metrics.empty()) {
    throw UserError(
        "'{}' is a rung, which is one cell: --set and --metrics go with its "
        "scenario, '{}'",
        rung, rung_kind_named(rung)->scenario);
  }
  return options;
}

// An overview has many short launches; a user who says how long it may take has other bursts.
RunOptions with_short_bursts(RunOptions options) {
  const bool free = !options.measure.burst && !options.measure.time_budget_s;
  if (options.is_overview() && free) options.measure.burst = kOverviewBurst;
  return options;
}

// Contenders that --kill leaves out.
std::size_t others_than_survivors(const std::vector<Contender>& contenders) {
  return static_cast<std::size_t>(std::ranges::count_if(
      contenders, [](const Contender& contender) { return !contender.survives_kills(); }));
}

struct Chosen {
  Scenario* scenario;
  std::vector<Session::Block> blocks;
};

// Articles' own cells, where their metrics are wanted.
void add_articles(const Scenario& scenario, const RunOptions& options, std::vector<Cell>& cells) {
  for (const Article& article : scenario.articles()) {
    const auto& metrics = options.metrics;
    const bool wanted = metrics.empty() || contains(metrics, article.cell.metric());
    const bool there = contains(cells, article.cell);
    if (wanted && !there) cells.push_back(article.cell);
  }
}

// A block a cell. Without settings the articles' own cells are among them.
Chosen choose(const RunOptions& options, const std::vector<Contender>& contenders,
              Scenario& scenario) {
  std::vector<Cell> cells = scenario.cells(values_of(options.settings), options.metrics);
  if (options.settings.empty()) add_articles(scenario, options, cells);
  Chosen result{&scenario, {}};
  for (const Cell& cell : cells) {
    Session::Block block = block_of(contenders, cell);
    if (!block.empty()) result.blocks.push_back(std::move(block));
  }
  if (result.blocks.empty() && !options.kill.empty() &&
      others_than_survivors(contenders) == contenders.size()) {
    throw UserError(
        "--kill: a killed worker would end or hang the chosen contenders; "
        "own.process_team goes on");
  }
  if (result.blocks.empty()) {
    throw UserError(
        "scenario '{}': the chosen contenders apply to none of the cells; "
        "`handoff list` says where they apply",
        scenario.name());
  }
  return result;
}

std::vector<Chosen> choose(const RunOptions& options, const Session& session) {
  std::vector<Chosen> all;
  if (options.scenarios.empty()) {
    std::vector<Contender> contenders;
    for (const auto& scenario : session.scenarios()) {
      const auto its_own = contenders_of(scenario->name(), session.contenders());
      contenders.insert(contenders.end(), its_own.begin(), its_own.end());
    }
    // Of all scenarios those that have such contenders.
    contenders = chosen(contenders, options.contenders);
    for (const auto& scenario : session.scenarios()) {
      const auto its_own = contenders_of(scenario->name(), contenders);
      if (!its_own.empty()) all.push_back(choose(options, its_own, *scenario));
    }
  }
  for (const std::string& name : options.scenarios) {
    Scenario& scenario = scenario_named(session.scenarios(), name, rung_names());
    const auto its_own = contenders_of(name, session.contenders());
    all.push_back(choose(options, chosen(its_own, options.contenders), scenario));
  }
  return all;
}

std::vector<Session::Block> blocks_of(const std::vector<Chosen>& all) {
  std::vector<Session::Block> blocks;
  for (const Chosen& one : all) blocks.insert(blocks.end(), one.blocks.begin(), one.blocks.end());
  return blocks;
}

void measure(const std::vector<Chosen>& all, Session& session) {
  for (const auto& [scenario, blocks] : all) {
    for (const Article& article : scenario->articles()) session.add_article(*scenario, article);
    session.measure(*scenario, blocks);
  }
}

void require_writable_outputs(const RunOptions& options) {
  const auto whole = [](const std::filesystem::path& path) {
    return weakly_canonical(std::filesystem::absolute(path));
  };
  if (!options.page.empty() && !options.measure.output.empty() &&
      whole(options.page) == whole(options.measure.output)) {
    throw UserError("--output and --page name the same file {}: name two", options.page.string());
  }
  for (const auto& path : {options.measure.output, options.page}) {
    if (!path.empty()) require_writable(path);
  }
}

void say_who_is_left_out(const RunOptions& options, const Session& session) {
  const std::size_t left_out = others_than_survivors(
      chosen(contenders_of(options.scenarios.front(), session.contenders()), options.contenders));
  if (left_out == 0) return;
  fmt::print(stderr, "--kill: {} contenders are left out: a killed worker would end or hang them\n",
             left_out);
}

void wait_for_quiet(const RunOptions& options, Interrupt& interrupt) {
  if (!options.wait_quiet_s) return;
  const std::chrono::duration<double> most(*options.wait_quiet_s);
  const double others = wait_until_quiet(most, interrupt);
  if (others < kQuietCpus) return;
  fmt::print(stderr, "still busy after {} s: other programs take {:.1f} CPUs\n", most.count(),
             others);
}

void require_seconds_to_wait(const RunOptions& options) {
  constexpr double most = 86400;
  const double seconds = options.wait_quiet_s.value_or(0);
  if (seconds >= 0 && seconds <= most) return;
  throw UserError("--wait-quiet takes seconds from 0 to {}, not {}", most, seconds);
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
  const auto outcome =
      matmul::multiply_files({options.a,
                              options.b,
                              options.result,
                              values_of(options.settings),
                              options.contenders,
                              {options.ranks, options.hosts, options.oversubscribe}},
                             session.contenders(), session.plan(), interrupt);
  fmt::print(outcome.right ? stdout : stderr, "{}\n", outcome.line);
  return outcome.right ? exit_code::ok : exit_code::broken;
}

void write_page(const RunOptions& options, const Result& result, bool whole, Interrupt& interrupt) {
  const auto& named = options.scenarios;
  std::optional<FramePicture> picture;
  if (whole && contains(named, "commands")) {
    picture = draw_frame(interrupt);
  }
  write_atomically(options.page, page({&result}, page_limit_bytes, picture ? &*picture : nullptr));
}

}  // namespace

int run(const RunOptions& asked) {
  const RunOptions options = with_short_bursts(with_rungs(with_ranks(with_kills(asked))));
  require_seconds_to_wait(options);
  Interrupt interrupt;
  if (has_real_input(options)) return run_real_input(options, interrupt);
  Session session(options.measure, interrupt);
  std::vector<Chosen> all;
  std::optional<Overview> overview;
  if (options.is_overview()) {
    overview.emplace(options, session);
  } else {
    all = choose(options, session);
  }
  const std::vector<Session::Block> blocks = overview ? overview->blocks() : blocks_of(all);
  if (options.targets) {
    session.print_targets(blocks);
    return exit_code::ok;
  }
  require_writable_outputs(options);
  session.build(blocks);
  if (!overview) {
    fmt::print(stderr, "launches {}, seed {}\n", session.plan().launches, session.plan().seed);
  }
  if (!options.kill.empty()) say_who_is_left_out(options, session);
  wait_for_quiet(options, interrupt);
  const auto start = Clock::now();
  const auto interrupted =
      until_interrupted(session, [&] { overview ? overview->measure() : measure(all, session); });
  const std::chrono::duration<double> took = Clock::now() - start;
  const std::string busy = session.busy();
  // An overview's answer begins with it.
  if (!busy.empty() && (options.json || !overview)) fmt::print(stderr, "{}\n", busy);
  const Result result = session.result();
  const auto write = [&] {
    write_result(options.measure, result);
    if (!options.page.empty()) write_page(options, result, !interrupted, interrupt);
  };
  keep_and_show(write, [&] {
    const bool json = options.json;
    write_text({}, json ? to_json_text(result)
                        : answer_text(result, options, session.contenders(), busy, took.count()));
  });
  if (interrupted) return exit_code::signal + interrupted->signal;
  return session.broken() ? exit_code::broken : exit_code::ok;
}

}  // namespace handoff::lab

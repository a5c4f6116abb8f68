// SPDX-License-Identifier: MIT
// `handoff report`: one page from result files, of one machine or of many.
#include "commands/commands.hpp"
#include "commands/output.hpp"
#include "report/html.hpp"
#include "report/json.hpp"
#include "report/ladder_svg.hpp"

namespace handoff::lab {
namespace {

// Of the first result that has one.
std::string ladder_in(const std::vector<Result>& files, const ReportOptions& options) {
  const auto found =
      std::ranges::find_if(files, [](const Result& file) { return !file.rungs.empty(); });
  if (found == files.end()) {
    throw UserError(
        "{} has no rungs, so --ladder has nothing to draw; `handoff run` "
        "without scenarios, as ./run does it, measures them",
        options.results.front().string());
  }
  const Ladder ladder = ladder_of(*found);
  return ladder_svg(ladder, context_of(found->environment, ladder));
}

}  // namespace

int report(const ReportOptions& options) {
  require_output(options.output, options.results);
  require_output(options.ladder, options.results, "--ladder");
  const bool draws = !options.ladder.empty();
  const auto place = [](const std::filesystem::path& path) {
    return std::filesystem::absolute(path).lexically_normal();
  };
  if (draws && !options.output.empty() && place(options.ladder) == place(options.output)) {
    throw UserError("--ladder and --output name the same file; give each its own");
  }
  std::vector<Result> files;
  for (const auto& path : options.results) files.push_back(read_result(path));
  Results results;
  for (const Result& file : files) results.push_back(&file);
  if (draws) write_text(options.ladder, ladder_in(files, options));
  if (!draws || !options.output.empty()) write_text(options.output, page(results));
  return exit_code::ok;
}

}  // namespace handoff::lab

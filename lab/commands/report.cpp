// SPDX-License-Identifier: MIT
#include "commands/report.hpp"

#include "commands/output.hpp"
#include "report/html.hpp"
#include "report/read_result.hpp"

namespace handoff::lab {

int report(const ReportOptions& options) {
  require_output(options.output, options.results);
  std::vector<Result> files;
  for (const auto& path : options.results) files.push_back(read_result(path));
  Results results;
  for (const Result& file : files) results.push_back(&file);
  write_text(options.output, page(results));
  return exit_code::ok;
}

}  // namespace handoff::lab

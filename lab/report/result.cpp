// SPDX-License-Identifier: MIT
#include "report/result.hpp"

namespace handoff::lab {

void append_block(Result& result, const Scenario& scenario, const std::vector<Measurement>& block,
                  const std::optional<BlockReport>& report, std::uint64_t seed) {
  const std::size_t before = result.rows.size();
  for (const Measurement& measurement : block) {
    result.rows.push_back(finished_row(scenario, measurement, seed));
    result.rows.back().block = static_cast<std::int64_t>(result.blocks.size());
  }
  mark_impossible(std::span(result.rows).subspan(before));
  result.blocks.push_back(report);
}

ArticleTable table_of(const Scenario& scenario, const Article& article) {
  return {scenario.name(),
          article.title,
          article.cell.metric(),
          parameters_of(scenario, article.cell),
          article.metric_ms > 0 ? article.metric_ms : NAN,
          article.items > 0 ? article.items : NAN,
          article.rows};
}

}  // namespace handoff::lab

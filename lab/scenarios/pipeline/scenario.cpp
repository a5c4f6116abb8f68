// SPDX-License-Identifier: MIT
// `pipeline`: items that go through stages, some of which keep their order.
#include "scenarios/pipeline/items.hpp"
#include "scenarios/registry.hpp"
#include "scenarios/rules.hpp"

namespace handoff::lab::pipeline { namespace {

std::shared_ptr<const Problem> three_stages() {
  constexpr std::uint64_t slowest_item_ns = 50'000;
  Answer right{.jobs = peers::right_answer(items, 2), .digest = 0, .disorder = 0};
  for (std::uint64_t run = 0; run < 2; ++run) {
    std::vector<std::uint64_t> left;
    for (std::uint64_t item = 0; item < items; ++item) left.push_back(left_of(item, run));
    right.digest += digest_of(left);
  }
  return problem_by<Answer>(
      {.fault = [right](const Answer& answer) -> Wrong {
         if (Wrong wrong = peers::fault_of(answer.jobs, right.jobs)) return wrong;
         if (answer.disorder > 0) return fmt::format("{} items out of order", answer.disorder);
         if (answer.digest == right.digest) return {};
         return "an item did not come out as it should";
       },
       .slowest_operation = std::chrono::milliseconds(500) +
                            std::chrono::nanoseconds(right.jobs.runs * slowest_item_ns)});
}

// The same bytes come out again, whoever compressed them.
std::shared_ptr<const Problem> compression(const Cell& cell) {
  const std::string all = text(cell.number("mib") << 20);
  return problem_by<Answer>(
      {.fault = [bytes = all.size(), digest = digest_of(all)](const Answer& answer) -> Wrong {
         if (answer.jobs.runs == bytes && answer.digest == digest) return {};
         return fmt::format("{} bytes come out of it, which are not the {} that went in",
                            answer.jobs.runs, bytes);
       },
       .metric =
           [size = cell.metric() == "size", mib = cell.number("mib")](const Reading& reading) {
             return size ? reading.figure("size")
                         : static_cast<double>(mib) * 1e9 / reading.ns_per_item();
           },
       .slowest_operation = std::chrono::seconds(10) + std::chrono::seconds(cell.number("mib"))});
}

}}  // namespace handoff::lab::pipeline

handoff::lab::ScenarioTable handoff::lab::pipeline_scenario() {
  using namespace pipeline;
  return {
      .name = "pipeline",
      .summary = "items that go through stages, and files that are compressed that way",
      .metrics = {{"item", "ns", false, "an item through three empty stages"},
                  {"compress", "MiB/s", true, "text compressed by a program, as gzip does"},
                  {"size", "%", false, "what that program makes of 100 bytes"}},
      .parameters =
          {Parameter::one_of("kind",
                             "of the stages after the first, which is in order; mixed: a parallel "
                             "one, then one in order",
                             {"serial", "parallel", "in_order", "mixed"}, {"item"}),
           {"mib", "of the text", {"16"}, {}, 1, 1024, {"compress", "size"}},
           {"level", "of compression", {"6"}, {}, 1, 9, {"compress", "size"}},
           {"width", "threads that execute, the caller included where it helps", {"2"}, {}, 1, 64}},
      .problem = [](const Cell& cell) {
        return cell.metric() == "item" ? three_stages() : compression(cell);
      }};
}

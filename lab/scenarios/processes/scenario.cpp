// SPDX-License-Identifier: MIT
// The scenario `processes`: what a message costs on its way from process to process.
#include "scenarios/processes/work.hpp"
#include "scenarios/registry.hpp"
#include "scenarios/rules.hpp"

namespace handoff::lab::processes { namespace {

std::shared_ptr<const Problem> exchange(const Cell& cell) {
  const std::string metric = cell.metric();
  const std::size_t bytes = cell.number("bytes");
  const std::uint64_t messages = messages_of(metric, bytes);
  return problem_by<Answer>(
      {.fault = [messages, bytes](const Answer& answer) -> Wrong {
         if (answer.received != messages) {
           return fmt::format("received {} messages of {}", answer.received, messages);
         }
         if (answer.wrong != 0) {
           return fmt::format("{} messages were damaged, or not those that were sent",
                              answer.wrong);
         }
         if (answer.sum != weight_of(answer.first, messages, bytes)) {
           return "received other messages than those that were sent";
         }
         return {};
       },
       .metric =
           [metric](const Reading& reading) {
             if (metric == "wake") return reading.figure("p50") / 1e3;
             return metric == "throughput" ? 1e9 / reading.ns_per_item() : reading.ns_per_item();
           },
       // The kernel wakes a process on the CPU of the one that looks for its answer, or on another.
       .threads_share_cpus = metric == "wake"});
}

}}  // namespace handoff::lab::processes

handoff::lab::ScenarioTable handoff::lab::processes_scenario() {
  using namespace processes;
  const std::vector<std::string> sizes{"8", "64", "4096", "1048576"};
  return {.name = "processes",
          .summary = "messages of some bytes from one process to another, each written and read",
          .metrics =
              {{"latency", "ns", false,
                "a message to the other process: half of a round trip, one message at a time"},
               {"throughput", "messages/s", true,
                "messages from one process to the other, one after the other, until all are read"},
               {"wake", "us", false,
                "median from the send of a message until the other process, which slept, has it"}},
          .parameters = {Parameter::one_of("bytes", "of a message", sizes,
                                           {"latency", "throughput"}, {"8", "4096"}),
                         Parameter::one_of("bytes", "of a message", sizes, {"wake"}, {"8"})},
          .problem = exchange};
}

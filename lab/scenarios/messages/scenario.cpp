// SPDX-License-Identifier: MIT
// The scenario `messages`: what a message costs, and how long it takes, on its way from producers
// to the threads that handle it.
#include "scenarios/messages/work.hpp"
#include "scenarios/registry.hpp"
#include "scenarios/rules.hpp"

namespace handoff::lab::messages { namespace {

template <class Message>
std::uint64_t sum_of_all(std::size_t producers, std::size_t messages) {
  std::uint64_t sum = 0;
  for (std::size_t p = 0; p < producers; ++p) {
    for (std::size_t i = 0; i < share_of(p, producers, messages); ++i) {
      sum += Message({p, i}).weight();
    }
  }
  return sum;
}

std::uint64_t sum_of_all(std::size_t bytes, std::size_t producers, std::size_t messages) {
  switch (bytes) {
    case 8: return sum_of_all<Message<8>>(producers, messages);
    case 72: return sum_of_all<Message<72>>(producers, messages);
    default: return sum_of_all<Message<1024>>(producers, messages);
  }
}

std::shared_ptr<const Problem> transport(const Cell& cell) {
  const std::string metric = cell.metric();
  const std::uint64_t copies = metric == "broadcast" ? cell.number("consumers") : 1;
  const std::uint64_t sent = is_latency(metric) ? paced_messages : saturating_messages;
  const auto sum_of = [&](std::size_t messages) {
    return sum_of_all(cell.number("bytes", paced_bytes), cell.number("producers", 1), messages);
  };
  const std::map<std::string, const char*> figures{{"latency_p50", "p50"},
                                                   {"latency_p99", "p99"},
                                                   {"latency_p999", "p99_9"},
                                                   {"latency_max", "max"}};
  const char* const figure = is_latency(metric) ? figures.at(metric) : nullptr;
  return problem_by<Answer>(
      {.fault = [=, sum = sum_of(sent),
                 slow_sum = sum_of(slow_messages)](const Answer& answer) -> Wrong {
         const bool slow = answer.messages == slow_messages && !is_latency(metric);
         if (!slow && answer.messages != sent) {
           return fmt::format("sent {} messages at a time", answer.messages);
         }
         const std::uint64_t wanted = answer.operations * answer.messages * copies;
         if (answer.received != wanted) {
           return fmt::format("received {} messages of {}", answer.received, wanted);
         }
         if (answer.misplaced != 0) {
           return fmt::format("received {} messages twice, or after later ones of their producer",
                              answer.misplaced);
         }
         if (answer.sum != answer.operations * copies * (slow ? slow_sum : sum)) {
           return "received damaged messages, or others than those sent";
         }
         return {};
       },
       .metric =
           [figure](const Reading& reading) {
             return figure != nullptr ? reading.figure(figure) : reading.ns_per_item();
           }});
}

}}  // namespace handoff::lab::messages

handoff::lab::ScenarioTable handoff::lab::messages_scenario() {
  using namespace messages;
  const std::vector<std::string> waiting{"throughput", "latency_p50", "latency_p99", "latency_p999",
                                         "latency_max"};
  const std::vector<std::string> latencies(waiting.begin() + 1, waiting.end());
  return {
      .name = "messages",
      .summary = "messages of some bytes to the threads that handle them, at most 1024 at a time",
      .metrics = {{"throughput", "ns", false,
                   "a message written, published by one of `producers`, handled by one of "
                   "`consumers`, which take all that wait"},
                  {"latency_p50", "ns", false,
                   "median from the planned send of a message of 72 bytes to its handler, at a "
                   "fixed rate, even if earlier ones are late"},
                  {"latency_p99", "ns", false, "the same, p99"},
                  {"latency_p999", "ns", false, "the same, p99.9"},
                  {"latency_max", "ns", false, "the same, the maximum in a burst"},
                  {"broadcast", "ns", false,
                   "a message of 72 bytes that each of `consumers` handles"}},
      .parameters =
          {{"producers", "threads that publish", {"1", "2"}, {}, 1, most_producers, {"throughput"}},
           {"consumers", "threads that handle messages", {"1"}, {}, 1, 64, {"throughput"}},
           Parameter::number("consumers", "threads that each handle all messages", {"1", "2", "3"},
                             1, 64, {"broadcast"}),
           Parameter::one_of("bytes", "size of a message; each is written and read",
                             {"8", "72", "1024"}, {"throughput"}, {"72"}),
           Parameter::one_of("publish", "one message at a time, or 256 at once",
                             {"single", "batch"}, {"throughput", "broadcast"}),
           Parameter::number("load",
                             "percent of the highest rate at which the contender keeps pace",
                             {"50"}, 1, 100, latencies),
           Parameter::one_of("consumer", "spins, or sleeps after 50 us without a message",
                             {"spins", "sleeps"}, waiting)},
      .problem = transport};
}

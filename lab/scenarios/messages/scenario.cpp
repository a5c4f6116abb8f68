// SPDX-License-Identifier: MIT
// The scenario `messages`: what a message costs, and how long it takes, on its way from producers
// to the threads that handle it.
#include "scenarios/registry.hpp"

#include <fmt/format.h>

#include "harness/answer_problem.hpp"
#include "scenarios/messages/work.hpp"

namespace handoff::lab::messages { namespace {

std::size_t number_of(const Cell& cell, const char* name) {
  return cell.find(name) != nullptr ? cell.number(name) : 1;
}

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

class Transport final : public AnswerProblem<Answer> {
 public:
  explicit Transport(const Cell& cell)
      : metric_(cell.metric()),
        copies_(metric_ == "broadcast" ? cell.number("consumers") : 1),
        sent_(is_latency(metric_) ? paced_messages : saturating_messages),
        sum_(sum_of(cell, sent_)),
        slow_sum_(sum_of(cell, slow_messages)) {}

  double metric(const Reading& reading) const override {
    if (metric_ == "latency_p50") return reading.figure("p50");
    if (metric_ == "latency_p99") return reading.figure("p99");
    if (metric_ == "latency_p999") return reading.figure("p99_9");
    if (metric_ == "latency_max") return reading.figure("max");
    return reading.ns_per_item();
  }

  std::chrono::nanoseconds slowest_operation() const override { return std::chrono::seconds(20); }

 private:
  static std::uint64_t sum_of(const Cell& cell, std::size_t messages) {
    return sum_of_all(cell.find("bytes") != nullptr ? cell.number("bytes") : paced_bytes,
                      number_of(cell, "producers"), messages);
  }

  std::optional<std::string> fault_of(const Answer& answer) const override {
    const bool slow = answer.messages == slow_messages && !is_latency(metric_);
    if (!slow && answer.messages != sent_) {
      return fmt::format("sent {} messages at a time", answer.messages);
    }
    const std::uint64_t wanted = answer.operations * answer.messages * copies_;
    if (answer.received != wanted) {
      return fmt::format("received {} messages of {}", answer.received, wanted);
    }
    if (answer.misplaced != 0) {
      return fmt::format("received {} messages twice, or after later ones of their producer",
                         answer.misplaced);
    }
    if (answer.sum != answer.operations * copies_ * (slow ? slow_sum_ : sum_)) {
      return "received damaged messages, or others than those sent";
    }
    return {};
  }

  std::string metric_;
  std::uint64_t copies_;
  std::uint64_t sent_;  // in one operation
  std::uint64_t sum_;   // of that
  std::uint64_t slow_sum_;
};

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
      .problem = [](const Cell& cell) { return std::make_shared<Transport>(cell); }};
}

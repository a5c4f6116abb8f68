// SPDX-License-Identifier: MIT
// A queue that delivers its fifth event twice, or not at all.
#include "scenarios/events/function_table.hpp"
#include "scenarios/events/measure.hpp"

namespace handoff::lab::events {
namespace {

template <std::size_t kTimes>
class Liar : public CallsByIndex {
 public:
  explicit Liar(const Task& /*task*/) {}
  void enqueue(int key, const Payload& payload) {
    const std::size_t times = payload.words[0] == 4 ? kTimes : 1;
    waiting_.insert(waiting_.end(), times, {key, payload});
  }
  void process() {
    for (const auto& [key, payload] : waiting_) functions_(key, payload);
    waiting_.clear();
  }

 private:
  std::vector<std::pair<int, Payload>> waiting_;
};

}  // namespace

Operation contender(const Task& task) {
  return chosen<Operation(const Task&)>(
      {{"peer.drops", measure<Liar<0>>}, {"peer.doubles", measure<Liar<2>>}})(task);
}

}  // namespace handoff::lab::events

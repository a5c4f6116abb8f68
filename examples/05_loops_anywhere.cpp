// SPDX-License-Identifier: MIT
//
// One function that loops on whatever it is given: a team, a pool, the calling thread alone, an
// executor of the program's own. And a run that nobody waits for.
#include <atomic>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include <handoff/core/bulk.hpp>
#include <handoff/core/executor.hpp>
#include <handoff/core/inline_executor.hpp>
#include <handoff/core/parallel_for.hpp>
#include <handoff/core/unique_function.hpp>
#include <handoff/pool/parallel_for.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/team/thread_team.hpp>

namespace {

// The event loop of some program: it takes functions, and runs them when it gets round to it.
class EventLoop {
 public:
  template <class F>
  handoff::Status try_post(F&& function) {
    functions_.emplace_back(std::forward<F>(function));
    return handoff::Status::ok;
  }
  static std::size_t width() { return 1; }

  void run() {
    for (auto& function : std::exchange(functions_, {})) function();
  }

 private:
  std::vector<handoff::UniqueFunction<void()>> functions_;
};
static_assert(handoff::Executor<EventLoop>);

// The same on all of them, also in the last bit.
template <handoff::RunsLoops E>
double energy(E& executor, const std::vector<double>& samples) {
  std::vector<double> squares(samples.size());
  handoff::parallel_for(executor, 0, samples.size(),
                        [&](std::size_t i) { squares[i] = samples[i] * samples[i]; });
  return handoff::parallel_reduce(
      executor, 0, squares.size(), 0.0, [&](std::size_t i) { return squares[i]; }, std::plus<>());
}

}  // namespace

int main() {
  std::vector<double> samples(10'000);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = 1.0 / static_cast<double>(i + 1);

  handoff::InlineExecutor here;
  handoff::ThreadTeam team;
  handoff::ThreadPool pool;
  EventLoop loop;
  const double expected = energy(here, samples);
  bool right = energy(team, samples) == expected && energy(pool, samples) == expected;
  right = right && energy(loop, samples) == expected;  // the caller did it alone
  loop.run();                                          // too late to help: does nothing

  // A run that is started: this thread goes on, and the completion says when all is done.
  std::atomic<std::size_t> done{0};
  handoff::BulkOperation doubling(
      team, samples.size(),
      [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) samples[i] *= 2;
      },
      [&](const handoff::Tally& tally) noexcept {
        done = tally.done;
        done.notify_one();
      });
  if (doubling.start() != handoff::Status::ok) return 1;
  done.wait(0);
  return right && done == samples.size() && energy(team, samples) == 4 * expected ? 0 : 1;
}

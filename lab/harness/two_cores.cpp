// SPDX-License-Identifier: MIT
#include "harness/two_cores.hpp"
#include "harness/cpus.hpp"
#include "harness/multiply_adds.hpp"
#include "harness/ping_pong.hpp"

namespace handoff::lab {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// GFLOP/s of all these CPUs at once: the best of a few short runs, each as long as its slowest.
double multiply_on(const std::vector<int>& cpus) {
  constexpr std::size_t steps = std::size_t{1} << 21;
  double best = 0;
  for (int run = 0; run < 5; ++run) {
    std::atomic<std::size_t> ready = 0;
    std::vector<double> counts(cpus.size());
    std::vector<double> seconds(cpus.size());
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < cpus.size(); ++i) {
        threads.emplace_back([&, i] {
          stay_on(cpus[i]);
          ready.fetch_add(1);
          while (ready.load() < cpus.size()) std::this_thread::yield();
          const auto start = Clock::now();
          counts[i] = MultiplyAdds::count(steps);
          seconds[i] = seconds_since(start);
        });
      }
    }
    double done = 0;
    for (const double count : counts) done += count;
    best = std::max(best, 2e-9 * done / *std::ranges::max_element(seconds));
  }
  return best;
}

// The best of a few runs, for a run that met a hiccup says nothing about the distance.
double round_trip_ns(int first, int second) {
  constexpr int trips = 20'000;
  double best = 1e9;
  for (int run = 0; run < 5; ++run) {
    alignas(64) std::atomic<int> turn = 0;
    double seconds = 0;
    std::jthread other([&] {
      stay_on(second);
      ping_pong(turn, 1, trips);
    });
    std::jthread self([&] {
      const auto start = Clock::now();
      stay_on(first);
      ping_pong(turn, 0, trips);
      seconds = seconds_since(start);
    });
    self.join();
    other.join();
    best = std::min(best, seconds * 1e9 / trips);
  }
  return best;
}

}  // namespace

std::optional<TwoCores> measure_two_cores() {
  const std::vector<int> cpus = allowed_cpus();
  if (cpus.size() < 2) return {};
  TwoCores cores{cpus[0], cpus[1]};
  cores.one_gflops = std::max(multiply_on({cores.first}), multiply_on({cores.second}));
  cores.both_gflops = multiply_on({cores.first, cores.second});
  cores.round_trip_ns = round_trip_ns(cores.first, cores.second);
  return cores;
}

}  // namespace handoff::lab

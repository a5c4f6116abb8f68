// SPDX-License-Identifier: MIT
//
// A loop whose load nobody knows beforehand: it chooses by what it measures, and says what.
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#include <handoff/choice/adaptive_loop.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/team/thread_team.hpp>

namespace {

// One step of some simulation: the bodies that move are few or many.
class Simulation {
 public:
  explicit Simulation(std::size_t most) : speeds_(most, 1.0) {}

  void step(std::size_t moving) {
    loop_.run(moving, [&](std::size_t i) { speeds_[i] = std::sqrt(speeds_[i] + 3.0) - 1.0; });
  }
  double speed(std::size_t body) const { return speeds_[body]; }
  std::string choice(std::size_t moving) const { return to_string(loop_.choice(moving)); }

 private:
  handoff::ThreadTeam team_;
  handoff::ThreadPool pool_;
  handoff::AdaptiveLoop loop_{team_, pool_};  // lives as long as its loop is run
  std::vector<double> speeds_;
};

}  // namespace

int main() {
  constexpr std::size_t many = 100'000;
  Simulation simulation(many);
  for (int step = 0; step < 200; ++step) {
    simulation.step(10);
    simulation.step(many);
  }
  std::printf("%zu bodies: %s\n", std::size_t{10}, simulation.choice(10).c_str());
  std::printf("%zu bodies: %s\n", many, simulation.choice(many).c_str());

  // Once, without a memory: it begins serially, and hands over what is left if that pays.
  handoff::ThreadTeam team;
  std::vector<int> squares(1000);
  const handoff::Tally tally = handoff::adaptive_for(
      team, squares.size(), [&](std::size_t i) { squares[i] = static_cast<int>(i * i); });

  const bool moved = simulation.speed(0) == 1.0 && simulation.speed(many - 1) == 1.0;
  return moved && tally.done == 1000 && squares[999] == 998'001 ? 0 : 1;
}

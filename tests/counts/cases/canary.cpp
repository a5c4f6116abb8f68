// SPDX-License-Identifier: MIT
//
// A toy that does something once more when it is told to: the check has to see it.
#include <unistd.h>

#include <array>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/fence.hpp>
#include <handoff/sync/internal/park.hpp>
#include <memory>
#include <string_view>

#include "counts/case.hpp"

namespace {

using namespace handoff::counts;
using handoff::sync::order;

struct Toy {
  alignas(64) handoff::sync::atomic<std::uint32_t> word{0};
  alignas(64) handoff::sync::atomic<std::uint32_t> beside{0};

  void operate(std::string_view plant) {
    // order: as the rows of the table say; nobody else is there.
    keep(word.load(order::acquire));
    word.store(1, order::release);
    (void)word.fetch_add(1, order::acq_rel);
    if (plant == "load") keep(word.load(order::acquire));
    if (plant == "store") word.store(1, order::release);
    if (plant == "rmw") (void)word.fetch_add(1, order::acq_rel);
    if (plant == "fence") handoff::sync::fence(order::seq_cst);
    if (plant == "line") keep(beside.load(order::acquire));
    if (plant == "wake") (void)handoff::sync::unpark(beside, 1, handoff::sync::ParkScope::process);
    if (plant == "call") keep(::getpid());
    if (plant == "allocation") keep(*std::make_unique<int>(1));
  }
};

}  // namespace

HANDOFF_COUNT_CASE(canary) {
  Toy toy;
  Helper other;
  for (int i = 0; i < 4; ++i) {
    // order: as above.
    other.run([&] { toy.beside.store(0, order::relaxed); });
    const std::function<void()> park = [&] {
      const Counted counted("Canary.operate/alone", planted() == "wake", 0);
      handoff::sync::park(toy.beside, 0, handoff::sync::no_deadline,
                          handoff::sync::ParkScope::process);
    };
    if (planted() == "wake") other.begin(park);
    let_all_sleep();
    const Counted counted("Canary.operate/alone");
    toy.operate(planted());
  }
}

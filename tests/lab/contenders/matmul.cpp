// SPDX-License-Identifier: MIT
// Contenders of `matmul` that misbehave.
#include <iostream>

#include "scenarios/matmul/contender.hpp"

namespace handoff::lab::matmul {
namespace {

// Every element of the answer is wrong.
Operation wrong(const Task& task) {
  return [&task] { std::memset(task.output, 0, task.m * task.n * sizeof(float)); };
}

// One element is.
Operation almost(const Task& task) {
  return [&task, rows = task.rows()] {
    rows(0, task.m);
    if (const auto* o = std::get_if<Operands<float>>(&task.operands)) o->c[o->n * o->m / 2] += 1;
    if (const auto* o = std::get_if<Operands<double>>(&task.operands)) o->c[0] += 1;
  };
}

// Dies of a signal in its second operation.
Operation crash(const Task& task) {
  return [rows = task.rows(), &task, operations = 0]() mutable {
    if (++operations == 2) std::raise(SIGSEGV);
    rows(0, task.m);
  };
}

// Computes for ever.
Operation hang(const Task& task) {
  return [&task, rows = task.rows()] {
    for (;;) rows(0, task.m);
  };
}

// Very fast.
Operation nothing(const Task& /*task*/) {
  return [] {};
}

// Computes the answer once and then relies on its still being there.
Operation once(const Task& task) {
  return [&task, rows = task.rows(), computed = false]() mutable {
    if (!computed) rows(0, task.m);
    computed = true;
  };
}

// Says something and ends instead of computing.
Operation leaves(const Task& /*task*/) {
  return [] {
    std::cerr << "first line\nno more \xFF paper\n";  // neither ASCII nor UTF-8
    std::exit(7);
  };
}

// Finds out as it prepares that it cannot run here.
Operation refuses(const Task& /*task*/) { throw Unavailable("it needs a moon"); }

// After its first operation two threads of it never rest again.
Operation spins(const Task& task) {
  const auto spinners = std::make_shared<std::vector<std::jthread>>();
  return [&task, spinners, rows = task.rows()] {
    rows(0, task.m);
    while (spinners->size() < 2) {
      spinners->emplace_back([](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
        }
      });
    }
  };
}

// A limit that did less than the cell's work.
Operation low(const Task& task) {
  return [&task] {
    const double count = static_cast<double>(task.m * task.n * task.k) - 1;
    std::memcpy(task.output, &count, sizeof count);
  };
}

}  // namespace

Operation contender(const Task& task) {
  return chosen<Operation(const Task&)>({{"peer.wrong", wrong},
                                         {"peer.almost", almost},
                                         {"peer.crash", crash},
                                         {"peer.hang", hang},
                                         {"peer.nothing", nothing},
                                         {"peer.once", once},
                                         {"peer.leaves", leaves},
                                         {"peer.refuses", refuses},
                                         {"peer.spins", spins},
                                         {"limit.low", low}})(task);
}

}  // namespace handoff::lab::matmul

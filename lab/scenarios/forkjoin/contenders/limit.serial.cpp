// SPDX-License-Identifier: MIT
// The same recursion in plain calls: the work without any fork.
#include "peers/serial.hpp"
#include "scenarios/forkjoin/measure.hpp"

handoff::lab::Operation handoff::lab::forkjoin::contender(const Task& task) {
  return measure<peers::Serial>(task);
}

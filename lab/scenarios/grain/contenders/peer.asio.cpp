// SPDX-License-Identifier: MIT
// Asio's thread pool: a task each.
#include "scenarios/grain/contender.hpp"
#include "scenarios/pools/asio.hpp"

handoff::lab::grain::Operation handoff::lab::grain::contender(const Task& task) {
  return measure<pools::Asio>(task);
}

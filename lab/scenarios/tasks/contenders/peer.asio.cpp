// SPDX-License-Identifier: MIT
// Asio's thread pool. It cannot be waited for and used again, so a batch's last task tells.
#include "scenarios/pools/asio.hpp"
#include "scenarios/tasks/measure.hpp"

handoff::lab::tasks::Operation handoff::lab::tasks::contender(const Task& task) {
  return measure<pools::Asio>(task);
}

// SPDX-License-Identifier: MIT
// The installed fio with its engine psync.
#include "scenarios/files/fio.hpp"

namespace handoff::lab::files {

std::unique_ptr<Way> contender(const Task& task) {
  return std::make_unique<Fio>(task, FioEngine::psync);
}

}  // namespace handoff::lab::files

// SPDX-License-Identifier: MIT
// The library's FileEngine: the engine chooses.
#include "scenarios/files/own_engine.hpp"

namespace handoff::lab::files {

std::unique_ptr<Way> contender(const Task& task) {
  return std::make_unique<OwnEngine>(task, FileBackend::automatic);
}

}  // namespace handoff::lab::files

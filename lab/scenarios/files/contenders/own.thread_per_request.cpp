// SPDX-License-Identifier: MIT
// The library's FileEngine: a thread for each request.
#include "scenarios/files/own_engine.hpp"

namespace handoff::lab::files {

std::unique_ptr<Way> contender(const Task& task) {
  return std::make_unique<OwnEngine>(task, FileBackend::thread_per_request);
}

}  // namespace handoff::lab::files

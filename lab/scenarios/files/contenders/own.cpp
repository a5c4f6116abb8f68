// SPDX-License-Identifier: MIT
// The library's FileEngine with each of its backends.
#include "scenarios/files/own_engine.hpp"

namespace handoff::lab::files {
namespace {

template <FileBackend backend>
std::unique_ptr<Way> own(const Task& task) {
  return std::make_unique<OwnEngine>(task, backend);
}

}  // namespace

std::unique_ptr<Way> contender(const Task& task) {
  return chosen<std::unique_ptr<Way>(const Task&)>(
      {{"own.automatic", own<FileBackend::automatic>},
       {"own.caller", own<FileBackend::caller>},
       {"own.io_thread", own<FileBackend::io_thread>},
       {"own.pool", own<FileBackend::pool>},
       {"own.thread_per_request", own<FileBackend::thread_per_request>},
       {"own.io_uring", own<FileBackend::io_uring>}})(task);
}

}  // namespace handoff::lab::files

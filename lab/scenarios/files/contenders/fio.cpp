// SPDX-License-Identifier: MIT
// The installed fio, with two of its engines.
#include "scenarios/files/fio.hpp"

namespace handoff::lab::files {
namespace {

template <FioEngine engine>
std::unique_ptr<Way> fio(const Task& task) {
  return std::make_unique<Fio>(task, engine);
}

}  // namespace

std::unique_ptr<Way> contender(const Task& task) {
  return chosen<std::unique_ptr<Way>(const Task&)>(
      {{"peer.fio_psync", fio<FioEngine::psync>}, {"peer.fio_io_uring", fio<FioEngine::io_uring>}})(
      task);
}

}  // namespace handoff::lab::files

// SPDX-License-Identifier: MIT
// The article's fake_thread_pool: the caller posts the files to three threads in turns.
#include "scenarios/files/blocking.hpp"
#include "scenarios/files/io_threads.hpp"

namespace handoff::lab::files {

std::unique_ptr<Way> contender(const Task& /*task*/) {
  return std::make_unique<Blocking<IoThreads<3>>>(kArticleBlock);
}

}  // namespace handoff::lab::files

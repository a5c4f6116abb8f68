// SPDX-License-Identifier: MIT
// The article's one_io_thread: the caller posts the files to one thread.
#include "scenarios/files/blocking.hpp"
#include "scenarios/files/io_threads.hpp"

namespace handoff::lab::files {

std::unique_ptr<Way> contender(const Task& /*task*/) {
  return std::make_unique<Blocking<IoThreads<1>>>(kArticleBlock);
}

}  // namespace handoff::lab::files

// SPDX-License-Identifier: MIT
// The article's one_thread_per_task: as many threads as files, all at once.
#include <thread>

#include "scenarios/files/blocking.hpp"

namespace handoff::lab::files {
namespace {

struct ThreadPerFile {
  static void run(std::size_t count, const std::function<void(std::size_t)>& job) {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < count; ++i) threads.emplace_back([&job, i] { job(i); });
  }
};

}  // namespace

std::unique_ptr<Way> contender(const Task& /*task*/) {
  return std::make_unique<Blocking<ThreadPerFile>>(kArticleBlock);
}

}  // namespace handoff::lab::files

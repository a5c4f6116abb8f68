// SPDX-License-Identifier: MIT
// The article's one_thread_in_all: the caller writes one file after the other.
#include "scenarios/files/blocking.hpp"

namespace handoff::lab::files {
namespace {

struct Single {
  static void run(std::size_t count, const std::function<void(std::size_t)>& job) {
    for (std::size_t i = 0; i < count; ++i) job(i);
  }
};

}  // namespace

std::unique_ptr<Way> contender(const Task& /*task*/) {
  return std::make_unique<Blocking<Single>>(kArticleBlock);
}

}  // namespace handoff::lab::files

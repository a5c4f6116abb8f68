// SPDX-License-Identifier: MIT
// POSIX threads: started and joined. The C library keeps the stacks of threads that ended.
#include <stdexcept>

#include <pthread.h>

#include "scenarios/spawn/contender.hpp"

namespace handoff::lab::spawn {
namespace {

void* run(void* word) {
  static_cast<Word*>(word)->store();
  return nullptr;
}

}  // namespace

Operation contender() {
  return [](Word& word) {
    pthread_t thread{};
    if (pthread_create(&thread, nullptr, run, &word) != 0) throw std::runtime_error("no thread");
    pthread_join(thread, nullptr);
  };
}

}  // namespace handoff::lab::spawn

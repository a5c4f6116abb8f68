// SPDX-License-Identifier: MIT
// This library's pool, used as nobody should: made for one task, and closed after it.
#include <handoff/pool/thread_pool.hpp>

#include "scenarios/spawn/contender.hpp"

handoff::lab::spawn::Operation handoff::lab::spawn::contender() {
  return [](Word& word) {
    ThreadPool pool(1);
    pool.post([&word] { word.store(); });
    pool.close(Closing::finish);
  };
}

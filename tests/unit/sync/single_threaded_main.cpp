// SPDX-License-Identifier: MIT
//
// A program of one thread, until it starts another one: what it knows of that, and a mutex held
// from before until after. Not a Google Test, whose watchdog is a thread.
#include <handoff/sync/internal/single_threaded.hpp>

#include <cstdio>
#include <cstdlib>
#include <thread>

#include <handoff/sync/mutex.hpp>

#if defined(__has_feature)
#define HANDOFF_TEST_HAS_FEATURE(x) __has_feature(x)
#else
#define HANDOFF_TEST_HAS_FEATURE(x) 0
#endif

namespace {

using namespace handoff;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "single_threaded: not %s\n", what);
  std::exit(1);
}

}  // namespace

int main() {
// ThreadSanitizer has a thread of its own.
#if __has_include(<sys/single_threaded.h>) && !HANDOFF_TEST_HAS_FEATURE(thread_sanitizer)
  expect(sync::single_threaded(), "alone at the beginning");
#endif
  sync::Mutex mutex;
  for (int i = 0; i < 2; ++i) {
    mutex.lock();
    expect(!mutex.try_lock(), "held after lock()");
    mutex.unlock();
    expect(mutex.try_lock(), "free after unlock()");
    mutex.unlock();
  }
  mutex.lock();
  int guarded = 0;
  std::thread other([&] {
    expect(!sync::single_threaded(), "two threads beside another one");
    const sync::Lock lock(mutex);
    expect(guarded == 1, "kept out by a lock from before the first thread");
    guarded = 2;
  });
  for (int i = 0; i < 100; ++i) std::this_thread::yield();
  guarded = 1;
  mutex.unlock();
  other.join();
  const sync::Lock lock(mutex);
  expect(guarded == 2, "seen what the other one wrote");
}

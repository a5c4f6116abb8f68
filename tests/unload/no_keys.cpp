// SPDX-License-Identifier: MIT
// A process that has no key of thread-specific data left: the library hears of the end of threads
// all the same. More threads come and go than may live at once.
#include <pthread.h>

#include <cstdio>
#include <thread>

#include <handoff/event/callback_list.hpp>
#include <handoff/memory/internal/thread_id.hpp>

int main() {
  int keys = 0;
  for (pthread_key_t key = 0; pthread_key_create(&key, nullptr) == 0;) ++keys;
  handoff::CallbackList<void()> list;
  int calls = 0;
  int numbers = 0;
  const auto handle = list.append([&] { ++calls; });
  constexpr int threads = 600;
  for (int i = 0; i < threads; ++i) {
    std::thread([&] {
      list();
      numbers += handoff::detail::LoneThread::enroll() ? 1 : 0;
    }).join();
  }
  const bool removed = list.remove_and_wait(handle);
  std::printf("%d keys, %d calls, %d numbers\n", keys, calls, numbers);
  return keys > 0 && calls == threads && numbers == threads && removed ? 0 : 1;
}

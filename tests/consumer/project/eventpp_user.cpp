// SPDX-License-Identifier: MIT
//
// A stranger's program that was written against eventpp and BS::thread_pool: prints what its
// listeners were told.

#include <cstdio>
#include <string>

#include <eventpp/callbacklist.h>
#include <eventpp/eventqueue.h>
#include <eventpp/utilities/scopedremover.h>
#include <BS_thread_pool.hpp>

int main() {
  std::string told;
  eventpp::EventQueue<int, void(const std::string&)> queue;
  {
    eventpp::ScopedRemover<decltype(queue)> remover(queue);
    remover.appendListener(1, [&](const std::string& s) { told += s; });
    queue.enqueue(1, "queued");
    queue.process();
  }
  queue.dispatch(1, "to nobody");
  eventpp::CallbackList<void(const char*)> list;
  list.append([&](const char* s) { told += s; });
  list(" and called");
  BS::thread_pool pool(2);
  pool.submit_task([&] { told += " by " + std::to_string(BS_THREAD_POOL_VERSION_MAJOR); }).get();
  std::puts(told.c_str());
  return 0;
}

// SPDX-License-Identifier: MIT
//
// A program written against eventpp, unchanged: it also compiles with eventpp's own headers. One
// thread sends log lines, another one handles them.
#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include <eventpp/eventqueue.h>
#include <eventpp/utilities/counterremover.h>
#include <eventpp/utilities/scopedremover.h>

enum class Log { info, warning };
using Queue = eventpp::EventQueue<Log, void(const std::string&)>;

int main() {
  Queue queue;
  std::atomic<int> letters{0};
  std::atomic<int> warnings{0};
  int first = 0;

  eventpp::ScopedRemover<Queue> remover(queue);
  remover.appendListener(
      Log::info, [&](const std::string& line) { letters += static_cast<int>(line.size()); });
  remover.appendListener(Log::warning, [&](const std::string&) { ++warnings; });
  eventpp::counterRemover(queue).appendListener(Log::info, [&](const std::string&) { ++first; });

  std::thread handler([&] {
    while (warnings == 0) {
      if (queue.waitFor(std::chrono::milliseconds(10))) queue.process();
    }
  });
  for (int i = 0; i < 100; ++i) queue.enqueue(Log::info, "line");
  queue.enqueue(Log::warning, "the last one");
  handler.join();
  return letters == 400 && first == 1 ? 0 : 1;
}

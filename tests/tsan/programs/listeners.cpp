// SPDX-License-Identifier: MIT
//
// Objects that end while others call their listeners.
#include <atomic>
#include <handoff/event/callback_list.hpp>
#include <handoff/event/listener_handle.hpp>
#include <memory>
#include <thread>
#include <vector>

#include "plant.hpp"

namespace {

using List = handoff::CallbackList<void(int)>;

// Relaxed: the calls of two threads are not ordered, and do not race.
void add(long& to, int value) {
  std::atomic_ref<long>(to).fetch_add(value, std::memory_order_relaxed);
}

struct OfMany {
  explicit OfMany(List& list) {
    for (int i = 0; i < 3; ++i) listeners.add(list.append([this](int v) { add(seen, v); }));
  }
  long seen = 0;
  handoff::ListenerGroup listeners;  // the last member
};

struct OfOne {
  explicit OfOne(List& list)
      : listener(list.append([this](int v) {
          add(seen, v);
          if (v == 2) throw v;
        })) {}
  long seen = 0;
  handoff::ScopedListener listener;
};

}  // namespace

int main() {
  List list;
  {
    const handoff::ScopedListener listener = list.append([](int) { inside(); });
    std::thread caller([&list] { list(0); });
    outside();
    caller.join();
  }
  std::atomic<bool> stop = false;
  std::vector<std::thread> callers;
  for (int i = 0; i < 2; ++i) {
    callers.emplace_back([&] {
      for (int n = 0; !stop.load(std::memory_order_relaxed); ++n) {
        try {
          list(n % 3);
        } catch (int) {
        }
      }
    });
  }
  std::vector<std::unique_ptr<OfMany>> many(4);
  std::vector<std::unique_ptr<OfOne>> ones(4);
  unsigned next = 1;
  for (int i = 0; i < 8000; ++i) {
    next = next * 1103515245 + 12345;
    const std::size_t at = (next >> 16) % 4;
    if (many[at]) {
      many[at].reset();
      ones[at].reset();
    } else {
      many[at] = std::make_unique<OfMany>(list);
      ones[at] = std::make_unique<OfOne>(list);
    }
  }
  stop = true;
  for (auto& caller : callers) caller.join();
  return 0;
}

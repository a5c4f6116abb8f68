// SPDX-License-Identifier: MIT
//
// Callback lists under real threads: races of a removal against dispatches, 250 000 in an ordinary
// run and 2 500 000 in a deep one. None seen in n races bounds the rate of calls after
// remove_and_wait() below 3/n (95 %).
#include <handoff/sync/internal/pause.hpp>

#include "books/event_books.hpp"
#include "support/test.hpp"

namespace {

using namespace handoff;

void dawdle(std::mt19937_64& random) {
  const auto pauses = random() % 32;
  for (std::uint64_t i = 0; i < pauses; ++i) sync::pause();
}

// Threads that do nothing but call, until the scope ends.
template <class Call>
class Callers {
 public:
  Callers(std::size_t count, Call call) : call_(std::move(call)) {
    for (std::size_t i = 0; i < count; ++i) {
      threads_.emplace_back([this] {
        while (!quit_.load(std::memory_order_relaxed)) {
          call_();
          calls_.fetch_add(1, std::memory_order_relaxed);
        }
      });
    }
    while (calls_.load() < count) std::this_thread::yield();
  }
  ~Callers() {
    quit_ = true;
    for (auto& thread : threads_) thread.join();
  }

 private:
  Call call_;
  std::atomic<bool> quit_{false};
  std::atomic<std::size_t> calls_{0};
  std::vector<std::thread> threads_;
};

// What a listener refers to is taken away as soon as remove_and_wait() has returned.
// `add(listener)` adds one to what another thread walks by `call()`, again and again.
template <class Call, class Add>
void race_removals(std::size_t races, Call call, Add add) {
  std::array<std::atomic<bool>, 64> removed{};
  std::atomic<std::size_t> late{0};
  std::atomic<std::size_t> calls{0};
  {
    const Callers callers(1, call);
    auto random = test::random();
    // The other thread may not have run in all that time: then nothing was raced yet.
    for (std::size_t round = 0; round < races || calls == 0; ++round) {
      auto& mine = removed[round % removed.size()];
      mine.store(false, std::memory_order_relaxed);
      const ListenerHandle handle = add([&] {
        if (mine.load(std::memory_order_relaxed)) late.fetch_add(1);
        calls.fetch_add(1, std::memory_order_relaxed);
        if (mine.load(std::memory_order_relaxed)) late.fetch_add(1);
      });
      dawdle(random);
      ASSERT_TRUE(handle.remove_and_wait());
      mine.store(true, std::memory_order_relaxed);
    }
  }
  EXPECT_EQ(late, 0U) << "of " << races;
}

TEST(CallbackListStress, NoCallAfterRemoveAndWait) {
  test::Audited<CallbackList<void()>> list;
  list.append([] {});
  race_removals(test::rounds(250'000), [&] { list(); }, [&](auto f) { return list.append(f); });
  EXPECT_EQ(list.size(), 1U);
}

// In a queue that is drained a pass begins anew for each event, and leads from the filters to the
// listeners of a key.
TEST(CallbackListStress, NoCallAfterRemoveAndWaitInAQueue) {
  test::Audited<EventQueue<int, void()>> queue;
  queue.append_filter([] { return true; });
  const auto call = [&] {
    for (int i = 0; i < 8; ++i) ASSERT_EQ(queue.enqueue(i % 2), Status::ok);
    queue.drain();
  };
  race_removals(test::rounds(25'000), call, [&](auto f) { return queue.append_listener(0, f); });
}

// The same check must notice a removal that does not wait: a canary for the test above.
TEST(CallbackListStress, CanaryAPlainRemovalIsNoticed) {
  test::Audited<CallbackList<void()>> list;
  std::atomic<bool> inside{false};
  std::atomic<bool> gone{false};
  std::atomic<bool> late{false};
  const auto handle = list.append([&] {
    inside = true;
    while (!gone) sync::pause();
    late = true;
  });
  std::thread caller([&] { list(); });
  while (!inside) sync::pause();
  EXPECT_TRUE(handle.remove());  // returns while the call goes on
  gone = true;
  caller.join();
  EXPECT_TRUE(late);
}

// The functions own memory: freed too early is a report of AddressSanitizer, never freed is a leak
// and a count that does not come back.
TEST(CallbackListStress, FunctionsAreFreedOnceNobodyRunsThem) {
  const std::size_t races = test::rounds(20'000);
  const auto alive = std::make_shared<int>(1);
  test::Audited<CallbackList<void()>> list;
  {
    std::atomic<int> sum{0};
    const Callers callers(1, [&] { list(); });
    const auto change = [&](std::uint64_t stream) {
      auto random = test::random(stream);
      std::vector<ListenerHandle> handles(8);
      for (std::size_t round = 0; round < races / 2; ++round) {
        auto& handle = handles[random() % handles.size()];
        if (random() % 4 == 0) {
          handle.remove_and_wait();
        } else {
          handle.remove();
        }
        auto listener = [alive, &sum, own = std::make_unique<int>(1)] { sum += *own + *alive; };
        switch (random() % 3) {
          case 0: handle = list.append(std::move(listener)); break;
          case 1: handle = list.prepend(std::move(listener)); break;
          default: handle = list.insert(handles[random() % 8], std::move(listener)); break;
        }
      }
    };
    std::jthread other(change, 1);
    change(2);
  }
  list.clear();
  EXPECT_EQ(alive.use_count(), 1);
}

// Keys come and go while others are dispatched: what stays is always found.
TEST(CallbackListStress, KeysComeAndGo) {
  const std::size_t rounds = test::rounds(20'000);
  EventDispatcher<std::size_t, void(std::size_t&)> dispatcher;
  for (std::size_t key = 0; key < 4; ++key) {
    dispatcher.append_listener(key, [](std::size_t& calls) { ++calls; });
  }
  std::atomic<std::size_t> missed{0};
  const Callers callers(1, [&] {
    std::size_t calls = 0;
    for (std::size_t key = 0; key < 4; ++key) dispatcher.dispatch(key, calls);
    if (calls != 4) missed.fetch_add(1);
  });
  std::vector<ScopedListener> others(16);
  for (std::size_t round = 0; round < rounds; ++round) {
    others[round % 16] = dispatcher.append_listener(100 + round, [](std::size_t& n) { ++n; });
  }
  EXPECT_EQ(missed, 0U);
}

// Never more calls than asked for, and in the end all of them.
TEST(CallbackListStress, CountsAreSharedByAllThreads) {
  const std::size_t rounds = test::rounds(2'000);
  test::Audited<CallbackList<void()>> list;
  const Callers callers(1, [&] { list(); });
  for (std::size_t round = 0; round < rounds; ++round) {
    std::atomic<int> calls{0};
    const auto handle = list.append([&] { ++calls; }, {.calls = 3});
    while (handle.attached()) std::this_thread::yield();
    handle.remove_and_wait();
    ASSERT_EQ(calls, 3);
  }
}

// Objects with listeners in two lists end in their own listeners, in those of others, nested, and
// on a thread that calls nothing, while two threads call. What a listener touches of its object it
// touches before it ends anything: from there on another thread may end the object.
TEST(CallbackListStress, ObjectsEndInListenersAndBesideThem) {
  struct Object {
    std::atomic<int> heard{0};
    ListenerGroup listeners;
  };
  using List = test::Audited<CallbackList<void(std::uint64_t)>>;
  std::array<std::atomic<Object*>, 8> slots{};
  std::array<List, 2> lists;
  const auto end = [&](std::size_t slot) { delete slots[slot].exchange(nullptr); };
  std::atomic<std::uint64_t> draws{0};
  {
    const Callers callers(2, [&] {
      const std::uint64_t draw = draws.fetch_add(1) * 0x9e3779b97f4a7c15U >> 32;
      lists[draw % 2](draw / 2);
    });
    const std::size_t rounds = test::rounds(5'000);
    for (std::size_t round = 0; round < rounds; ++round) {
      auto object = std::make_unique<Object>();
      for (List& list : lists) {
        object->listeners.add(list.append([&, heard = &object->heard](std::uint64_t draw) {
          heard->fetch_add(1, std::memory_order_relaxed);
          if (draw % 16 == 0) end(draw / 16 % 8);
          if (draw % 16 == 1) lists[draw / 16 % 2](draw / 16);
        }));
      }
      const std::size_t slot = round % slots.size();
      end(slot);
      slots[slot] = object.release();
    }
    for (std::size_t slot = 0; slot < slots.size(); ++slot) end(slot);
    for (const List& list : lists) EXPECT_TRUE(list.empty());
  }
}

// Lists end inside their own callbacks while handles are used elsewhere.
TEST(CallbackListStress, ListsEndInCallbacks) {
  const std::size_t rounds = test::rounds(20'000);
  for (std::size_t round = 0; round < rounds; ++round) {
    auto list = std::make_unique<CallbackList<void()>>();
    int calls = 0;
    list->append([&] {
      ++calls;
      list.reset();
    });
    const auto second = list->append([&] { ++calls; });
    std::thread other;
    if (round % 8 == 0) other = std::thread([second] { second.remove(); });
    (*list)();
    if (other.joinable()) other.join();
    ASSERT_EQ(calls, 1);
    ASSERT_FALSE(second.attached());
  }
}

}  // namespace

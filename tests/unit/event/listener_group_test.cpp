// SPDX-License-Identifier: MIT
//
// ListenerGroup and ScopedListener: what goes, when, in which order, and whose calls are waited
// for.
#include <barrier>
#include <handoff/event/callback_list.hpp>
#include <handoff/event/event_queue.hpp>

#include "support/failing.hpp"
#include "support/test.hpp"

namespace listener_group_test { namespace {

using namespace handoff;
using List = CallbackList<void()>;

// Says its name when a listener that holds it is freed.
class Named {
 public:
  Named(std::string& gone, char name) noexcept : gone_(&gone), name_(name) {}
  Named(Named&& other) noexcept : gone_(std::exchange(other.gone_, nullptr)), name_(other.name_) {}
  Named(const Named&) = delete;
  Named& operator=(const Named&) = delete;
  ~Named() {
    if (gone_ != nullptr) *gone_ += name_;
  }

 private:
  std::string* gone_;
  char name_;
};

void add(ListenerGroup& group, List& list, std::string& gone, const char* names) {
  for (; *names != '\0'; ++names) {
    group.add(list.append([named = Named(gone, *names)] { (void)named; }));
  }
}

TEST(ListenerGroup, RemovesTheYoungestFirst) {
  List list;
  std::string gone;
  {
    ListenerGroup group;
    add(group, list, gone, "abc");
    EXPECT_EQ(group.size(), 3u);
  }
  EXPECT_EQ(gone, "cba");
  EXPECT_TRUE(list.empty());
}

TEST(ListenerGroup, IsUsedAgainAfterClear) {
  List list;
  std::string gone;
  ListenerGroup group;
  add(group, list, gone, "ab");
  group.clear();
  EXPECT_EQ(group.size(), 0u);
  EXPECT_EQ(gone, "ba");
  EXPECT_TRUE(list.empty());
  add(group, list, gone, "c");
  EXPECT_EQ(group.size(), 1u);
  EXPECT_FALSE(list.empty());
}

TEST(ListenerGroup, AssignmentRemovesItsOwnFirstAndNothingByItself) {
  List list;
  std::string gone;
  ListenerGroup group;
  add(group, list, gone, "ab");
  ListenerGroup other;
  add(other, list, gone, "cd");
  group = std::move(other);
  EXPECT_EQ(gone, "ba");
  EXPECT_EQ(group.size(), 2u);
  ListenerGroup& same = group;
  group = std::move(same);
  EXPECT_EQ(group.size(), 2u);
  EXPECT_EQ(gone, "ba");
}

// Listeners that are called once, by the thousand, while others stay: the group forgets them.
TEST(ListenerGroup, ForgetsListenersThatHaveRemovedThemselves) {
  List list;
  ListenerGroup group;
  std::string gone;
  add(group, list, gone, "abc");
  int calls = 0;
  for (int i = 0; i < 1000; ++i) {
    group.add(list.append([&] { ++calls; }, {.calls = 1}));
    list();
    ASSERT_LE(group.size(), 16U);
  }
  EXPECT_EQ(calls, 1000);
  EXPECT_EQ(list.size(), 3U);
  EXPECT_EQ(gone, "");
  group.clear();
  EXPECT_EQ(gone, "cba");
}

TEST(ListenerGroup, RemovesTheListenerThatItHasNoMemoryFor) {
  List list;
  ListenerGroup group;
  const auto one = group.add(list.append([] {}));
  ListenerHandle handle = list.append([] {});
  test::fail_after(test::Call::allocation, 0, 0);
  EXPECT_THROW(group.add(handle), std::bad_alloc);
  EXPECT_TRUE(test::stop_failing(test::Call::allocation));
  EXPECT_FALSE(handle.attached());
  EXPECT_TRUE(one.attached());
  EXPECT_EQ(group.size(), 1U);
}

// What a removed function owns may add a listener at its end: a group that ends removes that too.
TEST(ListenerGroup, RemovesWhatIsAddedWhileItEnds) {
  List list;
  std::string gone;
  {
    ListenerGroup group;
    const auto adds = [&](const int* end) {
      delete end;
      add(group, list, gone, "b");
    };
    group.add(list.append([own = std::shared_ptr<int>(new int, adds)] { (void)own; }));
  }
  EXPECT_EQ(gone, "b");
  EXPECT_TRUE(list.empty());
}

// A list, and what ends a listener of it from its own call; the function is there until then.
TEST(ScopedListener, EndsInItsOwnCall) {
  const std::vector<std::function<void(ScopedListener&)>> ways = {
      [](ScopedListener& self) { self.reset(); },
      [](ScopedListener& self) { self = ScopedListener(); },
      [](ScopedListener& self) { const ScopedListener ends = std::move(self); },
      [](ScopedListener& self) {
        ListenerGroup ends;
        ends.add(self.release());
      },
      [](ScopedListener& self) {  // by another listener, nested in the call
        List inner;
        const ScopedListener other = inner.append([&] { self.reset(); });
        inner();
      },
  };
  for (const auto& way : ways) {
    List list;
    std::string calls;
    auto owned = std::make_shared<int>(0);
    const std::weak_ptr<int> watch = owned;
    ScopedListener self;
    self = list.append([&, own = std::move(owned)] {
      way(self);
      calls += own.use_count() == 1 ? '1' : 'x';
      EXPECT_FALSE(watch.expired()) << "it runs";
      list();  // a pass in it does not call it
    });
    const ScopedListener other = list.append([&] { calls += '2'; });
    list();
    EXPECT_EQ(calls, "122");
    EXPECT_TRUE(watch.expired());
    EXPECT_EQ(list.size(), 1U);
  }
}

TEST(ScopedListener, AnObjectEndsInItsOwnListener) {
  struct Session {
    int* ended;
    ListenerGroup listeners{};
    ~Session() { ++*ended; }
  };
  EventQueue<int, void()> queue;
  int ended = 0;
  auto session = std::make_unique<Session>(&ended);
  session->listeners.add(queue.append_listener(1, [&] { session.reset(); }));
  session->listeners.add(queue.append_listener(2, [] { FAIL() << "it is gone"; }));
  session->listeners.add(queue.append_filter([] { return true; }));
  for (const int key : {1, 2, 1}) EXPECT_EQ(queue.enqueue(key), Status::ok);
  EXPECT_EQ(queue.drain(), 3U);
  EXPECT_EQ(ended, 1);
}

// `end` runs while another thread is in the call of the listener, which says so where it leaves.
template <class Hold>
void waits_for_a_call(Hold&& hold) {
  List list;
  std::barrier<> inside(2);
  std::atomic<bool> left{false};
  const ListenerHandle handle = list.append([&] {
    inside.arrive_and_wait();
    for (int i = 0; i < 1000; ++i) std::this_thread::yield();
    left.store(true, std::memory_order_relaxed);
  });
  std::jthread caller([&] { list(); });
  hold(handle, [&] { inside.arrive_and_wait(); });
  EXPECT_TRUE(left.load(std::memory_order_relaxed));
  EXPECT_FALSE(handle.attached());
}

TEST(ScopedListener, WaitsForACallOnAnotherThread) {
  waits_for_a_call([](const ListenerHandle& handle, auto begin) {
    const ScopedListener ends = handle;
    begin();
  });
  waits_for_a_call([](const ListenerHandle& handle, auto begin) {
    ScopedListener assigned = handle;
    begin();
    assigned = ScopedListener();
  });
  waits_for_a_call([](const ListenerHandle& handle, auto begin) {
    ScopedListener removed_before = handle;
    begin();
    EXPECT_TRUE(handle.remove());
    removed_before.reset();
  });
  waits_for_a_call([](const ListenerHandle& handle, auto begin) {
    List other;
    ListenerGroup group;
    group.add(other.append([] {}));
    group.add(handle);
    group.add(ListenerHandle());
    begin();
  });
}

// Two sessions that end in their own listeners at once, on two threads; and two listeners that end
// each other: of these the second goes on at once, and the first waits for it.
TEST(ScopedListener, TwoThreadsNeverWaitForEachOther) {
  for (const bool each_other : {false, true}) {
    CallbackList<void(int)> list;
    std::barrier<> inside(2);
    std::atomic<bool> running[2] = {};
    std::atomic<int> seen_running{0};
    ScopedListener holders[2];
    for (int i = 0; i < 2; ++i) {
      holders[i] = list.append([&, i](int which) {
        if (which != i) return;
        running[i] = true;
        inside.arrive_and_wait();
        holders[each_other ? 1 - i : i].reset();
        if (each_other && running[1 - i]) ++seen_running;
        running[i] = false;
      });
    }
    std::jthread other([&] { list(1); });
    list(0);
    other.join();
    EXPECT_EQ(seen_running, each_other ? 1 : 0);
    EXPECT_TRUE(list.empty());
  }
}

}}  // namespace listener_group_test

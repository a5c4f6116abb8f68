// SPDX-License-Identifier: MIT
//
// The books of event/ report what is broken on purpose.
#include "books/event_books.hpp"
#include "books/expect_reported.hpp"
#include "books/slab_books.hpp"
#include "support/next.hpp"
#include "support/test.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

struct Break;

template <>
struct Books<Break> {
  template <class Queue>
  static auto& store(Queue& queue) {
    return *queue.store_;
  }
  template <class Queue>
  static auto& sleepers(Queue& queue) {
    return queue.arrivals().sleepers_.count_;
  }
  template <class Queue>
  static auto& holds(Queue& queue) {
    return queue.arrivals().holds_;
  }
  template <class Store>
  static auto& claimed(Store& store) {
    return store.claimed_;
  }
  template <class Store>
  static auto& done(Store& store) {
    return store.totals_.done;
  }
  template <class Store>
  static auto& room(Store& store) {
    return store.room_.left_;
  }
  template <class Store>
  static auto& head_offset(Store& store) {
    return store.chunks_.head_.offset;
  }
  template <class Store>
  static auto& given_back(Store& store) {
    return store.chunks_.head_.chunk->done;
  }
  template <class Store>
  static auto& first_index(Store& store) {
    return store.chunks_.head_.chunk->first_index.write();
  }
  template <class Store>
  static auto& life(Store& store) {
    return store.chunks_.head_.chunk->life.write();
  }
  template <class Store>
  static auto& state(Store& store, std::uint32_t i) {
    return store.chunks_.head_.chunk->slot(i).state;
  }
  template <class Store>
  static auto& needed(Store& store) {
    return store.chunks_.needed_.write();
  }
  template <class Store>
  static auto& newest(Store& store, int key) {
    for (auto& known : store.latest_) {
      if (known.second.key == key) return known.second;
    }
    throw std::out_of_range("no such key");
  }
  template <class Store>
  static void reverse_heap(Store& store) {
    struct Heap : Store::Backlog {
      using Store::Backlog::priority_queue::c;
    };
    auto& entries = store.backlog_.*(&Heap::c);
    std::reverse(entries.begin(), entries.end());
  }
  template <class Store>
  static void push_again(Store& store) {
    store.backlog_.push(store.backlog_.top());
  }
  template <class Store>
  static void pop(Store& store) {
    store.backlog_.pop();
  }

  static ListenerList& list(CallbackList<void()>& list) { return *list.list_; }
  static auto& alive(ListenerList& list) { return list.alive_; }
  static auto& references(ListenerList& list) { return list.references_; }
  static auto& current(ListenerList& list) { return list.current_; }
  static auto& lowest(ListenerList& list) { return list.lowest_; }
  static auto& highest(ListenerList& list) { return list.highest_; }
  static auto& in_leaves(ListenerList& list) { return list.current()->in_leaves_; }
  static auto& array_size(ListenerList& list) { return list.current()->size_; }
  static auto& entry(ListenerList& list) { return list.current()->begin()[0]; }
  static auto& leaf_size(ListenerList& list) {
    return test::now(list.current()->leaves()[0])->size_;
  }
  static Listener& first(ListenerList& list) {
    ListenerList::Array& array = *list.current();
    return *test::now((array.leaf_count_ == 0 ? array : *test::now(array.leaves()[0])).begin()[0]);
  }
  static auto& place(Listener& listener) { return listener.place_.write(); }
  static auto& call(Listener& listener) { return listener.call_; }
  static auto& priority(Listener& listener) { return listener.priority_; }
  static auto& list_of(Listener& listener) { return listener.list_; }

  static auto& lone_number(std::size_t place) { return LoneThread::living_[place].number; }

  static auto& chunks(SlabPool& pool) { return pool.chunks_; }
  static auto& free(SlabPool& pool) { return pool.free_; }
  static auto& least_free(SlabPool& pool) { return pool.least_free_; }
  static auto& first_with_free(SlabPool& pool) { return pool.first_with_free_; }
};

}}}  // namespace handoff::HANDOFF_ABI::detail

namespace {

using namespace handoff;
using test::expect_reported;
using test::fault_in;
using test::take_if;
using Break = detail::Books<detail::Break>;

TEST(EventBooks, ListenerList) {
  CallbackList<void()> callbacks;
  detail::ListenerList& list = Break::list(callbacks);
  for (int i = 0; i < 3; ++i) (void)callbacks.append([] {}, {.priority = -i});
  expect_reported(list, Break::alive(list), 2,
                  "ListenerList: the count of those that are attached");
  expect_reported(list, Break::references(list), 3, "ListenerList: too few references");
  expect_reported(list, Break::current(list), nullptr, "ListenerList: listeners and no array");
  expect_reported(list, Break::in_leaves(list), 1,
                  "ListenerList: the count of the leaves' entries");
  expect_reported(list, Break::lowest(list), 1, "ListenerList: the lowest priority");
  expect_reported(list, Break::highest(list), -1, "ListenerList: the highest priority");
  expect_reported(list, Break::array_size(list), 5,
                  "ListenerList: more entries than there is room");
  expect_reported(list, Break::entry(list), nullptr,
                  "ListenerList: the count of those that are attached");
  detail::Listener& first = Break::first(list);
  expect_reported(list, Break::place(first), &Break::entry(list) + 1,
                  "ListenerList: a listener does not know its place");
  expect_reported(list, Break::call(first), nullptr,
                  "ListenerList: a listener that was removed has an entry");
  test::set(Break::lowest(list), -3);
  expect_reported(list, Break::priority(first), -3, "ListenerList: a lower priority comes first");
  expect_reported(list, Break::list_of(first), nullptr, "ListenerList: a listener of another list");
}

TEST(EventBooks, ListenerListWithLeaves) {
  CallbackList<void()> callbacks;
  detail::ListenerList& list = Break::list(callbacks);
  for (int i = 0; i < 1000; ++i) (void)callbacks.prepend([] {});
  expect_reported(list, Break::in_leaves(list), 0,
                  "ListenerList: the count of the leaves' entries");
  expect_reported(list, Break::leaf_size(list), 0, "ListenerList: a leaf without entries");
  detail::Listener& first = Break::first(list);
  expect_reported(list, Break::place(first), &Break::entry(list),
                  "ListenerList: a listener does not know its place");
  expect_reported(list, Break::list_of(first), nullptr, "ListenerList: a listener of another list");
}

TEST(EventBooks, Passes) {
  EXPECT_EQ(detail::Books<detail::PassRecord>::fault(), "");
  CallbackList<void()> list;
  std::string inside;
  (void)list.append([&inside] { inside = detail::Books<detail::PassRecord>::fault(); });
  list();
  EXPECT_EQ(inside, "PassRecord: a pass has not ended");
  EXPECT_EQ(detail::Books<detail::PassRecord>::fault(), "");
}

TEST(EventBooks, LoneThreads) {
  using Book = detail::Books<detail::LoneThread>;
  const std::size_t before = Book::living();
  std::thread([before] {
    ASSERT_TRUE(detail::LoneThread::enroll());
    EXPECT_EQ(Book::living(), before + 1);
  }).join();
  EXPECT_EQ(Book::living(), before);
  EXPECT_EQ(Book::fault(), "");
  test::set(Break::lone_number(7), 256 + 8);
  EXPECT_EQ(Book::fault(), "LoneThread: a thread is not in its number's place");
  test::set(Break::lone_number(7), 0);
}

struct Bounded : EventPolicies {
  static constexpr bool bounded = true;
};

// Two events are done, two were refused, two are in the row.
class StoreBook : public testing::Test {
 protected:
  using Queue = EventQueue<int, void(int), Bounded>;
  StoreBook() {
    for (int i = 0; i < 4; ++i) EXPECT_EQ(queue_.enqueue(i, i), Status::ok);
    EXPECT_EQ(queue_.drain_if(take_if([](int key, int) { return key < 2; })), 2U);
    for (int i = 4; i < 6; ++i) EXPECT_EQ(queue_.enqueue(i, i), Status::ok);
  }
  std::string fault() const { return detail::Books<Queue>::fault(queue_, 8); }

  template <class Word, class Value>
  void expect(Word& word, Value wrong, const char* reported) {
    const auto right = test::get(word);
    EXPECT_EQ(fault(), "");
    test::set(word, wrong);
    EXPECT_EQ(fault(), reported);
    test::set(word, right);
    EXPECT_EQ(fault(), "");
  }

  Queue queue_{{.capacity = 8}};
};

TEST_F(StoreBook, Reports) {
  auto& store = Break::store(queue_);
  expect(Break::sleepers(queue_), 1, "Arrivals: somebody is counted as asleep");
  expect(Break::holds(queue_), 1, "Arrivals: notifications are held back");
  expect(Break::claimed(store), 1, "EventStore: a session has not given back its places");
  expect(Break::done(store), 1, "EventStore: pending is not what lies there");
  expect(Break::room(store), 3, "EventStore: a place's room is lost");
  expect(Break::head_offset(store), 5,
         "EventChunks: places that were taken and neither held nor given back");
  expect(Break::head_offset(store), 100'000, "EventChunks: the head is behind its chunk");
  expect(Break::head_offset(store), 7, "EventChunks: the head is behind the tail");
  expect(Break::given_back(store), 1,
         "EventChunks: places that were taken and neither held nor given back");
  expect(Break::state(store, 5), 0, "EventChunks: a place that is never filled");
  expect(Break::state(store, 2), 0, "EventStore: a place's state");
  expect(Break::needed(store), 0, "EventChunks: how long a lone producer has to wait");
}

TEST_F(StoreBook, ReportsAnUnorderedHeap) {
  Break::reverse_heap(Break::store(queue_));
  EXPECT_EQ(fault(), "EventStore: the heap's order");
  Break::reverse_heap(Break::store(queue_));
}

TEST_F(StoreBook, ReportsAPlaceThatWaitsTwice) {
  Break::push_again(Break::store(queue_));
  EXPECT_EQ(fault(), "EventStore: a place waits twice");
  Break::pop(Break::store(queue_));
}

struct Coalescing : EventPolicies {
  static constexpr bool coalesce = true;
};

TEST(EventBooks, ReportsAKeyThatIsForgottenOrKnownForNothing) {
  EventQueue<int, void(int), Coalescing> queue;
  for (const int key : {1, 1, 2}) EXPECT_EQ(queue.enqueue(key, key), Status::ok);
  EXPECT_EQ(queue.drain_if(take_if([] { return false; })), 0U);
  EXPECT_EQ(fault_in(queue), "");
  auto& newest = Break::newest(Break::store(queue), 2);
  for (const std::uint32_t users : {0U, 2U}) {
    newest.users = users;
    EXPECT_EQ(fault_in(queue), "EventStore: what it knows of a key");
  }
  newest.users = 1;
  EXPECT_EQ(fault_in(queue), "");
  newest.waits = true;
  newest.place.offset += 1;
  EXPECT_EQ(fault_in(queue), "EventStore: what it knows of a key");
  newest.place.offset -= 1;
  EXPECT_EQ(fault_in(queue), "");
}

TEST(EventBooks, Slabs) {
  using Book = detail::Books<detail::SlabPool>;
  auto& pool = detail::slab_pool;
  const std::size_t before = Book::in_use(pool);
  {
    EventQueue<int, void(int)> queue;
    EXPECT_EQ(Book::in_use(pool), before + 1);
    expect_reported(pool, Break::chunks(pool), 1, "SlabPool: the count of chunks");
    expect_reported(pool, Break::free(pool), 1, "SlabPool: the count of free chunks");
    expect_reported(pool, Break::least_free(pool), 1'000'000, "SlabPool: the least that were free");
    expect_reported(pool, Break::first_with_free(pool), nullptr,
                    "SlabPool: the first with a free chunk");
  }
  EXPECT_EQ(Book::in_use(pool), before);
}

}  // namespace

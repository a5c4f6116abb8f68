// SPDX-License-Identifier: MIT
//
// The rows of the transfer tier: what the calls of each queue do (contract_page.hpp).
#include "conformance/contract_page.hpp"
#include "conformance/followed_by_one.hpp"
#include "conformance/made.hpp"
#include "support/patience.hpp"
#include "support/test.hpp"
#include "unit/process/shared_faces.hpp"

namespace handoff::test {
namespace {

using std::chrono::milliseconds;

// ---- Faces: all queues with the same calls. `push` waits where the queue has a call that does
// ----

template <class Queue>
struct OfQueue {
  using Item = typename Queue::value_type;
  static constexpr bool bounded = std::is_constructible_v<Queue, std::size_t>;

  explicit OfQueue(std::size_t capacity) : queue(made<Queue>(capacity)) {}
  Status try_push(Item&& item) { return queue.try_push(std::move(item)); }
  Status try_push(const Item& item)
    requires std::is_copy_constructible_v<Item>
  {
    return queue.try_push(item);
  }
  Status push(Item&& item, const Until& until)
    requires requires(Queue& channel) { channel.push(std::move(item), until); }
  {
    return queue.push(std::move(item), until);
  }
  Status try_pop(Item& out) { return queue.try_pop(out); }
  void close() { queue.close(); }

  Queue queue;
};

// A reader that remembers which value it has seen.
template <class T>
struct OfLatest {
  using Item = T;
  static constexpr bool bounded = false;

  explicit OfLatest(std::size_t at_once) : queue(std::min<std::size_t>(at_once, 31)) {}
  Status try_push(Item&& item) { return queue.store(std::move(item)); }
  Status try_push(const Item& item)
    requires std::is_copy_constructible_v<Item>
  {
    return queue.store(item);
  }
  Status try_pop(Item& out)
    requires std::is_copy_constructible_v<Item>
  {
    return queue.read_newer(seen, [&](const T& value) { out = value; }, milliseconds(0));
  }
  void close() { queue.close(); }

  Latest<T> queue;
  std::uint64_t seen = 0;
};

// Every item has a key of its own.
template <class T>
struct OfLatestByKey {
  using Item = T;
  static constexpr bool bounded = true;

  explicit OfLatestByKey(std::size_t capacity) : queue(capacity) {}
  Status try_push(Item&& item) { return queue.try_push(next++, std::move(item)); }
  Status try_push(const Item& item)
    requires std::is_copy_constructible_v<Item>
  {
    return queue.try_push(next++, item);
  }
  Status push(Item&& item, const Until& until) {
    return queue.push(next++, std::move(item), until);
  }
  Status try_pop(Item& out) {
    const auto take = [&](const int&, T& value) { out = std::move(value); };
    if (queue.consume(take, 1) == 1) return Status::ok;
    return queue.closed() ? Status::closed : Status::empty;
  }
  void close() { queue.close(); }

  LatestByKey<int, T> queue;
  std::atomic<int> next{0};
};

// Nothing lies in it: a push finds no room unless somebody pops.
template <class T>
struct OfRendezvous {
  using Item = T;
  static constexpr bool bounded = true;

  explicit OfRendezvous(std::size_t) {}
  Status try_push(Item&& item) { return queue.try_push(std::move(item)); }
  Status try_push(const Item& item)
    requires std::is_copy_constructible_v<Item>
  {
    return queue.try_push(item);
  }
  Status push(Item&& item, const Until& until) { return queue.push(std::move(item), until); }
  Status try_pop(Item& out) { return queue.try_pop(out); }
  void close() { queue.close(); }

  RendezvousChannel<T> queue;
};

// ... and one whose calls wait for the other side.
struct OfWaitingRendezvous : OfRendezvous<int> {
  using OfRendezvous<int>::OfRendezvous;
  Status try_push(int item) { return queue.push(item, milliseconds(1)); }
  Status try_pop(int& out) { return queue.pop(out, milliseconds(1)); }
};

// Of shared memory: both ends in one process.
template <class FaceOfRing>
struct OfShared {
  using Item = int;
  static constexpr bool bounded = FaceOfRing::waits;

  explicit OfShared(std::size_t capacity)
      : made(capacity), producer(made.ring), consumer(made.ring) {}
  Status try_push(int item) { return producer.try_push(static_cast<std::uint64_t>(item)); }
  Status push(int item, const Until& until)
    requires(bounded)
  {
    return producer.push(static_cast<std::uint64_t>(item), until);
  }
  Status try_pop(int& out) {
    std::uint64_t number = 0;
    const Status said = consumer.try_pop(number);
    if (said == Status::ok) out = static_cast<int>(number);
    return said;
  }
  void close() { FaceOfRing::close(made.ring); }

  typename FaceOfRing::Made made;
  typename FaceOfRing::Producer producer;
  typename FaceOfRing::Consumer consumer;
};

// Records of one integer.
struct OfByteRing : RingInPages<SharedByteRing> {
  using Item = int;
  using RingInPages::RingInPages;
  static constexpr bool bounded = true;

  Status try_push(int item) { return producer.try_push(std::as_bytes(std::span(&item, 1))); }
  Status push(int item, const Until& until) {
    return producer.push(std::as_bytes(std::span(&item, 1)), until);
  }
  Status try_pop(int& out) {
    std::span<const std::byte> record;
    const Status said = consumer.try_peek(record);
    if (said != Status::ok) return said;
    out = 0;
    consumer.release();
    return said;
  }
  void close() { ring.close(); }

  SharedByteRing::Producer producer{ring};
  SharedByteRing::Consumer consumer{ring};
};

// ---- Cells: what these calls do ----

template <class Face>
constexpr bool kWaits = requires(Face& face, typename Face::Item item, const Until& until) {
  face.push(std::move(item), until);
};

// An item of any type.
template <class Item>
Item an_item(int number = 0) {
  if constexpr (std::is_same_v<Item, std::unique_ptr<int>>) {
    return std::make_unique<int>(number);
  } else {
    return Item(number);
  }
}

// How many items go in until one is refused.
template <class Face>
std::size_t fill(Face& face) {
  std::size_t count = 0;
  while (face.try_push(an_item<typename Face::Item>()) == Status::ok) ++count;
  return count;
}

template <class Face>
std::string with_no_room() {
  Face face(2);
  if constexpr (Face::bounded) {
    fill(face);
    const std::string tried =
        "`try_push` returns " + said(face.try_push(an_item<typename Face::Item>()));
    if constexpr (!kWaits<Face>) {
      return tried;
    } else {
      const Status waited = face.push(an_item<typename Face::Item>(), milliseconds(1));
      return "`push` " + (waited == Status::timed_out ? "waits" : said(waited)) + "; " + tried;
    }
  } else {
    for (int i = 0; i < 1000; ++i) {
      const Status told = face.try_push(an_item<typename Face::Item>(i));
      if (told != Status::ok) return said(told);
    }
    std::size_t kept = 0;
    typename Face::Item out(0);
    while (face.try_pop(out) == Status::ok) ++kept;
    return kept == 1000 ? "grows" : "the oldest item is overwritten";
  }
}

template <class Face>
std::string once_closed() {
  using Item = typename Face::Item;
  Face face(4);
  if (face.try_push(an_item<Item>()) != Status::ok) return "takes nothing";
  face.close();
  std::string pushes = said(face.try_push(an_item<Item>()));
  if constexpr (kWaits<Face>) pushes = both(pushes, said(face.push(an_item<Item>(), Until())));
  Item out(0);
  const Status first = face.try_pop(out);
  return "pushes return " + pushes + "; pops return " + said(first) +
         " while items are left, then " + said(face.try_pop(out));
}

// What becomes of an item that can only be moved when the queue is full, if it can be, and closed.
template <class Face>
std::string of_refused() {
  const auto refused = [](Face& face) {
    auto item = an_item<typename Face::Item>();
    if (face.try_push(std::move(item)) == Status::ok) return "taken";
    if (item == nullptr) return "moved";
    if constexpr (kWaits<Face>) {
      (void)face.push(std::move(item), milliseconds(0));
      if (item == nullptr) return "moved";
    }
    return "unmoved";
  };
  Face closed(2);
  closed.close();
  std::string word = refused(closed);
  if constexpr (Face::bounded) {
    Face full(2);
    fill(full);
    word = both(refused(full), word);
  }
  return word;
}

template <class Face>
std::string sizes() {
  if constexpr (Face::bounded) {
    return capacities([](std::size_t capacity) {
      Face face(capacity);
      return fill(face);
    });
  } else {
    return "no bound";
  }
}

// So many threads push and so many pop, and all that went in comes out once. A claim that a queue
// is for one thread at a side is its own: here it gets one.
template <class Face, unsigned producers, unsigned consumers>
std::string used_by() {
  constexpr int each = 500;
  Face face(64);
  std::atomic<int> popped{0};
  std::vector<std::thread> threads;
  for (unsigned p = 0; p < producers; ++p) {
    threads.emplace_back([&] {
      for (int i = 0; i < each; ++i) {
        idle_until([&] { return face.try_push(an_item<typename Face::Item>(i)) == Status::ok; });
      }
    });
  }
  const int all = each * static_cast<int>(producers);
  for (unsigned c = 0; c < consumers; ++c) {
    threads.emplace_back([&] {
      for (Idling idling; popped < all;) {
        typename Face::Item out(0);
        if (face.try_pop(out) == Status::ok) {
          ++popped;
        } else {
          idling.wait();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (popped != all) return "lost " + std::to_string(all - popped);
  return std::string(producers == 1 ? "one pushes, " : "any push, ") +
         (consumers == 1 ? "one pops" : "any pop");
}

template <class Face>
std::string allocates() {
  Face face(64);
  typename Face::Item out(0);
  return allocations([&] {
    (void)face.try_push(an_item<typename Face::Item>());
    (void)face.try_pop(out);
  });
}

template <class Face>
std::string copy_that_throws() {
  Face face(4);
  Copied item(1);
  item.throws = true;
  const std::string told = outcome([&] { (void)face.try_push(std::as_const(item)); });
  Copied out(0);
  if (told != "a copy") return told;
  return face.try_pop(out) == Status::ok ? "is kept" : "the push rethrows; nothing went in";
}

// Whether a forked child takes an item from its own copy of the queue, or from the same queue.
template <class Face>
std::string in_a_child() {
  using Item = typename Face::Item;
  Face face(4);
  if (face.try_push(an_item<Item>()) != Status::ok) return "takes nothing";
  const auto take = [&] {
    Item out(0);
    return face.try_pop(out) == Status::ok;
  };
  if (!child_ends(take)) return "not to be used";
  return take() ? "it is a copy" : "it is the same queue";
}

// Whether what a forked child pushes comes out here: each end belongs to one process at a time.
template <class Face>
std::string with_a_child() {
  Face face(4);
  if (!child_ends([&] { return face.try_push(7) == Status::ok; })) return "not to be used";
  int out = 0;
  return face.try_pop(out) == Status::ok ? "it is the same queue" : "it is a copy";
}

std::string rendezvous_once_closed() {
  OfRendezvous<int> face(0);
  face.close();
  int out = 0;
  return "pushes return " + both(said(face.try_push(1)), said(face.push(1, Until()))) +
         "; pops return " + said(face.try_pop(out));
}

// Whether what a push and a pop do here allocates.
std::string rendezvous_allocates() {
  RendezvousChannel<int> queue;
  std::thread consumer([&] {
    while (queue.pop()) {
    }
  });
  const std::string told = allocations([&] { (void)queue.push(1); });
  queue.close();
  consumer.join();
  return told;
}

// Whether a forked child closes its own copy, or the same channel.
std::string rendezvous_in_a_child() {
  RendezvousChannel<int> queue;
  const auto close = [&] {
    queue.close();
    return queue.try_push(1) == Status::closed;
  };
  if (!child_ends(close)) return "not to be used";
  return queue.closed() ? "it is the same queue" : "it is a copy";
}

// Two producers, each with its own slot, and one consumer.
std::string slots_used_by() {
  using Ring = SharedMpscRing<int>;
  constexpr int each = 500;
  RingInPages<Ring> made(64, 2);
  const Ring& ring = made.ring;
  std::vector<std::thread> producers;
  for (std::size_t slot = 0; slot < 2; ++slot) {
    producers.emplace_back([&, slot] {
      Ring::Producer producer(ring, slot);
      for (int i = 0; i < each; ++i) {
        idle_until([&] { return producer.try_push(i) == Status::ok; });
      }
    });
  }
  Ring::Consumer consumer(ring);
  for (int popped = 0; popped < 2 * each; ++popped) {
    idle_until([&] {
      int out = 0;
      return consumer.try_pop(out) == Status::ok;
    });
  }
  for (std::thread& thread : producers) thread.join();
  return "one pushes per producer slot, one pops";
}

// ---- Rows ----

template <template <class> class Face, unsigned producers, unsigned consumers>
ContractRow row(const std::string& type, const std::string& calls,
                const std::string& which_consumers = {}) {
  return {type,
          calls,
          with_no_room<Face<int>>(),
          once_closed<Face<int>>(),
          of_refused<Face<std::unique_ptr<int>>>(),
          sizes<Face<int>>(),
          used_by<Face<int>, producers, consumers>() + which_consumers,
          allocates<Face<int>>(),
          copy_that_throws<Face<Copied>>(),
          in_a_child<Face<int>>()};
}

// Of shared memory: items are bytes, which are copied and never moved.
template <class Face>
ContractRow shared_row(const std::string& type, const std::string& calls,
                       const std::string& users = used_by<Face, 1, 1>()) {
  return {type,          calls, with_no_room<Face>(), once_closed<Face>(), "unmoved",
          sizes<Face>(), users, allocates<Face>(),    "cannot happen",     with_a_child<Face>()};
}

template <class T>
struct Spsc : OfQueue<SpscRing<T>> {
  using OfQueue<SpscRing<T>>::OfQueue;
};
template <class T>
struct Mpsc : OfQueue<MpscRing<T>> {
  using OfQueue<MpscRing<T>>::OfQueue;
};
template <class T>
struct Mpmc : OfQueue<MpmcRing<T>> {
  using OfQueue<MpmcRing<T>>::OfQueue;
};
template <class T>
struct Segments : OfQueue<SegmentQueue<T>> {
  using OfQueue<SegmentQueue<T>>::OfQueue;
};
template <class T>
struct Waiting : OfQueue<Channel<T>> {
  using OfQueue<Channel<T>>::OfQueue;
};
template <class T>
struct WaitingGrows : OfQueue<UnboundedChannel<T>> {
  using OfQueue<UnboundedChannel<T>>::OfQueue;
};
template <class T>
struct ToEach : OfQueue<FollowedByOne<T, BroadcastPolicies>> {
  using OfQueue<FollowedByOne<T, BroadcastPolicies>>::OfQueue;
};

}  // namespace

ContractTable transfer_table() {
  return {"transfer",
          {"type", "calls that hand over", "when there is no room", "after `close()`",
           "a refused item is", "capacity", "threads", "an item allocates",
           "when copying an item throws", "in a forked child"},
          {
              row<Spsc, 1, 1>("`SpscRing`", "`try_push`"),
              row<Mpsc, 2, 1>("`MpscRing`", "`try_push`"),
              row<Mpmc, 2, 2>("`MpmcRing`", "`try_push`"),
              row<Segments, 2, 2>("`SegmentQueue`", "`try_push`"),
              row<Waiting, 2, 2>("`Channel`", "`push`, `try_push`"),
              row<WaitingGrows, 2, 2>("`UnboundedChannel`", "`push`, `try_push`"),
              {"`RendezvousChannel`", "`push`, `try_push`", with_no_room<OfRendezvous<int>>(),
               rendezvous_once_closed(), of_refused<OfRendezvous<std::unique_ptr<int>>>(),
               "no place: a push needs a pop", used_by<OfWaitingRendezvous, 2, 2>(),
               rendezvous_allocates(), copy_that_throws<OfRendezvous<Copied>>(),
               rendezvous_in_a_child()},
              row<ToEach, 2, 1>("`Broadcast`", "`push`, `try_push`, `claim`", " per consumer"),
              row<OfLatestByKey, 2, 2>("`LatestByKey`", "`push`, `try_push`"),
              {"`Latest`", "`store`", with_no_room<OfLatest<int>>(), once_closed<OfLatest<int>>(),
               of_refused<OfLatest<std::unique_ptr<int>>>(), "one value", "any push, any pop",
               allocates<OfLatest<int>>(), copy_that_throws<OfLatest<Copied>>(),
               in_a_child<OfLatest<int>>()},
              shared_row<OfShared<OneToOne>>("`SharedRing`", "`push`, `try_push`, `claim`"),
              shared_row<OfShared<ManyToOne>>("`SharedMpscRing`", "`push`, `try_push`, `claim`",
                                              slots_used_by()),
              shared_row<OfByteRing>("`SharedByteRing`", "`push`, `try_push`, `claim`"),
              {"`SharedBroadcast`", "`push`", with_no_room<OfShared<OneToMany>>(),
               once_closed<OfShared<OneToMany>>(), "unmoved", "keeps the newest items",
               "one pushes, one pops per consumer", allocates<OfShared<OneToMany>>(),
               "cannot happen", with_a_child<OfShared<OneToMany>>()},
          }};
}

}  // namespace handoff::test

// SPDX-License-Identifier: MIT
//
// Code that is written against the concepts of the tiers runs on their models, and a type that
// lacks one clause is none.
#include "conformance/made.hpp"
#include "support/test.hpp"

namespace handoff::test { namespace {

// ---- Canaries ----

struct Queue {
  using value_type = int;
  Status try_push(int&&) { return Status::ok; }
  Status try_pop(int&) { return Status::empty; }
  void close() {}
  bool closed() const { return false; }
};
struct WithoutType {
  Status try_push(int&&) { return Status::ok; }
  Status try_pop(int&) { return Status::empty; }
  void close() {}
  bool closed() const { return false; }
};
struct WithoutPush : Queue {
  Status try_push(int&&) = delete;
};
struct PushesSilently : Queue {
  bool try_push(int&&) { return true; }
};
struct WithoutPop : Queue {
  Status try_pop(int&) = delete;
};
struct WithoutClose : Queue {
  void close() = delete;
};
struct NeverSaysClosed : Queue {
  bool closed() const = delete;
};
static_assert(Transfer<Queue> && !Transfer<WithoutType> && !Transfer<WithoutPush> &&
              !Transfer<PushesSilently> && !Transfer<WithoutPop> && !Transfer<WithoutClose> &&
              !Transfer<NeverSaysClosed>);

struct Inbox {
  std::size_t drain(std::size_t = 1) { return 0; }
  Status wait(const Until&) { return Status::closed; }
  void shut() {}
  bool closed() const { return true; }
  Tally close(const Closing& = Closing::finish) { return {}; }
  Tally tally() const { return {}; }
};
struct WithoutDrain : Inbox {
  std::size_t drain(std::size_t) = delete;
};
struct WithoutWait : Inbox {
  Status wait(const Until&) = delete;
};
struct WithoutShut : Inbox {
  void shut() = delete;
};
struct ClosesSilently : Inbox {
  void close(const Closing&) {}
};
struct WithoutTally : Inbox {
  Tally tally() const = delete;
};
static_assert(Deferred<Inbox> && !Deferred<WithoutDrain> && !Deferred<WithoutWait> &&
              !Deferred<WithoutShut> && !Deferred<ClosesSilently> && !Deferred<WithoutTally>);

// ---- Code that knows the concept alone ----

template <Transfer Q>
std::size_t move_all(Q& from, Q& to) {
  std::size_t count = 0;
  typename Q::value_type item{};
  while (from.try_pop(item) == Status::ok) count += to.try_push(std::move(item)) == Status::ok;
  return count;
}

template <class Q>
class AnyTransfer : public testing::Test {};
using Transfers = testing::Types<SpscRing<int>, MpscRing<int>, MpmcRing<int>, SegmentQueue<int>,
                                 Channel<int>, UnboundedChannel<int>>;
TYPED_TEST_SUITE(AnyTransfer, Transfers);

TYPED_TEST(AnyTransfer, MovesFromOneToAnother) {
  TypeParam from = made<TypeParam>(4);
  TypeParam to = made<TypeParam>(4);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(from.try_push(int{i}), Status::ok);
  from.close();
  EXPECT_EQ(move_all(from, to), 3U);
  int item = 0;
  EXPECT_EQ(from.try_pop(item), Status::closed);
  EXPECT_EQ(to.try_pop(item), Status::ok);
}

std::size_t serve(Deferred auto& inbox, const sync::StopToken& stop) {
  std::size_t handled = 0;
  while (inbox.wait(stop) == Status::ok) handled += inbox.drain();
  return handled + inbox.close().pending;
}

TEST(AnyDeferred, IsServed) {
  const sync::StopSource source;
  EventQueue<int, void(int)> events;
  ASSERT_EQ(events.enqueue(1, 2), Status::ok);
  events.shut();
  EXPECT_EQ(serve(events, source.token()), 1U);
  MessageBus<int> bus;
  ASSERT_EQ(bus.publish(1), Status::ok);
  bus.shut();
  EXPECT_EQ(serve(bus, source.token()), 1U);
  LanedMessageBus<int> lanes;
  ASSERT_EQ(lanes.publish(1), Status::ok);
  lanes.shut();
  EXPECT_EQ(serve(lanes, source.token()), 1U);
  PriorityMessageBus<int> by_priority;
  ASSERT_EQ(by_priority.publish(1), Status::ok);
  by_priority.shut();
  EXPECT_EQ(serve(by_priority, source.token()), 1U);
}

}}  // namespace handoff::test

// SPDX-License-Identifier: MIT
//
// The transfer suite on SegmentQueue and on Channel, around each kind of queue; its stress on a
// rendezvous, too.
#include "conformance/transfer_suite.hpp"
#include "conformance/whole_item_suite.hpp"
#include "support/test.hpp"

namespace handoff::test { namespace {

struct Bounded {
  template <class T>
  using Queue = Channel<T>;
  static constexpr unsigned consumers_max = 2;
};
struct OverMpsc {
  template <class T>
  using Queue = Channel<T, MpscRing<T>>;
  static constexpr unsigned consumers_max = 1;
};
struct OverSpsc {
  template <class T>
  using Queue = Channel<T, SpscRing<T>>;
};

// Queues without a bound have no capacity to be made with.
template <class Unbounded>
struct AnyCapacity : Unbounded {
  explicit AnyCapacity(std::size_t) {}
};
struct Segments {
  template <class T>
  using Queue = AnyCapacity<SegmentQueue<T>>;
};
struct SmallSegments {
  template <class T>
  using Queue = AnyCapacity<SegmentQueue<T, 3>>;
};
struct Unbounded {
  template <class T>
  using Queue = AnyCapacity<UnboundedChannel<T>>;
};

using WithBound = testing::Types<Bounded, OverMpsc, OverSpsc>;
using All = testing::Types<Bounded, OverMpsc, OverSpsc, Segments, SmallSegments, Unbounded>;
using FromMany = testing::Types<Bounded, OverMpsc, Segments, SmallSegments, Unbounded>;
using Raced = testing::Types<Bounded, OverMpsc>;
using ToMany = testing::Types<Bounded, Segments, SmallSegments, Unbounded>;

INSTANTIATE_TYPED_TEST_SUITE_P(Channels, TransferBasics, All);
INSTANTIATE_TYPED_TEST_SUITE_P(Channels, TransferWholeItem, All);
INSTANTIATE_TYPED_TEST_SUITE_P(Channels, TransferBounds, WithBound);
INSTANTIATE_TYPED_TEST_SUITE_P(Channels, TransferItems, All);
INSTANTIATE_TYPED_TEST_SUITE_P(Channels, TransferBatches, All);
INSTANTIATE_TYPED_TEST_SUITE_P(Channels, TransferContract, WithBound);
INSTANTIATE_TYPED_TEST_SUITE_P(Channels, TransferStress, All);
INSTANTIATE_TYPED_TEST_SUITE_P(Channels, TransferManyProducers, FromMany);
INSTANTIATE_TYPED_TEST_SUITE_P(Channels, TransferManyConsumers, ToMany);
// Without a bound all pushes are over before a close comes: tests/unit/queue races those.
INSTANTIATE_TYPED_TEST_SUITE_P(Channels, TransferCloseRace, Raced);

// Nothing lies in a rendezvous, so either side waits a moment for the other. Many of these waits
// end just as the other side comes.
struct Met : RendezvousChannel<StressItem> {
  static Status at_once(Status status, Status otherwise) {
    return status == Status::timed_out ? otherwise : status;
  }
  Status try_push(StressItem&& item) {
    return at_once(push(std::move(item), std::chrono::microseconds(20)), Status::full);
  }
  Status try_pop(StressItem& out) {
    return at_once(pop(out, std::chrono::microseconds(20)), Status::empty);
  }
};

TEST(Rendezvous, stress) {
  auto dice = random(8);
  for (const unsigned producers : {1U, 3U}) {
    for (const unsigned consumers : {1U, 3U}) {
      in_parts(deep() ? 10'000 : 1'000, [&](std::size_t items) {
        Met queue;
        const Verdict verdict = stress(queue, {.producers = producers,
                                               .consumers = consumers,
                                               .items_each = items / producers + 1,
                                               .seed = dice()});
        ASSERT_TRUE(verdict.good()) << verdict;
        ASSERT_EQ(verdict.accepted, (items / producers + 1) * producers);
      });
    }
  }
}

}}  // namespace handoff::test

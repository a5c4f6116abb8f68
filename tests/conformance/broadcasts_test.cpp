// SPDX-License-Identifier: MIT
//
// The transfer suite on broadcasts that one consumer follows, which are queues then. What asks for
// an item's end when it is taken is left out: a message ends when its place is used again.
#include "conformance/followed_by_one.hpp"
#include "conformance/transfer_suite.hpp"
#include "support/test.hpp"

namespace handoff::test { namespace {

struct FromOne {
  template <class T>
  using Queue = FollowedByOne<T, OneProducer>;
};
struct FromAny {
  template <class T>
  using Queue = FollowedByOne<T, BroadcastPolicies>;
  static constexpr unsigned consumers_max = 1;
};

using All = testing::Types<FromOne, FromAny>;
using FromMany = testing::Types<FromAny>;

INSTANTIATE_TYPED_TEST_SUITE_P(Broadcasts, TransferBasics, All);
INSTANTIATE_TYPED_TEST_SUITE_P(Broadcasts, TransferBounds, All);
INSTANTIATE_TYPED_TEST_SUITE_P(Broadcasts, TransferBatches, All);
INSTANTIATE_TYPED_TEST_SUITE_P(Broadcasts, TransferStress, All);
INSTANTIATE_TYPED_TEST_SUITE_P(Broadcasts, TransferManyProducers, FromMany);
INSTANTIATE_TYPED_TEST_SUITE_P(Broadcasts, TransferCloseRace, FromMany);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TransferItems);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TransferContract);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TransferManyConsumers);

}}  // namespace handoff::test

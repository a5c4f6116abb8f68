// SPDX-License-Identifier: MIT
//
// The transfer suite on other people's queues, each part on those that have it. What passes on
// queues that thousands rely on asks for nothing peculiar to ours.
#include "conformance/peers.hpp"
#include "conformance/transfer_suite.hpp"
#include "support/test.hpp"

namespace handoff::test { namespace {

struct Concurrent {
  template <class T>
  using Queue = MoodycamelConcurrentQueue<T>;
};
struct ReaderWriter {
  template <class T>
  using Queue = MoodycamelReaderWriterQueue<T>;
};
struct Boost {
  template <class T>
  using Queue = BoostQueue<T>;
};
struct BoostSpsc {
  template <class T>
  using Queue = BoostSpscQueue<T>;
};

using All = testing::Types<Concurrent, ReaderWriter, Boost, BoostSpsc>;
using Bounded = testing::Types<ReaderWriter, Boost, BoostSpsc>;
using OfAnyType = testing::Types<Concurrent, ReaderWriter>;
using WithBatches = testing::Types<Concurrent, BoostSpsc>;
using ManyToMany = testing::Types<Concurrent, Boost>;

INSTANTIATE_TYPED_TEST_SUITE_P(Peers, TransferBasics, All);
INSTANTIATE_TYPED_TEST_SUITE_P(Peers, TransferBounds, Bounded);
INSTANTIATE_TYPED_TEST_SUITE_P(Peers, TransferItems, OfAnyType);
INSTANTIATE_TYPED_TEST_SUITE_P(Peers, TransferBatches, WithBatches);
INSTANTIATE_TYPED_TEST_SUITE_P(Peers, TransferStress, All);
INSTANTIATE_TYPED_TEST_SUITE_P(Peers, TransferManyProducers, ManyToMany);
INSTANTIATE_TYPED_TEST_SUITE_P(Peers, TransferManyConsumers, ManyToMany);

// They are never closed, so these parts have nobody here.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TransferContract);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TransferCloseRace);

}}  // namespace handoff::test

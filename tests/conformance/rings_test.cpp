// SPDX-License-Identifier: MIT
//
// The transfer suite on our rings.
#include "conformance/transfer_suite.hpp"
#include "conformance/whole_item_suite.hpp"
#include "support/test.hpp"

namespace handoff::test { namespace {

struct Spsc {
  template <class T>
  using Queue = SpscRing<T>;
};
struct Mpsc {
  template <class T>
  using Queue = MpscRing<T>;
  static constexpr unsigned consumers_max = 1;
};
struct Mpmc {
  template <class T>
  using Queue = MpmcRing<T>;
  static constexpr unsigned consumers_max = 2;
};

using All = testing::Types<Spsc, Mpsc, Mpmc>;
using FromMany = testing::Types<Mpsc, Mpmc>;
using ToMany = testing::Types<Mpmc>;

INSTANTIATE_TYPED_TEST_SUITE_P(Rings, TransferBasics, All);
INSTANTIATE_TYPED_TEST_SUITE_P(Rings, TransferWholeItem, All);
INSTANTIATE_TYPED_TEST_SUITE_P(Rings, TransferBounds, All);
INSTANTIATE_TYPED_TEST_SUITE_P(Rings, TransferItems, All);
INSTANTIATE_TYPED_TEST_SUITE_P(Rings, TransferBatches, All);
INSTANTIATE_TYPED_TEST_SUITE_P(Rings, TransferContract, All);
INSTANTIATE_TYPED_TEST_SUITE_P(Rings, TransferStress, All);
INSTANTIATE_TYPED_TEST_SUITE_P(Rings, TransferManyProducers, FromMany);
INSTANTIATE_TYPED_TEST_SUITE_P(Rings, TransferManyConsumers, ToMany);
INSTANTIATE_TYPED_TEST_SUITE_P(Rings, TransferCloseRace, FromMany);

}}  // namespace handoff::test

// SPDX-License-Identifier: MIT
//
// The transfer suite on broadcasts that one consumer follows, which are queues then. What asks for
// an item's end when it is taken is left out: a message ends when its place is used again.
#include <gtest/gtest.h>

#include <handoff/bus/broadcast.hpp>

#include "conformance/transfer_suite.hpp"

namespace handoff::test { namespace {

template <class T, class Policies>
class FollowedByOne {
 public:
  explicit FollowedByOne(std::size_t capacity)
      : broadcast_(capacity), consumer_(broadcast_.consumer()) {}

  std::size_t capacity() const { return broadcast_.capacity(); }
  std::size_t size() const { return consumer_.behind(); }
  Status try_push(T&& item) { return broadcast_.try_push(std::move(item)); }
  Status try_push(const T& item) { return broadcast_.try_push(item); }
  std::size_t try_push_batch(std::span<T> items) { return broadcast_.try_push_batch(items); }
  void close() { broadcast_.close(); }
  bool closed() const { return broadcast_.closed(); }

  Status try_pop(T& out) {
    if (try_pop_batch(std::span(&out, 1)) == 1) return Status::ok;
    return consumer_.closed() ? Status::closed : Status::empty;
  }
  std::size_t try_pop_batch(std::span<T> out) {
    std::size_t count = 0;
    consumer_.consume([&](T& item) { out[count++] = std::move(item); }, out.size());
    return count;
  }
  template <class Visitor>
  std::size_t consume(const Visitor& visitor, std::size_t most) {
    return consumer_.consume([&](T& item) { visitor(item); }, most);
  }

 private:
  Broadcast<T, Policies> broadcast_;
  typename Broadcast<T, Policies>::Consumer consumer_;
};

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

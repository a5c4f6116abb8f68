// SPDX-License-Identifier: MIT
//
// The books of Broadcast, Latest and LatestByKey report what is broken on purpose. As every Books
// is a friend, Books<Break> is the one that breaks.
#include "books/broadcast_books.hpp"
#include "books/expect_reported.hpp"
#include "support/test.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

struct Break;

template <>
struct Books<Break> {
  using Channels = Broadcast<int>;
  using Lone = Broadcast<int, OneProducer>;
  using Prices = LatestByKey<int, int>;

  static auto& gate(Channels& broadcast) { return broadcast.gate_; }
  static auto& gate(Lone& broadcast) { return broadcast.gate_; }
  static auto& tail(Channels& broadcast) { return broadcast.tail_; }
  static auto& tail(Lone& broadcast) { return broadcast.tail_; }
  static BroadcastReader& reader(Channels& broadcast) {
    return *test::now(broadcast.readers_.first_);
  }

  static auto& free(Latest<int>& latest) { return latest.free_; }
  static auto& newest(Latest<int>& latest) { return latest.newest_; }
  static auto& left(Latest<int>& latest, std::size_t slot) { return latest.slots_[slot].left; }
  static auto& was_read(Latest<int>& latest, std::size_t slot) {
    return latest.slots_[slot].was_read;
  }

  static auto& head(Prices& queue) { return queue.head_; }
  static auto& tail(Prices& queue) { return queue.tail_; }
  static auto& hash(Prices& queue) { return queue.entries_[queue.head_].hash; }
  static auto& link(Prices& queue) {
    const auto& entry = queue.entries_[queue.head_];
    return queue.table_[queue.find(entry.key.read(), entry.hash)].entry;
  }
};

}}}  // namespace handoff::HANDOFF_ABI::detail

namespace {

using namespace handoff;
using test::expect_reported;
using test::fault_in;
using Break = detail::Books<detail::Break>;
using detail::BroadcastReader;

TEST(BroadcastBooks, Broadcast) {
  Break::Channels broadcast(2);
  auto first = broadcast.consumer();
  auto second = broadcast.consumer({.after = {first}});
  for (int i = 0; i < 2; ++i) ASSERT_EQ(broadcast.try_push(i), Status::ok);
  BroadcastReader& reader = Break::reader(broadcast);  // the second one's
  expect_reported(broadcast, Break::gate(broadcast), 12,
                  "Broadcast: the gate is not behind the tail");
  expect_reported(broadcast, Break::tail(broadcast), 12,
                  "Broadcast: a consumer is not behind the tail");
  expect_reported(broadcast, reader.position, 16, "Broadcast: a consumer is not behind the tail");
  expect_reported(broadcast, reader.position, BroadcastReader::kBusy,
                  "BroadcastReaders: a mark was forgotten");
  expect_reported(broadcast, reader.position, BroadcastReader::kLeft,
                  "BroadcastReaders: uses that are not there");
  expect_reported(broadcast, reader.followers, 1, "BroadcastReaders: followers that are not there");
  expect_reported(broadcast, reader.uses.write(), 2, "BroadcastReaders: uses that are not there");
}

TEST(BroadcastBooks, AClaimThatWasForgotten) {
  Break::Channels broadcast(2);
  expect_reported(broadcast, Break::tail(broadcast), 4, "Broadcast: a claim was forgotten");
}

TEST(BroadcastBooks, OneProducer) {
  Break::Lone broadcast(2);
  expect_reported(broadcast, Break::gate(broadcast), 4,
                  "Broadcast: the gate is not behind the tail");
  expect_reported(broadcast, Break::tail(broadcast), 12,
                  "Broadcast: the gate is not behind the tail");
}

TEST(BroadcastBooks, Latest) {
  Latest<int> latest(1);
  EXPECT_EQ(fault_in(latest), "");
  ASSERT_EQ(latest.store(1), Status::ok);
  expect_reported(latest, Break::free(latest), 15,
                  "Latest: a slot was forgotten, or is free twice");
  expect_reported(latest, Break::free(latest), 12,
                  "Latest: a slot was forgotten, or is free twice");
  expect_reported(latest, Break::newest(latest), 2, "Latest: another version is told");
  expect_reported(latest, Break::left(latest, 1), 256, "Latest: somebody is in a free slot");
  expect_reported(latest, Break::was_read(latest, 1), true, "Latest: a free slot was read");
}

TEST(BroadcastBooks, LatestByKey) {
  Break::Prices queue(2);
  ASSERT_EQ(queue.try_push(7, 1), Status::ok);
  expect_reported(queue, Break::tail(queue), 3, "LatestByKey: more entries than places");
  expect_reported(queue, Break::head(queue), 1, "LatestByKey: not as many links as entries");
  expect_reported(queue, Break::link(queue), 0, "LatestByKey: not as many links as entries");
  expect_reported(queue, Break::link(queue), 2, "LatestByKey: the table does not lead to an entry");
}

}  // namespace

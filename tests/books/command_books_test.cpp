// SPDX-License-Identifier: MIT
//
// The books of Frame and of command buckets report what is broken on purpose. As every Books is a
// friend, Books<Break> is the one that breaks.
#include "books/command_books.hpp"
#include "books/expect_reported.hpp"
#include "support/test.hpp"

namespace {

struct Nothing {};
struct Call {
  std::uint32_t number;
  void operator()(Nothing&) const {}
};
using Bucket = handoff::CommandBucket<std::uint64_t, Nothing>;

}  // namespace

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

struct Break;

template <>
struct Books<Break> {
  static auto& word(Frame& frame, std::size_t slot) { return frame.slots_[slot].word; }

  static CommandStore& store(Bucket& bucket) { return bucket.store_; }
  static auto& used(Bucket& bucket) { return bucket.store_.used_; }
  static auto& open(Bucket& bucket) { return bucket.store_.open_; }
  static auto& nodes(Bucket& bucket) { return bucket.store_.nodes_; }
  static auto& recorded(Bucket& bucket) { return bucket.store_.recorded_; }
  static auto& top(Bucket& bucket) { return bucket.store_.first_by_hand_->last->top; }
  static auto& folded(Bucket& bucket) { return bucket.folded_; }
  static auto& key(Bucket& bucket) { return bucket.order_.items_[0].key; }
  static auto& ref(Bucket& bucket) { return bucket.order_.items_[0].ref; }
};

}}}  // namespace handoff::HANDOFF_ABI::detail

namespace {

using namespace handoff;
using test::expect_reported;
using test::fault_in;
using Break = detail::Books<detail::Break>;

TEST(CommandBooks, Frame) {
  Frame frame({.in_flight = 2});
  EXPECT_EQ(fault_in(frame), "");
  ASSERT_EQ(frame.next(), Status::ok);
  expect_reported(frame, Break::word(frame, 0), (std::uint64_t{2} << 16) + 1,
                  "Frame: a hold was forgotten");
  expect_reported(frame, Break::word(frame, 0), std::uint64_t{4} << 16,
                  "Frame: a slot has another frame than it should");
  expect_reported(frame, Break::word(frame, 1), std::uint64_t{2} << 16,
                  "Frame: a slot has another frame than it should");
}

TEST(CommandBooks, Bucket) {
  Bucket bucket;
  EXPECT_EQ(fault_in(bucket), "");
  {
    Bucket::Recorder recorder = bucket.recorder(0);
    for (std::uint32_t i = 9; i > 0; --i) recorder.add<Call>(i).number = i;
  }
  bucket.sort();
  expect_reported(bucket, Break::used(bucket), true, "CommandStore: a use was forgotten");
  expect_reported(bucket, Break::open(bucket), 1, "CommandStore: a recorder was forgotten");
  expect_reported(bucket, Break::nodes(bucket), 2, "CommandStore: another number of recorders");
  expect_reported(bucket, Break::recorded(bucket), 8, "CommandStore: another number of commands");
  expect_reported(bucket, Break::folded(bucket), 1,
                  "CommandBucket: the order has another number of commands");
  expect_reported(bucket, Break::key(bucket), 100, "CommandBucket: it is not sorted");
  expect_reported(bucket, Break::ref(bucket), 0x7fffffff,
                  "CommandBucket: a reference leads nowhere");
  std::byte elsewhere[2]{};
  std::byte*& top = Break::top(bucket);
  std::byte* const right = top;
  top = elsewhere + 1;
  EXPECT_EQ(fault_in(bucket), "CommandStore: a run lies nowhere");
  top = right;
  EXPECT_EQ(fault_in(bucket), "");
}

}  // namespace

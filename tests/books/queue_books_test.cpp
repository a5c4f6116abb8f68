// SPDX-License-Identifier: MIT
//
// The books of queue/ report what is broken on purpose. As every Books is a friend, Books<Break> is
// the one that breaks.
#include <gtest/gtest-spi.h>

#include "books/expect_reported.hpp"
#include "books/queue_books.hpp"
#include "support/test.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

struct Break;

template <>
struct Books<Break> {
  using Segments = SegmentQueue<int, 2>;

  static auto& producer(SpscRing<int>& ring) {
    return Books<BasicRing<int, PositionPlaces<int>>>::places(ring).producer_;
  }
  static auto& consumer(SpscRing<int>& ring) {
    return Books<BasicRing<int, PositionPlaces<int>>>::places(ring).consumer_;
  }

  static auto& tickets(MpmcRing<int>& ring) {
    return Books<BasicRing<int, TicketPlaces<int, Consumers::many>>>::places(ring);
  }
  static auto& tail(MpmcRing<int>& ring) { return tickets(ring).tail_.next; }
  static auto& state(MpmcRing<int>& ring, std::uint64_t ticket) {
    return tickets(ring).place(ticket).state;
  }

  static auto& inside(Segments& queue) {
    return Books<BasicRing<int, SegmentPlaces<int, 2>>>::places(queue);
  }
  static auto& popped(Segments& queue) { return inside(queue).popped_; }
  static auto& pushed(Segments& queue) { return inside(queue).pushed_; }
  static auto& spare(Segments& queue) { return inside(queue).spare_; }
  static auto* head(Segments& queue) { return inside(queue).head_segment_.read(); }
  static auto& next_of_head(Segments& queue) {
    return inside(queue).head_segment_.read()->next.write();
  }
  static auto& tail_segment(Segments& queue) { return inside(queue).tail_segment_.write(); }
  static auto& tail_place(Segments& queue) { return inside(queue).tail_place_.write(); }
  static auto& head_place(Segments& queue) { return inside(queue).head_place_.write(); }

  static auto& top(StealDeque<int>& deque) { return deque.top_; }
  static auto& room_until(StealDeque<int>& deque) { return deque.room_until_; }
  static auto& places(StealDeque<int>& deque) { return deque.places_; }
  static auto& largest(StealDeque<int>& deque) { return deque.largest_; }

  static SelectList& selects(Channel<int>& channel) { return channel.selects_; }
  static MpmcRing<int>& queue(Channel<int>& channel) { return channel.queue_; }

  static auto& last_push(RendezvousChannel<int>& channel) {
    return channel.meeting_.pushes_.last.write();
  }
  static auto& first_pop(RendezvousChannel<int>& channel) {
    return channel.meeting_.pops_.first.write();
  }
};

}}}  // namespace handoff::HANDOFF_ABI::detail

namespace {

using namespace handoff;
using test::expect_reported;
using test::fault_in;
using Break = detail::Books<detail::Break>;

TEST(QueueBooks, SpscRing) {
  SpscRing<int> ring(2);
  ASSERT_EQ(ring.try_push(1), Status::ok);
  expect_reported(ring, Break::producer(ring).position, 3U, "SpscRing: more items than places");
  expect_reported(ring, Break::producer(ring).limit, 3U,
                  "SpscRing: the producer's limit is ahead of the head");
  expect_reported(ring, Break::consumer(ring).limit, 2U,
                  "SpscRing: the consumer's limit is ahead of the tail");
}

TEST(QueueBooks, TicketRing) {
  MpmcRing<int> ring(2);
  ASSERT_EQ(ring.try_push(1), Status::ok);
  expect_reported(ring, Break::tail(ring), 12U, "TicketRing: more items than places");
  expect_reported(ring, Break::state(ring, 0), 0U, "TicketRing: a claimed place holds no item");
  expect_reported(ring, Break::state(ring, 4), 0U, "TicketRing: a free place does not say so");
}

TEST(QueueBooks, SegmentQueue) {
  SegmentQueue<int, 2> queue;
  for (int i = 0; i < 4; ++i) ASSERT_EQ(queue.try_push(i), Status::ok);
  expect_reported(queue, Break::popped(queue), 5U, "SegmentQueue: more popped than pushed");
  expect_reported(queue, Break::spare(queue), Break::head(queue),
                  "SegmentQueue: the spare segment is in use");
  expect_reported(queue, Break::tail_segment(queue), nullptr,
                  "SegmentQueue: the head does not lead to the tail");
  expect_reported(queue, Break::tail_place(queue), 1U,
                  "SegmentQueue: the places between head and tail are not as many as the items");
  expect_reported(queue, Break::head_place(queue), 3U,
                  "SegmentQueue: the head is behind its segment");
  expect_reported(queue, Break::tail_place(queue), 3U,
                  "SegmentQueue: the tail is behind its segment");
  expect_reported(queue, Break::next_of_head(queue), Break::head(queue),
                  "SegmentQueue: segments without items");
}

TEST(QueueBooks, StealDeque) {
  StealDeque<int> deque(1);
  for (int i = 0; i < 4; ++i) {
    deque.reserve();
    deque.push(i);
  }
  expect_reported(deque, Break::top(deque), 5, "StealDeque: the bottom is above the top");
  expect_reported(deque, Break::top(deque), -1, "StealDeque: more items than places");
  expect_reported(deque, Break::room_until(deque), 9, "StealDeque: room that is not there");
  expect_reported(deque, Break::places(deque), Break::largest(deque)->smaller.get(),
                  "StealDeque: thieves read another array");
  auto& smaller = Break::largest(deque)->smaller;
  auto taken_out = std::move(smaller);
  smaller = std::move(taken_out->smaller);
  EXPECT_EQ(fault_in(deque), "StealDeque: an array that is not twice as large as the one before");
}

TEST(QueueBooks, Channel) {
  Channel<int> channel(2);
  detail::SelectNode node;
  Break::selects(channel).add(node);
  EXPECT_EQ(fault_in(channel), "SelectList: somebody is counted");
  Break::selects(channel).remove(node);
  expect_reported(channel, Break::tail(Break::queue(channel)), 12U,
                  "TicketRing: more items than places");
}

TEST(QueueBooks, RendezvousChannel) {
  RendezvousChannel<int> channel;
  detail::Rendezvous::Party party(nullptr);
  expect_reported(channel, Break::last_push(channel), &party,
                  "Rendezvous: the last push has not left");
  expect_reported(channel, Break::first_pop(channel), &party, "Rendezvous: a pop stands in line");
}

TEST(QueueBooks, AnAuditTells) {
  EXPECT_NONFATAL_FAILURE(
      {
        test::Audited<MpmcRing<int>> ring(2);
        test::set(Break::state(ring, 0), 1);
      },
      "TicketRing: a free place does not say so");
}

}  // namespace

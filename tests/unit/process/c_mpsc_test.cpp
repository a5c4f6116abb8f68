// SPDX-License-Identifier: MIT
//
// handoff/process/shared.h, queues of items: each code that a call may return, and the other ends
// in C++. What they promise is in shared_rings_test.cpp; what many processes do, and Python:
// tests/c.
#include <handoff/process/shared.h>

#include "support/failing.hpp"
#include "support/test.hpp"
#include "unit/process/shared_faces.hpp"

namespace c_mpsc_test { namespace {

using namespace handoff;
using namespace test;

// An odd size: the places of C and of C++ must be the same all the same.
struct Odd {
  std::uint32_t number;
  std::array<unsigned char, 9> rest;
};
static_assert(sizeof(Odd) == 16 && alignof(Odd) == 4);

struct Three {
  char text[3];
};
Three three(const char* text) {
  Three made;
  std::memcpy(made.text, text, 3);
  return made;
}

std::string last_of_queue() { return handoff_last_error(); }

// A queue of four items for three producers, and an end of each kind.
struct QueueInC : test::ItemsInC::Made {
  QueueInC() : Made(4) {}
  handoff_mpsc_state state() const {
    handoff_mpsc_state found{};
    EXPECT_EQ(handoff_mpsc_look(ring.watcher, &found), 0);
    return found;
  }

  test::ItemsInC::Producer out{ring};
  test::ItemsInC::Consumer in{ring};
};

TEST(CQueue, BatchesAndWhatALookFinds) {
  QueueInC made;
  std::array<Message, 4> items{};
  std::array<Message, 4> found{};
  for (std::uint64_t i = 0; i < items.size(); ++i) items[i] = test::message_of(i);
  const auto push = [&](std::size_t many) {
    std::size_t count = 9;
    const int said = handoff_mpsc_push_batch(made.out.handle, items.data(), many, &count);
    return std::pair(said, count);
  };
  const auto pop = [&](std::size_t most) {
    std::size_t count = 9;
    const int said = handoff_mpsc_pop_batch(made.in.handle, found.data(), most, &count);
    return std::pair(said, count);
  };
  using Said = std::pair<int, std::size_t>;
  for (int lap = 0; lap < 3; ++lap) {
    EXPECT_EQ(push(0), Said(0, 0));
    EXPECT_EQ(push(1), Said(0, 1));
    EXPECT_EQ(push(4), Said(0, 3));
    EXPECT_EQ(push(1), Said(HANDOFF_FULL, 0));
    EXPECT_EQ(made.state().size, 4U);
    EXPECT_EQ(pop(2), Said(0, 2));
    EXPECT_EQ(found[1].number, 0U);
    EXPECT_EQ(pop(4), Said(0, 2));
    EXPECT_EQ(found[1].number, 2U);
    EXPECT_EQ(pop(3), Said(HANDOFF_EMPTY, 0));
    EXPECT_EQ(pop(0), Said(0, 0));
  }
  test::ItemsInC::close(made.ring);
  EXPECT_EQ(push(1), Said(HANDOFF_CLOSED, 0));
  EXPECT_EQ(pop(1), Said(HANDOFF_CLOSED, 0));
  const handoff_mpsc_state state = made.state();
  EXPECT_EQ(state.capacity, 4U);
  EXPECT_EQ(state.producers, 3U);
  EXPECT_EQ(state.closed, 1U);
  EXPECT_EQ(state.damaged, 0U);
}

TEST(CQueue, NullAndOtherHandlesAreRefused) {
  QueueInC made;
  auto* const other = reinterpret_cast<handoff_mpsc*>(made.ring.memory);
  handoff_mpsc_state state{};
  void* place = nullptr;
  const void* item = nullptr;
  std::size_t count = 0;
  int descriptor = 0;
  for (handoff_mpsc* const each : {static_cast<handoff_mpsc*>(nullptr), other}) {
    EXPECT_EQ(handoff_mpsc_push(each, "abc", HANDOFF_NO_WAIT), -EINVAL);
    EXPECT_EQ(handoff_mpsc_push_batch(each, "abc", 1, &count), -EINVAL);
    EXPECT_EQ(handoff_mpsc_pop(each, &state, HANDOFF_NO_WAIT), -EINVAL);
    EXPECT_EQ(handoff_mpsc_pop_batch(each, &state, 1, &count), -EINVAL);
    EXPECT_EQ(handoff_mpsc_claim(each, &place, HANDOFF_NO_WAIT), -EINVAL);
    EXPECT_EQ(handoff_mpsc_publish(each), -EINVAL);
    EXPECT_EQ(handoff_mpsc_drop(each), -EINVAL);
    EXPECT_EQ(handoff_mpsc_peek(each, &item, HANDOFF_NO_WAIT), -EINVAL);
    EXPECT_EQ(handoff_mpsc_release(each), -EINVAL);
    EXPECT_EQ(handoff_mpsc_close(each), -EINVAL);
    EXPECT_EQ(handoff_mpsc_producer_died(each, 0, &count), -EINVAL);
    EXPECT_EQ(handoff_mpsc_consumer_died(each), -EINVAL);
    EXPECT_EQ(handoff_mpsc_recovered(each), -EINVAL);
    EXPECT_EQ(handoff_mpsc_look(each, &state), -EINVAL);
    EXPECT_EQ(handoff_mpsc_arm(each), -EINVAL);
    EXPECT_EQ(handoff_mpsc_descriptor(each, &descriptor), -EINVAL);
  }
  EXPECT_EQ(handoff_mpsc_free(other), -EINVAL);
  EXPECT_EQ(handoff_mpsc_free(nullptr), 0);
  EXPECT_EQ(handoff_mpsc_push(made.out.handle, nullptr, HANDOFF_NO_WAIT), -EINVAL);
  EXPECT_EQ(handoff_mpsc_push_batch(made.out.handle, nullptr, 1, &count), -EINVAL);
  EXPECT_EQ(handoff_mpsc_push_batch(made.out.handle, "abc", 1, nullptr), -EINVAL);
  EXPECT_EQ(handoff_mpsc_pop(made.in.handle, nullptr, HANDOFF_NO_WAIT), -EINVAL);
  EXPECT_EQ(handoff_mpsc_pop_batch(made.in.handle, nullptr, 1, &count), -EINVAL);
  EXPECT_EQ(handoff_mpsc_pop_batch(made.in.handle, &state, 1, nullptr), -EINVAL);
  EXPECT_EQ(handoff_mpsc_claim(made.out.handle, nullptr, HANDOFF_NO_WAIT), -EINVAL);
  EXPECT_EQ(handoff_mpsc_peek(made.in.handle, nullptr, HANDOFF_NO_WAIT), -EINVAL);
  EXPECT_EQ(handoff_mpsc_look(made.in.handle, nullptr), -EINVAL);
  EXPECT_EQ(handoff_mpsc_push(made.in.handle, "abc", HANDOFF_NO_WAIT), -EINVAL)
      << "it is the consumer";
  EXPECT_EQ(handoff_mpsc_pop(made.out.handle, &state, HANDOFF_NO_WAIT), -EINVAL)
      << "it is a producer";
  EXPECT_EQ(handoff_mpsc_producer_died(made.in.handle, 3, nullptr), -EINVAL) << "there are three";
  EXPECT_FALSE(made.state().closed);
}

TEST(CQueue, NumbersThatCanNeverBeAreRefused) {
  std::size_t bytes = 0;
  constexpr std::size_t huge = ~std::size_t{0};
  EXPECT_EQ(handoff_mpsc_bytes(4, 3, 2, nullptr), -EINVAL);
  EXPECT_EQ(handoff_mpsc_bytes(0, 3, 2, &bytes), -EINVAL);
  EXPECT_EQ(handoff_mpsc_bytes(huge, 3, 2, &bytes), -EINVAL);
  EXPECT_EQ(handoff_mpsc_bytes(4, 0, 2, &bytes), -EINVAL);
  EXPECT_EQ(handoff_mpsc_bytes(4, huge, 2, &bytes), -EINVAL);
  EXPECT_EQ(last_of_queue(), "an item has between 1 byte and 4 GiB");
  EXPECT_EQ(handoff_mpsc_bytes(4, 3, 0, &bytes), -EINVAL);
  EXPECT_EQ(handoff_mpsc_bytes(4, 3, 65537, &bytes), -EINVAL);
  const QueueInC made;
  handoff_memory* const memory = made.ring.memory;
  constexpr std::size_t item = sizeof(Message);
  EXPECT_EQ(handoff_mpsc_create(memory, 128, 4096, item, 2), -EINVAL) << "too large";
  EXPECT_EQ(handoff_mpsc_create(memory, 64, 4, item, 2), -EINVAL) << "no multiple of 128";
  EXPECT_EQ(handoff_mpsc_attach(memory, 128, item, HANDOFF_CONSUMER, 0, nullptr), -EINVAL);
  handoff_mpsc* queue = made.out.handle;
  struct Wrong {
    std::size_t offset, item_bytes;
    int role;
    std::size_t slot;
    int said;
  };
  for (const auto& [offset, item_bytes, role, slot, said] :
       {Wrong{128, item, 3, 0, -EINVAL}, Wrong{128, item, HANDOFF_CONSUMER, 1, -EINVAL},
        Wrong{128, item + 1, HANDOFF_CONSUMER, 0, -EPROTO},
        Wrong{0, item, HANDOFF_CONSUMER, 0, -EPROTO},
        Wrong{128, item, HANDOFF_PRODUCER, 3, -EPROTO},
        Wrong{128, item, HANDOFF_PRODUCER, 0, -EPROTO}}) {
    EXPECT_EQ(handoff_mpsc_attach(memory, offset, item_bytes, role, slot, &queue), said);
    EXPECT_EQ(queue, nullptr);
  }
  EXPECT_NE(last_of_queue().find("taken"), std::string::npos);
}

TEST(CQueue, AClaimIsDroppedAndANumberFreeWithItsHandleOrItsProcess) {
  QueueInC made;
  std::uint64_t number = 0;
  ASSERT_EQ(made.out.try_claim(), Status::ok);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(handoff_mpsc_drop(made.out.handle), 0);
  EXPECT_EQ(made.out.publish(9), Status::closed);
  for (int i = 0; i < 2; ++i) {
    {
      test::ItemsInC::Producer second(made.ring, 1);
      ASSERT_EQ(second.try_claim(), Status::ok);
      ASSERT_EQ(made.out.try_push(7), Status::ok);
      EXPECT_EQ(made.in.try_pop(number), Status::empty);
    }
    EXPECT_EQ(made.in.try_pop(number), Status::ok);
  }
  test::ForkedChild child([&]() -> bool {
    test::ItemsInC::Producer second(made.ring, 1);
    (void)second.try_claim();
    for (;;) ::pause();
  });
  child.wait_until_asleep();
  child.kill();
  for (const std::size_t had : {1U, 0U}) {
    std::size_t dropped = 9;
    EXPECT_EQ(handoff_mpsc_producer_died(made.in.handle, 1, &dropped), 0);
    EXPECT_EQ(dropped, had);
  }
  EXPECT_EQ(handoff_mpsc_recovered(made.in.handle), 0);
}

TEST(CQueue, WithoutMemoryNothingIsMade) {
  const QueueInC made;
  test::until_whole(test::Call::allocation, 0, [&] {
    handoff_mpsc* queue = nullptr;
    const int said = handoff_mpsc_attach(made.ring.memory, kOffsetInC, sizeof(Message),
                                         HANDOFF_PRODUCER, 1, &queue);
    if (said == 0) {
      EXPECT_EQ(handoff_mpsc_free(queue), 0);
    } else {
      EXPECT_EQ(said, -ENOMEM) << last_of_queue();
      EXPECT_EQ(queue, nullptr);
    }
  });
}

// What one end pushes and the other pops is the same, by C and by C++.
template <class T>
void expect_same_items(handoff_memory* memory, T first, T second) {
  handoff_mpsc* queue_out = nullptr;
  handoff_mpsc* queue_in = nullptr;
  void* data = nullptr;
  std::size_t bytes = 0;
  test::must(handoff_mpsc_attach(memory, 0, sizeof(T), HANDOFF_PRODUCER, 0, &queue_out));
  test::must(handoff_mpsc_attach(memory, 0, sizeof(T), HANDOFF_CONSUMER, 0, &queue_in));
  test::must(handoff_memory_bytes(memory, &data, &bytes));
  using Queue = SharedMpscRing<T>;
  Queue ring = Queue::attach({static_cast<std::byte*>(data), bytes});
  typename Queue::Producer out(ring, 1);
  ASSERT_EQ(handoff_mpsc_push(queue_out, &first, HANDOFF_NO_WAIT), 0);
  ASSERT_EQ(out.try_push(second), Status::ok);
  T found[2];
  std::size_t count = 0;
  ASSERT_EQ(handoff_mpsc_pop_batch(queue_in, found, 2, &count), 0);
  ASSERT_EQ(count, 2U);
  EXPECT_EQ(std::memcmp(&found[0], &first, sizeof(T)), 0);
  EXPECT_EQ(std::memcmp(&found[1], &second, sizeof(T)), 0);
  const T both[2] = {second, first};
  ASSERT_EQ(handoff_mpsc_push_batch(queue_out, both, 2, &count), 0);
  typename Queue::Consumer in(ring);
  ASSERT_EQ(in.try_pop_batch(found), 2U);
  EXPECT_EQ(std::memcmp(found, both, sizeof both), 0);
  for (handoff_mpsc* const each : {queue_out, queue_in}) EXPECT_EQ(handoff_mpsc_free(each), 0);
}

template <class T>
void expect_same_places(T first, T second) {
  std::size_t bytes = 0;
  handoff_memory* memory = nullptr;
  test::must(handoff_mpsc_bytes(4, sizeof(T), 2, &bytes));
  test::must(handoff_memory_create(nullptr, bytes, 0, 0, &memory));
  test::must(handoff_mpsc_create(memory, 0, 4, sizeof(T), 2));
  expect_same_items(memory, first, second);
  EXPECT_EQ(handoff_memory_free(memory), 0);
}

TEST(CQueue, ItsItemsAreThoseOfSharedMpscRing) {
  expect_same_places<unsigned char>(1, 2);
  expect_same_places<std::uint64_t>(1, 2);
  expect_same_places(three("abc"), three("def"));
  expect_same_places(Odd{1, {}}, Odd{2, {1, 2, 3, 4, 5, 6, 7, 8, 9}});
}

}}  // namespace c_mpsc_test

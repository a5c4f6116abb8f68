// SPDX-License-Identifier: MIT
//
// handoff/process/shared.h, queues of items: each call, each code it may return, and the other ends
// in C++. What many processes do, and Python: tests/c.
#include <handoff/process/shared.h>

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <handoff/process/shared_memory.hpp>
#include <handoff/process/shared_mpsc_ring.hpp>

#include "forked.hpp"
#include "shared_item.hpp"
#include "support/failing.hpp"
#include "support/support.hpp"

namespace {

using namespace handoff;
using test::ForkedChild;

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

// A queue of four items of three bytes and two producers, and handles of it.
class QueueInC {
 public:
  explicit QueueInC(std::size_t item_bytes = 3, std::size_t capacity = 4)
      : item_bytes_(item_bytes) {
    std::size_t size = 0;
    EXPECT_EQ(handoff_mpsc_bytes(capacity, item_bytes, 2, &size), 0);
    EXPECT_EQ(size % 128, 0U);
    EXPECT_EQ(handoff_memory_create(nullptr, 128 + size, 0, 0, &memory), 0) << last_of_queue();
    EXPECT_EQ(handoff_mpsc_create(memory, 128, capacity, item_bytes, 2), 0) << last_of_queue();
    EXPECT_EQ(handoff_memory_publish(memory), 0);
    out = attach(HANDOFF_PRODUCER, 0);
    in = attach(HANDOFF_CONSUMER, 0);
  }
  ~QueueInC() {
    EXPECT_EQ(handoff_mpsc_free(out), 0);
    EXPECT_EQ(handoff_mpsc_free(in), 0);
    EXPECT_EQ(handoff_memory_free(memory), 0);
  }
  QueueInC(const QueueInC&) = delete;
  QueueInC& operator=(const QueueInC&) = delete;

  handoff_mpsc* attach(int role, std::size_t slot) const {
    handoff_mpsc* made = nullptr;
    EXPECT_EQ(handoff_mpsc_attach(memory, 128, item_bytes_, role, slot, &made), 0)
        << last_of_queue();
    return made;
  }
  int push(const char* text, std::int64_t timeout = HANDOFF_NO_WAIT) const {
    return handoff_mpsc_push(out, text, timeout);
  }
  // The next item; the code as a number if there is none.
  std::string pop(std::int64_t timeout = HANDOFF_NO_WAIT) const {
    char item[3] = {};
    const int said = handoff_mpsc_pop(in, item, timeout);
    return said == 0 ? std::string(item, 3) : std::to_string(said);
  }
  std::span<std::byte> bytes() const {
    void* data = nullptr;
    std::size_t size = 0;
    EXPECT_EQ(handoff_memory_bytes(memory, &data, &size), 0);
    return std::span(static_cast<std::byte*>(data), size).subspan(128);
  }
  handoff_mpsc_state state(handoff_mpsc* of) const {
    handoff_mpsc_state found{};
    EXPECT_EQ(handoff_mpsc_look(of, &found), 0);
    return found;
  }

  handoff_memory* memory = nullptr;
  handoff_mpsc* out = nullptr;
  handoff_mpsc* in = nullptr;

 private:
  std::size_t item_bytes_;
};

TEST(CQueue, ItemsComeInOrderAndWhatEachCallSays) {
  QueueInC made;
  EXPECT_EQ(made.pop(), std::to_string(HANDOFF_EMPTY));
  EXPECT_EQ(made.pop(1000), std::to_string(HANDOFF_TIMED_OUT));
  for (int lap = 0; lap < 3; ++lap) {
    EXPECT_EQ(made.push("abc"), 0);
    std::size_t count = 9;
    EXPECT_EQ(handoff_mpsc_push_batch(made.out, nullptr, 0, &count), 0);
    EXPECT_EQ(count, 0U);
    EXPECT_EQ(handoff_mpsc_push_batch(made.out, "defghijklmno", 4, &count), 0);
    EXPECT_EQ(count, 3U);
    EXPECT_EQ(handoff_mpsc_push_batch(made.out, "xyz", 1, &count), HANDOFF_FULL);
    EXPECT_EQ(count, 0U);
    EXPECT_EQ(made.push("xyz"), HANDOFF_FULL);
    EXPECT_EQ(made.push("xyz", 1000), HANDOFF_TIMED_OUT);
    EXPECT_EQ(made.state(made.in).size, 4U);
    EXPECT_EQ(made.pop(HANDOFF_FOREVER), "abc");
    char items[9] = {};
    EXPECT_EQ(handoff_mpsc_pop_batch(made.in, items, 2, &count), 0);
    EXPECT_EQ(count, 2U);
    EXPECT_EQ(std::string(items, 9), std::string("defghi\0\0\0", 9));
    EXPECT_EQ(handoff_mpsc_pop_batch(made.in, items, 3, &count), 0);
    EXPECT_EQ(count, 1U);
    EXPECT_EQ(std::string(items, 3), "jkl");
    EXPECT_EQ(handoff_mpsc_pop_batch(made.in, items, 3, &count), HANDOFF_EMPTY);
    EXPECT_EQ(handoff_mpsc_pop_batch(made.in, nullptr, 0, &count), 0);
  }
  EXPECT_EQ(made.push("end"), 0);
  EXPECT_EQ(handoff_mpsc_close(made.in), 0);
  EXPECT_EQ(made.push("xyz", HANDOFF_FOREVER), HANDOFF_CLOSED);
  std::size_t count = 0;
  EXPECT_EQ(handoff_mpsc_push_batch(made.out, "xyz", 1, &count), HANDOFF_CLOSED);
  EXPECT_EQ(made.pop(), "end");
  EXPECT_EQ(made.pop(HANDOFF_FOREVER), std::to_string(HANDOFF_CLOSED));
  const handoff_mpsc_state state = made.state(made.out);
  EXPECT_EQ(state.capacity, 4U);
  EXPECT_EQ(state.producers, 2U);
  EXPECT_EQ(state.closed, 1U);
  EXPECT_EQ(state.damaged, 0U);
}

TEST(CQueue, InPlace) {
  QueueInC made;
  void* place = nullptr;
  const void* item = nullptr;
  EXPECT_EQ(handoff_mpsc_publish(made.out), -EINVAL);
  EXPECT_EQ(last_of_queue(), "nothing is claimed");
  EXPECT_EQ(handoff_mpsc_drop(made.out), 0);
  ASSERT_EQ(handoff_mpsc_claim(made.out, &place, HANDOFF_NO_WAIT), 0);
  EXPECT_EQ(handoff_mpsc_peek(made.in, &item, HANDOFF_NO_WAIT), HANDOFF_EMPTY);
  EXPECT_EQ(item, nullptr);
  EXPECT_EQ(handoff_mpsc_drop(made.out), 0);
  ASSERT_EQ(handoff_mpsc_claim(made.out, &place, HANDOFF_FOREVER), 0);
  std::memcpy(place, "abc", 3);
  EXPECT_EQ(handoff_mpsc_publish(made.out), 0);
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(handoff_mpsc_peek(made.in, &item, HANDOFF_FOREVER), 0);
    EXPECT_EQ(std::memcmp(item, "abc", 3), 0);
  }
  EXPECT_EQ(handoff_mpsc_release(made.in), 0);
  EXPECT_EQ(handoff_mpsc_release(made.in), 0);
  EXPECT_EQ(made.pop(), std::to_string(HANDOFF_EMPTY));
  for (int i = 0; i < 4; ++i) ASSERT_EQ(made.push("abc"), 0);
  EXPECT_EQ(handoff_mpsc_claim(made.out, &place, HANDOFF_NO_WAIT), HANDOFF_FULL);
  EXPECT_EQ(place, nullptr);
}

TEST(CQueue, ADescriptorForALoop) {
  QueueInC made;
  int descriptor = -1;
  EXPECT_EQ(handoff_mpsc_arm(made.in), 0);
  ASSERT_EQ(handoff_mpsc_descriptor(made.in, &descriptor), 0) << last_of_queue();
  pollfd waited{.fd = descriptor, .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&waited, 1, 0), 0);
  ASSERT_EQ(made.push("abc"), 0);
  EXPECT_EQ(::poll(&waited, 1, 20'000), 1);
  EXPECT_EQ(handoff_mpsc_arm(made.in), HANDOFF_READY);
  EXPECT_EQ(handoff_mpsc_arm(made.out), -EINVAL) << "no consumer";
  EXPECT_EQ(handoff_mpsc_descriptor(made.in, nullptr), -EINVAL);
}

TEST(CQueue, NullAndOtherHandlesAreRefused) {
  QueueInC made;
  auto* const other = reinterpret_cast<handoff_mpsc*>(made.memory);
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
  EXPECT_EQ(handoff_mpsc_push(made.out, nullptr, HANDOFF_NO_WAIT), -EINVAL);
  EXPECT_EQ(handoff_mpsc_push_batch(made.out, nullptr, 1, &count), -EINVAL);
  EXPECT_EQ(handoff_mpsc_push_batch(made.out, "abc", 1, nullptr), -EINVAL);
  EXPECT_EQ(handoff_mpsc_pop(made.in, nullptr, HANDOFF_NO_WAIT), -EINVAL);
  EXPECT_EQ(handoff_mpsc_pop_batch(made.in, nullptr, 1, &count), -EINVAL);
  EXPECT_EQ(handoff_mpsc_pop_batch(made.in, &state, 1, nullptr), -EINVAL);
  EXPECT_EQ(handoff_mpsc_claim(made.out, nullptr, HANDOFF_NO_WAIT), -EINVAL);
  EXPECT_EQ(handoff_mpsc_peek(made.in, nullptr, HANDOFF_NO_WAIT), -EINVAL);
  EXPECT_EQ(handoff_mpsc_look(made.in, nullptr), -EINVAL);
  EXPECT_EQ(handoff_mpsc_push(made.in, "abc", HANDOFF_NO_WAIT), -EINVAL) << "it is the consumer";
  EXPECT_EQ(handoff_mpsc_pop(made.out, &state, HANDOFF_NO_WAIT), -EINVAL) << "it is a producer";
  EXPECT_EQ(handoff_mpsc_producer_died(made.in, 2, nullptr), -EINVAL) << "there are two";
  EXPECT_FALSE(made.state(made.in).closed);
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
  QueueInC made;
  handoff_mpsc* queue = made.out;
  EXPECT_EQ(handoff_mpsc_create(made.memory, 128, 4096, 3, 2), -EINVAL) << "too large";
  EXPECT_EQ(handoff_mpsc_create(made.memory, 64, 4, 3, 2), -EINVAL) << "no multiple of 128";
  EXPECT_EQ(handoff_mpsc_attach(made.memory, 128, 3, 3, 0, &queue), -EINVAL) << "no role";
  EXPECT_EQ(queue, nullptr);
  EXPECT_EQ(handoff_mpsc_attach(made.memory, 128, 3, HANDOFF_CONSUMER, 1, &queue), -EINVAL);
  EXPECT_EQ(handoff_mpsc_attach(made.memory, 128, 3, HANDOFF_CONSUMER, 0, nullptr), -EINVAL);
  EXPECT_EQ(handoff_mpsc_attach(made.memory, 128, 4, HANDOFF_CONSUMER, 0, &queue), -EPROTO);
  EXPECT_EQ(handoff_mpsc_attach(made.memory, 0, 3, HANDOFF_CONSUMER, 0, &queue), -EPROTO);
  EXPECT_EQ(handoff_mpsc_attach(made.memory, 128, 3, HANDOFF_PRODUCER, 0, &queue), -EPROTO);
  EXPECT_NE(last_of_queue().find("taken"), std::string::npos);
  EXPECT_EQ(handoff_mpsc_attach(made.memory, 128, 3, HANDOFF_PRODUCER, 2, &queue), -EPROTO);
  EXPECT_EQ(queue, nullptr);
}

TEST(CQueue, AHandleThatIsGivenBackFreesItsNumberAndDropsItsClaim) {
  QueueInC made;
  handoff_mpsc* const second = made.attach(HANDOFF_PRODUCER, 1);
  void* place = nullptr;
  ASSERT_EQ(handoff_mpsc_claim(second, &place, HANDOFF_NO_WAIT), 0);
  ASSERT_EQ(made.push("abc"), 0);
  EXPECT_EQ(made.pop(), std::to_string(HANDOFF_EMPTY));
  EXPECT_EQ(handoff_mpsc_free(second), 0);
  EXPECT_EQ(made.pop(), "abc");
  EXPECT_EQ(handoff_mpsc_free(made.attach(HANDOFF_PRODUCER, 1)), 0);
}

TEST(CQueue, WithoutMemoryNothingIsMade) {
  QueueInC made;
  test::until_whole(test::Call::allocation, 0, [&] {
    handoff_mpsc* queue = nullptr;
    const int said = handoff_mpsc_attach(made.memory, 128, 3, HANDOFF_PRODUCER, 1, &queue);
    if (said == 0) {
      EXPECT_EQ(handoff_mpsc_free(queue), 0);
    } else {
      EXPECT_EQ(said, -ENOMEM) << last_of_queue();
      EXPECT_EQ(queue, nullptr);
    }
  });
}

// --- In C++, and other processes. ---

template <class T>
void expect_same_places(T first, T second) {
  QueueInC made(sizeof(T));
  using Queue = SharedMpscRing<T>;
  Queue ring = Queue::attach(made.bytes());
  typename Queue::Producer out(ring, 1);
  ASSERT_EQ(handoff_mpsc_push(made.out, &first, HANDOFF_NO_WAIT), 0);
  ASSERT_EQ(out.try_push(second), Status::ok);
  T found[2];
  std::size_t count = 0;
  ASSERT_EQ(handoff_mpsc_pop_batch(made.in, found, 2, &count), 0);
  ASSERT_EQ(count, 2U);
  EXPECT_EQ(std::memcmp(&found[0], &first, sizeof(T)), 0);
  EXPECT_EQ(std::memcmp(&found[1], &second, sizeof(T)), 0);
  const T both[2] = {second, first};
  ASSERT_EQ(handoff_mpsc_push_batch(made.out, both, 2, &count), 0);
  typename Queue::Consumer in(ring);
  ASSERT_EQ(in.try_pop_batch(found), 2U);
  EXPECT_EQ(std::memcmp(found, both, sizeof both), 0);
}

TEST(CQueue, ItsItemsAreThoseOfSharedMpscRing) {
  expect_same_places<unsigned char>(1, 2);
  expect_same_places<std::uint64_t>(1, 2);
  expect_same_places(three("abc"), three("def"));
  expect_same_places(Odd{1, {}}, Odd{2, {1, 2, 3, 4, 5, 6, 7, 8, 9}});
}

TEST(CQueue, AProducerThatWasKilledIsPassedOver) {
  QueueInC made;
  ForkedChild child([&]() -> bool {
    void* place = nullptr;
    (void)handoff_mpsc_claim(made.out, &place, HANDOFF_NO_WAIT);
    for (;;) ::pause();
  });
  child.wait_until_asleep();
  handoff_mpsc* const living = made.attach(HANDOFF_PRODUCER, 1);
  ASSERT_EQ(handoff_mpsc_push(living, "abc", HANDOFF_NO_WAIT), 0);
  EXPECT_EQ(made.pop(1000), std::to_string(HANDOFF_TIMED_OUT)) << "nobody has said it";
  child.kill();
  std::size_t dropped = 0;
  EXPECT_EQ(handoff_mpsc_producer_died(made.in, 0, &dropped), 0);
  EXPECT_EQ(dropped, 1U);
  EXPECT_EQ(handoff_mpsc_producer_died(made.in, 0, nullptr), 0);
  EXPECT_EQ(made.pop(), "abc");
  EXPECT_EQ(handoff_mpsc_recovered(made.in), 0);
  EXPECT_EQ(handoff_mpsc_consumer_died(living), 0);
  EXPECT_EQ(handoff_mpsc_push(living, "abc", HANDOFF_FOREVER), HANDOFF_CLOSED);
  EXPECT_EQ(handoff_mpsc_free(living), 0);
}

TEST(CQueue, ADamagedQueueIsAnErrorAndNoCrash) {
  auto random = test::random();
  std::size_t damaged = 0;
  for (std::size_t i = 0; i < test::images() / 10; ++i) {
    QueueInC made;
    char items[9] = {};
    std::size_t count = 0;
    for (int k = 0; k < 6; ++k) {
      const int pushed = handoff_mpsc_push_batch(made.out, "abcdef", 2, &count);
      EXPECT_TRUE(pushed >= 0 || pushed == -EPROTO) << pushed;
      test::spoil(made.bytes(), random);
      const int popped = handoff_mpsc_pop_batch(made.in, items, 3, &count);
      EXPECT_TRUE(popped >= 0 || popped == -EPROTO) << popped;
      EXPECT_LE(count, 3U);
      if (popped != -EPROTO) continue;
      ++damaged;
      EXPECT_EQ(made.state(made.in).damaged, 1U);
    }
  }
  EXPECT_NE(damaged, 0U);
}

}  // namespace

// SPDX-License-Identifier: MIT
//
// handoff/process/shared.h: each call, each code it may return, and the other end in C++.
#include <handoff/process/shared.h>

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <handoff/core/misuse.hpp>
#include <handoff/process/shared_byte_ring.hpp>
#include <handoff/process/shared_memory.hpp>

#include "forked.hpp"
#include "shared_item.hpp"
#include "shared_memory_support.hpp"
#include "support/failing.hpp"
#include "support/support.hpp"

namespace {

using namespace handoff;
using test::ForkedChild;

constexpr std::int64_t kSecond = 1'000'000'000;

// What the last call that failed has said.
std::string last_error() { return handoff_last_error(); }

// A ring of `capacity` bytes in memory without a name, and handles of it.
class InC {
 public:
  explicit InC(std::size_t capacity, std::size_t offset = 0) : offset_(offset) {
    std::size_t bytes = 0;
    EXPECT_EQ(handoff_ring_bytes(capacity, &bytes), 0);
    EXPECT_EQ(bytes % 128, 0U);
    EXPECT_EQ(handoff_memory_create(nullptr, offset + bytes, 7, 0, &memory), 0) << last_error();
    EXPECT_EQ(handoff_ring_create(memory, offset, capacity), 0) << last_error();
    EXPECT_EQ(handoff_memory_publish(memory), 0) << last_error();
    out = ring(HANDOFF_PRODUCER);
    in = ring(HANDOFF_CONSUMER);
  }
  ~InC() {
    for (handoff_ring* const each : {out, in, watcher}) EXPECT_EQ(handoff_ring_free(each), 0);
    EXPECT_EQ(handoff_memory_free(memory), 0);
  }
  InC(const InC&) = delete;
  InC& operator=(const InC&) = delete;

  handoff_ring* ring(int role) const {
    handoff_ring* made = nullptr;
    EXPECT_EQ(handoff_ring_attach(memory, offset_, role, &made), 0) << last_error();
    return made;
  }
  std::span<std::byte> bytes() const {
    void* data = nullptr;
    std::size_t size = 0;
    EXPECT_EQ(handoff_memory_bytes(memory, &data, &size), 0);
    return {static_cast<std::byte*>(data), size};
  }
  int push(const std::string& text, std::int64_t timeout = HANDOFF_NO_WAIT) const {
    return handoff_ring_push(out, text.data(), text.size(), timeout);
  }
  // The next record; the code as a number if there is none.
  std::string pop(std::int64_t timeout = HANDOFF_NO_WAIT) const {
    char buffer[256];
    std::size_t size = 0;
    const int said = handoff_ring_pop(in, buffer, sizeof buffer, &size, timeout);
    return said == 0 ? std::string(buffer, size) : std::to_string(said);
  }
  handoff_ring_state state(handoff_ring* of) const {
    handoff_ring_state found{};
    EXPECT_EQ(handoff_ring_look(of, &found), 0);
    return found;
  }

  handoff_memory* memory = nullptr;
  handoff_ring* out = nullptr;
  handoff_ring* in = nullptr;
  handoff_ring* watcher = nullptr;

 private:
  std::size_t offset_;
};

TEST(CInterface, RecordsComeInOrderAndWhatEachCallSays) {
  InC made(128, 256);
  EXPECT_EQ(handoff_shared_version(), HANDOFF_SHARED_VERSION);
  EXPECT_EQ(made.state(made.in).capacity, 128U);
  EXPECT_EQ(made.state(made.in).most, 56U);
  EXPECT_EQ(made.pop(), std::to_string(HANDOFF_EMPTY));
  EXPECT_EQ(made.pop(1000), std::to_string(HANDOFF_TIMED_OUT));
  EXPECT_EQ(made.push("one"), 0);
  EXPECT_EQ(made.push(""), 0);
  EXPECT_EQ(made.state(made.out).size, 24U);
  EXPECT_EQ(made.push(std::string(56, 'x')), 0);
  EXPECT_EQ(made.push(std::string(40, 'x')), HANDOFF_FULL);
  EXPECT_EQ(made.push(std::string(40, 'x'), 1000), HANDOFF_TIMED_OUT);
  EXPECT_EQ(made.pop(), "one");
  EXPECT_EQ(made.pop(HANDOFF_FOREVER), "");
  EXPECT_EQ(made.pop(kSecond), std::string(56, 'x'));
  EXPECT_EQ(made.push("last", HANDOFF_FOREVER), 0);
  EXPECT_EQ(made.state(made.out).closed, 0U);
  EXPECT_EQ(handoff_ring_close(made.in), 0);
  EXPECT_EQ(made.state(made.out).closed, 1U);
  EXPECT_EQ(made.push("late"), HANDOFF_CLOSED);
  EXPECT_EQ(made.push("late", HANDOFF_FOREVER), HANDOFF_CLOSED);
  EXPECT_EQ(made.pop(), "last");
  EXPECT_EQ(made.pop(HANDOFF_FOREVER), std::to_string(HANDOFF_CLOSED));
  EXPECT_EQ(made.state(made.in).damaged, 0U);
}

TEST(CInterface, InPlace) {
  InC made(128);
  void* place = nullptr;
  EXPECT_EQ(handoff_ring_publish(made.out, 0), -EINVAL);
  EXPECT_EQ(last_error(), "nothing is claimed");
  ASSERT_EQ(handoff_ring_claim(made.out, 50, &place, HANDOFF_NO_WAIT), 0);
  std::memcpy(place, "abc", 3);
  EXPECT_EQ(handoff_ring_publish(made.out, 51), -EINVAL) << "more than was claimed";
  EXPECT_EQ(handoff_ring_publish(made.out, 3), 0) << "the claim still stands";
  EXPECT_EQ(handoff_ring_publish(made.out, 3), -EINVAL);
  const void* record = nullptr;
  std::size_t bytes = 0;
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(handoff_ring_peek(made.in, &record, &bytes, HANDOFF_FOREVER), 0);
    EXPECT_EQ(std::string(static_cast<const char*>(record), bytes), "abc");
  }
  EXPECT_EQ(handoff_ring_release(made.in), 0);
  EXPECT_EQ(handoff_ring_release(made.in), 0);
  EXPECT_EQ(handoff_ring_peek(made.in, &record, &bytes, HANDOFF_NO_WAIT), HANDOFF_EMPTY);
  EXPECT_EQ(record, nullptr);
  EXPECT_EQ(bytes, 0U);
  ASSERT_EQ(made.push(std::string(56, 'x')), 0);
  EXPECT_EQ(handoff_ring_claim(made.out, 56, &place, HANDOFF_NO_WAIT), HANDOFF_FULL);
  EXPECT_EQ(place, nullptr);
  EXPECT_EQ(handoff_ring_publish(made.out, 0), -EINVAL) << "a claim that failed is none";
  EXPECT_EQ(handoff_ring_claim(made.out, 56, &place, 1000), HANDOFF_TIMED_OUT);
}

TEST(CInterface, ALongRecordStaysUntilTheBufferIsLongEnough) {
  InC made(128);
  char buffer[8];
  std::size_t bytes = 0;
  EXPECT_EQ(made.push(std::string(57, 'x')), -EMSGSIZE);
  void* place = nullptr;
  EXPECT_EQ(handoff_ring_claim(made.out, ~std::size_t{0}, &place, HANDOFF_FOREVER), -EMSGSIZE);
  EXPECT_EQ(last_error(), "the record is longer than the ring takes");
  ASSERT_EQ(made.push("123456789"), 0);
  EXPECT_EQ(handoff_ring_pop(made.in, buffer, 8, &bytes, HANDOFF_NO_WAIT), -EMSGSIZE);
  EXPECT_EQ(bytes, 9U);
  EXPECT_EQ(handoff_ring_pop(made.in, nullptr, 0, &bytes, HANDOFF_NO_WAIT), -EMSGSIZE);
  EXPECT_EQ(made.pop(), "123456789");
}

TEST(CInterface, ADescriptorForALoop) {
  InC made(128);
  int descriptor = -1;
  EXPECT_EQ(handoff_ring_arm(made.in), 0);
  ASSERT_EQ(handoff_ring_descriptor(made.in, &descriptor), 0) << last_error();
  pollfd waited{.fd = descriptor, .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&waited, 1, 0), 0);
  ASSERT_EQ(made.push("x"), 0);
  EXPECT_EQ(::poll(&waited, 1, 20'000), 1);
  EXPECT_EQ(handoff_ring_arm(made.in), HANDOFF_READY);
  EXPECT_EQ(made.pop(), "x");
  EXPECT_EQ(handoff_ring_arm(made.in), 0);
  EXPECT_EQ(handoff_ring_close(made.out), 0);
  EXPECT_EQ(::poll(&waited, 1, 20'000), 1);
  EXPECT_EQ(handoff_ring_arm(made.out), -EINVAL) << "no consumer";
  EXPECT_EQ(handoff_ring_descriptor(made.out, &descriptor), -EINVAL);
  EXPECT_EQ(handoff_ring_descriptor(made.in, nullptr), -EINVAL);
}

TEST(CInterface, WithoutAThreadThereIsNoDescriptor) {
  InC made(128);
  int descriptor = -1;
  test::fail_after(test::Call::thread, 0, EAGAIN);
  EXPECT_EQ(handoff_ring_descriptor(made.in, &descriptor), -EAGAIN) << last_error();
  EXPECT_TRUE(test::stop_failing(test::Call::thread));
  EXPECT_EQ(handoff_ring_descriptor(made.in, &descriptor), 0);
}

// --- What is wrong. ---

TEST(CInterface, NullAndOtherHandlesAreRefused) {
  InC made(128);
  auto* const no_ring = reinterpret_cast<handoff_ring*>(made.memory);
  auto* const no_memory = reinterpret_cast<handoff_memory*>(made.in);
  handoff_ring* ring = made.in;
  handoff_ring_state state{};
  void* data = nullptr;
  const void* record = nullptr;
  std::size_t bytes = 0;
  int descriptor = 0;
  for (handoff_ring* const each : {static_cast<handoff_ring*>(nullptr), no_ring}) {
    EXPECT_EQ(handoff_ring_push(each, "x", 1, HANDOFF_NO_WAIT), -EINVAL);
    EXPECT_EQ(handoff_ring_pop(each, &state, 1, &bytes, HANDOFF_NO_WAIT), -EINVAL);
    EXPECT_EQ(handoff_ring_claim(each, 1, &data, HANDOFF_NO_WAIT), -EINVAL);
    EXPECT_EQ(handoff_ring_publish(each, 1), -EINVAL);
    EXPECT_EQ(handoff_ring_peek(each, &record, &bytes, HANDOFF_NO_WAIT), -EINVAL);
    EXPECT_EQ(handoff_ring_release(each), -EINVAL);
    EXPECT_EQ(handoff_ring_close(each), -EINVAL);
    EXPECT_EQ(handoff_ring_peer_died(each), -EINVAL);
    EXPECT_EQ(handoff_ring_recovered(each), -EINVAL);
    EXPECT_EQ(handoff_ring_look(each, &state), -EINVAL);
    EXPECT_EQ(handoff_ring_arm(each), -EINVAL);
    EXPECT_EQ(handoff_ring_descriptor(each, &descriptor), -EINVAL);
  }
  EXPECT_EQ(handoff_ring_free(no_ring), -EINVAL);
  EXPECT_EQ(handoff_memory_free(no_memory), -EINVAL);
  EXPECT_EQ(last_error(), "this is no handle of the kind that the call takes");
  for (handoff_memory* const each : {static_cast<handoff_memory*>(nullptr), no_memory}) {
    EXPECT_EQ(handoff_memory_publish(each), -EINVAL);
    EXPECT_EQ(handoff_memory_bytes(each, &data, &bytes), -EINVAL);
    EXPECT_EQ(handoff_memory_descriptor(each, &descriptor), -EINVAL);
    EXPECT_EQ(handoff_memory_read_only_descriptor(each, &descriptor), -EINVAL);
    EXPECT_EQ(handoff_ring_create(each, 0, 64), -EINVAL);
    EXPECT_EQ(handoff_ring_attach(each, 0, HANDOFF_WATCHER, &ring), -EINVAL);
    EXPECT_EQ(ring, nullptr);
  }
  EXPECT_FALSE(made.state(made.in).closed);
}

TEST(CInterface, NullPlacesAreRefused) {
  InC made(128);
  void* data = nullptr;
  const void* record = nullptr;
  std::size_t bytes = 0;
  EXPECT_EQ(handoff_memory_create(nullptr, 1, 0, 0, nullptr), -EINVAL);
  EXPECT_EQ(handoff_memory_bytes(made.memory, nullptr, &bytes), -EINVAL);
  EXPECT_EQ(handoff_memory_bytes(made.memory, &data, nullptr), -EINVAL);
  EXPECT_EQ(handoff_memory_descriptor(made.memory, nullptr), -EINVAL);
  EXPECT_EQ(handoff_memory_read_only_descriptor(made.memory, nullptr), -EINVAL);
  EXPECT_EQ(handoff_memory_remove(nullptr), -EINVAL);
  handoff_memory* memory = made.memory;
  EXPECT_EQ(handoff_memory_open(nullptr, 0, 0, 0, &memory), -EINVAL);
  EXPECT_EQ(memory, nullptr);
  EXPECT_EQ(handoff_ring_bytes(64, nullptr), -EINVAL);
  EXPECT_EQ(handoff_ring_attach(made.memory, 0, HANDOFF_WATCHER, nullptr), -EINVAL);
  EXPECT_EQ(handoff_ring_push(made.out, nullptr, 1, HANDOFF_NO_WAIT), -EINVAL);
  EXPECT_EQ(handoff_ring_push(made.out, nullptr, 0, HANDOFF_NO_WAIT), 0);
  EXPECT_EQ(handoff_ring_pop(made.in, nullptr, 1, &bytes, HANDOFF_NO_WAIT), -EINVAL);
  EXPECT_EQ(handoff_ring_pop(made.in, nullptr, 0, nullptr, HANDOFF_NO_WAIT), -EINVAL);
  EXPECT_EQ(handoff_ring_claim(made.out, 1, nullptr, HANDOFF_NO_WAIT), -EINVAL);
  EXPECT_EQ(handoff_ring_peek(made.in, nullptr, &bytes, HANDOFF_NO_WAIT), -EINVAL);
  EXPECT_EQ(handoff_ring_peek(made.in, &record, nullptr, HANDOFF_NO_WAIT), -EINVAL);
  EXPECT_EQ(handoff_ring_look(made.in, nullptr), -EINVAL);
  EXPECT_EQ(made.pop(), "");
}

TEST(CInterface, AnEndThatAHandleIsNotIsRefused) {
  InC made(128);
  made.watcher = made.ring(HANDOFF_WATCHER);
  std::size_t bytes = 0;
  for (handoff_ring* const each : {made.in, made.watcher}) {
    EXPECT_EQ(handoff_ring_push(each, "x", 1, HANDOFF_NO_WAIT), -EINVAL);
    EXPECT_EQ(last_error(), "this handle is not attached as HANDOFF_PRODUCER");
    EXPECT_EQ(handoff_ring_publish(each, 1), -EINVAL);
  }
  for (handoff_ring* const each : {made.out, made.watcher}) {
    EXPECT_EQ(handoff_ring_pop(each, &bytes, 1, &bytes, HANDOFF_NO_WAIT), -EINVAL);
    EXPECT_EQ(last_error(), "this handle is not attached as HANDOFF_CONSUMER");
    EXPECT_EQ(handoff_ring_release(each), -EINVAL);
  }
  EXPECT_EQ(made.state(made.watcher).capacity, 128U);
  EXPECT_EQ(handoff_ring_close(made.watcher), 0);
  EXPECT_EQ(made.push("x"), HANDOFF_CLOSED);
}

TEST(CInterface, NumbersThatCanNeverBeAreRefused) {
  std::size_t bytes = 0;
  handoff_memory* memory = nullptr;
  EXPECT_EQ(handoff_ring_bytes(0, &bytes), -EINVAL);
  EXPECT_EQ(handoff_ring_bytes(~std::size_t{0}, &bytes), -EINVAL);
  EXPECT_EQ(handoff_memory_create(nullptr, 0, 0, 0, &memory), -EINVAL);
  EXPECT_EQ(handoff_memory_create("", 1, 0, 0, &memory), -EINVAL);
  EXPECT_EQ(handoff_memory_create("no slash", 1, 0, 0, &memory), -EINVAL);
  EXPECT_EQ(handoff_memory_create(nullptr, 1, 0, HANDOFF_READ_ONLY, &memory), -EINVAL);
  EXPECT_EQ(handoff_memory_create(nullptr, 1, 0, 8, &memory), -EINVAL);
  EXPECT_EQ(handoff_memory_attach(0, 0, 0, HANDOFF_HUGE_PAGES, &memory), -EINVAL);
  EXPECT_EQ(handoff_memory_open("/x", 0, 0, HANDOFF_HUGE_PAGES, &memory), -EINVAL);
  EXPECT_EQ(handoff_memory_open("x", 0, 0, 0, &memory), -EINVAL);
  EXPECT_EQ(handoff_memory_attach(-1, 0, 0, 0, &memory), -EBADF) << last_error();
  InC made(128);
  handoff_ring* ring = nullptr;
  EXPECT_EQ(handoff_ring_create(made.memory, 64, 64), -EINVAL) << "no multiple of 128";
  EXPECT_EQ(handoff_ring_create(made.memory, 0, 1 << 20), -EINVAL) << "too large";
  EXPECT_EQ(handoff_ring_create(made.memory, 0, 0), -EINVAL);
  EXPECT_EQ(handoff_ring_create(made.memory, made.bytes().size() + 1, 64), -EINVAL);
  EXPECT_EQ(last_error(), "the ring would begin behind the end of the memory");
  EXPECT_EQ(handoff_ring_attach(made.memory, 0, -1, &ring), -EINVAL);
  EXPECT_EQ(handoff_ring_attach(made.memory, 0, 3, &ring), -EINVAL);
  EXPECT_EQ(handoff_ring_attach(made.memory, 64, HANDOFF_WATCHER, &ring), -EINVAL);
  EXPECT_EQ(handoff_ring_attach(made.memory, 128, HANDOFF_WATCHER, &ring), -EPROTO) << "no ring";
  EXPECT_EQ(handoff_ring_attach(made.memory, made.bytes().size(), HANDOFF_WATCHER, &ring), -EPROTO);
  EXPECT_EQ(ring, nullptr);
}

TEST(CInterface, AnotherMemoryIsRefusedWithTheReason) {
  InC made(128);
  int descriptor = -1;
  ASSERT_EQ(handoff_memory_descriptor(made.memory, &descriptor), 0);
  handoff_memory* memory = nullptr;
  EXPECT_EQ(handoff_memory_attach(descriptor, 8, 0, 0, &memory), -EPROTO);
  EXPECT_NE(last_error().find("layout"), std::string::npos) << last_error();
  EXPECT_EQ(handoff_memory_attach(descriptor, 7, 1 << 20, 0, &memory), -EPROTO);
  EXPECT_EQ(memory, nullptr);
  handoff_memory* early = nullptr;
  ASSERT_EQ(handoff_memory_create(nullptr, 64, 0, 0, &early), 0);
  ASSERT_EQ(handoff_memory_descriptor(early, &descriptor), 0);
  EXPECT_EQ(handoff_memory_attach(descriptor, 0, 0, 0, &memory), -EAGAIN) << last_error();
  EXPECT_EQ(handoff_memory_free(early), 0);
}

TEST(CInterface, MemoryForReadingTakesNoRing) {
  InC made(128);
  int descriptor = -1;
  ASSERT_EQ(handoff_memory_read_only_descriptor(made.memory, &descriptor), 0);
  handoff_memory* memory = nullptr;
  EXPECT_EQ(handoff_memory_attach(descriptor, 7, 0, 0, &memory), -EACCES) << "it is for reading";
  ASSERT_EQ(handoff_memory_attach(descriptor, 7, 0, HANDOFF_READ_ONLY, &memory), 0) << last_error();
  EXPECT_EQ(::close(descriptor), 0);
  handoff_ring* ring = nullptr;
  EXPECT_EQ(handoff_ring_attach(memory, 0, HANDOFF_CONSUMER, &ring), -EACCES);
  EXPECT_EQ(handoff_ring_create(memory, 0, 64), -EACCES);
  EXPECT_EQ(handoff_memory_publish(memory), -EINVAL) << "not its creator";
  EXPECT_EQ(handoff_memory_free(memory), 0);
}

TEST(CInterface, Names) {
  const test::SharedName name;
  const char* const text = name.text().c_str();
  handoff_memory* memory = nullptr;
  handoff_memory* other = nullptr;
  EXPECT_EQ(handoff_memory_open(text, 0, 0, 0, &other), -ENOENT);
  EXPECT_EQ(handoff_memory_remove(text), -ENOENT);
  EXPECT_EQ(last_error(), "there is no memory of this name");
  ASSERT_EQ(handoff_memory_create(text, 64, 5, 0, &memory), 0) << last_error();
  EXPECT_EQ(handoff_memory_create(text, 64, 5, 0, &other), -EEXIST);
  EXPECT_EQ(handoff_memory_create(text, 64, 5, HANDOFF_ONLY_CREATOR_WRITES, &other), -EINVAL);
  EXPECT_EQ(handoff_memory_open(text, 5, 0, 0, &other), -EAGAIN);
  ASSERT_EQ(handoff_memory_publish(memory), 0);
  ASSERT_EQ(handoff_memory_open(text, 5, 64, HANDOFF_READ_ONLY, &other), 0) << last_error();
  void* data = nullptr;
  std::size_t bytes = 0;
  EXPECT_EQ(handoff_memory_bytes(other, &data, &bytes), 0);
  EXPECT_EQ(bytes, 64U);
  EXPECT_EQ(handoff_memory_free(other), 0);
  EXPECT_TRUE(name.is_there());
  EXPECT_EQ(handoff_memory_free(memory), 0);
  EXPECT_FALSE(name.is_there());
}

TEST(CInterface, ANameThatWasLeftBehindIsTakenAway) {
  const test::SharedName name;
  EXPECT_EQ(test::in_child([&] {
              handoff_memory* memory = nullptr;
              const bool made = handoff_memory_create(name.text().c_str(), 64, 0, 0, &memory) == 0;
              return made && ::raise(SIGKILL) == 0 ? 1 : 2;
            }),
            -SIGKILL);
  EXPECT_TRUE(name.is_there());
  EXPECT_EQ(handoff_memory_remove(name.text().c_str()), 0) << last_error();
  EXPECT_FALSE(name.is_there());
}

TEST(CInterface, OptionsArrive) {
  handoff_memory* memory = nullptr;
  const unsigned both = HANDOFF_HUGE_PAGES | HANDOFF_ONLY_CREATOR_WRITES;
  ASSERT_EQ(handoff_memory_create(nullptr, 3 << 20, 0, both, &memory), 0) << last_error();
  ASSERT_EQ(handoff_memory_publish(memory), 0);
  int descriptor = -1;
  ASSERT_EQ(handoff_memory_descriptor(memory, &descriptor), 0);
  handoff_memory* other = nullptr;
  EXPECT_LT(handoff_memory_attach(descriptor, 0, 0, 0, &other), 0) << "only its creator writes";
  EXPECT_EQ(handoff_memory_attach(descriptor, 0, 0, HANDOFF_READ_ONLY, &other), 0) << last_error();
  EXPECT_EQ(handoff_memory_free(other), 0);
  EXPECT_EQ(handoff_memory_free(memory), 0);
}

TEST(CInterface, FreeingNothingAndInAnyOrder) {
  EXPECT_EQ(handoff_memory_free(nullptr), 0);
  EXPECT_EQ(handoff_ring_free(nullptr), 0);
  InC made(128);
  EXPECT_EQ(handoff_memory_free(made.memory), 0);
  EXPECT_EQ(handoff_memory_free(made.memory), -EINVAL) << "its rings keep it, it is no handle";
  EXPECT_EQ(made.push("still there"), 0);
  EXPECT_EQ(made.pop(), "still there");
  made.memory = nullptr;
}

TEST(CInterface, WhateverIsThrownBecomesANumber) {
  InC made(128);
  void* place = nullptr;
  ASSERT_EQ(handoff_ring_claim(made.out, 8, &place, HANDOFF_NO_WAIT), 0);
  const MisuseHandler before =
      set_misuse_handler([](const char*) { throw std::runtime_error(std::string(1000, 'w')); });
  EXPECT_EQ(handoff_ring_publish(made.out, 9), -EIO);
  EXPECT_EQ(last_error(), std::string(255, 'w')) << "cut to what there is room for";
  (void)set_misuse_handler([](const char*) { throw 5; });
  EXPECT_EQ(handoff_ring_publish(made.out, 9), -EIO);
  EXPECT_EQ(last_error(), "an exception of an unknown type");
  (void)set_misuse_handler(before);
  std::string others = "none";
  std::thread([&] { others = last_error(); }).join();
  EXPECT_EQ(others, "") << "each thread has its own";
  EXPECT_EQ(handoff_ring_publish(made.out, 8), 0);
}

TEST(CInterface, WithoutMemoryNothingIsMade) {
  test::until_whole(test::Call::allocation, 0, [] {
    handoff_memory* memory = nullptr;
    handoff_ring* ring = nullptr;
    const int first = handoff_memory_create(nullptr, 4096, 0, 0, &memory);
    if (first != 0) {
      EXPECT_EQ(first, -ENOMEM) << last_error();
      EXPECT_EQ(memory, nullptr);
      return;
    }
    EXPECT_EQ(handoff_ring_create(memory, 0, 64), 0);
    const int second = handoff_ring_attach(memory, 0, HANDOFF_PRODUCER, &ring);
    if (second != 0) {
      EXPECT_EQ(second, -ENOMEM) << last_error();
      EXPECT_EQ(ring, nullptr);
    }
    EXPECT_EQ(handoff_ring_free(ring), 0);
    EXPECT_EQ(handoff_memory_free(memory), 0);
  });
}

// --- Other processes. ---

TEST(CInterface, TheOtherEndIsInCpp) {
  InC made(1 << 12);
  int descriptor = -1;
  ASSERT_EQ(handoff_memory_descriptor(made.memory, &descriptor), 0);
  const std::uint64_t count = test::rounds(20'000);
  ForkedChild child([&] {
    const SharedMemory memory = SharedMemory::attach(descriptor, {.layout = 7});
    SharedByteRing ring = SharedByteRing::attach(memory.bytes());
    SharedByteRing::Producer out(ring);
    for (std::uint64_t i = 0; i < count; ++i) {
      if (out.push(std::as_bytes(std::span(&i, 1))) != Status::ok) return false;
    }
    ring.close();
    return true;
  });
  std::uint64_t next = 0;
  std::uint64_t found = 0;
  std::size_t bytes = 0;
  while (handoff_ring_pop(made.in, &found, sizeof found, &bytes, 20 * kSecond) == 0) {
    ASSERT_EQ(bytes, sizeof found);
    ASSERT_EQ(found, next++);
  }
  EXPECT_EQ(next, count);
  EXPECT_TRUE(child.succeeded());
}

TEST(CInterface, APeerThatWasKilledEndsTheWait) {
  for (const bool recovers : {false, true}) {
    InC made(128);
    ForkedChild child([&]() -> bool {
      (void)handoff_ring_push(made.out, "whole", 5, HANDOFF_NO_WAIT);
      for (;;) ::pause();
    });
    EXPECT_EQ(made.pop(20 * kSecond), "whole");
    child.kill();
    EXPECT_EQ(made.pop(1000), std::to_string(HANDOFF_TIMED_OUT)) << "nobody has said it";
    if (!recovers) {
      EXPECT_EQ(handoff_ring_peer_died(made.in), 0);
      EXPECT_EQ(made.pop(HANDOFF_FOREVER), std::to_string(HANDOFF_CLOSED));
      continue;
    }
    handoff_ring* const successor = made.ring(HANDOFF_PRODUCER);
    EXPECT_EQ(handoff_ring_recovered(made.in), 0);
    EXPECT_EQ(handoff_ring_push(successor, "next", 4, HANDOFF_NO_WAIT), 0);
    EXPECT_EQ(made.pop(HANDOFF_FOREVER), "next");
    EXPECT_EQ(handoff_ring_free(successor), 0);
  }
}

TEST(CInterface, ADamagedRingIsAnErrorAndNoCrash) {
  auto random = test::random();
  std::size_t damaged = 0;
  for (std::size_t i = 0; i < test::images() / 10; ++i) {
    InC made(256);
    char buffer[256];
    std::size_t bytes = 0;
    for (int k = 0; k < 6; ++k) {
      const int pushed = made.push(std::string(random() % 25, 'x'));
      EXPECT_TRUE(pushed >= 0 || pushed == -EPROTO) << pushed;
      test::spoil(made.bytes(), random);
      const int popped = handoff_ring_pop(made.in, buffer, sizeof buffer, &bytes, HANDOFF_NO_WAIT);
      EXPECT_TRUE(popped >= 0 || popped == -EPROTO) << popped;
      if (popped != -EPROTO) continue;
      ++damaged;
      EXPECT_EQ(made.state(made.in).damaged, 1U);
      EXPECT_NE(last_error().find("no end of it writes"), std::string::npos);
    }
  }
  EXPECT_NE(damaged, 0U);
}

}  // namespace

// SPDX-License-Identifier: MIT
//
// handoff/process/shared.h: memory, rings of bytes, and each code that a call may return. What they
// promise as rings is in shared_rings_test.cpp.
#include <handoff/process/shared.h>

#include "support/failing.hpp"
#include "support/test.hpp"
#include "unit/process/shared_faces.hpp"
#include "unit/process/shared_memory_support.hpp"

namespace c_interface_test { namespace {

using namespace handoff;
using test::ForkedChild;

constexpr std::int64_t kSecond = 1'000'000'000;

// What the last call that failed has said.
std::string last_error() { return handoff_last_error(); }

// A ring of 128 bytes, and an end of each kind.
struct InC : test::BytesInC::Made {
  InC() : Made(1) {}
  int push(const std::string& text, std::int64_t timeout = HANDOFF_NO_WAIT) const {
    return handoff_ring_push(out.handle, text.data(), text.size(), timeout);
  }
  // The next record; the code as a number if there is none.
  std::string pop(std::int64_t timeout = HANDOFF_NO_WAIT) const {
    char buffer[256];
    std::size_t size = 0;
    const int said = handoff_ring_pop(in.handle, buffer, sizeof buffer, &size, timeout);
    return said == 0 ? std::string(buffer, size) : std::to_string(said);
  }
  handoff_ring_state state() const {
    handoff_ring_state found{};
    EXPECT_EQ(handoff_ring_look(ring.watcher, &found), 0);
    return found;
  }

  test::BytesInC::Producer out{ring};
  test::BytesInC::Consumer in{ring};
};

TEST(CInterface, WhatALookFinds) {
  const InC made;
  EXPECT_EQ(handoff_shared_version(), HANDOFF_SHARED_VERSION);
  EXPECT_EQ(made.bytes().size() % 128, 0U);
  EXPECT_EQ(made.push("one"), 0);
  EXPECT_EQ(made.push("", kSecond), 0);
  for (const unsigned closed : {0U, 1U}) {
    const handoff_ring_state state = made.state();
    EXPECT_EQ(state.capacity, 128U);
    EXPECT_EQ(state.most, 56U);
    EXPECT_EQ(state.size, 24U);
    EXPECT_EQ(state.closed, closed);
    EXPECT_EQ(state.damaged, 0U);
    EXPECT_EQ(handoff_ring_close(made.in.handle), 0);
  }
  EXPECT_EQ(made.pop(), "one");
  EXPECT_EQ(made.pop(kSecond), "");
}

TEST(CInterface, ALongRecordStaysUntilTheBufferIsLongEnough) {
  const InC made;
  char buffer[8];
  std::size_t bytes = 0;
  EXPECT_EQ(made.push(std::string(57, 'x')), -EMSGSIZE);
  void* place = nullptr;
  EXPECT_EQ(handoff_ring_claim(made.out.handle, ~std::size_t{0}, &place, HANDOFF_FOREVER),
            -EMSGSIZE);
  EXPECT_EQ(last_error(), "the record is longer than the ring takes");
  ASSERT_EQ(handoff_ring_claim(made.out.handle, 9, &place, HANDOFF_NO_WAIT), 0);
  std::memcpy(place, "123456789", 9);
  EXPECT_EQ(handoff_ring_publish(made.out.handle, 10), -EINVAL) << "more than was claimed";
  EXPECT_EQ(handoff_ring_publish(made.out.handle, 9), 0) << "the claim still stands";
  EXPECT_EQ(handoff_ring_pop(made.in.handle, buffer, 8, &bytes, HANDOFF_NO_WAIT), -EMSGSIZE);
  EXPECT_EQ(bytes, 9U);
  EXPECT_EQ(handoff_ring_pop(made.in.handle, nullptr, 0, &bytes, HANDOFF_NO_WAIT), -EMSGSIZE);
  EXPECT_EQ(made.pop(), "123456789");
}

TEST(CInterface, WithoutAThreadThereIsNoDescriptor) {
  const InC made;
  int descriptor = -1;
  test::fail_after(test::Call::thread, 0, EAGAIN);
  EXPECT_EQ(handoff_ring_descriptor(made.in.handle, &descriptor), -EAGAIN) << last_error();
  EXPECT_TRUE(test::stop_failing(test::Call::thread));
  EXPECT_EQ(handoff_ring_descriptor(made.in.handle, &descriptor), 0);
}

// --- What is wrong. ---

TEST(CInterface, NullAndOtherHandlesAreRefused) {
  const InC made;
  auto* const no_ring = reinterpret_cast<handoff_ring*>(made.ring.memory);
  auto* const no_memory = reinterpret_cast<handoff_memory*>(made.in.handle);
  handoff_ring* ring = made.in.handle;
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
  EXPECT_FALSE(made.state().closed);
}

TEST(CInterface, NullPlacesAreRefused) {
  const InC made;
  void* data = nullptr;
  const void* record = nullptr;
  std::size_t bytes = 0;
  EXPECT_EQ(handoff_memory_create(nullptr, 1, 0, 0, nullptr), -EINVAL);
  EXPECT_EQ(handoff_memory_bytes(made.ring.memory, nullptr, &bytes), -EINVAL);
  EXPECT_EQ(handoff_memory_bytes(made.ring.memory, &data, nullptr), -EINVAL);
  EXPECT_EQ(handoff_memory_descriptor(made.ring.memory, nullptr), -EINVAL);
  EXPECT_EQ(handoff_memory_read_only_descriptor(made.ring.memory, nullptr), -EINVAL);
  EXPECT_EQ(handoff_memory_remove(nullptr), -EINVAL);
  handoff_memory* memory = made.ring.memory;
  EXPECT_EQ(handoff_memory_open(nullptr, 0, 0, 0, &memory), -EINVAL);
  EXPECT_EQ(memory, nullptr);
  EXPECT_EQ(handoff_ring_bytes(64, nullptr), -EINVAL);
  EXPECT_EQ(handoff_ring_attach(made.ring.memory, 128, HANDOFF_WATCHER, nullptr), -EINVAL);
  EXPECT_EQ(handoff_ring_push(made.out.handle, nullptr, 1, HANDOFF_NO_WAIT), -EINVAL);
  EXPECT_EQ(handoff_ring_push(made.out.handle, nullptr, 0, HANDOFF_NO_WAIT), 0);
  EXPECT_EQ(handoff_ring_pop(made.in.handle, nullptr, 1, &bytes, HANDOFF_NO_WAIT), -EINVAL);
  EXPECT_EQ(handoff_ring_pop(made.in.handle, nullptr, 0, nullptr, HANDOFF_NO_WAIT), -EINVAL);
  EXPECT_EQ(handoff_ring_claim(made.out.handle, 1, nullptr, HANDOFF_NO_WAIT), -EINVAL);
  EXPECT_EQ(handoff_ring_peek(made.in.handle, nullptr, &bytes, HANDOFF_NO_WAIT), -EINVAL);
  EXPECT_EQ(handoff_ring_peek(made.in.handle, &record, nullptr, HANDOFF_NO_WAIT), -EINVAL);
  EXPECT_EQ(handoff_ring_look(made.in.handle, nullptr), -EINVAL);
  EXPECT_EQ(made.pop(), "");
}

TEST(CInterface, AnEndThatAHandleIsNotIsRefused) {
  const InC made;
  handoff_ring* const watcher = made.ring.watcher;
  std::size_t bytes = 0;
  for (handoff_ring* const each : {made.in.handle, watcher}) {
    EXPECT_EQ(handoff_ring_push(each, "x", 1, HANDOFF_NO_WAIT), -EINVAL);
    EXPECT_EQ(last_error(), "this handle is not attached as HANDOFF_PRODUCER");
    EXPECT_EQ(handoff_ring_publish(each, 1), -EINVAL);
  }
  for (handoff_ring* const each : {made.out.handle, watcher}) {
    EXPECT_EQ(handoff_ring_pop(each, &bytes, 1, &bytes, HANDOFF_NO_WAIT), -EINVAL);
    EXPECT_EQ(last_error(), "this handle is not attached as HANDOFF_CONSUMER");
    EXPECT_EQ(handoff_ring_release(each), -EINVAL);
  }
  EXPECT_EQ(made.state().capacity, 128U);
  EXPECT_EQ(handoff_ring_close(watcher), 0);
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
  const InC made;
  const std::size_t end = test::kOffsetInC + made.bytes().size();
  handoff_ring* ring = nullptr;
  EXPECT_EQ(handoff_ring_create(made.ring.memory, 64, 64), -EINVAL) << "no multiple of 128";
  EXPECT_EQ(handoff_ring_create(made.ring.memory, 0, 1 << 20), -EINVAL) << "too large";
  EXPECT_EQ(handoff_ring_create(made.ring.memory, 0, 0), -EINVAL);
  EXPECT_EQ(handoff_ring_create(made.ring.memory, end + 1, 64), -EINVAL);
  EXPECT_EQ(last_error(), "the ring would begin behind the end of the memory");
  EXPECT_EQ(handoff_ring_attach(made.ring.memory, 128, -1, &ring), -EINVAL);
  EXPECT_EQ(handoff_ring_attach(made.ring.memory, 128, 3, &ring), -EINVAL);
  EXPECT_EQ(handoff_ring_attach(made.ring.memory, 64, HANDOFF_WATCHER, &ring), -EINVAL);
  EXPECT_EQ(handoff_ring_attach(made.ring.memory, 0, HANDOFF_WATCHER, &ring), -EPROTO) << "no ring";
  EXPECT_EQ(handoff_ring_attach(made.ring.memory, end, HANDOFF_WATCHER, &ring), -EPROTO);
  EXPECT_EQ(ring, nullptr);
}

TEST(CInterface, AnotherMemoryIsRefusedWithTheReason) {
  const InC made;
  int descriptor = -1;
  ASSERT_EQ(handoff_memory_descriptor(made.ring.memory, &descriptor), 0);
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
  const InC made;
  int descriptor = -1;
  ASSERT_EQ(handoff_memory_read_only_descriptor(made.ring.memory, &descriptor), 0);
  handoff_memory* memory = nullptr;
  EXPECT_EQ(handoff_memory_attach(descriptor, 7, 0, 0, &memory), -EACCES) << "it is for reading";
  ASSERT_EQ(handoff_memory_attach(descriptor, 7, 0, HANDOFF_READ_ONLY, &memory), 0) << last_error();
  EXPECT_EQ(::close(descriptor), 0);
  handoff_ring* ring = nullptr;
  EXPECT_EQ(handoff_ring_attach(memory, 128, HANDOFF_CONSUMER, &ring), -EACCES);
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
  InC made;
  EXPECT_EQ(handoff_memory_free(made.ring.memory), 0);
  EXPECT_EQ(handoff_memory_free(made.ring.memory), -EINVAL) << "its rings keep it, it is no handle";
  EXPECT_EQ(made.push("still there"), 0);
  EXPECT_EQ(made.pop(), "still there");
  made.ring.memory = nullptr;
}

TEST(CInterface, WhateverIsThrownBecomesANumber) {
  const InC made;
  void* place = nullptr;
  ASSERT_EQ(handoff_ring_claim(made.out.handle, 8, &place, HANDOFF_NO_WAIT), 0);
  const MisuseHandler before =
      set_misuse_handler([](const char*) { throw std::runtime_error(std::string(1000, 'w')); });
  EXPECT_EQ(handoff_ring_publish(made.out.handle, 9), -EIO);
  EXPECT_EQ(last_error(), std::string(255, 'w')) << "cut to what there is room for";
  (void)set_misuse_handler([](const char*) { throw 5; });
  EXPECT_EQ(handoff_ring_publish(made.out.handle, 9), -EIO);
  EXPECT_EQ(last_error(), "an exception of an unknown type");
  (void)set_misuse_handler(before);
  std::string others = "none";
  std::thread([&] { others = last_error(); }).join();
  EXPECT_EQ(others, "") << "each thread has its own";
  EXPECT_EQ(handoff_ring_publish(made.out.handle, 8), 0);
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
  const InC made;
  int descriptor = -1;
  ASSERT_EQ(handoff_memory_descriptor(made.ring.memory, &descriptor), 0);
  const std::uint64_t count = test::rounds(20'000);
  ForkedChild child([&] {
    const SharedMemory memory = SharedMemory::attach(descriptor, {.layout = test::kLayoutInC});
    SharedByteRing ring = SharedByteRing::attach(memory.bytes().subspan(test::kOffsetInC));
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
  while (handoff_ring_pop(made.in.handle, &found, sizeof found, &bytes, 20 * kSecond) == 0) {
    ASSERT_EQ(bytes, sizeof found);
    ASSERT_EQ(found, next++);
  }
  EXPECT_EQ(next, count);
  EXPECT_TRUE(child.succeeded());
}

}}  // namespace c_interface_test

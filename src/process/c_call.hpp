// SPDX-License-Identifier: MIT
//
// What the files behind handoff/process/shared.h share: how a call ends, what is handed in, and
// memory that stays as long as a handle or a ring needs it.
//
// Concurrency: a handle belongs to one thread at a time; c_share() and c_give_back() are
// thread-safe.
#pragma once

#include <handoff/process/shared.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <handoff/config.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/until.hpp>
#include <handoff/process/shared_memory.hpp>
#include <handoff/process/shared_ring_alarm.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

// Handles begin with what kind they are: C's callers may have no types that tell them apart.
struct handoff_memory {
  static constexpr std::uint32_t kKind = 0x6d65'6d68;
  explicit handoff_memory(handoff::SharedMemory made) noexcept : memory(std::move(made)) {}

  const std::uint32_t kind = kKind;
  handoff::SharedMemory memory;
  std::size_t users = 1;  // the handle, while it is not given back, and the rings
  bool is_given_back = false;
};

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// --- How a call ends. ---

// The number for an errno; `why` is the last error from now on.
int c_failed(int error, std::string_view why) noexcept;
// The exception that is being handled, as a number.
int c_caught() noexcept;

// Refused before the C++ call.
struct CRefusal {
  int error;
  const char* why;
};

template <class Call>
int c_call(const Call& call) noexcept {
  try {
    return call();
  } catch (...) {
    return c_caught();
  }
}

inline int c_outcome(Status status, bool damaged) noexcept {
  if (status == Status::closed && damaged) {
    return c_failed(EPROTO,
                    "the ring holds what no end of it writes: this end has stopped working");
  }
  return static_cast<int>(status);
}

// --- What is handed in. ---

[[noreturn]] inline void c_refuse(const char* why) { throw CRefusal{.error = EINVAL, .why = why}; }
inline void c_check(bool right, const char* why) {
  if (!right) c_refuse(why);
}

// A place for an answer.
template <class Answer>
void c_check_answer(const Answer* answer) {
  c_check(answer != nullptr, "a place for an answer is null");
}

template <class Handle>
Handle& c_checked(Handle* handle) {
  c_check(handle != nullptr, "the handle is null");
  c_check(handle->kind == Handle::kKind, "this is no handle of the kind that the call takes");
  return *handle;
}

// Where a call puts what it makes: null until it is there.
template <class Handle>
void c_check_place(Handle** out) {
  c_check(out != nullptr, "the place of the handle is null");
  *out = nullptr;
}

// A call that says no more than that it was made.
template <class Handle, class Action>
int c_done(Handle* handle, const Action& action) noexcept {
  return c_call([&] {
    action(c_checked(handle));
    return HANDOFF_OK;
  });
}
template <class Handle>
int c_free(Handle* handle) noexcept {
  if (handle == nullptr) return HANDOFF_OK;
  return c_done(handle, [](Handle& mine) { delete &mine; });
}

// Those of a handle that is attached as that.
template <class Handle>
auto& c_producer(Handle* handle) {
  Handle& ring = c_checked(handle);
  if (!ring.producer.has_value()) c_refuse("this handle is not attached as HANDOFF_PRODUCER");
  return *ring.producer;
}
template <class Handle>
auto& c_consumer(Handle* handle) {
  Handle& ring = c_checked(handle);
  if (!ring.consumer.has_value()) c_refuse("this handle is not attached as HANDOFF_CONSUMER");
  return *ring.consumer;
}

inline Until c_until(std::int64_t timeout_ns) noexcept {
  if (timeout_ns < 0) return {};
  return std::chrono::nanoseconds(timeout_ns);
}

// --- Memory. ---

// It has one user more, one less.
void c_share(handoff_memory& memory) noexcept;
void c_give_back(handoff_memory& memory) noexcept;
// What the rings that begin at `offset` may use.
std::span<std::byte> c_behind(const handoff_memory& memory, std::size_t offset);

// --- Rings. ---

// What a handle of each kind has: one end or none, and the memory.
template <std::uint32_t kTheKind, class Ring, class Producer, class Consumer>
struct CRing {
  static constexpr std::uint32_t kKind = kTheKind;

  CRing(handoff_memory& in, const Ring& made) noexcept : memory(in), ring(made) { c_share(in); }
  ~CRing() {
    alarm.reset();  // its thread is at the ring
    producer.reset();  // it may drop what it has claimed
    c_give_back(memory);
  }
  CRing(const CRing&) = delete;
  CRing& operator=(const CRing&) = delete;

  [[nodiscard]] bool damaged() const noexcept {
    return (producer.has_value() && producer->damaged()) ||
           (consumer.has_value() && consumer->damaged());
  }
  // Made when it is first asked for: it has a thread.
  SharedRingAlarm& its_alarm() { return alarm.has_value() ? *alarm : alarm.emplace(); }

  const std::uint32_t kind = kKind;
  handoff_memory& memory;
  Ring ring;
  std::optional<Producer> producer;
  std::optional<Consumer> consumer;
  std::optional<SharedRingAlarm> alarm;
};

// `make()`: the handle, without an end; `slot`: which producer it is to be, where there are many.
template <class Handle, class Make, class... Slot>
int c_attach(Handle** out, int role, const Make& make, Slot... slot) noexcept {
  return c_call([&] {
    c_check_place(out);
    c_check(role >= HANDOFF_WATCHER && role <= HANDOFF_CONSUMER, "the role is none");
    std::unique_ptr<Handle> made = make();
    if (role == HANDOFF_PRODUCER) made->producer.emplace(made->ring, slot...);
    if (role == HANDOFF_CONSUMER) made->consumer.emplace(made->ring);
    *out = made.release();
    return HANDOFF_OK;
  });
}

template <class Handle>
int c_descriptor(Handle* ring, int* descriptor) noexcept {
  return c_call([&] {
    (void)c_consumer(ring);
    c_check_answer(descriptor);
    *descriptor = ring->its_alarm().descriptor();
    return HANDOFF_OK;
  });
}
template <class Handle>
int c_arm(Handle* ring) noexcept {
  return c_call([&] {
    const auto& end = c_consumer(ring);
    return ring->its_alarm().arm(end) ? HANDOFF_OK : HANDOFF_READY;
  });
}

}}}  // namespace handoff::HANDOFF_ABI::detail

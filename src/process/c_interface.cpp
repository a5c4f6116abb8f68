// SPDX-License-Identifier: MIT
//
// handoff/process/shared.h: the C face of SharedMemory and SharedByteRing. Each call checks its
// handles, makes the C++ call, and turns what comes out of it, exceptions too, into a number.
// Queues of items: c_mpsc.cpp.
#include <handoff/process/shared.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <handoff/core/status.hpp>
#include <handoff/process/shared_byte_ring.hpp>
#include <handoff/process/shared_memory.hpp>
#include <handoff/sync/internal/thread_slot.hpp>
#include <handoff/sync/mutex.hpp>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "../sync/internal/seen_sanitizer.hpp"
#include "c_call.hpp"

using RingOfBytes =
    handoff::detail::CRing<0x676e'6972, handoff::SharedByteRing, handoff::SharedByteRing::Producer,
                           handoff::SharedByteRing::Consumer>;
struct handoff_ring : RingOfBytes {
  handoff_ring(handoff_memory& in, std::size_t offset)
      : RingOfBytes(in, handoff::SharedByteRing::attach(handoff::detail::c_behind(in, offset))) {}

  bool is_claimed = false;
};

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

static_assert(HANDOFF_OK == static_cast<int>(Status::ok) &&
              HANDOFF_FULL == static_cast<int>(Status::full) &&
              HANDOFF_EMPTY == static_cast<int>(Status::empty) &&
              HANDOFF_CLOSED == static_cast<int>(Status::closed) &&
              HANDOFF_TIMED_OUT == static_cast<int>(Status::timed_out));

struct CErrorText {
  char text[256];
};
struct CErrorTag;
char (&c_error_text() noexcept)[sizeof(CErrorText::text)] {
  return sync::thread_slot<CErrorText, CErrorTag>::get().text;
}

constinit sync::Mutex c_users;

template <class Make>
int c_make_memory(handoff_memory** out, const Make& make) noexcept {
  return c_call([&] {
    c_check_place(out);
    *out = std::make_unique<handoff_memory>(make()).release();
    return HANDOFF_OK;
  });
}

AttachOptions c_attach_options(std::uint64_t layout, std::size_t bytes, unsigned flags) {
  c_check((flags & ~unsigned{HANDOFF_READ_ONLY}) == 0, "a flag that this call does not have");
  return {.layout = layout, .bytes = bytes, .writable = flags == 0};
}

}  // namespace

int c_failed(int error, std::string_view why) noexcept {
  auto& text = c_error_text();
  const std::size_t length = std::min(why.size(), sizeof text - 1);
  std::memcpy(text, why.data(), length);
  text[length] = '\0';
  return -error;
}

int c_caught() noexcept {
  try {
    throw;
  } catch (const CRefusal& refusal) {
    return c_failed(refusal.error, refusal.why);
  } catch (const std::bad_alloc&) {
    return c_failed(ENOMEM, "not enough memory for a handle");
  } catch (const std::logic_error& error) {
    return c_failed(EINVAL, error.what());
  } catch (const std::system_error& error) {
    return c_failed(error.code().value(), error.what());
  } catch (const std::exception& error) {
    return c_failed(EIO, error.what());
  } catch (...) {
    return c_failed(EIO, "an exception of an unknown type");
  }
}

void c_share(handoff_memory& memory) noexcept {
  const sync::SeenLock lock(c_users);
  ++memory.users;
}

void c_give_back(handoff_memory& memory) noexcept {
  {
    const sync::SeenLock lock(c_users);
    if (--memory.users != 0) return;
  }
  delete &memory;
}

std::span<std::byte> c_behind(const handoff_memory& memory, std::size_t offset) {
  if (!memory.memory.writable()) {
    throw CRefusal{.error = EACCES, .why = "a ring needs memory that is not HANDOFF_READ_ONLY"};
  }
  const std::span<std::byte> bytes = memory.memory.bytes();
  c_check(offset <= bytes.size(), "the ring would begin behind the end of the memory");
  return bytes.subspan(offset);
}

extern "C" {

int handoff_shared_version(void) { return HANDOFF_SHARED_VERSION; }

const char* handoff_last_error(void) { return c_error_text(); }

// --- Memory. ---

int handoff_memory_create(const char* name, size_t bytes, uint64_t layout, unsigned flags,
                          handoff_memory** out) {
  return c_make_memory(out, [&] {
    constexpr unsigned known = HANDOFF_HUGE_PAGES | HANDOFF_ONLY_CREATOR_WRITES;
    c_check((flags & ~known) == 0, "a flag that this call does not have");
    c_check(name == nullptr || *name != '\0', "the name is empty: null is memory without one");
    return SharedMemory::create(
        {.name = name == nullptr ? std::string() : std::string(name),
         .bytes = bytes,
         .layout = layout,
         .huge_pages = (flags & HANDOFF_HUGE_PAGES) != 0,
         .only_creator_writes = (flags & HANDOFF_ONLY_CREATOR_WRITES) != 0});
  });
}

int handoff_memory_attach(int descriptor, uint64_t layout, size_t bytes, unsigned flags,
                          handoff_memory** out) {
  return c_make_memory(out, [&] {
    return SharedMemory::attach(descriptor, c_attach_options(layout, bytes, flags));
  });
}

int handoff_memory_open(const char* name, uint64_t layout, size_t bytes, unsigned flags,
                        handoff_memory** out) {
  return c_make_memory(out, [&] {
    c_check(name != nullptr, "the name is null");
    return SharedMemory::open(name, c_attach_options(layout, bytes, flags));
  });
}

int handoff_memory_free(handoff_memory* memory) {
  if (memory == nullptr) return HANDOFF_OK;
  return c_call([&] {
    handoff_memory& mine = c_checked(memory);
    {
      const sync::SeenLock lock(c_users);
      c_check(!std::exchange(mine.is_given_back, true), "the handle was given back before");
    }
    c_give_back(mine);
    return HANDOFF_OK;
  });
}

int handoff_memory_remove(const char* name) {
  return c_call([&] {
    c_check(name != nullptr, "the name is null");
    if (SharedMemory::remove(name)) return int{HANDOFF_OK};
    return c_failed(ENOENT, "there is no memory of this name");
  });
}

int handoff_memory_publish(handoff_memory* memory) {
  return c_done(memory, [](handoff_memory& mine) { mine.memory.publish(); });
}

int handoff_memory_bytes(handoff_memory* memory, void** data, size_t* bytes) {
  return c_call([&] {
    const std::span<std::byte> all = c_checked(memory).memory.bytes();
    c_check_answer(data);
    c_check_answer(bytes);
    *data = all.data();
    *bytes = all.size();
    return HANDOFF_OK;
  });
}

int handoff_memory_descriptor(handoff_memory* memory, int* descriptor) {
  return c_call([&] {
    const int found = c_checked(memory).memory.descriptor();
    c_check_answer(descriptor);
    *descriptor = found;
    return HANDOFF_OK;
  });
}

int handoff_memory_read_only_descriptor(handoff_memory* memory, int* descriptor) {
  return c_call([&] {
    const SharedMemory& mine = c_checked(memory).memory;
    c_check_answer(descriptor);
    *descriptor = mine.read_only_descriptor();
    return HANDOFF_OK;
  });
}

// --- Rings. ---

int handoff_ring_bytes(size_t capacity, size_t* bytes) {
  return c_call([&] {
    c_check_answer(bytes);
    *bytes = SharedByteRing::bytes_for(capacity);
    return HANDOFF_OK;
  });
}

int handoff_ring_create(handoff_memory* memory, size_t offset, size_t capacity) {
  return c_call([&] {
    (void)SharedByteRing::create(c_behind(c_checked(memory), offset), capacity);
    return HANDOFF_OK;
  });
}

int handoff_ring_attach(handoff_memory* memory, size_t offset, int role, handoff_ring** out) {
  return c_attach(out, role,
                  [&] { return std::make_unique<handoff_ring>(c_checked(memory), offset); });
}

int handoff_ring_free(handoff_ring* ring) { return c_free(ring); }

int handoff_ring_claim(handoff_ring* ring, size_t bytes, void** place, int64_t timeout_ns) {
  return c_call([&] {
    c_check_answer(place);
    *place = nullptr;
    auto& end = c_producer(ring);
    ring->is_claimed = false;
    if (bytes > ring->ring.most()) {
      return c_failed(EMSGSIZE, "the record is longer than the ring takes");
    }
    std::span<std::byte> room;
    const Status status =
        timeout_ns == 0 ? end.try_claim(bytes, room) : end.claim(bytes, room, c_until(timeout_ns));
    ring->is_claimed = status == Status::ok;
    *place = room.data();
    return c_outcome(status, end.damaged());
  });
}

int handoff_ring_publish(handoff_ring* ring, size_t bytes) {
  return c_call([&] {
    auto& end = c_producer(ring);
    c_check(ring->is_claimed, "nothing is claimed");
    const Status status = end.publish(bytes);
    ring->is_claimed = false;
    return c_outcome(status, end.damaged());
  });
}

int handoff_ring_push(handoff_ring* ring, const void* record, size_t bytes, int64_t timeout_ns) {
  return c_call([&] {
    c_check(record != nullptr || bytes == 0, "the record is null");
    void* place = nullptr;
    const int said = handoff_ring_claim(ring, bytes, &place, timeout_ns);
    if (said != HANDOFF_OK) return said;
    if (bytes != 0) std::memcpy(place, record, bytes);
    return handoff_ring_publish(ring, bytes);
  });
}

int handoff_ring_peek(handoff_ring* ring, const void** record, size_t* bytes, int64_t timeout_ns) {
  return c_call([&] {
    c_check_answer(record);
    c_check_answer(bytes);
    *record = nullptr;
    *bytes = 0;
    auto& end = c_consumer(ring);
    std::span<const std::byte> found;
    const Status status =
        timeout_ns == 0 ? end.try_peek(found) : end.peek(found, c_until(timeout_ns));
    *record = found.data();
    *bytes = found.size();
    return c_outcome(status, end.damaged());
  });
}

int handoff_ring_release(handoff_ring* ring) {
  return c_done(ring, [](handoff_ring& mine) { c_consumer(&mine).release(); });
}

int handoff_ring_pop(handoff_ring* ring, void* buffer, size_t room, size_t* bytes,
                     int64_t timeout_ns) {
  return c_call([&] {
    c_check(buffer != nullptr || room == 0, "the buffer is null");
    const void* record = nullptr;
    const int said = handoff_ring_peek(ring, &record, bytes, timeout_ns);
    if (said != HANDOFF_OK) return said;
    if (*bytes > room) return c_failed(EMSGSIZE, "the record is longer than the buffer");
    if (*bytes != 0) std::memcpy(buffer, record, *bytes);
    return handoff_ring_release(ring);
  });
}

int handoff_ring_close(handoff_ring* ring) {
  return c_done(ring, [](handoff_ring& mine) { mine.ring.close(); });
}

int handoff_ring_peer_died(handoff_ring* ring) {
  // The same for either end.
  return c_done(ring, [](handoff_ring& mine) { mine.ring.producer_died(); });
}

int handoff_ring_recovered(handoff_ring* ring) {
  return c_done(ring, [](handoff_ring& mine) { mine.ring.recovered(); });
}

int handoff_ring_look(handoff_ring* ring, handoff_ring_state* state) {
  return c_call([&] {
    const handoff_ring& mine = c_checked(ring);
    c_check_answer(state);
    *state = {.capacity = mine.ring.capacity(),
              .most = mine.ring.most(),
              .size = mine.ring.size(),
              .closed = mine.ring.closed() ? 1U : 0U,
              .damaged = mine.damaged() ? 1U : 0U};
    return HANDOFF_OK;
  });
}

int handoff_ring_descriptor(handoff_ring* ring, int* descriptor) {
  return c_descriptor(ring, descriptor);
}

int handoff_ring_arm(handoff_ring* ring) { return c_arm(ring); }

}  // extern "C"

}}}  // namespace handoff::HANDOFF_ABI::detail

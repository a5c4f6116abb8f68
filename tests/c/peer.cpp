// SPDX-License-Identifier: MIT
//
// One end of a ring, in C++ and without the C header: peer produce|consume DESCRIPTOR COUNT, or
// producer SLOT of a queue: peer report DESCRIPTOR COUNT SLOT. The records and the items are those
// of peer.c.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <span>
#include <string_view>

#include <handoff/process/shared_byte_ring.hpp>
#include <handoff/process/shared_memory.hpp>
#include <handoff/process/shared_mpsc_ring.hpp>

namespace {

using handoff::SharedByteRing;
using handoff::Status;

using Room = std::array<std::byte, 48>;

std::span<const std::byte> make_record(std::uint64_t i, Room& room) {
  const auto more = static_cast<std::size_t>(i % 40);
  std::memcpy(room.data(), &i, sizeof i);
  for (std::size_t k = 0; k < more; ++k) room[sizeof i + k] = static_cast<std::byte>(i + k);
  return std::span(room).first(sizeof i + more);
}

bool produce(SharedByteRing ring, std::uint64_t count) {
  SharedByteRing::Producer out(ring);
  Room room;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (out.push(make_record(i, room)) != Status::ok) return false;
  }
  ring.close();
  return true;
}

bool consume(SharedByteRing ring, std::uint64_t count) {
  SharedByteRing::Consumer in(ring);
  Room room;
  std::uint64_t next = 0;
  std::span<const std::byte> found;
  for (; in.peek(found) == Status::ok; in.release()) {
    const std::span<const std::byte> wanted = make_record(next++, room);
    if (!std::equal(found.begin(), found.end(), wanted.begin(), wanted.end())) return false;
  }
  std::printf("%llu right\n", static_cast<unsigned long long>(next));
  return next == count;
}

struct Item {
  std::uint64_t slot;
  std::uint64_t number;
};

bool report(std::span<std::byte> bytes, std::size_t slot, std::uint64_t count) {
  using Queue = handoff::SharedMpscRing<Item>;
  Queue::Producer out(Queue::attach(bytes), slot);
  for (std::uint64_t i = 0; i < count; ++i) {
    if (out.push(Item{slot, i}) != Status::ok) return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4 && argc != 5) return 2;
  try {
    const auto memory = handoff::SharedMemory::attach(std::atoi(argv[2]), {.layout = 42});
    const std::uint64_t count = std::strtoull(argv[3], nullptr, 10);
    if (argc == 5) {
      return report(memory.bytes(), std::strtoull(argv[4], nullptr, 10), count) ? 0 : 1;
    }
    const SharedByteRing ring = SharedByteRing::attach(memory.bytes());
    const bool is_producer = std::string_view(argv[1]) == "produce";
    return (is_producer ? produce(ring, count) : consume(ring, count)) ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

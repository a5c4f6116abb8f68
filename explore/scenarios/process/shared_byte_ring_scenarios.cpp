// SPDX-License-Identifier: MIT
//
// SharedByteRing: the scenarios of docs/design/shared_ring.md that SharedRing's do not have, since
// the ends are the same: lengths and padding, and their successors.
#include <algorithm>
#include <handoff/process/shared_byte_ring.hpp>

#include "explore/scenarios/process/shared_storage.hpp"

namespace shared_byte_ring_scenarios { namespace {

using namespace handoff;
using explore::check;
using explore::Process;
using explore::Thread;
using namespace test;
using Shared = test::Shared<SharedByteRing>;

// Record i is i times the byte i, and so on.
std::array<std::byte, 96> bytes_of(unsigned i) {
  std::array<std::byte, 96> bytes;
  bytes.fill(static_cast<std::byte>(i));
  return bytes;
}
std::span<const std::byte> record(const std::array<std::byte, 96>& bytes, std::size_t length) {
  return std::span(bytes).first(length);
}
void check_record(std::span<const std::byte> found, unsigned i, std::size_t length) {
  check(found.size() == length, "its length");
  check(std::all_of(found.begin(), found.end(),
                    [&](std::byte byte) { return byte == static_cast<std::byte>(i); }),
        "its bytes");
}

// The third goes round the end: its place is free only once the first one's is.
const Scenario round_the_end("shared_byte_ring/round_the_end", [] {
  Shared shared(256UL);
  Thread producer([&] {
    SharedByteRing::Producer out(SharedByteRing::attach(shared.storage.bytes()));
    for (unsigned i = 1; i <= 3; ++i) {
      check(out.push(record(bytes_of(i), 96)) == Status::ok, "it waits for room");
    }
    shared.ring.close();
  });
  SharedByteRing::Consumer in(SharedByteRing::attach(shared.storage.bytes()));
  std::span<const std::byte> found;
  unsigned count = 0;
  while (in.peek(found) == Status::ok) {
    check_record(found, ++count, 96);
    in.release();
  }
  check(count == 3 && !in.damaged(), "each once");
});

const Scenario close_beside("shared_byte_ring/close_beside", [] {
  Shared shared(256UL);
  unsigned accepted = 0;
  Thread producer([&] {
    SharedByteRing::Producer out(shared.ring);
    accepted += out.push(record(bytes_of(1), 8)) == Status::ok;
    accepted += out.push(record(bytes_of(2), 40)) == Status::ok;
  });
  Thread closer([&] { shared.ring.close(); });
  SharedByteRing::Consumer in(shared.ring);
  std::span<const std::byte> found;
  unsigned count = 0;
  while (in.peek(found) == Status::ok) {
    ++count;
    check_record(found, count, count == 1 ? 8 : 40);
    in.release();
  }
  producer.join();
  check(count == accepted && !in.damaged(), "accepted is delivered");
});

// Dies between claim and publication, or anywhere; another one goes on.
const MortalScenario<> producer_is_replaced("shared_byte_ring/producer_is_replaced", [] {
  Shared shared(256UL);
  Thread parent([&] {
    {
      Process process([&] {
        SharedByteRing::Producer out(shared.ring);
        std::span<std::byte> place;
        check(out.claim(96, place) == Status::ok, "it waits for room");
        std::fill(place.begin(), place.end(), std::byte{1});
        check(out.publish(40) == Status::ok, "not closed");
      });
      if (process.wait()) shared.ring.recovered();
    }
    SharedByteRing::Producer out(shared.ring);
    check(out.push(record(bytes_of(2), 96)) == Status::ok, "it waits for room");
    shared.ring.close();
  });
  SharedByteRing::Consumer in(shared.ring);
  std::span<const std::byte> found;
  unsigned last = 0;
  while (in.peek(found) == Status::ok) {
    const unsigned number = std::to_integer<unsigned>(found.front());
    check(number > last, "in order");
    check_record(found, number, number == 1 ? 40 : 96);
    last = number;
    in.release();
  }
  check(last == 2 && !in.damaged(), "the successor's came");
});

// Dies between padding and record, or anywhere.
const MortalScenario<> consumer_is_replaced("shared_byte_ring/consumer_is_replaced", [] {
  Shared shared(256UL);
  SharedByteRing::Producer out(shared.ring);
  check(out.try_push(record(bytes_of(1), 96)) == Status::ok, "there is room");
  Thread producer([&] {
    check(out.push(record(bytes_of(2), 64)) == Status::ok, "it waits for room");
    check(out.push(record(bytes_of(3), 96)) == Status::ok, "it waits for room");
    shared.ring.close();
  });
  {
    Process process([&] {
      SharedByteRing::Consumer in(shared.ring);
      std::span<const std::byte> found;
      for (unsigned i = 1; i <= 3; ++i) {
        check(in.peek(found) == Status::ok, "it comes");
        check_record(found, i, i == 2 ? 64 : 96);
        in.release();
      }
    });
    if (process.wait()) shared.ring.recovered();
  }
  SharedByteRing::Consumer successor(shared.ring);
  std::span<const std::byte> found;
  unsigned count = 0;
  while (successor.peek(found) == Status::ok) {
    const unsigned number = std::to_integer<unsigned>(found.front());
    check_record(found, number, number == 2 ? 64 : 96);
    ++count;
    successor.release();
  }
  check(count <= 3 && !successor.damaged(), "none is torn");
  explore::outcome(count);
});

}}  // namespace shared_byte_ring_scenarios

// SPDX-License-Identifier: MIT
// This library's ring of records of any length; each is written and read where it lies.
#include <cstddef>
#include <span>
#include <stdexcept>

#include <handoff/process/shared_byte_ring.hpp>

#include "scenarios/processes/measure.hpp"
#include "scenarios/processes/own_rings.hpp"

namespace handoff::lab::processes {
namespace {

template <class Message>
class SharedByteRings {
 public:
  void open(Side side) { rings_.open(side); }

  template <class Make>
  void send(Make&& make) {
    std::span<std::byte> place;
    require_ok(rings_.out().claim(sizeof(Message), place));
    make(*reinterpret_cast<Message*>(place.data()));
    require_ok(rings_.out().publish(sizeof(Message)));
  }
  template <class Take>
  void receive(Take&& take) {
    std::span<const std::byte> record;
    require_ok(rings_.in().peek(record));
    if (record.size() != sizeof(Message)) throw std::runtime_error("half a message");
    take(*reinterpret_cast<const Message*>(record.data()));
    rings_.in().release();
  }

 private:
  static constexpr std::size_t kLength = 8;  // a word before each record

  OwnRings<SharedByteRing> rings_{places_for(sizeof(Message)) * (sizeof(Message) + kLength)};
};

}  // namespace

Operation contender(const Task& task) { return measure<SharedByteRings>(task); }

}  // namespace handoff::lab::processes

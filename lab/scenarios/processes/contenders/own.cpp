// SPDX-License-Identifier: MIT
// This library's rings in shared memory.
#include <handoff/core/status.hpp>
#include <handoff/process/shared_byte_ring.hpp>
#include <handoff/process/shared_memory.hpp>
#include <handoff/process/shared_ring.hpp>

#include "scenarios/processes/measure.hpp"

namespace handoff::lab::processes {
namespace {

void require_ok(Status status) {
  if (status != Status::ok) throw std::runtime_error("the ring is closed");
}

// SharedRing<T> or SharedByteRing, one each way, in memory that each process maps for itself, as
// strangers do.
template <class Ring>
class OwnRings {
 public:
  // Before the fork.
  explicit OwnRings(std::size_t capacity) {
    for (SharedMemory& memory : made_) {
      memory = SharedMemory::create({.bytes = Ring::bytes_for(capacity)});
      Ring::create(memory.bytes(), capacity);
      memory.publish();
    }
  }

  // After it.
  void open(Side side) {
    receives_ = SharedMemory::attach(made_[receives_by(side)].descriptor());
    sends_ = SharedMemory::attach(made_[sends_by(side)].descriptor());
    in_.emplace(Ring::attach(receives_.bytes()));
    out_.emplace(Ring::attach(sends_.bytes()));
  }

  typename Ring::Consumer& in() { return *in_; }
  typename Ring::Producer& out() { return *out_; }

 private:
  std::array<SharedMemory, 2> made_;
  SharedMemory receives_;
  SharedMemory sends_;
  std::optional<typename Ring::Consumer> in_;
  std::optional<typename Ring::Producer> out_;
};

// This library's ring in shared memory; messages are written and read in its places.
template <class Message>
class SharedRings {
 public:
  void open(Side side) { rings_.open(side); }

  template <class Make>
  void send(Make&& make) {
    Message* place = nullptr;
    require_ok(rings_.out().claim(place));
    make(*place);
    require_ok(rings_.out().publish());
  }
  template <class Take>
  void receive(Take&& take) {
    const Message* place = nullptr;
    require_ok(rings_.in().peek(place));
    take(*place);
    rings_.in().release();
  }

 private:
  OwnRings<SharedRing<Message>> rings_{places_for(sizeof(Message))};
};

// This library's ring of records of any length; each is written and read where it lies.
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

Operation contender(const Task& task) {
  return chosen<Operation(const Task&)>({{"own.shared_ring", measure<SharedRings>},
                                         {"own.shared_byte_ring", measure<SharedByteRings>}})(task);
}

}  // namespace handoff::lab::processes

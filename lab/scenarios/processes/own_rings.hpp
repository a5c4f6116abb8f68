// SPDX-License-Identifier: MIT
// This library's rings in `processes`: one each way, in memory that each process maps for itself,
// as strangers do.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <stdexcept>

#include <handoff/core/status.hpp>
#include <handoff/process/shared_memory.hpp>

#include "scenarios/processes/side.hpp"

namespace handoff::lab::processes {

inline void require_ok(Status status) {
  if (status != Status::ok) throw std::runtime_error("the ring is closed");
}

// Ring: SharedRing<T> or SharedByteRing.
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

}  // namespace handoff::lab::processes

// SPDX-License-Identifier: MIT
// This library's shared memory with a name: opened by it, once its owner, its mode and its header
// have been checked.
#include "scenarios/spawn/own_memory.hpp"

namespace handoff::lab::spawn { namespace {

class Named {
 public:
  [[nodiscard]] std::uint64_t look() const {
    return first_word_of(SharedMemory::open(name_.text(), {.layout = kFirstWord}));
  }

 private:
  KeptName name_;
  SharedMemory memory_ = made(name_.text());
};

}}  // namespace handoff::lab::spawn

handoff::lab::Prepared handoff::lab::prepare(const Parameters& /*parameters*/,
                                             std::span<const std::byte> /*input*/) {
  return spawn::measure_attach<spawn::Named>();
}

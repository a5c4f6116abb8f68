// SPDX-License-Identifier: MIT
// This library's shared memory without a name: attached to by its descriptor, once its size, its
// seals and its header have been checked.
#include "scenarios/spawn/own_memory.hpp"

namespace handoff::lab::spawn { namespace {

class Anonymous {
 public:
  [[nodiscard]] std::uint64_t look() const {
    return first_word_of(SharedMemory::attach(memory_.descriptor(), {.layout = kFirstWord}));
  }

 private:
  SharedMemory memory_ = made("");
};

}}  // namespace handoff::lab::spawn

handoff::lab::Prepared handoff::lab::prepare(const Parameters& /*parameters*/,
                                             std::span<const std::byte> /*input*/) {
  return spawn::measure_attach<spawn::Anonymous>();
}

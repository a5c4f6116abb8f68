// SPDX-License-Identifier: MIT
// Memory without a name: its descriptor, which is there already, is asked for the size, and mapped.
#include <cstdint>

#include <sys/mman.h>
#include <unistd.h>

#include "scenarios/spawn/mapping.hpp"
#include "scenarios/spawn/plain_memory.hpp"

namespace handoff::lab::spawn { namespace {

class Memfd {
 public:
  Memfd() { fill(file_); }
  ~Memfd() { close(file_); }
  Memfd(const Memfd&) = delete;
  Memfd& operator=(const Memfd&) = delete;

  [[nodiscard]] std::uint64_t look() const { return first_word_of(file_); }

 private:
  const int file_ = memfd_create("handoff-lab", MFD_CLOEXEC);
};

}}  // namespace handoff::lab::spawn

handoff::lab::Prepared handoff::lab::prepare(const Parameters& /*parameters*/,
                                             std::span<const std::byte> /*input*/) {
  return spawn::measure_attach<spawn::Memfd>();
}

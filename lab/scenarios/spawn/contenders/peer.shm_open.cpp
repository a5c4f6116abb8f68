// SPDX-License-Identifier: MIT
// POSIX shared memory: opened by its name, asked for its size, and mapped.
#include <cstdint>
#include <stdexcept>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "scenarios/spawn/mapping.hpp"
#include "scenarios/spawn/plain_memory.hpp"

namespace handoff::lab::spawn { namespace {

class Posix {
 public:
  Posix() {
    const int file = shm_open(name_.text().c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
    fill(file);
    close(file);
  }

  [[nodiscard]] std::uint64_t look() const {
    const int file = shm_open(name_.text().c_str(), O_RDWR, 0);
    if (file < 0) throw std::runtime_error("it cannot be opened");
    const std::uint64_t word = first_word_of(file);
    close(file);
    return word;
  }

 private:
  KeptName name_;
};

}}  // namespace handoff::lab::spawn

handoff::lab::Prepared handoff::lab::prepare(const Parameters& /*parameters*/,
                                             std::span<const std::byte> /*input*/) {
  return spawn::measure_attach<spawn::Posix>();
}

// SPDX-License-Identifier: MIT
// POSIX shared memory: opened by its name, asked for its size, and mapped.
#include <cstring>

#include <sys/stat.h>

#include "scenarios/spawn/mapping.hpp"

namespace handoff::lab::spawn { namespace {

class Posix {
 public:
  Posix() {
    const int file = shm_open(name_.text().c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
    if (file < 0 || ftruncate(file, kMemoryBytes) != 0 ||
        pwrite(file, &kFirstWord, sizeof kFirstWord, 0) != sizeof kFirstWord) {
      throw std::runtime_error("no shared memory");
    }
    close(file);
  }

  [[nodiscard]] std::uint64_t look() const {
    const int file = shm_open(name_.text().c_str(), O_RDWR, 0);
    struct stat status{};
    if (file < 0 || fstat(file, &status) != 0) throw std::runtime_error("it cannot be opened");
    const auto bytes = static_cast<std::size_t>(status.st_size);
    void* const place = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (place == MAP_FAILED) throw std::runtime_error("it cannot be mapped");
    std::uint64_t word = 0;
    std::memcpy(&word, place, sizeof word);
    munmap(place, bytes);
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

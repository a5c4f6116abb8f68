// SPDX-License-Identifier: MIT
// Boost.Interprocess's shared memory: opened by its name, and mapped as a region.
#include <boost/interprocess/mapped_region.hpp>
#include <boost/interprocess/shared_memory_object.hpp>

#include "scenarios/spawn/measure.hpp"

namespace handoff::lab::spawn {
namespace {

namespace ipc = boost::interprocess;

class Boost {
 public:
  Boost() {
    ipc::shared_memory_object memory(ipc::create_only, name(), ipc::read_write);
    memory.truncate(kMemoryBytes);
    const ipc::mapped_region region(memory, ipc::read_write);
    std::memcpy(region.get_address(), &kFirstWord, sizeof kFirstWord);
  }

  [[nodiscard]] std::uint64_t look() const {
    const ipc::shared_memory_object memory(ipc::open_only, name(), ipc::read_write);
    const ipc::mapped_region region(memory, ipc::read_write);
    std::uint64_t word = 0;
    std::memcpy(&word, region.get_address(), sizeof word);
    return word;
  }

 private:
  [[nodiscard]] const char* name() const { return name_.text().c_str() + 1; }  // it adds a slash

  KeptName name_;
};

}  // namespace

Prepared contender(const Parameters& parameters) { return measure_attach<Boost>(parameters); }

}  // namespace handoff::lab::spawn

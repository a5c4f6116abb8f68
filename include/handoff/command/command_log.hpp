// SPDX-License-Identifier: MIT
//
// A backend that keeps what it gets: the name of each command and its bytes, in their order.
//
//   handoff::CommandLog log;
//   bucket.dispatch(log);
//   for (const auto& entry : log.entries()) show(entry.name, entry.bytes.size());
//
// For: tests, and a look at what a frame consists of. Not for: what is replayed (capture()).
// Concurrency: of one thread. Allocates: for each command. Throws: std::bad_alloc.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <handoff/command/command_aux.hpp>
#include <handoff/config.hpp>
#include <handoff/core/internal/type_name.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

class CommandLog {
 public:
  // One command.
  struct Entry {
    std::string name;              // of its type
    std::vector<std::byte> bytes;  // of the command
    std::vector<std::byte> aux;    // of its auxiliary memory
  };

  // In the order in which they came.
  [[nodiscard]] const std::vector<Entry>& entries() const noexcept { return entries_; }
  void clear() noexcept { entries_.clear(); }

  // What a bucket calls.
  template <class C>
  void operator()(const C& command, AuxBytes aux) {
    const auto bytes = std::as_bytes(std::span(&command, 1));
    entries_.push_back({std::string(detail::name_in(detail::type_name<C>())),
                        {bytes.begin(), bytes.end()},
                        {aux.begin(), aux.end()}});
  }

 private:
  std::vector<Entry> entries_;
};

}}  // namespace handoff::HANDOFF_ABI

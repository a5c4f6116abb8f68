// SPDX-License-Identifier: MIT
//
// A file that is written beside its place and moved there when it is whole: PATH.unfinished, or
// PATH.unfinished.1 and so on while others write for the same path. So each of them writes a file
// of its own, and the last that is finished stays at PATH.
//
// A lock says that somebody writes; the next program removes what a killed one has left.
// Concurrency: one thread's. Errors: an errno, 0 for none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <handoff/config.hpp>
#include <span>
#include <string>

#include "../../sync/internal/descriptor.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class UnfinishedFile {
 public:
  explicit UnfinishedFile(const char* path) : path_(path), name_(path) {}
  ~UnfinishedFile() { remove(); }
  UnfinishedFile(const UnfinishedFile&) = delete;
  UnfinishedFile& operator=(const UnfinishedFile&) = delete;

  // Where it is written.
  [[nodiscard]] const std::string& name() const noexcept { return name_.native(); }
  [[nodiscard]] bool is_open() const noexcept { return lock_.is_open(); }

  // Once, before all others. Throws std::bad_alloc.
  int open();
  int write(std::span<const std::byte> bytes) noexcept;
  // It is whole, and in its place; after a failure it is nowhere.
  int finish() noexcept;
  // Nothing is left of it.
  void remove() noexcept;

 private:
  int make(bool& is_made);
  bool remove_left_behind() noexcept;
  [[nodiscard]] bool is_named(int file) const noexcept;
  void release() noexcept;

  const std::filesystem::path path_;
  std::filesystem::path name_;
  Descriptor file_;
  Descriptor lock_;  // the same open file: the lock is held until the name is right
  std::uint64_t written_ = 0;
};

}}}  // namespace handoff::HANDOFF_ABI::detail

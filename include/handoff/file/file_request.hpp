// SPDX-License-Identifier: MIT
//
// One request to a FileEngine, whatever it asks for. The engine's read(), write() and so on make
// one; submit() and post() take one.
//
//   handoff::FileRequest request{.operation = handoff::FileOperation::write, .path = "a.bin"};
//   request.from = {header, body};                      // vectored
//   request.durable = true;
//   handoff::Future<handoff::FileResult> f = files.submit(std::move(request));
//
// The memory that `into` and `from` name must live, and stay as it is, until the request has ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <handoff/config.hpp>
#include <handoff/core/unique_function.hpp>
#include <handoff/core/until.hpp>
#include <handoff/file/file_result.hpp>
#include <handoff/file/open_file.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

// Memory in several pieces; one needs no allocation. An empty span is a piece, wherever it points;
// only what was made of nothing has none.
template <class Byte>
class FileMemory {
 public:
  FileMemory() noexcept = default;
  // One piece: a span, or what converts to one.
  template <class Piece>
    requires std::is_convertible_v<Piece, std::span<Byte>>
  FileMemory(Piece&& one) noexcept  // NOLINT(google-explicit-constructor)
      : one_(std::forward<Piece>(one)) {
    if (one_.data() == nullptr) one_ = none();
  }
  FileMemory(std::initializer_list<std::span<Byte>> several) : several_(several) {}
  explicit FileMemory(std::vector<std::span<Byte>> several) : several_(std::move(several)) {
    if (several_.empty()) one_ = none();
  }

  // The pieces, in their order in the file.
  [[nodiscard]] std::span<const std::span<Byte>> pieces() const noexcept {
    if (several_.empty()) return {&one_, one_.data() == nullptr ? 0u : 1u};
    return several_;
  }
  // All their bytes.
  [[nodiscard]] std::uint64_t bytes() const noexcept {
    std::uint64_t sum = 0;
    for (const auto& piece : pieces()) sum += piece.size();
    return sum;
  }

 private:
  // Null stands for memory that was not given. (No variable: its symbol would be unique in the
  // process, docs/adr/0013-unloaded-cleanly.md.)
  static std::span<Byte> none() noexcept {
    return {reinterpret_cast<Byte*>(const_cast<char*>("")), 0U};
  }

  std::span<Byte> one_;
  std::vector<std::span<Byte>> several_;
};

struct FileRequest {
  // A length without an end.
  static constexpr std::uint64_t to_the_end = ~std::uint64_t{0};

  FileOperation operation = FileOperation::read;  // what is to be done
  std::string path = {};  // of the file, unless `file` is given
  OpenFile file = {};  // an open one
  std::string to = {};  // copy: the new path

  std::uint64_t offset = 0;  // read, write: the first byte
  std::uint64_t length = to_the_end;  // read without `into`, and copy: how many bytes at most
  FileMemory<std::byte> into = {};  // read: where to; not given: FileResult::data()
  FileMemory<const std::byte> from = {};  // write, append, replace: what

  // What has not begun, or could go on, ends with ECANCELED if a stop was requested, with ETIME at
  // the moment. It bounds submit()'s wait for room as well.
  KeptUntil until = {};

  bool durable = false;  // ends only when what it did outlives a loss of power
  bool barrier = false;  // begins after all requests for this file that came before it
  bool create = true;  // write, append: makes the file if it is not there
  bool truncate = false;  // write: the file ends behind what is written
  bool preallocate = false;  // write: room on the device is reserved first, or it fails at once
  bool direct = false;  // past the page cache, where memory and file allow it; else through it
  bool follow_last = true;  // a link in the place of the name; false: ELOOP, or stat describes it;
                            // remove removes it in any case
  bool missing_is_ok = false;  // remove: a file that is not there counts as removed
  std::uint32_t mode = 0666;  // of a new file, less the umask; a copy has of it what its source
                              // allows: of 0755 it is 0644
  std::uint64_t limit = to_the_end;  // read: a longer file fails with EFBIG before it is read

  // Called with the bytes moved so far and all (0: not known), after each piece of about 1 MiB, by
  // the thread that moves them. Must not throw.
  UniqueFunction<void(std::uint64_t moved, std::uint64_t all)> progress = {};
};

}}  // namespace handoff::HANDOFF_ABI

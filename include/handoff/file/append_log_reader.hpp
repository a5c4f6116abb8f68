// SPDX-License-Identifier: MIT
//
// Reads an AppendLog from its first record, or a given one, to its end.
//
//   for (const handoff::AppendLogRecord& record : handoff::AppendLogReader("orders", {.from = 17}))
//     apply(record.sequence, record.bytes);
//
// For: replay after a start, and following a log that is being written: next() says false at the
//   end, and may be asked again.
// - What it gives has a right checksum, and no record is left out. Damage, or a record that is
//   missing, throws std::system_error (EBADMSG), which names the file and the offset. The torn end
//   of the last segment is not damage: it was not acknowledged, and reading ends before it.
// - Beside a writer it may see records that are written and not yet durable. If the writer has
//   trimmed what comes next, `from` too, this throws std::system_error (ENODATA).
// Concurrency: a reader belongs to one thread at a time. Blocks: for the disk. Allocates: a buffer
//   of 256 KiB, or of the longest record. Writes nothing, takes no lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {
class FileTap;
class AppendLogReading;
}  // namespace detail

// Valid until the next one is read.
struct AppendLogRecord {
  std::uint64_t sequence = 0;
  std::span<const std::byte> bytes = {};

  // The same as text.
  [[nodiscard]] std::string_view text() const noexcept {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
};

// Where reading begins.
struct AppendLogReaderOptions {
  std::uint64_t from = 0;  // the first sequence number; 0: the first that is there
  detail::FileTap* tap = nullptr;  // for tests: sees and changes every system call
};

class AppendLogReader {
 public:
  class Iterator;

  // Throws std::system_error: there is no such directory, or `from` was trimmed.
  explicit AppendLogReader(std::string directory, const AppendLogReaderOptions& options = {});
  ~AppendLogReader();
  AppendLogReader(const AppendLogReader&) = delete;
  AppendLogReader& operator=(const AppendLogReader&) = delete;

  // False: there are no more at the moment.
  bool next(AppendLogRecord& record);

  // Reads on from where it is, once.
  Iterator begin();
  static std::default_sentinel_t end() noexcept { return {}; }

 private:
  std::unique_ptr<detail::AppendLogReading> reading_;
};

class AppendLogReader::Iterator {
 public:
  using iterator_concept = std::input_iterator_tag;
  using difference_type = std::ptrdiff_t;
  using value_type = AppendLogRecord;

  explicit Iterator(AppendLogReader& reader) : reader_(&reader) { ++*this; }

  const AppendLogRecord& operator*() const noexcept { return record_; }
  const AppendLogRecord* operator->() const noexcept { return &record_; }
  Iterator& operator++() {
    if (!reader_->next(record_)) reader_ = nullptr;
    return *this;
  }
  void operator++(int) { ++*this; }
  friend bool operator==(const Iterator& iterator, std::default_sentinel_t /*end*/) noexcept {
    return iterator.reader_ == nullptr;
  }

 private:
  AppendLogReader* reader_;
  AppendLogRecord record_;
};

inline AppendLogReader::Iterator AppendLogReader::begin() { return Iterator(*this); }

}}  // namespace handoff::HANDOFF_ABI

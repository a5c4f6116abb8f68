// SPDX-License-Identifier: MIT
//
// Reads one segment of an AppendLog, item by item; what the writer's recovery and readers share.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <handoff/config.hpp>
#include <handoff/file/detail/file_tap.hpp>
#include <span>
#include <vector>

#include "append_log_format.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class AppendLogScan {
 public:
  enum class Found : std::uint8_t {
    record,  // sequence(), record()
    head,    // of a batch: head()
    end,     // nothing whole stands here: it is the end, or torn, or damaged
    failed,  // a call did: error(), call()
  };
  enum class Header : std::uint8_t {
    whole,
    damaged,
    failed,
  };

  explicit AppendLogScan(FileTap* tap) noexcept : tap_(tap) {}

  // Begins with a file; reads its header, which should say `first`. Throws std::bad_alloc.
  Header begin(int descriptor, std::uint64_t first);
  // The next item. Throws std::bad_alloc.
  Found next();
  // At the end: whether a whole head of a batch stands behind it that says that the record that is
  // missing here was durable. Then this is damage, unless a writer has written it meanwhile: after
  // forget(), next() says.
  bool proves_damage();
  // After proves_damage() said no: behind the last byte there that is not zero, or offset().
  [[nodiscard]] std::uint64_t data_end() const noexcept { return data_end_; }
  // Reads anew from the file what comes next.
  void forget() noexcept { held_ = 0; }

  [[nodiscard]] std::uint64_t log() const noexcept { return header_.log; }
  // Where the item stands that next() reads next.
  [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }
  // The number of the next record.
  [[nodiscard]] std::uint64_t next_sequence() const noexcept { return sequence_; }
  // After Found::record; the bytes are valid until the next call.
  [[nodiscard]] std::uint64_t sequence() const noexcept { return sequence_ - 1; }
  [[nodiscard]] std::span<const std::byte> record() const noexcept { return record_; }
  // After Found::head.
  [[nodiscard]] const BatchHead& head() const noexcept { return head_; }
  // What failed.
  [[nodiscard]] int error() const noexcept { return error_; }
  [[nodiscard]] const char* call() const noexcept { return call_; }

 private:
  std::span<const std::byte> window(std::uint64_t offset, std::size_t bytes);
  std::uint64_t next_data(std::uint64_t offset) noexcept;
  Found read_head(std::uint64_t mark);
  Found read_record(std::uint64_t mark);
  Found end_or_failed() const noexcept { return error_ != 0 ? Found::failed : Found::end; }

  FileTap* tap_;
  int descriptor_ = -1;
  SegmentHeader header_;
  BatchHead head_;
  std::uint64_t offset_ = 0;
  std::uint64_t sequence_ = 0;
  std::uint64_t data_end_ = 0;
  std::span<const std::byte> record_;
  int error_ = 0;
  const char* call_ = "";
  std::vector<std::byte> buffer_;  // what stands in the file from held_at_ on,
  std::uint64_t held_at_ = 0;
  std::size_t held_ = 0;  // ... the number of these bytes
};

// Reads until `into` is full or the file ends; how many bytes, or a negative errno.
long read_fully(int descriptor, std::uint64_t offset, std::span<std::byte> into,
                FileTap* tap) noexcept;
// Writes all of it: 0, or an errno.
int write_fully(int descriptor, std::uint64_t offset, std::span<const std::byte> from,
                FileTap* tap) noexcept;
// The first numbers of the segments in an open directory, in their order: 0 or an errno.
int list_segments(int directory, std::vector<std::uint64_t>& firsts, FileTap* tap);

}}}  // namespace handoff::HANDOFF_ABI::detail

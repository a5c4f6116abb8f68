// SPDX-License-Identifier: MIT
#include "append_log_scan.hpp"

#include <dirent.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <string_view>

#include "file_call.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

constexpr std::size_t kWindowBytes = std::size_t{256} << 10;
constexpr std::uint64_t kNoMore = ~std::uint64_t{0};

bool is_zero(std::span<const std::byte> bytes) noexcept {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

}  // namespace

long read_fully(int descriptor, std::uint64_t offset, std::span<std::byte> into,
                FileTap* tap) noexcept {
  std::size_t done = 0;
  while (done < into.size()) {
    const iovec piece{into.data() + done, std::min<std::size_t>(into.size() - done, INT_MAX)};
    const long got = perform_whole({.kind = FileCallKind::read,
                                    .descriptor = descriptor,
                                    .offset = offset + done,
                                    .bytes = piece.iov_len,
                                    .pieces = &piece,
                                    .piece_count = 1},
                                   tap);
    if (got < 0) return got;
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return static_cast<long>(done);
}

int write_fully(int descriptor, std::uint64_t offset, std::span<const std::byte> from,
                FileTap* tap) noexcept {
  while (!from.empty()) {
    const iovec piece{const_cast<std::byte*>(from.data()),
                      std::min<std::size_t>(from.size(), INT_MAX)};
    const long wrote = perform_whole({.kind = FileCallKind::write,
                                      .descriptor = descriptor,
                                      .offset = offset,
                                      .bytes = piece.iov_len,
                                      .pieces = &piece,
                                      .piece_count = 1},
                                     tap);
    if (wrote < 0) return static_cast<int>(-wrote);
    if (wrote == 0) return ENOSPC;  // there is nothing else that it could mean
    offset += static_cast<std::uint64_t>(wrote);
    from = from.subspan(static_cast<std::size_t>(wrote));
  }
  return 0;
}

int list_segments(int directory, std::vector<std::uint64_t>& firsts, FileTap* tap) {
  firsts.clear();
  const long start = perform_other("lseek", directory, nullptr, tap,
                                   [&] { return ::lseek(directory, 0, SEEK_SET); });
  if (start < 0) return static_cast<int>(-start);
  alignas(dirent64) std::array<char, 16384> entries;
  for (;;) {
    const long got = perform_other("getdents64", directory, nullptr, tap, [&] {
      return ::syscall(SYS_getdents64, directory, entries.data(), entries.size());
    });
    if (got < 0) return static_cast<int>(-got);
    if (got == 0) break;
    for (long at = 0; at < got;) {
      const auto* const entry = reinterpret_cast<const dirent64*>(entries.data() + at);
      const auto first = segment_first(std::string_view(entry->d_name));
      if (first.has_value()) firsts.push_back(*first);
      at += entry->d_reclen;
    }
  }
  std::sort(firsts.begin(), firsts.end());
  return 0;
}

AppendLogScan::Header AppendLogScan::begin(int descriptor, std::uint64_t first) {
  descriptor_ = descriptor;
  error_ = 0;
  forget();
  const auto raw = window(0, sizeof(SegmentHeader));
  if (error_ == ESPIPE) return Header::damaged;  // a FIFO has the name
  if (error_ != 0) return Header::failed;
  if (raw.size() == sizeof(SegmentHeader)) {
    header_ = from_raw<SegmentHeader>(raw);
    if (header_.magic == SegmentHeader::kMagic && header_.version == SegmentHeader::kVersion &&
        header_.byte_order == SegmentHeader::kByteOrder && header_.first == first &&
        header_.check == header_.right_check()) {
      offset_ = sizeof(SegmentHeader);
      sequence_ = first;
      return Header::whole;
    }
  }
  return Header::damaged;
}

AppendLogScan::Found AppendLogScan::next() {
  const auto raw = window(offset_, sizeof(std::uint64_t));
  if (raw.size() < sizeof(std::uint64_t)) return end_or_failed();
  const auto mark = from_raw<std::uint64_t>(raw);
  if ((mark & kMarks) == BatchHead::kMark) return read_head(mark);
  if ((mark & kMarks) == RecordHead::kMark) return read_record(mark);
  return Found::end;
}

AppendLogScan::Found AppendLogScan::read_head(std::uint64_t /*mark*/) {
  const auto raw = window(offset_, sizeof(BatchHead));
  if (raw.size() < sizeof(BatchHead)) return end_or_failed();
  const auto head = from_raw<BatchHead>(raw);
  if (head.first != sequence_ || head.check != head.right_check(header_.log, offset_)) {
    return Found::end;
  }
  head_ = head;
  offset_ += sizeof(BatchHead);
  return Found::head;
}

AppendLogScan::Found AppendLogScan::read_record(std::uint64_t mark) {
  const std::uint64_t length = mark & ~kMarks;
  if (length > RecordHead::kMost) return Found::end;
  const std::size_t all = sizeof(RecordHead) + static_cast<std::size_t>(padded(length));
  const auto raw = window(offset_, all);
  if (raw.size() < all) return end_or_failed();
  const auto head = from_raw<RecordHead>(raw);
  const auto body = raw.subspan(sizeof(RecordHead), static_cast<std::size_t>(length));
  const std::uint64_t hash = ByteHash().add(body).value();
  if (head.check != head.right_check(header_.log, sequence_, hash)) return Found::end;
  if (!is_zero(raw.subspan(sizeof(RecordHead) + body.size()))) return Found::end;
  record_ = body;
  offset_ += all;
  ++sequence_;
  return Found::record;
}

bool AppendLogScan::proves_damage() {
  data_end_ = offset_;
  for (std::uint64_t at = offset_;;) {
    at = next_data(at);
    if (at == kNoMore) return false;
    at &= ~(kAppendLogItem - 1);
    const auto raw = window(at, kWindowBytes);
    const auto last =
        std::find_if(raw.rbegin(), raw.rend(), [](std::byte b) { return b != std::byte{0}; });
    if (last != raw.rend()) data_end_ = at + static_cast<std::uint64_t>(raw.rend() - last);
    if (raw.size() < sizeof(BatchHead)) return false;
    std::size_t i = 0;
    for (; i + sizeof(BatchHead) <= raw.size(); i += kAppendLogItem) {
      const auto mark = from_raw<std::uint64_t>(raw.subspan(i));
      if ((mark & kMarks) != BatchHead::kMark) continue;
      const auto head = from_raw<BatchHead>(raw.subspan(i));
      if (head.durable >= sequence_ && head.check == head.right_check(header_.log, at + i)) {
        return true;
      }
    }
    at += i;
  }
}

// What stands in the file from `offset` on, `bytes` or up to the end; none after an error.
std::span<const std::byte> AppendLogScan::window(std::uint64_t offset, std::size_t bytes) {
  if (held_ == 0 || offset < held_at_ || offset + bytes > held_at_ + held_) {
    std::size_t most = std::max(bytes, kWindowBytes);
    if (bytes > kWindowBytes) {
      // A length that is damaged must not cost more memory than there is file.
      std::byte last;
      const long is_there = read_fully(descriptor_, offset + bytes - 1, {&last, 1}, tap_);
      if (is_there < 1) {
        if (is_there < 0) error_ = static_cast<int>(-is_there), call_ = "preadv";
        return {};
      }
    }
    if (buffer_.size() < most) buffer_.resize(most);
    const long got = read_fully(descriptor_, offset, {buffer_.data(), most}, tap_);
    held_ = 0;
    if (got < 0) {
      error_ = static_cast<int>(-got);
      call_ = "preadv";
      return {};
    }
    held_at_ = offset;
    held_ = static_cast<std::size_t>(got);
  }
  const auto in_buffer = static_cast<std::size_t>(offset - held_at_);
  return {buffer_.data() + in_buffer, std::min(bytes, held_ - in_buffer)};
}

// Where the file has bytes that are no hole, from there on; kNoMore: nowhere. `offset` itself where
// the file system cannot tell.
std::uint64_t AppendLogScan::next_data(std::uint64_t offset) noexcept {
  std::uint64_t found = offset;
  const long sought = perform_other("lseek(SEEK_DATA)", descriptor_, nullptr, tap_,
                                    [&] { return seek_in(descriptor_, found, SEEK_DATA); });
  if (sought == -ENXIO) return kNoMore;
  return sought < 0 ? offset : std::max(offset, found);
}

}}}  // namespace handoff::HANDOFF_ABI::detail

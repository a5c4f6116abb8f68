// SPDX-License-Identifier: MIT
//
// Memory from or to a file, in pieces of about 1 MiB, several at once where the driver can.
//
//   FT-1  A byte below next_ is moved, or in one slot. So what was moved without a gap ends at the
//         first unfinished slot (moved()).
//   FT-2  A slot is out at most once; a short call leaves its rest in the slot, which is issued
//         again.
//   FT-3  While something is out, end_ only falls: the file ended there.
#include <fcntl.h>

#include <algorithm>

#include "file_run.hpp"
#include "open_file_state.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

bool aligned(std::uint64_t number) noexcept { return number % kDirectBlock == 0; }

}  // namespace

// Moves total_ bytes at file_offset_.
FileRun::Steps FileRun::transfer() noexcept {
  next_ = 0;
  end_ = total_;
  saw_end_ = false;
  if (direct_) {
    // What is no whole block goes through the cache. So does the end of a file: behind it a direct
    // read would begin inside a block.
    if (!writes()) {
      const std::uint64_t size = attributes_.bytes;
      end_ = std::min(end_, size > file_offset_ ? size - file_offset_ : 0);
    }
    end_ -= end_ % kDirectBlock;
    if (end_ == 0) move_the_rest();
  }
  for (;;) {
    if (issue_rest()) {
      (void)co_await pause(Wants::piece);
    } else if (has_more()) {
      if (!paid_) {
        const bool at_once = co_await pause(Wants::share, next_bytes()) != 0;
        if (!at_once) continue;
      }
      transfer_error_ = may_move();
      if (transfer_error_ == 0) take_slot();
    } else if (out_ != 0) {
      (void)co_await pause(Wants::completion);
    } else if (transfer_error_ != 0 || saw_end_ || end_ == total_) {
      break;
    } else {
      move_the_rest();
    }
  }
  FileResultAccess::bytes(result_) = moved();
  if (transfer_error_ == 0) co_return true;
  const bool ours = transfer_error_ == ECANCELED || transfer_error_ == ETIME;
  fail(-transfer_error_, ours ? "" : writes() ? "pwritev" : "preadv");
  if (!preallocated_) co_return false;
  // A file that failed ends behind what was written, also if room was reserved.
  if (co_await truncate(file_offset_ + FileResultAccess::bytes(result_)) < 0) call_failed();
  co_return false;
}

// What the direct part has left.
void FileRun::move_the_rest() noexcept {
  settle_flags(false);
  end_ = total_;
}

std::size_t FileRun::memory_count() const noexcept {
  if (owns_its_data()) return 1;
  return writes() ? request_.from.pieces().size() : request_.into.pieces().size();
}

std::span<std::byte> FileRun::memory_at(std::size_t number) const noexcept {
  if (owns_its_data()) return own_memory_;
  if (!writes()) return request_.into.pieces()[number];
  const std::span<const std::byte> piece = request_.from.pieces()[number];
  return {const_cast<std::byte*>(piece.data()), piece.size()};  // the kernel only reads it
}

// Whether the memory and the offset allow direct IO at all.
bool FileRun::may_be_direct() const noexcept {
  if (!request_.direct || request_.file.valid()) return false;
  if (!aligned(request_.operation == FileOperation::replace ? 0 : request_.offset)) return false;
  if (request_.operation == FileOperation::append) return false;
  const auto fits = [](const auto& memory) {
    const auto pieces = memory.pieces();
    bool all = !pieces.empty();
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      all = all && aligned(reinterpret_cast<std::uintptr_t>(pieces[i].data()));
      all = all && (aligned(pieces[i].size()) || i + 1 == pieces.size());
    }
    return all && memory.bytes() >= kDirectBlock;
  };
  return writes() ? fits(request_.from) : fits(request_.into);
}

// Whether another piece may begin now.
bool FileRun::has_more() const noexcept {
  const unsigned most = memory_count() == 1 ? std::min(window_, kMostOut) : 1;
  return transfer_error_ == 0 && next_ < end_ && out_ < most;
}

// How long it is: of many pieces of memory, as many as a call takes.
std::uint64_t FileRun::next_bytes() noexcept {
  const std::uint64_t bytes = std::min(kPiece, end_ - next_);
  return memory_count() == 1 ? bytes : lay_pieces(bytes);
}

void FileRun::take_slot() noexcept {
  paid_ = false;
  unsigned number = 0;
  while (number < taken_ && slots_[number].used) ++number;
  taken_ = std::max(taken_, number + 1);
  const auto bytes = static_cast<std::uint32_t>(next_bytes());
  slots_[number] = {.at = next_, .left = bytes, .again = 0, .used = true, .out = false};
  next_ += bytes;
}

// As call_ a slot's, or the rest of a short call, also if the driver wants fewer at once by now.
// False: there is none.
bool FileRun::issue_rest() noexcept {
  unsigned number = 0;
  while (number < taken_ && (!slots_[number].used || slots_[number].out)) ++number;
  if (number == taken_ || transfer_error_ != 0) return false;
  Slot& slot = slots_[number];
  laid_ = 1;
  if (memory_count() == 1) pieces_[number] = {memory_at(0).data() + slot.at, slot.left};
  else (void)lay_pieces(slot.left);
  slot.out = true;
  ++out_;
  call_ = {.kind = writes() ? FileCallKind::write : FileCallKind::read,
           .descriptor = fd_,
           .offset = file_offset_ + slot.at,
           .bytes = slot.left,
           .pieces = &pieces_[number],
           .piece_count = laid_,
           .tag = number};
  return true;
}

// Lays out what comes next of memory in several pieces; how many bytes.
std::size_t FileRun::lay_pieces(std::uint64_t most) noexcept {
  std::size_t bytes = 0;
  std::size_t offset = cursor_offset_;
  laid_ = 0;
  for (std::size_t i = cursor_piece_; i < memory_count() && laid_ < pieces_.size(); ++i) {
    const std::span<std::byte> piece = memory_at(i).subspan(offset);
    offset = 0;
    const std::size_t part = std::min<std::uint64_t>(piece.size(), most - bytes);
    if (part == 0) continue;
    pieces_[laid_++] = {piece.data(), part};
    bytes += part;
  }
  return bytes;
}

void FileRun::piece_completed(Slot& slot, long result) noexcept {
  slot.out = false;
  --out_;
  if (result == -EINTR || (result == -EAGAIN && slot.again++ < kMostAgain)) return;
  if (result == -EINVAL && direct_) return settle_flags(false);  // not for this file: by the cache
  slot.again = 0;
  if (result > 0) return piece_moved(slot, static_cast<std::uint64_t>(result));
  if (result == 0 && !writes()) return nothing_moved(slot);
  if (transfer_error_ == 0) transfer_error_ = result == 0 ? EIO : static_cast<int>(-result);
}

void FileRun::piece_moved(Slot& slot, std::uint64_t bytes) noexcept {
  bytes = std::min<std::uint64_t>(bytes, slot.left);
  slot.at += bytes;
  slot.left -= static_cast<std::uint32_t>(bytes);
  move_cursor(bytes);
  told(bytes);
  slot.used = slot.left != 0 && slot.at < end_;
  if (!slot.used || writes()) return;
  // Behind what statx said was the end a short read is the end; and an open direct file can only
  // be read on at a whole block.
  const bool at_size = owns_its_data() && file_offset_ + slot.at == attributes_.bytes;
  const bool inside_block =
      request_.file.valid() && OpenFileAccess::state(request_.file)->direct && !aligned(slot.at);
  if (at_size || inside_block) nothing_moved(slot);
}

// The file ends where this slot begins.
void FileRun::nothing_moved(Slot& slot) noexcept {
  saw_end_ = true;
  end_ = std::min(end_, slot.at);
  // FT-1: what lies behind the end is no gap.
  slot.used = false;
  next_ = std::min(next_, end_);
  for (unsigned i = 0; i < taken_; ++i) {
    if (!slots_[i].out && slots_[i].at >= end_) slots_[i].used = false;
  }
}

void FileRun::move_cursor(std::uint64_t bytes) noexcept {
  if (memory_count() == 1) return;
  for (cursor_offset_ += bytes;
       cursor_piece_ < memory_count() && cursor_offset_ >= memory_at(cursor_piece_).size();
       ++cursor_piece_) {
    cursor_offset_ -= memory_at(cursor_piece_).size();
  }
}

std::uint64_t FileRun::moved() const noexcept {
  std::uint64_t first = std::min(next_, end_);
  for (const Slot& slot : std::span(slots_).first(taken_)) {
    if (slot.used) first = std::min(first, slot.at);
  }
  return first;
}

// `bytes` more have been moved.
void FileRun::told(std::uint64_t bytes) noexcept {
  if (!request_.progress) return;
  told_ += bytes;
  // Of a whole file total_ has one more byte, or is a part; and it may have grown.
  const std::uint64_t size = std::max(attributes_.bytes, request_.offset) - request_.offset;
  const std::uint64_t all = owns_its_data() ? std::min(size, request_.length) : total_;
  request_.progress(told_, told_ <= all ? all : 0);
}

}}}  // namespace handoff::HANDOFF_ABI::detail

// SPDX-License-Identifier: MIT
//
// Memory from or to a file, in pieces of about 1 MiB, several at once where the driver can.
//
//   FT-1  A byte below next_ is moved, or in one slot. So what was moved without a gap ends at the
//         first unfinished slot (moved()).
//   FT-2  A slot is out at most once; a short call leaves its rest in the slot, which is issued
//         again.
//   FT-3  While something is out, end_ only falls: the file ended there.
#include <errno.h>
#include <fcntl.h>

#include <algorithm>

#include "file_run.hpp"
#include "open_file_state.hpp"
#include "run_other.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

bool aligned(std::uint64_t number) noexcept { return number % kDirectBlock == 0; }

}  // namespace

std::size_t FileRun::memory_count() const noexcept {
  if (owns_memory_) return 1;
  return writes_ ? request_.from.pieces().size() : request_.into.pieces().size();
}

std::span<std::byte> FileRun::memory_at(std::size_t number) const noexcept {
  if (owns_memory_) return own_memory_;
  if (!writes_) return request_.into.pieces()[number];
  const std::span<const std::byte> piece = request_.from.pieces()[number];
  return {const_cast<std::byte*>(piece.data()), piece.size()};  // the kernel only reads it
}

// Whether the memory and the offset allow direct IO at all.
bool FileRun::may_be_direct() const noexcept {
  if (!request_.direct || request_.file.valid()) return false;
  const bool writes = request_.operation != FileOperation::read;
  if (!aligned(request_.operation == FileOperation::replace ? 0 : request_.offset)) return false;
  if (request_.operation == FileOperation::append) return false;
  const auto fits = [](const auto& pieces) {
    bool all = !pieces.empty();
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      all = all && aligned(reinterpret_cast<std::uintptr_t>(pieces[i].data()));
      all = all && (aligned(pieces[i].size()) || i + 1 == pieces.size());
    }
    return all;
  };
  if (writes ? request_.from.bytes() < kDirectBlock : request_.into.bytes() < kDirectBlock)
    return false;
  return writes ? fits(request_.from.pieces()) : fits(request_.into.pieces());
}

// Moves total_ bytes at file_offset_; then after_ is called.
void FileRun::transfer(Then then) noexcept {
  after_ = then;
  next_ = 0;
  end_ = total_;
  if (direct_) {
    // What is no whole block goes through the cache. So does the end of a file: behind it a direct
    // read would begin inside a block.
    std::uint64_t whole = total_;
    if (!writes_) {
      const std::uint64_t size = attributes_.stx_size;
      whole = std::min(whole, size > file_offset_ ? size - file_offset_ : 0);
    }
    end_ = whole / kDirectBlock * kDirectBlock;
    if (end_ == 0) settle_flags(false), end_ = total_;
  }
  saw_end_ = false;
  transfer_error_ = 0;
  cursor_piece_ = 0;
  cursor_offset_ = 0;
  taken_ = 0;
  mode_ = Mode::transfer;
}

// `ended`: nothing is out, and nothing is to be moved any more; or it failed.
FileRun::Step FileRun::next_piece(FileCall& call) noexcept {
  const unsigned most = memory_count() == 1 ? std::min(window_, kMostOut) : 1;
  for (;;) {
    // The rest of a short call, also if the driver wants fewer at once by now.
    for (unsigned i = 0; i < taken_ && transfer_error_ == 0; ++i) {
      if (!slots_[i].used || slots_[i].out) continue;
      issue_slot(i, call);
      return Step::issue;
    }
    if (transfer_error_ == 0 && next_ < end_ && out_ < most) {
      const int error = stopped();
      if (error != 0) {
        transfer_failed(-error);
        continue;
      }
      if (!paid_) {
        std::uint64_t bytes = std::min(kPiece, end_ - next_);
        if (memory_count() != 1) bytes = lay_pieces(bytes);  // of many, as many as a call takes
        // Parked only while nothing is out.
        const bool park = out_ == 0;
        paid_ = park;  // before: another thread may go on with it at once
        if (!services_.spend(*this, bytes, park)) return park ? Step::parked : Step::busy;
      }
      paid_ = false;
      if (take_slot()) continue;
    }
    return out_ != 0 ? Step::busy : Step::ended;
  }
}

bool FileRun::take_slot() noexcept {
  unsigned number = 0;
  while (number < taken_ && slots_[number].used) ++number;
  if (number == kMostOut) return false;
  taken_ = std::max(taken_, number + 1);
  Slot& slot = slots_[number];
  slot = {.begin = next_,
          .bytes = std::min(kPiece, end_ - next_),
          .done = 0,
          .again = 0,
          .used = true,
          .out = false};
  if (memory_count() != 1) slot.bytes = lay_pieces(slot.bytes);
  next_ += slot.bytes;
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

void FileRun::issue_slot(unsigned number, FileCall& call) noexcept {
  Slot& slot = slots_[number];
  const std::uint64_t at = slot.begin + slot.done;
  std::size_t count = 1;
  if (memory_count() == 1) {
    pieces_[number] = {memory_at(0).data() + at, slot.bytes - slot.done};
  } else {
    (void)lay_pieces(slot.bytes - slot.done);
    count = laid_;
  }
  slot.out = true;
  ++out_;
  call = {.kind = writes_ ? FileCallKind::write : FileCallKind::read,
          .descriptor = fd_,
          .offset = file_offset_ + at,
          .bytes = slot.bytes - slot.done,
          .pieces = &pieces_[number],
          .piece_count = count,
          .tag = number};
}

void FileRun::piece_completed(unsigned number, long result) noexcept {
  Slot& slot = slots_[number];
  slot.out = false;
  --out_;
  if (result == -EINTR || (result == -EAGAIN && slot.again++ < kMostAgain)) return;
  if (result == -EINVAL && direct_) return settle_flags(false);  // not for this file: by the cache
  if (result < 0) return transfer_failed(result);
  slot.again = 0;
  if (result == 0) return nothing_moved(slot);
  piece_moved(slot, static_cast<std::uint64_t>(result));
}

void FileRun::piece_moved(Slot& slot, std::uint64_t bytes) noexcept {
  bytes = std::min(bytes, slot.bytes - slot.done);
  slot.done += bytes;
  move_cursor(bytes);
  told(bytes);
  const bool through = slot.done == slot.bytes || slot.begin + slot.done >= end_;
  if (through) {
    slot.used = false;
    return;
  }
  if (writes_) return;
  // Behind what statx said was the end a short read is the end; and an open direct file can only
  // be read on at a whole block.
  const bool at_size =
      owns_memory_ && file_offset_ + slot.begin + slot.done == attributes_.stx_size;
  const bool inside_block =
      request_.file.valid() && OpenFileAccess::state(request_.file)->direct && !aligned(slot.done);
  if (at_size || inside_block) nothing_moved(slot);
}

void FileRun::nothing_moved(Slot& slot) noexcept {
  if (writes_) return transfer_failed(-EIO);
  saw_end_ = true;
  end_ = std::min(end_, slot.begin + slot.done);
  // FT-1: what lies behind the end is no gap.
  slot.used = false;
  next_ = std::min(next_, end_);
  for (Slot& other : taken_slots()) {
    if (other.used && !other.out && other.begin + other.done >= end_) other.used = false;
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
    if (slot.used) first = std::min(first, slot.begin + slot.done);
  }
  return first;
}

void FileRun::transfer_failed(long negative_errno) noexcept {
  if (transfer_error_ == 0) transfer_error_ = static_cast<int>(-negative_errno);
}

void FileRun::transfer_is_over() noexcept {
  FileResultAccess::bytes(result_) = moved();
  if (transfer_error_ != 0) {
    const bool ours = transfer_error_ == ECANCELED || transfer_error_ == ETIME;
    const char* const call = ours ? "" : writes_ ? "pwritev" : "preadv";
    fail(-transfer_error_, call);
    if (writes_ && preallocated_) stage(&FileRun::cut_to_moved);
    return;
  }
  if (end_ < total_ && !saw_end_) {  // the direct part is done
    settle_flags(false);
    end_ = total_;
    return;
  }
  (this->*after_)(0);
}

}}}  // namespace handoff::HANDOFF_ABI::detail

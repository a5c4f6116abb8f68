// SPDX-License-Identifier: MIT
//
// The memory that worker processes and their master share: a board, the words of what is to be
// done, and what each slot says. A pool has room for jobs besides, a team for arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <handoff/config.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/process/detail/claim_table.hpp>
#include <handoff/process/detail/job_board.hpp>
#include <handoff/process/detail/team_board.hpp>
#include <handoff/sync/clock.hpp>
#include <span>
#include <string_view>
#include <type_traits>

#include "../core/internal/call_failed.hpp"
#include "fork_server.hpp"
#include "inherited_pages.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// Plain bytes: the word of the place says whose they are (JB-1).
struct JobPlace {
  static constexpr std::size_t most_bytes = 4096;

  std::uint64_t call = 0;  // the address of the JobCall, the same in all processes of the pool
  sync::Deadline deadline = sync::no_deadline;  // by the one clock of all processes
  std::uint32_t is_late = 0;  // the worker that claimed it found that the deadline has passed
  alignas(64) std::byte arguments[most_bytes] = {};
  alignas(64) std::byte result[most_bytes] = {};  // or the text of an exception, up to a zero

  // That text, in a copy of `result`: a worker that is mad leaves no zero.
  static std::string_view text_in(std::span<const std::byte> result) noexcept {
    const auto* const text = reinterpret_cast<const char*>(result.data());
    return {text, ::strnlen(text, result.size())};
  }
};

// How many there are of each, besides the board.
struct ArenaSizes {
  std::size_t slots = 0;
  std::size_t words = 0;  // of blocks, or of places
  std::size_t notes = 0;  // of groups of blocks (CT-6)
  std::size_t arguments = 0;  // words
  std::size_t places = 0;

  static constexpr ArenaSizes of_team(std::size_t slots, std::size_t blocks) noexcept {
    return {slots, blocks, ClaimTable::groups_for(blocks), TeamWords::most_arguments, 0};
  }
};

template <class Board>
class ProcessArena {
 public:
  // 0, or the errno. All pages are there afterwards. With a file, other programs can attach.
  template <class... Arguments>
  int map(const ArenaSizes& sizes, bool with_file, Arguments... of_board) noexcept {
    const std::size_t bytes = bytes_for(sizes);
    const int error = with_file ? pages_.map_file(bytes, file_) : pages_.map(bytes);
    if (error != 0) return error;
    board_ = pages_.place<Board>(1, of_board...).data();
    each_part(sizes, [this]<class T>(std::span<T>& part, std::size_t count) noexcept {
      if constexpr (std::is_same_v<T, ClaimWord>) {
        part = pages_.place<T>(count, 0U);
      } else {
        part = pages_.place<T>(count);
      }
    });
    return 0;
  }
  // By such a program: the same sizes, and file() of the process that has mapped it.
  int attach(int file, const ArenaSizes& sizes) noexcept {
    if (const int error = pages_.attach(file, bytes_for(sizes)); error != 0) return error;
    board_ = pages_.find<Board>(1).data();
    each_part(sizes, [this]<class T>(std::span<T>& part, std::size_t count) noexcept {
      part = pages_.find<T>(count);
    });
    return 0;
  }
  // -1: without.
  int file() const noexcept { return file_.get(); }

  Board& board() const noexcept { return *board_; }
  WorkerSlot& slot(std::size_t at) const noexcept { return slots_[at]; }
  std::span<ClaimWord> words() const noexcept { return words_; }
  TeamWords team_words() const noexcept { return {arguments_, words_, notes_}; }
  JobPlace& place(std::size_t at) const noexcept { return places_[at]; }

 private:
  template <class Part>
  void each_part(const ArenaSizes& sizes, const Part& part) noexcept {
    part(slots_, sizes.slots);
    part(words_, sizes.words);
    part(notes_, sizes.notes);
    part(arguments_, sizes.arguments);
    part(places_, sizes.places);
  }
  std::size_t bytes_for(const ArenaSizes& sizes) noexcept {
    std::size_t bytes = InheritedPages::bytes_for<Board>(1);
    each_part(sizes, [&]<class T>(const std::span<T>&, std::size_t count) noexcept {
      bytes += InheritedPages::bytes_for<T>(count);
    });
    return bytes;
  }

  InheritedPages pages_;
  Descriptor file_;
  Board* board_ = nullptr;
  std::span<WorkerSlot> slots_;
  std::span<ClaimWord> words_;
  std::span<ClaimWord> notes_;
  std::span<ClaimWord> arguments_;
  std::span<JobPlace> places_;
};

// A life on an arena of its own. Mapping it throws std::system_error.
template <class Board>
class ArenaLife : public WorkerLife {
 public:
  template <class... Arguments>
  explicit ArenaLife(const ArenaSizes& sizes, bool with_file, Arguments... of_board) {
    if (const int error = arena_.map(sizes, with_file, of_board...); error != 0) {
      raise(call_failed(error, kNoTeamMemory));
    }
  }

  const ProcessArena<Board>& arena() const noexcept { return arena_; }
  void dismiss() noexcept final { arena_.board().dismiss(); }

 protected:
  ~ArenaLife() = default;

 private:
  ProcessArena<Board> arena_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail

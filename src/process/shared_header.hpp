// SPDX-License-Identifier: MIT
//
// The first page of shared memory: what it is, and whether it may be used. Written once by the
// process that made it, checked by every other one on a copy.
//
//   SM-1  The ready word is stored last, with release, when the memory is filled. A process that
//         has loaded it with acquire sees all that was written before. If the creator dies earlier
//         the word stays zero for ever.
//   SM-2  What is checked is a copy: each word is read from the memory once. Only the copy says how
//         much is mapped and used, so a change after the check changes nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <handoff/config.hpp>
#include <handoff/sync/internal/atomic.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// The header's part of the memory: what users have begins after it.
inline constexpr std::uint64_t kSharedHeaderBytes = 4096;
// What the ready word becomes.
inline constexpr std::uint64_t kSharedReady = 0x7964'6165'7220'7369;  // "is ready"

struct SharedHeaderWords {
  std::uint64_t magic = 0;
  std::uint64_t version = 0;
  std::uint64_t layout = 0;  // the user's: shared_layout()
  std::uint64_t bytes = 0;  // the user's, after the header
  std::uint64_t total = 0;  // the size of the file
  std::uint64_t key = 0;  // names this memory in a SharedSpan; never 0
  std::uint64_t huge = 0;  // 1: huge pages were asked for
  std::uint64_t check = 0;  // ByteHash of the words before
};

// As it is read from a file: `ready` before the words.
struct SharedHeaderCopy {
  SharedHeaderWords words;
  std::uint64_t ready = 0;
};

class SharedHeader {
 public:
  explicit SharedHeader(const SharedHeaderWords& words) noexcept : words_(words) {}

  // By the creator: from now on others may attach.
  void publish() noexcept;
  [[nodiscard]] bool is_published() const noexcept;
  // As they were made, once is_published() is true.
  [[nodiscard]] const SharedHeaderWords& words() const noexcept { return words_; }

 private:
  SharedHeaderWords words_;
  sync::atomic<std::uint64_t> ready_{0};
};
#if !defined(HANDOFF_EXPLORE)
static_assert(sizeof(SharedHeader) == sizeof(SharedHeaderCopy), "one is read as the other");
#endif

// With magic, version and check.
SharedHeaderWords shared_header_words(std::uint64_t bytes, std::uint64_t total,
                                      std::uint64_t layout, std::uint64_t key, bool huge) noexcept;

// What the process that attaches wants and sees.
struct SharedHeaderWanted {
  std::uint64_t layout = 0;
  std::uint64_t bytes = 0;  // at least
  std::uint64_t file_bytes = 0;  // as the kernel says
};
// What failed. No step: nothing did.
struct SharedFailure {
  const char* step = nullptr;
  int error = 0;
  const char* why = "";  // where the errno alone does not say it
  explicit operator bool() const noexcept { return step != nullptr; }
};

SharedFailure refusal_of(const SharedHeaderCopy& header, const SharedHeaderWanted& wanted) noexcept;

// The size of a file for `bytes` in pages of `page`; 0: no file can be as large.
std::uint64_t shared_file_bytes(std::uint64_t bytes, std::uint64_t page) noexcept;

}}}  // namespace handoff::HANDOFF_ABI::detail

// SPDX-License-Identifier: MIT
#include "team_arena.hpp"

#include <errno.h>
#include <sys/mman.h>

#include <new>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

constexpr std::size_t rounded(std::size_t bytes) noexcept {
  return (bytes + sync::destructive_span - 1) / sync::destructive_span * sync::destructive_span;
}

// `count` objects at `at`, which moves on behind them.
template <class T, class... Arguments>
std::span<T> place(char*& at, std::size_t count, Arguments... arguments) noexcept {
  T* first = nullptr;
  for (std::size_t i = 0; i < count; ++i) {
    T* const made = ::new (static_cast<void*>(at + i * sizeof(T))) T(arguments...);
    if (i == 0) first = made;
  }
  at += rounded(count * sizeof(T));
  return {first, count};
}

}  // namespace

int TeamArena::map(std::size_t slots, std::size_t blocks) noexcept {
  const std::size_t bytes = rounded(sizeof(TeamBoard)) + rounded(slots * sizeof(TeamSlot)) +
                            rounded(TeamWords::most_arguments * sizeof(ClaimWord)) +
                            rounded(blocks * sizeof(ClaimWord));
  void* const memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return errno;
  memory_ = memory;
  bytes_ = bytes;
  // Lack of memory is an error here, and no signal later. Older kernels do not know the call: there
  // the writes below take the first pages.
  if (::madvise(memory, bytes, MADV_POPULATE_WRITE) != 0 && errno != EINVAL) return errno;
  char* at = static_cast<char*>(memory);
  board_ = place<TeamBoard>(at, 1).data();
  slots_ = place<TeamSlot>(at, slots);
  words_.arguments = place<ClaimWord>(at, TeamWords::most_arguments, 0U);
  words_.blocks = place<ClaimWord>(at, blocks, 0U);
  return 0;
}

TeamArena::~TeamArena() {
  if (memory_ != nullptr) ::munmap(memory_, bytes_);
}

}}}  // namespace handoff::HANDOFF_ABI::detail

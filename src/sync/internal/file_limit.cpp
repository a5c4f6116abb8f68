// SPDX-License-Identifier: MIT
#include "file_limit.hpp"

#include <errno.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <handoff/sync/internal/thread_slot.hpp>
#include <limits>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

namespace {
struct SignalBlocked;  // names the slot
}  // namespace

void file_limit_is_no_signal_here() noexcept {
  sync::thread_slot<bool, SignalBlocked>::get() = true;
}

bool is_beyond_limit(int file, std::uint64_t offset) noexcept {
  if (sync::thread_slot<bool, SignalBlocked>::get() || offset < most_file_bytes()) return false;
  struct stat facts{};
  return ::fstat(file, &facts) == 0 && S_ISREG(facts.st_mode);
}

std::uint64_t most_file_bytes() noexcept {
  rlimit limit{};
  const bool is_limited = ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return is_limited ? limit.rlim_cur : std::numeric_limits<std::uint64_t>::max();
}

int write_fully(int file, std::span<const std::byte> bytes, std::uint64_t& position) noexcept {
  while (!bytes.empty()) {
    if (is_beyond_limit(file, position)) return EFBIG;
    const ssize_t wrote = ::write(file, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return wrote == 0 ? ENOSPC : errno;  // 0: nothing else that it could mean
    position += static_cast<std::uint64_t>(wrote);
    bytes = bytes.subspan(static_cast<std::size_t>(wrote));
  }
  return 0;
}

}}}  // namespace handoff::HANDOFF_ABI::detail

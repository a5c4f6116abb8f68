// SPDX-License-Identifier: MIT
//
// RLIMIT_FSIZE without its signal. Beyond that limit the kernel sends SIGXFSZ, which ends a program
// that does not ignore it; the library returns EFBIG in its place. The limit may be lowered at any
// time, so each write asks for it, but on threads of the library's own: those have the signal
// blocked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <handoff/config.hpp>
#include <span>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// The most bytes that a file of this process may have, at this moment.
std::uint64_t most_file_bytes() noexcept;
// By a thread that has the signal blocked for as long as it lives.
void file_limit_is_no_signal_here() noexcept;
// Whether a write at this offset would be answered by the signal. What begins before the limit is
// cut short there, and what is no regular file has none.
bool is_beyond_limit(int file, std::uint64_t offset) noexcept;

// Writes all of `bytes`, where the file's position is, which is `position`: it is moved with what
// was written. 0 or an errno.
int write_fully(int file, std::span<const std::byte> bytes, std::uint64_t& position) noexcept;

}}}  // namespace handoff::HANDOFF_ABI::detail

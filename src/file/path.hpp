// SPDX-License-Identifier: MIT
//
// Names of files: their parts, temporary ones, and what may be opened.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <handoff/config.hpp>
#include <handoff/file/detail/file_tap.hpp>
#include <string>
#include <string_view>

#include "../core/internal/escaped_text.hpp"
#include "file_call.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// A path as its directory ("." if it names none) and the name in it. The name is empty where the
// path ends in a slash, or is "." or "..": no file can have that.
struct PathParts {
  std::string directory;
  std::string name;
};
PathParts parts_of(std::string_view path);

// The kernel would take it for a shorter one.
inline bool has_zero_byte(std::string_view path) noexcept { return path.find('\0') != path.npos; }

// A new name beside `name`: ".NAME.R.handoff~" with 128 random bits. At most 143 bytes long, which
// every file system for long names takes: of a longer NAME it has the beginning.
std::string temporary_name(std::string_view name);

// 0, or why the engine does not open this one: EISDIR, EINVAL (a FIFO, a socket, a device).
int refusal_of(const struct statx& attributes) noexcept;
// What open() said, in the same words: a FIFO without a reader, a socket and a device without a
// driver are refused alike.
int refusal_of_open(long result) noexcept;
// What it says of such a path; "open" where the errno says it all.
const char* step_of_open(long result) noexcept;
inline constexpr const char* kNotRegular = "it is no regular file";
inline constexpr const char* kZeroByte = "the path has a zero byte in it";
inline constexpr const char* kNoFolder = "the path is empty; name a folder";

// Opens `call.path` (call.descriptor is the directory that it must not leave), where the kernel has
// no openat2: step by step, and no link is followed.
long open_by_steps(const FileCall& call, FileTap* tap) noexcept;

// openat2's flags for a path that must not leave its directory.
std::uint64_t resolve_beneath() noexcept;

}}}  // namespace handoff::HANDOFF_ABI::detail

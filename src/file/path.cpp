// SPDX-License-Identifier: MIT
//
// Names of files.
#include "path.hpp"

#include <errno.h>
#include <linux/openat2.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <handoff/sync/clock.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

// Also eCryptfs and encrypted shares take names that long.
constexpr std::size_t kTemporaryNameMost = 143;

std::array<unsigned char, 16> random_bytes() noexcept {
  std::array<unsigned char, 16> bytes{};
  for (std::size_t had = 0; had < bytes.size();) {
    const ssize_t got = ::getrandom(bytes.data() + had, bytes.size() - had, 0);
    if (got > 0) {
      had += static_cast<std::size_t>(got);
    } else if (errno != EINTR) {
      // No random device: the time. The name is created with O_EXCL, so this is about collisions.
      const auto now =
          static_cast<unsigned long long>(sync::clock::now().time_since_epoch().count());
      for (std::size_t i = 0; i < sizeof now; ++i) {
        bytes[i] = static_cast<unsigned char>(now >> (8 * i));
      }
      break;
    }
  }
  return bytes;
}

// What it begins with, at most `most` bytes. No letter of UTF-8 is cut: a file system may refuse
// the rest of one.
std::string_view beginning_of(std::string_view name, std::size_t most) noexcept {
  if (name.size() <= most) return name;
  constexpr std::size_t behind_first = 3;  // bytes of a letter
  const auto inside = [&](std::size_t at) {
    return (static_cast<unsigned char>(name[at]) & 0xc0) == 0x80;
  };
  std::size_t end = most;
  while (end > 0 && most - end < behind_first && inside(end)) --end;
  return name.substr(0, inside(end) ? most : end);  // else it is no UTF-8
}

// The next part of a path; removes it.
std::string_view take_part(std::string_view& path) noexcept {
  path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
  const std::string_view part = path.substr(0, path.find('/'));
  path.remove_prefix(part.size());
  return part;
}

}  // namespace

PathParts parts_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  if (name == "." || name == "..") name = {};
  std::string_view directory = ".";
  if (slash != std::string_view::npos) directory = path.substr(0, std::max<std::size_t>(slash, 1));
  return {std::string(directory), std::string(name)};
}

std::string temporary_name(std::string_view name) {
  constexpr std::string_view digits = "abcdefghijklmnopqrstuvwxyz234567";
  constexpr std::string_view end = ".handoff~";
  std::string random(".");
  // Five bits a letter; 128 of them are 26.
  const auto bytes = random_bytes();
  unsigned bits = 0;
  unsigned count = 0;
  for (const unsigned char byte : bytes) {
    bits = bits << 8 | byte;
    for (count += 8; count >= 5; count -= 5) random += digits[bits >> (count - 5) & 31];
  }
  random += digits[bits << (5 - count) & 31];
  name = beginning_of(name, kTemporaryNameMost - 1 - random.size() - end.size());
  std::string temporary(".");  // not by operator+: g++ 12 warns of a copy that cannot be
  return temporary.append(name).append(random).append(end);
}

int refusal_of(const struct statx& attributes) noexcept {
  if (S_ISREG(attributes.stx_mode)) return 0;
  return S_ISDIR(attributes.stx_mode) ? EISDIR : EINVAL;
}

int refusal_of_open(long result) noexcept {
  return result == -ENXIO || result == -ENODEV ? EINVAL : static_cast<int>(-result);
}

const char* step_of_open(long result) noexcept {
  if (result == -EXDEV) return "the path leaves the folder that it must stay `beneath`";
  return result == -ENXIO || result == -ENODEV ? kNotRegular : "open";
}

std::uint64_t resolve_beneath() noexcept { return RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS; }

namespace {

// With O_PATH, O_NOFOLLOW opens a link itself, which is not what was asked for.
long refuse_link(const FileCall& call, int file, FileTap* tap) noexcept {
  if ((call.flags & O_PATH) == 0 || (call.flags & O_NOFOLLOW) != 0) return file;
  struct statx attributes{};
  const long known = stat_of(file, attributes, tap);
  if (known >= 0 && !S_ISLNK(attributes.stx_mode)) return file;
  (void)perform_whole({.kind = FileCallKind::close, .descriptor = file}, tap);
  return known < 0 ? known : -ELOOP;
}

}  // namespace

long open_by_steps(const FileCall& call, FileTap* tap) noexcept {
  constexpr std::size_t most = 256;
  std::string_view left(call.path);
  if (left.empty()) return -ENOENT;
  if (left.front() == '/') return -EXDEV;
  OwnFile directory(tap);  // none: that of the call
  long result = -ENOENT;
  while (!left.empty()) {
    const std::string_view part = take_part(left);
    const bool last = left.empty();
    std::array<char, most> name{};
    if (part == "..") result = -EXDEV;
    else if (part.size() >= most) result = -ENAMETOOLONG;
    else {
      std::copy(part.begin(), part.end(), name.begin());
      if (part.empty()) name[0] = '.';
      result = perform_whole(
          {.kind = FileCallKind::open,
           .descriptor = directory.get() < 0 ? call.descriptor : directory.get(),
           .path = name.data(),
           .flags = last ? call.flags | O_NOFOLLOW : O_PATH | O_DIRECTORY | O_NOFOLLOW,
           .mode = call.mode},
          tap);
    }
    if (last && result >= 0) return refuse_link(call, static_cast<int>(result), tap);
    if (result < 0) return result;
    OwnFile next(tap, result);
    directory.swap(next);
  }
  return result;
}

}}}  // namespace handoff::HANDOFF_ABI::detail

// SPDX-License-Identifier: MIT
#include "rights.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <utility>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

// As linux/posix_acl_xattr.h has it: four bytes of a version, then entries of eight, least
// significant byte first: tag, rights, and an ID.
constexpr std::size_t kListHead = 4;
constexpr std::size_t kListEntry = 8;
constexpr std::size_t kListRights = 2;  // in an entry
constexpr std::uint8_t kOwnerTag = 0x01;
constexpr std::uint8_t kGroupTag = 0x04;
constexpr std::uint8_t kMaskTag = 0x10;
constexpr std::uint8_t kOthersTag = 0x20;
constexpr unsigned kRwx = 7;

// The rights of the entry with this tag, or `absent`.
unsigned rights_of(std::span<const std::byte> list, std::uint8_t tag, unsigned absent) noexcept {
  for (std::size_t at = kListHead; at + kListEntry <= list.size(); at += kListEntry) {
    if (list[at] == std::byte{tag}) return std::to_integer<unsigned>(list[at + kListRights]) & kRwx;
  }
  return absent;
}

// "/proc/self/fd/IN/NAME".
class OwnPath {
 public:
  OwnPath(int in, std::string_view name) noexcept {
    constexpr std::string_view own = "/proc/self/fd/";
    char* at = std::copy(own.begin(), own.end(), text_.data());
    at = std::to_chars(at, at + kNumberMost, in).ptr;
    *at++ = '/';
    const auto room = static_cast<std::size_t>(text_.data() + text_.size() - 1 - at);
    *std::copy_n(name.begin(), std::min(name.size(), room), at) = '\0';
  }
  const char* text() const noexcept { return text_.data(); }

 private:
  static constexpr std::size_t kNumberMost = 12;
  std::array<char, 288> text_;  // a name has 255 bytes at most
};

// Linux 6.13 has calls that name a file in a directory. Their numbers are the same everywhere but
// on Alpha; older headers do not know them.
constexpr long kSetXattrAt = 463;
constexpr long kGetXattrAt = 464;
constexpr long kListXattrAt = 465;

struct AttributeValue {  // xattr_args
  std::uint64_t address;
  std::uint32_t bytes;
  std::uint32_t flags;
};
AttributeValue value_of(const void* address, std::size_t bytes) noexcept {
  return {reinterpret_cast<std::uintptr_t>(address), static_cast<std::uint32_t>(bytes), 0};
}

// A path that is not there may be a /proc that is not.
bool may_lack_proc(long result) noexcept {
  return result < 0 && (errno == ENOENT || errno == ENOTDIR);
}

}  // namespace

std::array<std::byte, 28> plain_list(unsigned mode) noexcept {
  std::array<std::byte, 28> list{};
  list[0] = kNoList[0];
  std::size_t at = kListHead;
  for (const auto& [tag, shift] :
       {std::pair{kOwnerTag, 6u}, std::pair{kGroupTag, 3u}, std::pair{kOthersTag, 0u}}) {
    list[at] = std::byte{tag};
    list[at + kListRights] = static_cast<std::byte>(mode >> shift & kRwx);
    std::fill_n(list.begin() + static_cast<std::ptrdiff_t>(at) + 4, 4, std::byte{0xff});  // no ID
    at += kListEntry;
  }
  return list;
}

unsigned group_bits(std::span<const std::byte> list) noexcept {
  return (rights_of(list, kGroupTag, 0) & rights_of(list, kMaskTag, kRwx)) << 3;
}

unsigned narrow_group(std::span<std::byte> list) noexcept {
  const unsigned others = rights_of(list, kOthersTag, 0);
  const unsigned left = others & group_bits(list) >> 3;
  for (std::size_t at = kListHead; at + kListEntry <= list.size(); at += kListEntry) {
    if (list[at] == std::byte{kGroupTag}) list[at + kListRights] &= static_cast<std::byte>(others);
    if (list[at] == std::byte{kOthersTag}) list[at + kListRights] = static_cast<std::byte>(left);
  }
  return left;
}

unsigned narrow_group(unsigned mode) noexcept {
  const unsigned alike = mode & mode >> 3 & kRwx;
  return (mode & ~077u) | alike << 3 | alike;
}

unsigned early_mode(unsigned mode, bool has_list) noexcept {
  return (has_list ? mode & 0700 : narrow_group(mode)) & 0777;
}

long list_attributes_at(int in, const char* name, char* into, std::size_t bytes) noexcept {
  const long result = ::llistxattr(OwnPath(in, name).text(), into, bytes);
  if (!may_lack_proc(result)) return result;
  return ::syscall(kListXattrAt, in, name, AT_SYMLINK_NOFOLLOW, into, bytes);
}

long get_attribute_at(int in, const char* name, const char* key, void* into,
                      std::size_t bytes) noexcept {
  const long result = ::lgetxattr(OwnPath(in, name).text(), key, into, bytes);
  if (!may_lack_proc(result)) return result;
  const AttributeValue value = value_of(into, bytes);
  return ::syscall(kGetXattrAt, in, name, AT_SYMLINK_NOFOLLOW, key, &value, sizeof value);
}

long set_attribute_at(int in, const char* name, const char* key, const void* from,
                      std::size_t bytes) noexcept {
  const long result = ::lsetxattr(OwnPath(in, name).text(), key, from, bytes, 0);
  if (!may_lack_proc(result)) return result;
  const AttributeValue value = value_of(from, bytes);
  return ::syscall(kSetXattrAt, in, name, AT_SYMLINK_NOFOLLOW, key, &value, sizeof value);
}

}}}  // namespace handoff::HANDOFF_ABI::detail

// SPDX-License-Identifier: MIT
//
// The rights to a file: its mode and its access list (a POSIX ACL, which is an extended
// attribute). If a file has a list, the group bits of its mode are no rights of the group: they are
// the mask, the most that anybody named in the list gets. So a mode that is taken over without its
// list gives the group what was given to others.
#pragma once

#include <array>
#include <cstddef>
#include <handoff/config.hpp>
#include <span>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// Attributes: the rights to a file; and those that a new entry of a directory gets.
inline constexpr const char* kAccessList = "system.posix_acl_access";
inline constexpr const char* kDefaultList = "system.posix_acl_default";
// A list that is set without entries takes away the one that is there.
inline constexpr std::array<std::byte, 4> kNoList{std::byte{2}};

inline constexpr unsigned kModeBits = 07777;
inline constexpr unsigned kGroupBits = 0070;
inline constexpr unsigned kOtherBits = 0007;
inline constexpr unsigned kSetId = 06000;

// As a list what a mode says. Setting it takes away the list that is there and sets the mode, in
// one step: at no moment the mask of the old list is a right of the group.
std::array<std::byte, 28> plain_list(unsigned mode) noexcept;

// The group's own rights in a list, at their place in a mode.
unsigned group_bits(std::span<const std::byte> list) noexcept;

// For a file whose group is not the one that the rights were given to: its group gets no more than
// others had, and others, among whom the old group is now, no more than that had. For a list it
// returns what others have.
unsigned narrow_group(std::span<std::byte> list) noexcept;
unsigned narrow_group(unsigned mode) noexcept;

// The mode with which a file that is to have `mode` may be made, as long as it has another owner,
// group or list: the rights that both group and others have. With a list, which may except
// somebody, only its owner gets in.
unsigned early_mode(unsigned mode, bool has_list) noexcept;

// Extended attributes of what stands under a name in a directory; no link is followed. As the C
// library does it: -1, and errno. ENOSYS: neither is there a /proc, nor are there Linux 6.13's
// calls.
long list_attributes_at(int in, const char* name, char* into, std::size_t bytes) noexcept;
long get_attribute_at(int in, const char* name, const char* key, void* into,
                      std::size_t bytes) noexcept;
long set_attribute_at(int in, const char* name, const char* key, const void* from,
                      std::size_t bytes) noexcept;

}}}  // namespace handoff::HANDOFF_ABI::detail

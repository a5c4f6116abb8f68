// SPDX-License-Identifier: MIT
//
// What two programs that were built apart must agree on before one of them calls a kernel of the
// other by its name. Not for users.
//
// It is sent as bytes, so it has the same size everywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <handoff/config.hpp>
#include <handoff/core/internal/plain_text.hpp>
#include <handoff/process/shared_memory.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// Arguments::layout, if that is a number; else 0.
template <class Arguments>
constexpr std::uint64_t own_layout_of() noexcept {
  if constexpr (requires { std::integral_constant<std::uint64_t, Arguments::layout>{}; }) {
    return Arguments::layout;
  } else {
    return 0;
  }
}

struct KernelSignature {
  static constexpr std::size_t most_name = 48;  // with its zero

  char name[most_name] = {};
  std::uint32_t bytes = 0;  // of the arguments
  std::uint32_t alignment = 0;
  std::uint64_t layout = 0;

  // `name` has fewer bytes than most_name; what is too many is cut off.
  template <class Arguments>
  static constexpr KernelSignature of(std::string_view name) noexcept {
    KernelSignature made;
    for (std::size_t i = 0; i < name.size() && i + 1 < most_name; ++i) made.name[i] = name[i];
    made.bytes = sizeof(Arguments);
    made.alignment = alignof(Arguments);
    made.layout = own_layout_of<Arguments>();
    return made;
  }

  // The number by which a run names it.
  constexpr std::uint64_t id() const noexcept {
    std::uint64_t hash = shared_layout<>({bytes, alignment, layout});
    for (const char each : std::string_view(name)) {
      hash = (hash ^ static_cast<unsigned char>(each)) * 0x100000001b3U;
    }
    return hash;
  }

  friend constexpr bool operator==(const KernelSignature& a, const KernelSignature& b) noexcept {
    return std::string_view(a.name) == std::string_view(b.name) && a.bytes == b.bytes &&
           a.alignment == b.alignment && a.layout == b.layout;
  }
};
static_assert(sizeof(KernelSignature) == 64);

// Whether a kernel may be called so: 1 to 47 bytes, none of them a space or a control character.
constexpr bool is_kernel_name(std::string_view name) noexcept {
  if (name.empty() || name.size() >= KernelSignature::most_name) return false;
  return is_plain(name) && name.find(' ') == std::string_view::npos;
}

}}}  // namespace handoff::HANDOFF_ABI::detail

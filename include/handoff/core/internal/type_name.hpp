// SPDX-License-Identifier: MIT
//
// The name of a type, for people and for files: a text in which the compiler has written
// "F = the name". Not for users.
#pragma once

#include <cstddef>
#include <string_view>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

template <class F>
constexpr const char* type_name() noexcept {
  return __PRETTY_FUNCTION__;
}

// From "... [with F = the name]" or "... [F = the name]"; else all of it.
constexpr std::string_view name_in(std::string_view text) noexcept {
  constexpr std::string_view before = "F = ";
  const std::size_t begin = text.find(before);
  const std::size_t end = text.rfind(']');
  if (begin == std::string_view::npos || end == std::string_view::npos) return text;
  return text.substr(begin + before.size(), end - begin - before.size());
}

// The name alone, without what g++ says behind it of the types in it, and ended by a zero: for
// those who are given it as it is.
template <class F>
struct PlainName {
  static constexpr std::string_view name() noexcept {
    constexpr std::string_view all = name_in(type_name<F>());
    return all.substr(0, all.find("; "));
  }
  constexpr PlainName() noexcept {
    for (std::size_t i = 0; i < name().size(); ++i) text[i] = name()[i];
  }
  char text[name().size() + 1] = {};
};
template <class F>
inline constexpr PlainName<F> kPlainName;

}}}  // namespace handoff::HANDOFF_ABI::detail

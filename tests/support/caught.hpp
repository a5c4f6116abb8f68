// SPDX-License-Identifier: MIT
//
// What a call throws, to be looked at behind it.
#pragma once

#include <concepts>
#include <exception>
#include <optional>
#include <string_view>
#include <utility>

namespace handoff::test {

// Thrown by a call, or by the get() of a Future; nothing where that returns. So value() ends a test
// in which it must throw.
template <class Error, class Call>
std::optional<Error> caught(Call&& call) {
  try {
    if constexpr (std::invocable<Call>) {
      (void)std::forward<Call>(call)();
    } else {
      (void)call.get();
    }
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

inline bool says(std::string_view text, std::string_view words) {
  return text.find(words) != text.npos;
}
inline bool says(const std::exception& error, std::string_view words) {
  return says(std::string_view(error.what()), words);
}

}  // namespace handoff::test

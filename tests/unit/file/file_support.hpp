// SPDX-License-Identifier: MIT
//
// What the tests of the engine share.
#pragma once

#include "support/files.hpp"
#include "support/test.hpp"

namespace handoff::test {

inline std::span<std::byte> room_of(std::string& text) {
  return std::as_writable_bytes(std::span(text.data(), text.size()));
}

// What it throws, or no error.
struct Told {
  int error = 0;
  std::string text = {};
};
template <class F>
Told failure_of(F&& function) {
  try {
    function();
  } catch (const std::system_error& error) {
    return {.error = error.code().value(), .text = error.what()};
  }
  return {};
}

// Bytes that say where they are.
inline std::string pattern(std::size_t count, unsigned seed = 1) {
  std::string text(count, '\0');
  std::uint64_t x = seed * 2 + 1;
  for (std::size_t i = 0; i < count; i += sizeof x) {
    x = x * 6364136223846793005U + 1442695040888963407U;
    std::memcpy(text.data() + i, &x, std::min(sizeof x, count - i));
  }
  return text;
}

// An engine on each backend, and a folder for it.
class OnEachBackend : public EachBackend {
 protected:
  FileEngineOptions options() const {
    FileEngineOptions told;
    told.backend = GetParam();
    return told;
  }
  Folder folder;
};

}  // namespace handoff::test

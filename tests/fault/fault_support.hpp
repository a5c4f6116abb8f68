// SPDX-License-Identifier: MIT
//
// What the hostile tests of files share: contents, and waits that end.
#pragma once

#include "support/files.hpp"
#include "support/test.hpp"

namespace handoff::test {

// So many bytes that depend on `number`, every sector another.
inline std::string filled(std::size_t count, std::uint64_t number) {
  std::string bytes(count, '\0');
  std::uint64_t x = number * 2 + 1;
  for (char& byte : bytes) {
    x = x * 6364136223846793005U + 1442695040888963407U;
    byte = static_cast<char>('a' + (x >> 33) % 26);
  }
  return bytes;
}

// Every wait of these tests ends: what has no result by then hangs.
inline constexpr std::chrono::seconds kPatience{120};

inline FileResult result_of(Future<FileResult> future) {
  if (future.wait(kPatience) == Status::ok) return future.get();
  std::fprintf(stderr, "a request hangs\n");
  std::abort();
}

// "" if the result is ok, else what it says.
inline std::string failure_of(const FileResult& result) {
  return result.ok() ? "" : result.failure().text();
}

}  // namespace handoff::test

// SPDX-License-Identifier: MIT
//
// Reads names, and cuts them.
#include "name_texts.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <handoff/core/internal/type_name.hpp>

#include "trace_lines.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace trace {

namespace {

constexpr std::size_t kLongest = 120;  // of a name in the file

// The text at an address, as far as it is to be had.
std::string read_text(std::uint64_t address) {
  constexpr std::size_t most = 1024;
  constexpr std::size_t step = 256;  // pieces that do not cross a page
  std::string text;
  while (text.size() < most) {
    std::array<char, step> piece;  // no initial value: only what was read is used
    const auto from = static_cast<std::uintptr_t>(address + text.size());
    const iovec here{piece.data(), step - from % step};
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of this process
    const iovec there{reinterpret_cast<void*>(from), here.iov_len};
    const ssize_t got = ::process_vm_readv(::getpid(), &here, 1, &there, 1, 0);
    if (got <= 0) break;
    const std::string_view read(piece.data(), static_cast<std::size_t>(got));
    text.append(read.substr(0, read.find('\0')));
    if (read.find('\0') != std::string_view::npos) break;
  }
  return text;
}

}  // namespace

std::string_view spoken(std::string_view type) noexcept {
  std::string_view name = detail::name_in(type);
  if (const std::size_t more = name.find("; "); more != std::string_view::npos) {
    name = name.substr(0, more);  // what g++ says of the types in it
  }
  return name.substr(0, std::min(name.size(), kLongest));
}

[[gnu::cold]] std::string_view NameTexts::of(std::uint64_t name, std::string_view otherwise) {
  if (name == 0) return otherwise;
  const auto [at, is_new] = texts_.try_emplace(name);
  if (is_new) at->second = in_json(spoken(read_text(name)));
  return at->second.empty() ? otherwise : std::string_view(at->second);
}

}}}  // namespace handoff::HANDOFF_ABI::trace

// SPDX-License-Identifier: MIT
#include <handoff/command/sort_key.hpp>
#include <handoff/core/misuse.hpp>
#include <stdexcept>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

void refuse_key_field(const char* name, unsigned bits, std::uint64_t value) {
  raise(std::out_of_range("SortKey: the field " + std::string(name) + " has " +
                          std::to_string(bits) + " bits, too few for " + std::to_string(value)));
}

std::string key_text(const char* const* names, const std::uint64_t* values, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    if (i != 0) text += ", ";
    text += std::string(names[i]) + " " + std::to_string(values[i]);
  }
  return text;
}

}}}  // namespace handoff::HANDOFF_ABI::detail

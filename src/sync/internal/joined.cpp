// SPDX-License-Identifier: MIT
#include "joined.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

std::string joined(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text.append(part);
  return text;
}

}}}  // namespace handoff::HANDOFF_ABI::sync

// SPDX-License-Identifier: MIT
// Numbers with a unit, as options of a command line have them. All throw UserError, which names the
// option.
#pragma once

#include "harness/coordinator.hpp"

namespace handoff::lab {

// 300ns, 1.5us, 20ms, 2s. In ns.
[[nodiscard]] double duration_ns_of(const std::string& option, const std::string& text);
// 72, 4k, 16M, 1G; 4KiB is 4k, and 4kB is 4000.
[[nodiscard]] double bytes_of(const std::string& option, const std::string& text);
// 12GB/s, 100MB/s. In bytes per ns.
[[nodiscard]] double bytes_per_ns_of(const std::string& option, const std::string& text);
// 0 to 1.
[[nodiscard]] double share_of(const std::string& option, const std::string& text);
[[nodiscard]] double plain_number(const std::string& text);

// The number, if it is 1 to `most`.
[[nodiscard]] std::uint64_t whole_of(const char* option, std::uint64_t number, std::uint64_t most);

}  // namespace handoff::lab

// SPDX-License-Identifier: MIT
#include "commands/output.hpp"

#include <fmt/format.h>

#include "harness/atomic_file.hpp"
#include "harness/plain_text.hpp"
#include "harness/user_error.hpp"

namespace handoff::lab {

void require_output(const std::filesystem::path& output,
                    const std::vector<std::filesystem::path>& inputs, std::string_view option) {
  if (output.empty()) return;
  std::error_code not_there;
  for (const auto& input : inputs) {
    if (std::filesystem::equivalent(input, output, not_there)) {
      throw UserError(
          fmt::format("{}: it is read as a result; choose another {}", output.string(), option));
    }
  }
  require_writable(output);
}

void say_if_interrupted(const Result& result, const std::filesystem::path& path) {
  if (!result.interrupted) return;
  fmt::print(stderr, "note: {} was interrupted: it is incomplete\n", plain(path.string()));
}

void write_text(const std::filesystem::path& output, std::string_view text) {
  if (!output.empty()) return write_atomically(output, text);
  fmt::print("{}", text);  // main() sees whether it is there
}

}  // namespace handoff::lab

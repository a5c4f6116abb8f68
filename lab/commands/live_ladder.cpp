// SPDX-License-Identifier: MIT
#include "commands/live_ladder.hpp"
#include "harness/progress.hpp"

namespace handoff::lab {
namespace {

bool moves_the_cursor() {
  const char* const term = std::getenv("TERM");
  return isatty(STDERR_FILENO) == 1 && term != nullptr && std::string_view(term) != "dumb";
}

}  // namespace

LiveLadder::LiveLadder(std::vector<std::string> lines)
    : lines_(lines.size()),
      drawn_(moves_the_cursor() && static_cast<int>(lines_) + 1 < rows_of(STDERR_FILENO)) {
  if (!drawn_) return;
  for (const std::string& line : lines) fmt::print(stderr, "{}\n", line);
  std::fflush(stderr);
}

LiveLadder::~LiveLadder() {
  if (!drawn_ || lines_ == 0) return;
  fmt::print(stderr, "\033[{}A\r\033[J", lines_);
  std::fflush(stderr);
}

void LiveLadder::set(std::size_t line, const std::string& text) {
  if (!drawn_) return;
  const std::size_t up = lines_ - line;
  fmt::print(stderr, "\033[{}A\r\033[2K{}\033[{}B\r", up, text, up);
  std::fflush(stderr);
}

int LiveLadder::columns() { return columns_of(STDERR_FILENO); }

}  // namespace handoff::lab

// SPDX-License-Identifier: MIT
#include "harness/progress.hpp"

#include <sys/ioctl.h>

namespace handoff::lab {
namespace {

// Blanks instead of an escape sequence: they clear a line on every terminal.
void replace_line(std::string text) {
  text.resize(static_cast<std::size_t>(columns_of(STDERR_FILENO)) - 1, ' ');
  fmt::print(stderr, "\r{}", text);
  std::fflush(stderr);
}

}  // namespace

Progress::Progress(int steps) : drawn_(isatty(STDERR_FILENO) == 1), steps_(steps) {}

Progress::Progress(Clock::time_point end)
    : drawn_(isatty(STDERR_FILENO) == 1), steps_(0), end_(end) {}

Progress::~Progress() {
  if (!drawn_) return;
  replace_line("");
  fmt::print(stderr, "\r");
}

void Progress::show(std::string_view what) {
  if (!drawn_) return;
  if (end_) {
    const std::chrono::duration<double> rest = std::max(*end_ - Clock::now(), Clock::duration{});
    return replace_line(fmt::format("about {:.0f} s left: {}", rest.count(), what));
  }
  std::string left;
  if (done_ > 0 && steps_ > done_) {
    const std::chrono::duration<double> so_far = Clock::now() - start_;
    left = fmt::format(", about {:.0f} s left", so_far.count() / done_ * (steps_ - done_));
  }
  replace_line(fmt::format("{} of {}{}: {}", done_ + 1, steps_, left, what));
}

int columns_of(int descriptor) {
  winsize size{};
  const bool known = ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

int rows_of(int descriptor) {
  winsize size{};
  const bool known = ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_row > 0;
  return known ? size.ws_row : 0;
}

bool may_style(int descriptor) {
  const char* no_color = std::getenv("NO_COLOR");
  return isatty(descriptor) == 1 && (no_color == nullptr || *no_color == '\0');
}

}  // namespace handoff::lab

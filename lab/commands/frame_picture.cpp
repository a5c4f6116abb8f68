// SPDX-License-Identifier: MIT
#include "commands/frame_picture.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include <fmt/format.h>

#include "harness/contender_list.hpp"
#include "harness/temporary_folder.hpp"
#include "harness/tool.hpp"

namespace handoff::lab {
namespace {

namespace fs = std::filesystem;

// What it says of its frame; drivers may say something as well. Else its last words.
std::string told_by(const std::string& output) {
  std::istringstream lines(output);
  std::string last = "it said nothing";
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("frame ")) return line;
    if (!line.empty()) last = line;
  }
  return last;
}

}  // namespace

std::optional<FramePicture> draw_frame(Interrupt& interrupt) {
  const fs::path program = folder_of_the_build() / "render";
  if (!fs::exists(program)) return {};
  const TemporaryFolder folder("handoff-frame");
  const fs::path picture = folder.path() / "frame.png";
  const ToolResult drawn = run_tool({program.string(), picture.string()}, &interrupt);
  const std::string told = told_by(drawn.output);
  if (drawn.exit_code != 0) {
    fmt::print(stderr, "the page has no picture of a frame: {}\n", told);
    return {};
  }
  std::ifstream file(picture, std::ios::binary);
  return FramePicture{{std::istreambuf_iterator<char>(file), {}}, told};
}

}  // namespace handoff::lab

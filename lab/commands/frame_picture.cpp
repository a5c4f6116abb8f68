// SPDX-License-Identifier: MIT
#include "commands/frame_picture.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#include "harness/contender_list.hpp"
#include "harness/tool.hpp"
#include "harness/user_error.hpp"

namespace handoff::lab {
namespace {

namespace fs = std::filesystem;

// A file that goes away.
class TemporaryPicture {
 public:
  TemporaryPicture() : path_((fs::temp_directory_path() / "handoff-frame-XXXXXX").string()) {
    const int file = mkstemp(path_.data());
    if (file < 0) throw UserError(fmt::format("{}: no file can be made there", path_));
    close(file);
  }
  ~TemporaryPicture() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  TemporaryPicture(const TemporaryPicture&) = delete;
  TemporaryPicture& operator=(const TemporaryPicture&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string bytes() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

 private:
  std::string path_;
};

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
  const TemporaryPicture picture;
  const ToolResult drawn = run_tool({program.string(), picture.path()}, &interrupt);
  const std::string told = told_by(drawn.output);
  if (drawn.exit_code != 0) {
    fmt::print(stderr, "the page has no picture of a frame: {}\n", told);
    return {};
  }
  return FramePicture{picture.bytes(), told};
}

}  // namespace handoff::lab

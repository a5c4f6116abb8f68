// SPDX-License-Identifier: MIT
//
// A picture, and its way into a PNG file and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace render {

struct Picture {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::vector<std::uint8_t> rgba;  // rows from top to bottom
};

// Both throw std::runtime_error with one line that says why.
void write_png(const std::string& path, const Picture& picture);
Picture read_png(const std::string& path);

// All, if their sizes differ.
std::size_t different_pixels(const Picture& a, const Picture& b);

}  // namespace render

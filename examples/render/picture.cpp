// SPDX-License-Identifier: MIT
#include "picture.hpp"

#include <png.h>

#include <algorithm>
#include <stdexcept>

namespace render {
namespace {

png_image image_of(std::uint32_t width, std::uint32_t height) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = width;
  image.height = height;
  image.format = PNG_FORMAT_RGBA;
  return image;
}

[[noreturn]] void fail(const std::string& path, const png_image& image) {
  throw std::runtime_error(path + ": " + image.message);
}

}  // namespace

void write_png(const std::string& path, const Picture& picture) {
  png_image image = image_of(picture.width, picture.height);
  if (png_image_write_to_file(&image, path.c_str(), 0, picture.rgba.data(), 0, nullptr) == 0) {
    fail(path, image);
  }
}

Picture read_png(const std::string& path) {
  png_image image = image_of(0, 0);
  if (png_image_begin_read_from_file(&image, path.c_str()) == 0) fail(path, image);
  image.format = PNG_FORMAT_RGBA;
  Picture picture{image.width, image.height, {}};
  picture.rgba.resize(std::size_t{4} * image.width * image.height);
  if (png_image_finish_read(&image, nullptr, picture.rgba.data(), 0, nullptr) == 0) {
    fail(path, image);
  }
  return picture;
}

std::size_t different_pixels(const Picture& a, const Picture& b) {
  if (a.width != b.width || a.height != b.height) {
    return std::max(a.rgba.size(), b.rgba.size()) / 4;
  }
  std::size_t different = 0;
  for (std::size_t i = 0; i < a.rgba.size(); i += 4) {
    different += std::equal(&a.rgba[i], &a.rgba[i] + 4, &b.rgba[i]) ? 0U : 1U;
  }
  return different;
}

}  // namespace render

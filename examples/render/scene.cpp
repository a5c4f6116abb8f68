// SPDX-License-Identifier: MIT
#include "scene.hpp"

#include <algorithm>
#include <cmath>

namespace render {
namespace {

constexpr float kNear = 0.5F;
constexpr float kFar = 60.0F;
constexpr Vec3 kEye{0.0F, 9.0F, 17.0F};
constexpr Vec3 kLookedAt{0.0F, 0.5F, -2.0F};
constexpr std::size_t kColumns = 60;
constexpr std::size_t kRows = 44;
constexpr std::size_t kStacks = 10;
constexpr std::size_t kPanesOfStack = 12;
constexpr std::size_t kLights = 16;

// --- Just enough of vectors and matrices. ---

Vec3 minus(const Vec3& a, const Vec3& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
float dot(const Vec3& a, const Vec3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Vec3 cross(const Vec3& a, const Vec3& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
Vec3 unit(const Vec3& a) {
  const float length = std::sqrt(dot(a, a));
  return {a[0] / length, a[1] / length, a[2] / length};
}

Matrix times(const Matrix& a, const Matrix& b) {
  Matrix product{};
  for (std::size_t column = 0; column < 4; ++column) {
    for (std::size_t row = 0; row < 4; ++row) {
      float sum = 0.0F;
      for (std::size_t i = 0; i < 4; ++i) sum += a[i * 4 + row] * b[column * 4 + i];
      product[column * 4 + row] = sum;
    }
  }
  return product;
}

Matrix looking(const Vec3& eye, const Vec3& at) {
  const Vec3 back = unit(minus(eye, at));
  const Vec3 right = unit(cross({0.0F, 1.0F, 0.0F}, back));
  const Vec3 up = cross(back, right);
  return {right[0], up[0], back[0], 0.0F, right[1],         up[1],         back[1],         0.0F,
          right[2], up[2], back[2], 0.0F, -dot(right, eye), -dot(up, eye), -dot(back, eye), 1.0F};
}

Matrix perspective(float aspect) {
  const float height = 1.7F;  // the cotangent of half the angle
  return {height / aspect,
          0.0F,
          0.0F,
          0.0F,
          0.0F,
          height,
          0.0F,
          0.0F,
          0.0F,
          0.0F,
          (kFar + kNear) / (kNear - kFar),
          -1.0F,
          0.0F,
          0.0F,
          2.0F * kFar * kNear / (kNear - kFar),
          0.0F};
}

// A cube of this size around the eye's axis, from the eye on.
Matrix parallel(float size) {
  const float half = size / 2.0F;
  return {1.0F / half, 0.0F, 0.0F,         0.0F, 0.0F, 1.0F / half, 0.0F,  0.0F,
          0.0F,        0.0F, -1.0F / half, 0.0F, 0.0F, 0.0F,        -1.0F, 1.0F};
}

// Scaled, turned about the upright axis, and moved.
Matrix placed(const Vec3& place, const Vec3& size, float turn) {
  const float cosine = std::cos(turn);
  const float sine = std::sin(turn);
  return {size[0] * cosine, 0.0F, -size[0] * sine,  0.0F, 0.0F,     size[1],  0.0F,     0.0F,
          size[2] * sine,   0.0F, size[2] * cosine, 0.0F, place[0], place[1], place[2], 1.0F};
}

// A pane that lies on the ground.
Matrix lying(float size) {
  return {size, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, -size, 0.0F,
          0.0F, size, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F,  1.0F};
}

// Some number in [0, 1) that follows from two others.
float share(std::size_t i, std::uint32_t of_what) {
  std::uint32_t mixed = (static_cast<std::uint32_t>(i) + 1) * 0x9E3779B1U + of_what * 0x85EBCA6BU;
  mixed ^= mixed >> 15;
  mixed *= 0x2C1B3C6DU;
  mixed ^= mixed >> 12;
  return static_cast<float>(mixed >> 8) / 16777216.0F;
}

// How far something is in front of the camera, in so many steps.
std::uint16_t steps_away(const Vec3& place, unsigned steps) {
  const float away = dot(minus(place, kEye), unit(minus(kLookedAt, kEye)));
  const float part = std::clamp(away / kFar, 0.0F, 1.0F);
  return static_cast<std::uint16_t>(part * static_cast<float>(steps - 1));
}

void add_solid(Scene& scene) {
  scene.meshes.push_back({lying(40.0F), {0.8F, 0.8F, 0.8F, 1.0F}, Shape::pane, false, 0, 65'535});
  for (std::size_t i = 0; i < kColumns * kRows; ++i) {
    const float size = 0.09F + 0.14F * share(i, 1);
    const Vec3 place{0.42F * (static_cast<float>(i % kColumns) - static_cast<float>(kColumns) / 2) +
                         0.2F * share(i, 2),
                     size + (share(i, 3) > 0.85F ? 2.0F * share(i, 4) : 0.0F),
                     8.0F - 0.5F * static_cast<float>(i / kColumns) + 0.2F * share(i, 5)};
    const auto shape = static_cast<Shape>(static_cast<unsigned>(share(i, 6) * 3.0F));
    const auto material = static_cast<std::uint8_t>(share(i, 7) * static_cast<float>(kMaterials));
    const float tint = 0.7F + 0.3F * share(i, 8);
    scene.meshes.push_back(
        {placed(place, {size, size * (1.0F + share(i, 9)), size}, 6.28F * share(i, 10)),
         {tint, tint, tint, 1.0F},
         shape,
         false,
         material,
         steps_away(place, 65'536)});
  }
}

// Stacks of panes, each a little beside the one before: in another order it is another picture.
void add_panes(Scene& scene) {
  for (std::size_t stack = 0; stack < kStacks; ++stack) {
    const Vec3 middle{-10.0F + 20.0F * share(stack, 11), 2.0F + 1.5F * share(stack, 12),
                      7.0F - 14.0F * share(stack, 13)};
    const auto depth = static_cast<std::uint16_t>(255 - steps_away(middle, 256));
    for (std::size_t i = 0; i < kPanesOfStack; ++i) {
      const std::size_t all = stack * kPanesOfStack + i;
      const float step = static_cast<float>(i) - static_cast<float>(kPanesOfStack) / 2;
      const Vec3 place{middle[0] + 0.12F * step, middle[1] + 0.07F * step, middle[2]};
      scene.meshes.push_back({placed(place, {1.0F, 0.8F, 1.0F}, 0.0F),
                              {share(all, 14), share(all, 15), share(all, 16), 0.45F},
                              Shape::pane,
                              true,
                              0,
                              depth});
    }
  }
}

}  // namespace

Scene make_scene(float aspect) {
  Scene scene{};
  for (std::size_t i = 0; i < kMaterials; ++i) {
    scene.materials[i] = {0.35F + 0.65F * share(i, 17), 0.35F + 0.65F * share(i, 18),
                          0.35F + 0.65F * share(i, 19), 1.0F};
  }
  add_solid(scene);
  add_panes(scene);
  for (std::size_t i = 0; i < kLights; ++i) {
    scene.lights.push_back({{-11.0F + 22.0F * share(i, 20), 0.6F + share(i, 21),
                             7.0F - 18.0F * share(i, 22), 2.5F + 3.0F * share(i, 23)},
                            {share(i, 24), share(i, 25), share(i, 26), 1.0F}});
  }
  const Vec3 from_sun{9.0F, 16.0F, 7.0F};
  scene.to_sun = unit(from_sun);
  scene.camera = times(perspective(aspect), looking(kEye, kLookedAt));
  scene.sun = times(parallel(40.0F), looking(from_sun, {0.0F, 0.0F, -2.0F}));
  return scene;
}

}  // namespace render

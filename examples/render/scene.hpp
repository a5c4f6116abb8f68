// SPDX-License-Identifier: MIT
//
// What is drawn: some thousand meshes on a ground, panes that are seen through, lights, a sun and a
// camera; and by what each of them is sorted. No number of it is random, so it is the same in every
// program.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace render {

using Vec3 = std::array<float, 3>;
using Vec4 = std::array<float, 4>;
using Matrix = std::array<float, 16>;  // column after column

// Of the picture, in pixels.
inline constexpr std::uint32_t kWidth = 640;
inline constexpr std::uint32_t kHeight = 360;
inline constexpr float kAspect = static_cast<float>(kWidth) / static_cast<float>(kHeight);

enum class Shape : std::uint8_t { cube, octahedron, pyramid, pane };
inline constexpr std::size_t kShapes = 4;
inline constexpr std::size_t kMaterials = 16;

struct Mesh {
  Matrix model;
  Vec4 color;  // the last one: how much a pane covers of what is behind it
  Shape shape;
  bool translucent;
  std::uint8_t material;  // below kMaterials; panes that are seen through have none
  // What is solid is drawn from near to far, in 65,536 steps; panes from far to near, in 256 steps.
  // Panes of one stack are in the same step.
  std::uint16_t depth;
};

// As a shader takes it.
struct Light {
  Vec4 place_and_reach;
  Vec4 color;
};

struct Scene {
  std::vector<Mesh> meshes;
  std::vector<Light> lights;
  std::array<Vec4, kMaterials> materials;
  Matrix camera;  // from the world to the picture
  Matrix sun;  // from the world to the shadow map
  Vec3 to_sun;  // a unit long
};

// For a picture that is so many times as wide as high.
Scene make_scene(float aspect);

}  // namespace render

// SPDX-License-Identifier: MIT
//
//   direct PICTURE    draws the scene into a PNG file
//
// The same frame as that of render.cpp, without a bucket: it sorts what is to be drawn itself, and
// calls OpenGL in that order. The tests compare the two pictures.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <span>
#include <tuple>
#include <vector>

#include "picture.hpp"
#include "renderer.hpp"
#include "scene.hpp"

namespace {

using render::Mesh;
using render::Renderer;
using render::Scene;

// Numbers of meshes, by what order() says of each; equal ones stay in their order.
template <class Order>
std::vector<std::size_t> sorted(const Scene& scene, bool translucent, const Order& order) {
  std::vector<std::size_t> meshes;
  for (std::size_t i = 0; i < scene.meshes.size(); ++i) {
    if (scene.meshes[i].translucent == translucent) meshes.push_back(i);
  }
  std::stable_sort(meshes.begin(), meshes.end(), [&](std::size_t a, std::size_t b) {
    return order(scene.meshes[a]) < order(scene.meshes[b]);
  });
  return meshes;
}

void draw_frame(const Scene& scene, Renderer& renderer) {
  renderer.begin_shadows();
  for (const std::size_t mesh : sorted(scene, false, [](const Mesh& of) { return of.shape; })) {
    renderer.draw_shadow(mesh);
  }

  renderer.begin_gbuffer();
  const auto by_material = [](const Mesh& of) {
    return std::tuple(of.material, of.shape, of.depth);
  };
  std::size_t bound = render::kMaterials;
  for (const std::size_t mesh : sorted(scene, false, by_material)) {
    const std::size_t material = scene.meshes[mesh].material;
    if (material != bound) renderer.bind_material(material);
    bound = material;
    renderer.draw_mesh(mesh);
  }

  renderer.begin_lighting();
  renderer.draw_sun();
  for (const render::Light& light : scene.lights) {
    renderer.map_light(std::as_bytes(std::span(&light, 1)));
    renderer.draw_light();
  }
  for (const std::size_t mesh : sorted(scene, true, [](const Mesh& of) { return of.depth; })) {
    renderer.draw_pane(mesh);
  }
  renderer.finish();
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) {
    std::fputs("direct: say where the picture goes: direct PICTURE\n", stderr);
    return 2;
  }
  try {
    const Scene scene = render::make_scene(render::kAspect);
    Renderer renderer(scene, render::kWidth, render::kHeight);
    draw_frame(scene, renderer);
    render::write_png(words[1], renderer.picture());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
  return 0;
}

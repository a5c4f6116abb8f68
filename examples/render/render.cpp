// SPDX-License-Identifier: MIT
//
//   render PICTURE [--width N] [--expect PICTURE] [--change-a-key]
//
// Draws some thousand meshes with lights and shadows into a PNG file, and says how long its frame
// took. Draw calls are recorded by N threads into three buckets: the shadow map, the G-buffer, and
// the light upon it, where panes that are seen through overlap. They are sorted and dispatched to
// OpenGL ES, which one thread alone may call.
//
//   --expect PICTURE   ends with 1 if a pixel differs from that picture, and says how many do
//   --change-a-key     gives one pane another key, so that something differs
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <handoff/command/command_aux.hpp>
#include <handoff/command/command_bucket.hpp>
#include <handoff/command/sort_key.hpp>
#include <handoff/core/index_range.hpp>
#include <handoff/core/status.hpp>
#include <handoff/memory/frame.hpp>
#include <handoff/team/thread_team.hpp>

#include "picture.hpp"
#include "renderer.hpp"
#include "scene.hpp"

namespace {

using render::Mesh;
using render::Renderer;
using render::Scene;

constexpr std::size_t kChunk = 64;
constexpr int kFrames = 3;  // the first ones compile shaders

// --- What is recorded, and by what it is sorted. ---

struct BeginShadows {
  void operator()(Renderer& renderer) const { renderer.begin_shadows(); }
};
struct BeginGbuffer {
  void operator()(Renderer& renderer) const { renderer.begin_gbuffer(); }
};
struct BeginLighting {
  void operator()(Renderer& renderer) const { renderer.begin_lighting(); }
};

struct DrawShadow {
  std::uint32_t mesh;
  void operator()(Renderer& renderer) const { renderer.draw_shadow(mesh); }
};
struct DrawMesh {
  std::uint32_t mesh;
  void operator()(Renderer& renderer) const { renderer.draw_mesh(mesh); }
};
struct DrawPane {
  std::uint32_t mesh;
  void operator()(Renderer& renderer) const { renderer.draw_pane(mesh); }
};
struct DrawSun {
  void operator()(Renderer& renderer) const { renderer.draw_sun(); }
};
// The light is in its auxiliary memory; DrawLight follows.
struct MapLight {
  void operator()(Renderer& renderer) const { renderer.map_light(handoff::aux_of(*this)); }
};
struct DrawLight {
  void operator()(Renderer& renderer) const { renderer.draw_light(); }
};

using ShadowKey = handoff::SortKey<std::uint16_t, handoff::KeyField<"shape", 2>>;
using MeshKey = handoff::SortKey<std::uint32_t, handoff::KeyField<"material", 4>,
                                 handoff::KeyField<"shape", 2>, handoff::KeyField<"depth", 16>>;
using LightingKey =
    handoff::SortKey<std::uint16_t, handoff::KeyField<"layer", 2>, handoff::KeyField<"depth", 8>>;
// Layers.
constexpr unsigned kSun = 0;
constexpr unsigned kLights = 1;
constexpr unsigned kPanes = 2;

using ShadowBucket = handoff::CommandBucket<std::uint16_t, Renderer>;
using MeshBucket = handoff::CommandBucket<std::uint32_t, Renderer>;
using LightingBucket = handoff::CommandBucket<std::uint16_t, Renderer>;

// --- A frame. ---

class Buckets {
 public:
  Buckets(const Scene& scene, bool changes_a_key) : scene_(scene), changes_a_key_(changes_a_key) {
    lighting_.after(shadow_);
    lighting_.after(gbuffer_);
  }

  void next_frame() {
    if (frame_.next() != handoff::Status::ok) throw std::runtime_error("render: no next frame");
  }

  void record(handoff::ThreadTeam& team) {
    shadow_.state<BeginShadows>();
    gbuffer_.state<BeginGbuffer>();
    lighting_.state<BeginLighting>();
    handoff::record_into(
        team, scene_.meshes.size(), kChunk,
        [this](ShadowBucket::Recorder& shadow, MeshBucket::Recorder& gbuffer,
               LightingBucket::Recorder& lighting, handoff::IndexRange range) {
          for (const std::size_t i : range) record_mesh(i, shadow, gbuffer, lighting);
        },
        shadow_, gbuffer_, lighting_);
    lighting_.record(team, scene_.lights.size(), kChunk,
                     [this](LightingBucket::Recorder& recorder, handoff::IndexRange range) {
                       for (const std::size_t i : range) record_light(i, recorder);
                     });
    lighting_.recorder(0).add<DrawSun>(LightingKey::of(kSun, 0));
  }

  void sort(handoff::ThreadTeam& team) {
    shadow_.sort(team);
    gbuffer_.sort(team);
    lighting_.sort(team);
  }

  std::size_t dispatch(Renderer& renderer) {
    const std::size_t shadows = shadow_.dispatch(renderer);
    const auto bind = [](std::uint32_t key, Renderer& to) {
      to.bind_material(MeshKey::from(key).get<"material">());
    };
    const std::size_t meshes =
        gbuffer_.dispatch(renderer, handoff::when_changed(MeshKey::mask<"material">(), bind));
    return shadows + meshes + lighting_.dispatch(renderer);
  }

 private:
  void record_mesh(std::size_t i, ShadowBucket::Recorder& shadow, MeshBucket::Recorder& gbuffer,
                   LightingBucket::Recorder& lighting) const {
    const Mesh& mesh = scene_.meshes[i];
    const auto number = static_cast<std::uint32_t>(i);
    const auto shape = static_cast<unsigned>(mesh.shape);
    if (mesh.translucent) {
      const bool first = !scene_.meshes[i - 1].translucent;
      const unsigned depth = first && changes_a_key_ ? 255U : mesh.depth;  // 255: above all others
      lighting.add<DrawPane>(LightingKey::of(kPanes, depth)).mesh = number;
      return;
    }
    shadow.add<DrawShadow>(ShadowKey::of(shape)).mesh = number;
    gbuffer.add<DrawMesh>(MeshKey::of(mesh.material, shape, mesh.depth)).mesh = number;
  }

  void record_light(std::size_t i, LightingBucket::Recorder& recorder) const {
    const auto light = std::as_bytes(std::span(&scene_.lights[i], 1));
    MapLight& map = recorder.add<MapLight>(LightingKey::of(kLights, 0), light.size());
    std::memcpy(handoff::aux_of(map).data(), light.data(), light.size());
    recorder.append<DrawLight>(map);
  }

  const Scene& scene_;
  const bool changes_a_key_;
  handoff::Frame frame_;
  ShadowBucket shadow_{frame_};
  MeshBucket gbuffer_{frame_};
  LightingBucket lighting_{frame_};
};

// --- The program. ---

struct Request {
  std::string picture;
  std::string expected;
  std::size_t width = 0;  // 0: as many threads as the team has by itself
  bool changes_a_key = false;
};

Request request_of(std::span<char*> words) {
  Request request;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view word(words[i]);
    if (word == "--change-a-key") {
      request.changes_a_key = true;
    } else if (word == "--width" && i + 1 < words.size()) {
      request.width = std::strtoul(words[++i], nullptr, 10);
    } else if (word == "--expect" && i + 1 < words.size()) {
      request.expected = words[++i];
    } else if (request.picture.empty() && !word.starts_with('-')) {
      request.picture = word;
    } else {
      throw std::runtime_error("render: it does not know '" + std::string(word) + "'");
    }
  }
  if (request.picture.empty()) throw std::runtime_error("render: say where the picture goes");
  return request;
}

double ms_since(std::chrono::steady_clock::time_point& before) {
  const auto now = std::chrono::steady_clock::now();
  return std::chrono::duration<double, std::milli>(now - std::exchange(before, now)).count();
}

void draw_frame(Buckets& buckets, handoff::ThreadTeam& team, Renderer& renderer, bool told) {
  auto since = std::chrono::steady_clock::now();
  buckets.record(team);
  const double recorded = ms_since(since);
  buckets.sort(team);
  const double sorted = ms_since(since);
  const std::size_t commands = buckets.dispatch(renderer);
  const double dispatched = ms_since(since);
  renderer.finish();
  const double drawn = ms_since(since);
  buckets.next_frame();
  if (!told) return;
  std::printf(
      "frame %.2f ms: %zu commands recorded in %.3f, sorted in %.3f, dispatched in %.2f, "
      "drawn in %.2f\n",
      recorded + sorted + dispatched + drawn, commands, recorded, sorted, dispatched, drawn);
}

int run(const Request& request) {
  const Scene scene = render::make_scene(render::kAspect);
  Renderer renderer(scene, render::kWidth, render::kHeight);
  Buckets buckets(scene, request.changes_a_key);
  {
    handoff::ThreadTeam team(request.width);
    for (int i = 1; i <= kFrames; ++i) draw_frame(buckets, team, renderer, i == kFrames);
  }
  render::write_png(request.picture, renderer.picture());
  if (request.expected.empty()) return 0;
  const std::size_t different = render::different_pixels(render::read_png(request.picture),
                                                         render::read_png(request.expected));
  std::printf("%zu pixels differ from %s\n", different, request.expected.c_str());
  return different == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  try {
    return run(request_of({words, static_cast<std::size_t>(count)}));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}

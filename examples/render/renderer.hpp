// SPDX-License-Identifier: MIT
//
// Draws a scene by OpenGL ES 3 on EGL without a screen: a shadow map, a G-buffer, and light upon
// it. It knows no order: what is called first is drawn first. It belongs to the thread that has
// made it. What fails throws std::runtime_error with one line that says what.
#pragma once

#include <GLES3/gl3.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "picture.hpp"
#include "scene.hpp"

namespace render {

// A context that is current until its end, and takes all that was made in it along.
class Context {
 public:
  Context();
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

 private:
  void* display_;
  void* context_;
};

class Renderer {
 public:
  // Of a scene that outlives it.
  Renderer(const Scene& scene, std::uint32_t width, std::uint32_t height);

  // The three passes, each begun once a frame.
  void begin_shadows();
  void begin_gbuffer();
  void begin_lighting();

  // In the first pass, and in the second one.
  void draw_shadow(std::size_t mesh);
  void bind_material(std::size_t material);
  void draw_mesh(std::size_t mesh);

  // In the third pass. A light is mapped, then drawn.
  void draw_sun();
  void map_light(std::span<const std::byte> light);
  void draw_light();
  void draw_pane(std::size_t mesh);

  // All of the frame is drawn; and what it has come to.
  void finish();
  Picture picture();

 private:
  struct Shapes {
    std::array<GLint, kShapes> first{};
    std::array<GLsizei, kShapes> count{};
  };
  struct Program {
    GLuint id = 0;
    GLint model = -1;
    GLint color = -1;
    GLint material = -1;
  };

  void make_shapes();
  void make_targets();
  void make_programs();
  void make_light_buffer();
  Program make_program(const std::string& name, const char* vertex, const char* fragment) const;
  void draw(const Program& program, const Mesh& mesh) const;
  void draw_everywhere(const Program& program) const;

  Context context_;
  const Scene& scene_;
  const GLsizei width_;
  const GLsizei height_;
  Shapes shapes_;

  GLuint shadow_target_ = 0;
  GLuint gbuffer_target_ = 0;
  GLuint lighting_target_ = 0;
  GLuint light_buffer_ = 0;

  Program shadow_;
  Program mesh_;
  Program sun_;
  Program light_;
  Program pane_;
};

}  // namespace render

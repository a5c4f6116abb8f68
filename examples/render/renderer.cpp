// SPDX-License-Identifier: MIT
#include "renderer.hpp"

#include <EGL/egl.h>
#include <EGL/eglext.h>

#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "shaders.hpp"

namespace render {
namespace {

constexpr GLsizei kShadowSize = 1024;
constexpr GLuint kLightBinding = 0;

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error("render: " + what); }

// Where the textures of the G-buffer are bound, and what they are called.
enum Unit : GLint { kAlbedo, kFacing, kDepth, kShadow };
constexpr std::array<const char*, 4> kUnitNames{"albedo_map", "facing_map", "depth_map",
                                                "shadow_map"};

GLuint make_texture(Unit unit, GLint format, GLsizei width, GLsizei height, GLenum pixel,
                    GLenum type) {
  GLuint texture = 0;
  glGenTextures(1, &texture);
  glActiveTexture(GL_TEXTURE0 + static_cast<GLenum>(unit));
  glBindTexture(GL_TEXTURE_2D, texture);
  glTexImage2D(GL_TEXTURE_2D, 0, format, width, height, 0, pixel, type, nullptr);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
  return texture;
}

GLuint make_depth(Unit unit, GLsizei width, GLsizei height) {
  return make_texture(unit, GL_DEPTH_COMPONENT24, width, height, GL_DEPTH_COMPONENT,
                      GL_UNSIGNED_INT);
}

// Draws into these colors; depth: 0 for none.
GLuint make_target(const std::string& name, std::span<const GLuint> colors, GLuint depth) {
  GLuint target = 0;
  glGenFramebuffers(1, &target);
  glBindFramebuffer(GL_FRAMEBUFFER, target);
  std::vector<GLenum> drawn;
  for (const GLuint color : colors) {
    drawn.push_back(GL_COLOR_ATTACHMENT0 + static_cast<GLenum>(drawn.size()));
    glFramebufferTexture2D(GL_FRAMEBUFFER, drawn.back(), GL_TEXTURE_2D, color, 0);
  }
  if (drawn.empty()) drawn.push_back(GL_NONE);
  glDrawBuffers(static_cast<GLsizei>(drawn.size()), drawn.data());
  if (depth != 0) {
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_TEXTURE_2D, depth, 0);
  }
  if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) {
    fail("it cannot draw into its target " + name);
  }
  return target;
}

GLuint make_shader(GLenum kind, const char* text, const std::string& name) {
  const GLuint shader = glCreateShader(kind);
  glShaderSource(shader, 1, &text, nullptr);
  glCompileShader(shader);
  GLint compiled = GL_FALSE;
  glGetShaderiv(shader, GL_COMPILE_STATUS, &compiled);
  if (compiled != GL_TRUE) {
    std::array<char, 512> why{};
    glGetShaderInfoLog(shader, static_cast<GLsizei>(why.size()), nullptr, why.data());
    fail("its shader " + name + " does not compile: " + why.data());
  }
  return shader;
}

void set_matrix(const std::string& name, GLuint program, const Matrix& matrix) {
  glUniformMatrix4fv(glGetUniformLocation(program, name.c_str()), 1, GL_FALSE, matrix.data());
}

// --- Shapes: triangles, each of whose corners is a place and a normal. ---

void add_triangle(std::vector<float>& to, const Vec3& a, const Vec3& b, const Vec3& c,
                  const Vec3& normal) {
  for (const Vec3* const corner : {&a, &b, &c}) {
    to.insert(to.end(), corner->begin(), corner->end());
    to.insert(to.end(), normal.begin(), normal.end());
  }
}

// Along one axis, on one side; its other axes follow in a circle.
void add_square(std::vector<float>& to, std::size_t axis, float side) {
  const auto corner = [&](float u, float v) {
    Vec3 place{};
    place[axis] = side;
    place[(axis + 1) % 3] = u;
    place[(axis + 2) % 3] = v;
    return place;
  };
  Vec3 normal{};
  normal[axis] = side;
  add_triangle(to, corner(-1.0F, -1.0F), corner(1.0F, -1.0F), corner(1.0F, 1.0F), normal);
  add_triangle(to, corner(-1.0F, -1.0F), corner(1.0F, 1.0F), corner(-1.0F, 1.0F), normal);
}

// Four sides, from the corners of a square in the middle to a point above or below.
void add_roof(std::vector<float>& to, float up) {
  constexpr std::array<Vec3, 5> around{{{1.0F, 0.0F, 0.0F},
                                        {0.0F, 0.0F, 1.0F},
                                        {-1.0F, 0.0F, 0.0F},
                                        {0.0F, 0.0F, -1.0F},
                                        {1.0F, 0.0F, 0.0F}}};
  for (std::size_t i = 0; i < 4; ++i) {
    const Vec3 normal{around[i][0] + around[i + 1][0], up, around[i][2] + around[i + 1][2]};
    add_triangle(to, around[i], around[i + 1], {0.0F, up, 0.0F}, normal);
  }
}

void add_shape(std::vector<float>& to, Shape shape) {
  switch (shape) {
    case Shape::cube:
      for (std::size_t axis = 0; axis < 3; ++axis) {
        for (const float side : {-1.0F, 1.0F}) add_square(to, axis, side);
      }
      return;
    case Shape::octahedron:
      add_roof(to, 1.0F);
      add_roof(to, -1.0F);
      return;
    case Shape::pyramid: add_roof(to, 2.0F); return;
    case Shape::pane: break;
  }
  const Vec3 front{0.0F, 0.0F, 1.0F};
  const Vec3 low{-1.0F, -1.0F, 0.0F};
  const Vec3 high{1.0F, 1.0F, 0.0F};
  add_triangle(to, low, {1.0F, -1.0F, 0.0F}, high, front);
  add_triangle(to, low, high, {-1.0F, 1.0F, 0.0F}, front);
}

}  // namespace

// --- The context. ---

Context::Context() : display_(nullptr), context_(nullptr) {
  display_ = eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, nullptr, nullptr);
  if (display_ == EGL_NO_DISPLAY || eglInitialize(display_, nullptr, nullptr) == EGL_FALSE) {
    fail("EGL has no display without a screen");
  }
  constexpr std::array<EGLint, 5> wanted{EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE,
                                         EGL_OPENGL_ES3_BIT, EGL_NONE};
  constexpr std::array<EGLint, 3> version{EGL_CONTEXT_MAJOR_VERSION, 3, EGL_NONE};
  EGLConfig config = nullptr;
  EGLint found = 0;
  if (eglBindAPI(EGL_OPENGL_ES_API) == EGL_FALSE ||
      eglChooseConfig(display_, wanted.data(), &config, 1, &found) == EGL_FALSE || found == 0) {
    fail("EGL knows no OpenGL ES 3");
  }
  context_ = eglCreateContext(display_, config, EGL_NO_CONTEXT, version.data());
  if (context_ == EGL_NO_CONTEXT ||
      eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, context_) == EGL_FALSE) {
    fail("EGL makes no context of OpenGL ES 3");
  }
}

Context::~Context() {
  eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
  eglDestroyContext(display_, context_);
  eglTerminate(display_);
}

// --- What is made once. ---

Renderer::Renderer(const Scene& scene, std::uint32_t width, std::uint32_t height)
    : scene_(scene), width_(static_cast<GLsizei>(width)), height_(static_cast<GLsizei>(height)) {
  make_shapes();
  make_targets();
  make_programs();
  make_light_buffer();
  glDepthFunc(GL_LEQUAL);
}

void Renderer::make_shapes() {
  constexpr GLsizei kCorner = 6;  // numbers
  std::vector<float> corners;
  for (std::size_t i = 0; i < kShapes; ++i) {
    shapes_.first[i] = static_cast<GLint>(corners.size()) / kCorner;
    add_shape(corners, static_cast<Shape>(i));
    shapes_.count[i] = static_cast<GLsizei>(corners.size()) / kCorner - shapes_.first[i];
  }
  GLuint array = 0;
  GLuint buffer = 0;
  glGenVertexArrays(1, &array);
  glBindVertexArray(array);
  glGenBuffers(1, &buffer);
  glBindBuffer(GL_ARRAY_BUFFER, buffer);
  glBufferData(GL_ARRAY_BUFFER, static_cast<GLsizeiptr>(corners.size() * sizeof(float)),
               corners.data(), GL_STATIC_DRAW);
  constexpr GLsizei stride = kCorner * static_cast<GLsizei>(sizeof(float));
  glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, stride, nullptr);
  glVertexAttribPointer(1, 3, GL_FLOAT, GL_FALSE, stride,
                        reinterpret_cast<const void*>(3 * sizeof(float)));
  glEnableVertexAttribArray(0);
  glEnableVertexAttribArray(1);
}

void Renderer::make_targets() {
  // What is drawn into last is bound to the unit that nobody looks at meanwhile.
  const std::array lighting{
      make_texture(kShadow, GL_RGBA8, width_, height_, GL_RGBA, GL_UNSIGNED_BYTE)};
  lighting_target_ = make_target("lighting", lighting, 0);
  const std::array gbuffer{
      make_texture(kAlbedo, GL_RGBA8, width_, height_, GL_RGBA, GL_UNSIGNED_BYTE),
      make_texture(kFacing, GL_RGBA8, width_, height_, GL_RGBA, GL_UNSIGNED_BYTE)};
  gbuffer_target_ = make_target("gbuffer", gbuffer, make_depth(kDepth, width_, height_));
  const GLuint shadow = make_depth(kShadow, kShadowSize, kShadowSize);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_FUNC, GL_LEQUAL);
  shadow_target_ = make_target("shadows", {}, shadow);
}

Renderer::Program Renderer::make_program(const std::string& name, const char* vertex,
                                         const char* fragment) const {
  Program program;
  program.id = glCreateProgram();
  glAttachShader(program.id, make_shader(GL_VERTEX_SHADER, vertex, name));
  glAttachShader(program.id, make_shader(GL_FRAGMENT_SHADER, fragment, name));
  glLinkProgram(program.id);
  GLint linked = GL_FALSE;
  glGetProgramiv(program.id, GL_LINK_STATUS, &linked);
  if (linked != GL_TRUE) fail("its shaders " + name + " do not link");
  program.model = glGetUniformLocation(program.id, "model");
  program.color = glGetUniformLocation(program.id, "color");
  program.material = glGetUniformLocation(program.id, "material");
  glUseProgram(program.id);
  set_matrix("to_picture", program.id, scene_.camera);
  for (std::size_t unit = 0; unit < kUnitNames.size(); ++unit) {
    const GLint at = glGetUniformLocation(program.id, kUnitNames[unit]);
    if (at >= 0) glUniform1i(at, static_cast<GLint>(unit));
  }
  return program;
}

void Renderer::make_programs() {
  shadow_ = make_program("shadow", kMeshVertex, kShadowFragment);
  set_matrix("to_picture", shadow_.id, scene_.sun);
  mesh_ = make_program("mesh", kMeshVertex, kMeshFragment);
  pane_ = make_program("pane", kMeshVertex, kPaneFragment);
  light_ = make_program("light", kEverywhereVertex, kLightFragment);
  glUniformBlockBinding(light_.id, glGetUniformBlockIndex(light_.id, "Light"), kLightBinding);
  sun_ = make_program("sun", kEverywhereVertex, kSunFragment);
  set_matrix("to_shadow", sun_.id, scene_.sun);
  glUniform3fv(glGetUniformLocation(sun_.id, "to_sun"), 1, scene_.to_sun.data());
}

void Renderer::make_light_buffer() {
  glGenBuffers(1, &light_buffer_);
  glBindBuffer(GL_UNIFORM_BUFFER, light_buffer_);
  glBufferData(GL_UNIFORM_BUFFER, sizeof(Light), nullptr, GL_DYNAMIC_DRAW);
  glBindBufferBase(GL_UNIFORM_BUFFER, kLightBinding, light_buffer_);
}

// --- What commands call. ---

void Renderer::begin_shadows() {
  glBindFramebuffer(GL_FRAMEBUFFER, shadow_target_);
  glViewport(0, 0, kShadowSize, kShadowSize);
  glEnable(GL_DEPTH_TEST);
  glDisable(GL_BLEND);
  glClear(GL_DEPTH_BUFFER_BIT);
  glUseProgram(shadow_.id);
}

void Renderer::begin_gbuffer() {
  glBindFramebuffer(GL_FRAMEBUFFER, gbuffer_target_);
  glViewport(0, 0, width_, height_);
  glEnable(GL_DEPTH_TEST);
  glDisable(GL_BLEND);
  glClearColor(0.0F, 0.0F, 0.0F, 0.0F);
  glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
  glUseProgram(mesh_.id);
}

void Renderer::begin_lighting() {
  glBindFramebuffer(GL_FRAMEBUFFER, lighting_target_);
  glViewport(0, 0, width_, height_);
  glDisable(GL_DEPTH_TEST);
  glClearColor(0.0F, 0.0F, 0.0F, 1.0F);
  glClear(GL_COLOR_BUFFER_BIT);
}

void Renderer::draw(const Program& program, const Mesh& mesh) const {
  const auto shape = static_cast<std::size_t>(mesh.shape);
  glUniformMatrix4fv(program.model, 1, GL_FALSE, mesh.model.data());
  if (program.color >= 0) glUniform4fv(program.color, 1, mesh.color.data());
  glDrawArrays(GL_TRIANGLES, shapes_.first[shape], shapes_.count[shape]);
}

void Renderer::draw_everywhere(const Program& program) const {
  glUseProgram(program.id);
  glDrawArrays(GL_TRIANGLES, 0, 3);
}

void Renderer::draw_shadow(std::size_t mesh) { draw(shadow_, scene_.meshes[mesh]); }

void Renderer::bind_material(std::size_t material) {
  glUniform4fv(mesh_.material, 1, scene_.materials[material].data());
}

void Renderer::draw_mesh(std::size_t mesh) { draw(mesh_, scene_.meshes[mesh]); }

void Renderer::draw_sun() {
  glDisable(GL_BLEND);
  draw_everywhere(sun_);
}

void Renderer::map_light(std::span<const std::byte> light) {
  void* const to = glMapBufferRange(GL_UNIFORM_BUFFER, 0, static_cast<GLsizeiptr>(light.size()),
                                    GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_BUFFER_BIT);
  if (to == nullptr) fail("a light cannot be mapped");
  std::memcpy(to, light.data(), light.size());
  glUnmapBuffer(GL_UNIFORM_BUFFER);
}

void Renderer::draw_light() {
  glEnable(GL_BLEND);
  glBlendFunc(GL_ONE, GL_ONE);
  draw_everywhere(light_);
}

void Renderer::draw_pane(std::size_t mesh) {
  glEnable(GL_BLEND);
  glBlendFuncSeparate(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ZERO, GL_ONE);
  glUseProgram(pane_.id);
  draw(pane_, scene_.meshes[mesh]);
}

void Renderer::finish() {
  glFinish();
  if (const GLenum error = glGetError(); error != GL_NO_ERROR) {
    fail("OpenGL says error " + std::to_string(error));
  }
}

Picture Renderer::picture() {
  Picture picture{static_cast<std::uint32_t>(width_), static_cast<std::uint32_t>(height_), {}};
  const std::size_t row = std::size_t{4} * picture.width;
  std::vector<std::uint8_t> from_below(row * picture.height);
  glBindFramebuffer(GL_FRAMEBUFFER, lighting_target_);
  glReadPixels(0, 0, width_, height_, GL_RGBA, GL_UNSIGNED_BYTE, from_below.data());
  for (std::size_t i = picture.height; i-- > 0;) {
    const std::uint8_t* const begin = from_below.data() + i * row;
    picture.rgba.insert(picture.rgba.end(), begin, begin + row);
  }
  finish();
  return picture;
}

}  // namespace render

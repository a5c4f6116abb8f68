// SPDX-License-Identifier: MIT
//
// The shaders of the renderer. Those of light know where the G-buffer's textures are bound: 0 what
// color, 1 which way it faces, 2 how deep it is, 3 the shadow map.
#pragma once

namespace render {

inline constexpr auto kMeshVertex = R"(#version 300 es
layout(location = 0) in vec3 place;
layout(location = 1) in vec3 normal;
uniform mat4 to_picture;
uniform mat4 model;
out vec3 turned;
void main() {
  turned = mat3(model) * normal;
  gl_Position = to_picture * (model * vec4(place, 1.0));
}
)";

inline constexpr auto kShadowFragment = R"(#version 300 es
precision highp float;
void main() {}
)";

inline constexpr auto kMeshFragment = R"(#version 300 es
precision highp float;
in vec3 turned;
uniform vec4 color;
uniform vec4 material;
layout(location = 0) out vec4 albedo;
layout(location = 1) out vec4 facing;
void main() {
  albedo = vec4(color.rgb * material.rgb, 1.0);
  facing = vec4(normalize(turned) * 0.5 + 0.5, 1.0);
}
)";

inline constexpr auto kPaneFragment = R"(#version 300 es
precision highp float;
in vec3 turned;
uniform vec4 color;
uniform highp sampler2D depth_map;
out vec4 result;
void main() {
  if (gl_FragCoord.z > texelFetch(depth_map, ivec2(gl_FragCoord.xy), 0).r) discard;
  result = color;
}
)";

// One triangle over all of the picture. `base` and `along` lead back to the world.
inline constexpr auto kEverywhereVertex = R"(#version 300 es
uniform mat4 to_picture;
out vec4 base;
flat out vec4 along;
void main() {
  vec2 corner = vec2(float((gl_VertexID << 1) & 2), float(gl_VertexID & 2)) * 2.0 - 1.0;
  mat4 back = inverse(to_picture);
  base = back * vec4(corner, 0.0, 1.0);
  along = back[2];
  gl_Position = vec4(corner, 0.0, 1.0);
}
)";

inline constexpr auto kSunFragment = R"(#version 300 es
precision highp float;
in vec4 base;
flat in vec4 along;
uniform highp sampler2D albedo_map;
uniform highp sampler2D facing_map;
uniform highp sampler2D depth_map;
uniform highp sampler2DShadow shadow_map;
uniform mat4 to_shadow;
uniform vec3 to_sun;
out vec4 result;
void main() {
  ivec2 here = ivec2(gl_FragCoord.xy);
  float depth = texelFetch(depth_map, here, 0).r;
  if (depth == 1.0) {
    result = vec4(0.25, 0.35, 0.5, 1.0);
    return;
  }
  vec4 world = base + along * (depth * 2.0 - 1.0);
  vec4 shadow = to_shadow * vec4(world.xyz / world.w, 1.0);
  vec3 place = shadow.xyz * 0.5 + 0.5;
  bool beyond = any(greaterThan(abs(shadow.xyz), vec3(1.0)));  // where the map ends, all is lit
  float lit = max(float(beyond), texture(shadow_map, vec3(place.xy, place.z - 0.004)));
  vec3 normal = normalize(texelFetch(facing_map, here, 0).xyz * 2.0 - 1.0);
  float bright = 0.2 + 0.6 * lit * max(dot(normal, to_sun), 0.0);
  result = vec4(texelFetch(albedo_map, here, 0).rgb * bright, 1.0);
}
)";

inline constexpr auto kLightFragment = R"(#version 300 es
precision highp float;
in vec4 base;
flat in vec4 along;
uniform highp sampler2D albedo_map;
uniform highp sampler2D facing_map;
uniform highp sampler2D depth_map;
layout(std140) uniform Light {
  vec4 place_and_reach;
  vec4 color;
};
out vec4 result;
void main() {
  ivec2 here = ivec2(gl_FragCoord.xy);
  float depth = texelFetch(depth_map, here, 0).r;
  if (depth == 1.0) discard;
  vec4 world = base + along * (depth * 2.0 - 1.0);
  vec3 way = place_and_reach.xyz - world.xyz / world.w;
  float far = length(way) / place_and_reach.w;
  if (far > 1.0) discard;
  vec3 normal = normalize(texelFetch(facing_map, here, 0).xyz * 2.0 - 1.0);
  float bright = (1.0 - far) * (1.0 - far) * max(dot(normal, normalize(way)), 0.0);
  result = vec4(texelFetch(albedo_map, here, 0).rgb * color.rgb * bright, 0.0);
}
)";

}  // namespace render

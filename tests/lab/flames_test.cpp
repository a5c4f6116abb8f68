// SPDX-License-Identifier: MIT
// Flame graphs: their boxes, and the pictures as far as text tells.
#include "tracing/flames.hpp"
#include "events_in.hpp"

namespace handoff::lab::tracing { namespace {

std::string boxes_of(const FlameGraph& graph) {
  std::string text;
  for (const FlameBox& box : graph.boxes) {
    text += fmt::format("{}{} {}/{} x{}\n", std::string(box.depth, ' '), box.name,
                        box.own_ns / 1000, box.ns / 1000, box.count);
  }
  return text;
}

const std::string kLines =
    named(1, "main") + named(2, "w") + slice(1, "in", 20, 30) + slice(1, "a", 10, 60) +
    asleep(1, "wait", 32, 40) + slice(1, "helps", 34, 36) + slice(2, "a", 0, 5) +
    slice(2, "b<&>", 5, 90) + asleep(2, "idle", 90, 100) + asleep(1, "idle", 60, 70);

TEST(Flames, OnCpuAreMergedByNameAndNestingWithoutSleeps) {
  EXPECT_EQ(boxes_of(on_cpu_flames(recording_in(whole(kLines)))),
            "all 0/134 x0\n"
            " b<&> 85/85 x1\n"
            " a 37/49 x2\n"
            "  in 10/10 x1\n"
            "  helps 2/2 x1\n");
}

TEST(Flames, OffCpuAreByThreadSliceAndCause) {
  EXPECT_EQ(boxes_of(off_cpu_flames(recording_in(whole(kLines)))),
            "all 0/26 x0\n"
            " main 0/16 x0\n"
            "  idle 10/10 x1\n"
            "  a 0/6 x0\n"
            "   wait 6/6 x1\n"
            " w 0/10 x0\n"
            "  idle 10/10 x1\n");
}

TEST(Flames, CountWhatIsTooDeepInTheBoxAroundIt) {
  std::string lines;
  for (int i = 0; i < 250; ++i) lines += slice(1, "a", i, 1000 - i);
  const FlameGraph graph = on_cpu_flames(recording_in(whole(lines)));
  EXPECT_EQ(graph.boxes.size(), 201U);
  EXPECT_EQ(graph.merged, 50U);
  EXPECT_EQ(graph.boxes.front().ns, 1'000'000U);
  const std::string svg = flame_svg(graph, "deep");
  EXPECT_TRUE(says(svg, "50 slices are counted in the box around them"));
  EXPECT_TRUE(says(svg, "boxes are not drawn"));
}

TEST(FlameSvg, TellsEachBoxWhenPointedAtAndIsEscaped) {
  const std::string svg = flame_svg(on_cpu_flames(recording_in(whole(kLines))), "<t>.json");
  EXPECT_EQ(times_in(svg, "<g class=\"box task\"><title>"), 4U);
  EXPECT_TRUE(
      says(svg, "<title>b&lt;&amp;&gt; (task): 85.0 us on CPU, 63.4 % of all, 1 time</title>"));
  EXPECT_TRUE(says(svg, "a (task): 49.0 us on CPU, 36.6 % of all, 37.0 us of its own, 2 times"));
  EXPECT_FALSE(says(svg, "<t>"));
  EXPECT_FALSE(says(svg, "<script"));
}

TEST(FlameSvg, OfSleepHasTheCausesForColours) {
  const std::string svg = flame_svg(off_cpu_flames(recording_in(whole(kLines))), "t.json");
  EXPECT_EQ(times_in(svg, "<g class=\"box idle\"><title>"), 2U);
  EXPECT_EQ(times_in(svg, "<g class=\"box around\"><title>a (task): 6.00 us asleep"), 1U);
  EXPECT_TRUE(says(svg, "idle: without work"));
  EXPECT_FALSE(says(svg, "io: waits for a file"));  // there is none
}

TEST(FlameSvg, OfNothingIsAPictureToo) {
  const std::string svg = flame_svg(off_cpu_flames(recording_in(whole(slice(1, "a", 0, 1)))), "t");
  EXPECT_TRUE(says(svg, "all: 0.00 ns"));
}

}}  // namespace handoff::lab::tracing

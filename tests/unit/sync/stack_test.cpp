// SPDX-License-Identifier: MIT
//
// stack_is_short: not at the beginning, and soon enough to go on elsewhere.
#include <handoff/sync/internal/stack.hpp>

#include "support/test.hpp"

namespace {

// How many frames of at least a page there are until the stack is short.
[[gnu::noinline]] int frames_until_short(int frames) {
  volatile char page[4096];
  page[0] = 1;
  const int answer = handoff::sync::stack_is_short() ? frames : frames_until_short(frames + 1);
  return answer + page[0] - 1;  // used after the call, so the frame stays
}

// A small stack says as much as a large one, and leaves ThreadSanitizer well: clang 19's crashes
// now and then in later threads once one has gone down six megabytes.
constexpr int kPages = 128;

void* look(void*) {
  EXPECT_FALSE(handoff::sync::stack_is_short());
  EXPECT_GT(frames_until_short(1), kPages / 8);  // sanitizers make frames larger
  return nullptr;
}

TEST(Stack, IsShortWhenThreeQuartersAreInUse) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, kPages * 4096), 0);
  pthread_t thread;
  ASSERT_EQ(pthread_create(&thread, &attributes, &look, nullptr), 0);
  pthread_attr_destroy(&attributes);
  EXPECT_EQ(pthread_join(thread, nullptr), 0);
  EXPECT_FALSE(handoff::sync::stack_is_short()) << "the main thread's";
}

}  // namespace

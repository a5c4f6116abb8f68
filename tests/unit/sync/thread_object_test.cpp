// SPDX-License-Identifier: MIT
//
// thread_object: one for each thread that asks, from its first question to the thread's end; also
// where the system has no key left to tell of the end.
#include <handoff/sync/internal/thread_object.hpp>

#include "support/fresh_process.hpp"
#include "support/test.hpp"

namespace {

using handoff::sync::thread_object;

// What the objects of one thread at a time did.
std::string& story() {
  static std::string text;
  return text;
}

template <char kName>
struct Told {
  Told() noexcept { story() += kName; }
  ~Told() { story() += std::string("-") + kName; }
  int asked = 0;
};
struct Here;
template <char kName>
Told<kName>& told() {
  return thread_object<Told<kName>, Here>::get();
}

void ask_in_a_thread() {
  std::thread([] {
    EXPECT_EQ(story(), "") << "not before it is asked for";
    EXPECT_EQ(++told<'a'>().asked, 1);
    EXPECT_EQ(++told<'b'>().asked, 1);
    EXPECT_EQ(++told<'a'>().asked, 2);
    EXPECT_EQ(story(), "ab");
  }).join();
}

TEST(ThreadObject, LivesFromItsFirstUseToTheEndOfItsThread) {
  for (int i = 0; i < 2; ++i) {
    story().clear();
    ask_in_a_thread();
    EXPECT_EQ(story(), "ab-b-a") << "the latest first, each once";
  }
  story().clear();
  std::thread([] {}).join();
  EXPECT_EQ(story(), "") << "a thread that did not ask has none";
}

// Ends after the thread_locals, which may use it.
TEST(ThreadObject, OutlivesThreadLocals) {
  struct Last {
    ~Last() { story() += std::to_string(told<'c'>().asked); }
    int used = 0;
  };
  story().clear();
  std::thread([] {
    thread_local Last last;
    last.used = 1;
    told<'c'>().asked = 7;
  }).join();
  EXPECT_EQ(story(), "c7-c");
}

// What is asked for after its end, by the end of another one, is made anew and ends once more.
TEST(ThreadObject, IsMadeAnewByWhoAsksAfterItsEnd) {
  struct Early {
    ~Early() { story() += std::to_string(told<'d'>().asked); }
  };
  story().clear();
  std::thread([] {
    (void)thread_object<Early, Here>::get();
    told<'d'>().asked = 5;
  }).join();
  EXPECT_EQ(story(), "d-dd0-d");
}

// The library's key is made at the first use, so a fresh process takes all there are before that.
TEST(ThreadObject, EndsWithItsThreadAlsoWithoutAKey) {
  constexpr const char* kWithoutKeys = "HANDOFF_TEST_WITHOUT_KEYS";
  if (::getenv(kWithoutKeys) == nullptr) {
    EXPECT_EQ(handoff::test::in_fresh_process("ThreadObject.EndsWithItsThreadAlsoWithoutAKey",
                                              kWithoutKeys, "1"),
              0);
    return;
  }
  for (pthread_key_t key{}; pthread_key_create(&key, nullptr) == 0;) {
  }
  story().clear();
  ask_in_a_thread();
  EXPECT_EQ(story(), "ab-b-a");
}

}  // namespace

// SPDX-License-Identifier: MIT
//
// ListenerGroup and ScopedListener: what goes, when, in which order, and whose calls are waited
// for.
#include <barrier>

#include "support/failing.hpp"
#include "support/test.hpp"

namespace listener_group_test { namespace {

using namespace handoff;
using List = CallbackList<void()>;

// Says its name when a listener that holds it is freed.
class Named {
 public:
  Named(std::string& gone, char name) noexcept : gone_(&gone), name_(name) {}
  Named(Named&& other) noexcept : gone_(std::exchange(other.gone_, nullptr)), name_(other.name_) {}
  Named(const Named&) = delete;
  Named& operator=(const Named&) = delete;
  ~Named() {
    if (gone_ != nullptr) *gone_ += name_;
  }

 private:
  std::string* gone_;
  char name_;
};

void add(ListenerGroup& group, List& list, std::string& gone, const char* names) {
  for (; *names != '\0'; ++names) {
    group.add(list.append([named = Named(gone, *names)] { (void)named; }));
  }
}

TEST(ListenerGroup, RemovesTheYoungestFirst) {
  List list;
  std::string gone;
  {
    ListenerGroup group;
    add(group, list, gone, "abc");
    EXPECT_EQ(group.size(), 3u);
  }
  EXPECT_EQ(gone, "cba");
  EXPECT_TRUE(list.empty());
}

TEST(ListenerGroup, IsUsedAgainAfterClear) {
  List list;
  std::string gone;
  ListenerGroup group;
  add(group, list, gone, "ab");
  group.clear();
  EXPECT_EQ(group.size(), 0u);
  EXPECT_EQ(gone, "ba");
  EXPECT_TRUE(list.empty());
  add(group, list, gone, "c");
  EXPECT_EQ(group.size(), 1u);
  EXPECT_FALSE(list.empty());
}

// Listeners that are called once, by the thousand, while others stay: the group forgets them.
TEST(ListenerGroup, ForgetsListenersThatHaveRemovedThemselves) {
  List list;
  ListenerGroup group;
  std::string gone;
  add(group, list, gone, "abc");
  int calls = 0;
  for (int i = 0; i < 1000; ++i) {
    group.add(list.append([&] { ++calls; }, {.calls = 1}));
    list();
    ASSERT_LE(group.size(), 16U);
  }
  EXPECT_EQ(calls, 1000);
  EXPECT_EQ(list.size(), 3U);
  EXPECT_EQ(gone, "");
  group.clear();
  EXPECT_EQ(gone, "cba");
}

TEST(ListenerGroup, RemovesTheListenerThatItHasNoMemoryFor) {
  List list;
  ListenerGroup group;
  const auto one = group.add(list.append([] {}));
  ListenerHandle handle = list.append([] {});
  test::fail_after(test::Call::allocation, 0, 0);
  EXPECT_THROW(group.add(handle), std::bad_alloc);
  EXPECT_TRUE(test::stop_failing(test::Call::allocation));
  EXPECT_FALSE(handle.attached());
  EXPECT_TRUE(one.attached());
  EXPECT_EQ(group.size(), 1U);
}

// What a removed function owns may add a listener at its end: a group that ends removes that too.
TEST(ListenerGroup, RemovesWhatIsAddedWhileItEnds) {
  List list;
  std::string gone;
  {
    ListenerGroup group;
    const auto adds = [&](const int* end) {
      delete end;
      add(group, list, gone, "b");
    };
    group.add(list.append([own = std::shared_ptr<int>(new int, adds)] { (void)own; }));
  }
  EXPECT_EQ(gone, "b");
  EXPECT_TRUE(list.empty());
}

}}  // namespace listener_group_test

// SPDX-License-Identifier: MIT
//
// ListenerGroup and ScopedListener: what goes, when, and in which order.
#include <gtest/gtest.h>

#include <handoff/event/callback_list.hpp>
#include <string>
#include <utility>

namespace {

using handoff::CallbackList;
using handoff::ListenerGroup;
using handoff::Removal;
using handoff::ScopedListener;
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
  for (const Removal removal : {Removal::now, Removal::and_wait}) {
    List list;
    std::string gone;
    {
      ListenerGroup group(removal);
      add(group, list, gone, "abc");
      EXPECT_EQ(group.size(), 3u);
    }
    EXPECT_EQ(gone, "cba");
    EXPECT_TRUE(list.empty());
  }
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

TEST(ListenerGroup, AssignmentRemovesItsOwnFirstAndNothingByItself) {
  List list;
  std::string gone;
  ListenerGroup group;
  add(group, list, gone, "ab");
  ListenerGroup other;
  add(other, list, gone, "cd");
  group = std::move(other);
  EXPECT_EQ(gone, "ba");
  EXPECT_EQ(group.size(), 2u);
  ListenerGroup& same = group;
  group = std::move(same);
  EXPECT_EQ(group.size(), 2u);
  EXPECT_EQ(gone, "ba");
}

}  // namespace

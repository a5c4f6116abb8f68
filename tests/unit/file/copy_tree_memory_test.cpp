// SPDX-License-Identifier: MIT
//
// copy_tree() where there is no memory: the k-th allocation fails, or all from then on, in
// whichever thread they are. The copy throws before it has begun, or it says what is missing; it
// leaves no descriptor and nothing half.
//
// A program of its own: its operator new is everybody's, so that arrays of the library and what the
// standard library allocates inside fail as well.
#include "support/file_tap.hpp"
#include "support/test.hpp"
#include "unit/file/copy_tree_support.hpp"

namespace {

std::atomic<long> left{-1};  // allocations until one fails; negative: none does
std::atomic<bool> once{true};
std::atomic<bool> failed{false};

void* allocated(std::size_t bytes) {
  if (left >= 0 && (left == 0 || left.fetch_sub(1) <= 0)) {
    if (once) left = -1;
    else left = 0;
    failed = true;
    throw std::bad_alloc();
  }
  void* const memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) { return allocated(bytes); }
void* operator new[](std::size_t bytes) { return allocated(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace handoff { namespace {

namespace fs = std::filesystem;
using namespace test;

class CopyTreeWithoutMemory : public CopyTreeOften {
 protected:
  void SetUp() override {
    fs::create_directories(from / "folder" / "deep");
    put(from / "one", "one");
    put(from / "folder" / "two", std::string(70 << 10, '2'));  // past the page cache, if durable
    put(from / "folder" / "deep" / "three", "three");
    fs::create_hard_link(from / "one", from / "folder" / "again");
    fs::create_hard_link(from / "one", from / "folder" / "deep" / "and again");
    fs::create_symlink("one", from / "link");
    ASSERT_EQ(mkfifo((from / "fifo").c_str(), 0600), 0);
    wanted_ = contents_below(from);
  }

  // One copy of it into a directory that is there, in which some of it is already. False: nothing
  // failed.
  bool copy_once(bool durable, long which, bool only_once) {
    fs::remove_all(to);
    fs::create_directories(to / "folder");
    put(to / "one", "old");
    const std::vector<std::string> sources{(from / ".").string()};
    const std::string target = to;
    test::TapOf tap = test::unsynced();
    threw_ = failed = false;
    result_ = {};
    once = only_once;
    left = which;
    try {
      result_ = copy_tree(
          sources, target,
          {.width = 3, .durable = durable, .verify = durable, .count = durable, .tap = &tap});
    } catch (const std::bad_alloc&) {
      threw_ = true;
    }
    left = -1;
    return failed;
  }

  void expect_the_promise() {
    const auto got = contents_below(to);
    if (threw_) {
      EXPECT_EQ(got.size(), 1u) << "it had begun";
      return;
    }
    const std::string all = told(result_);
    bool whole = true;
    for (const auto& [name, text] : wanted_) {
      const auto found = got.find(name);
      whole = whole && found != got.end() && found->second == text;
    }
    if (result_.ok()) {
      EXPECT_TRUE(whole);
      EXPECT_EQ(got, wanted_);
      EXPECT_EQ(look(to / "one").st_nlink, 3u);
      EXPECT_TRUE(fs::is_symlink(to / "link") && fs::is_fifo(to / "fifo"));
    }
    for (const auto& [name, text] : got) {
      const auto found = wanted_.find(name);
      const bool old = text == "old";  // what was there, and where the link leads
      if (found != wanted_.end()) {
        EXPECT_TRUE(old || text == found->second) << name;
      } else {
        const bool said = all.find("is left as") != std::string::npos ||
                          all.find("than there was memory") != std::string::npos;
        EXPECT_TRUE(said) << name << '\n' << all;
      }
    }
  }

  std::map<std::string, std::string> wanted_;
  CopyTreeResult result_;
  bool threw_ = false;
};

TEST_F(CopyTreeWithoutMemory, ItThrowsBeforeItBeginsOrTellsAndLeavesNothing) {
  // Which allocation it is differs from run to run: each is met in some.
  const long step = test::slow && !test::deep() ? 3 : 1;
  for (const bool durable : {false, true}) {
    for (const bool only_once : {true, false}) {
      const auto before = test::open_descriptors();
      long places = 0;
      while (copy_once(durable, places, only_once)) {
        SCOPED_TRACE(testing::Message() << "allocation " << places << ' ' << durable << only_once);
        EXPECT_EQ(test::open_descriptors(), before);
        expect_the_promise();
        if (HasFailure()) return;
        places += step;
      }
      EXPECT_GT(places, 50);
      EXPECT_TRUE(result_.ok()) << told(result_);  // the last run, in which nothing failed
    }
  }
}

}}  // namespace handoff

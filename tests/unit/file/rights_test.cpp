// SPDX-License-Identifier: MIT
//
// Rights never widen: when a user copies or replaces a file, in any way, into any directory, nobody
// else may do more with the new file than with the old one, nor with what it is before it is
// finished. Walks over (actor, way, rights, list), with directories and umasks in turn.
//
// What somebody may do is computed from modes and lists, as the kernel does it (may_do()).
#include <sys/xattr.h>

#include <handoff/file/detail/file_tap.hpp>

#include "file/rights.hpp"
#include "support/file_tap.hpp"
#include "support/somebody.hpp"
#include "support/test.hpp"
#include "unit/file/file_support.hpp"

namespace handoff { namespace {

namespace fs = std::filesystem;
using detail::FileCallView;
using detail::FileTap;
using namespace test;

constexpr gid_t kStaff = 5001;  // the file's group
constexpr gid_t kGuests = 5002;  // another one

const Somebody kRoot{};
const Somebody kOwner{4001, {kStaff}};
const Somebody kMember{4002,
                       {kGuests, kStaff}};  // of the file's group; its own files get the other
const Somebody kGuest{4003, {kGuests}};
const Somebody kNamed{4004, {4004}};  // in lists
const Somebody kStranger{4005, {4005}};
const std::array kAll{kOwner, kMember, kGuest, kNamed, kStranger};

// ---- Lists, and what they allow ----

struct Entry {
  std::uint16_t tag;
  std::uint16_t rights;
  std::uint32_t id = ~0u;
};
using List = std::vector<Entry>;
enum : std::uint16_t { owner = 1, user = 2, group = 4, named_group = 8, mask = 16, others = 32 };

std::string encoded(const List& list) {
  std::string bytes("\2\0\0\0", 4);
  for (const Entry& entry : list) bytes.append(reinterpret_cast<const char*>(&entry), sizeof entry);
  return bytes;
}
static_assert(sizeof(Entry) == 8);

List list_of(const std::string& path) {
  std::array<char, 1024> bytes{};
  const ssize_t had = lgetxattr(path.c_str(), detail::kAccessList, bytes.data(), bytes.size());
  if (had < 4) return {};
  List list((static_cast<std::size_t>(had) - 4) / sizeof(Entry));
  std::memcpy(list.data(), bytes.data() + 4, list.size() * sizeof(Entry));
  return list;
}

struct Rights {
  uid_t user;
  gid_t group;
  unsigned mode;
  List list;
};
bool rights_of(const std::string& path, Rights& rights) {
  struct stat there{};
  if (lstat(path.c_str(), &there) != 0) return false;
  rights = {there.st_uid, there.st_gid, there.st_mode, list_of(path)};
  return true;
}

// As acl(5) has it: bits of rwx.
unsigned may_do(const Rights& file, const Somebody& who) {
  if (who.user == 0) return 7;
  if (who.user == file.user) return file.mode >> 6 & 7;
  if (file.list.empty()) return (who.is_in(file.group) ? file.mode >> 3 : file.mode) & 7;
  unsigned most = 7;
  for (const Entry& entry : file.list) {
    if (entry.tag == mask) most = entry.rights;
  }
  unsigned got = 0;
  bool in_a_group = false;
  for (const Entry& entry : file.list) {
    if (entry.tag == user && entry.id == who.user) return entry.rights & most;
    const bool its = (entry.tag == group && who.is_in(file.group)) ||
                     (entry.tag == named_group && who.is_in(entry.id));
    in_a_group = in_a_group || its;
    if (its)
      got |= entry.rights & most;  // more than any single entry gives: to be on the safe side
  }
  return in_a_group ? got : file.mode & 7;
}

TEST(Rights, CanaryTheModelSaysWhatTheKernelSays) {
  if (!is_root()) GTEST_SKIP() << "needs root, to be somebody else";
  const test::Folder folder(test::fast_place());
  chmod(folder.path().c_str(), 0755);
  const std::string path = folder / "file";
  put(path, "text");
  chmod(path.c_str(), 0640);
  ASSERT_EQ(chown(path.c_str(), 4001, kStaff), 0);
  const std::string list = encoded(
      {{owner, 6}, {user, 4, 4004}, {group, 0}, {named_group, 2, kGuests}, {mask, 6}, {others, 1}});
  for (const bool listed : {false, true}) {
    if (listed && setxattr(path.c_str(), detail::kAccessList, list.data(), list.size(), 0) != 0) {
      GTEST_SKIP() << "no lists here";
    }
    Rights rights{};
    ASSERT_TRUE(rights_of(path, rights));
    for (const Somebody& who : kAll) {
      for (const int right : {R_OK, W_OK, X_OK}) {
        as(who, [&] {
          const bool may = faccessat(AT_FDCWD, path.c_str(), right, AT_EACCESS) == 0;
          EXPECT_EQ(may, (may_do(rights, who) & static_cast<unsigned>(right)) != 0)
              << who.user << ' ' << right << ' ' << listed;
        });
      }
    }
  }
}

TEST(Rights, AListIsReadAndNarrowed) {
  std::string list = encoded({{owner, 6}, {user, 7, 4004}, {group, 3}, {mask, 5}, {others, 6}});
  const std::span bytes = std::as_writable_bytes(std::span(list));
  EXPECT_EQ(detail::group_bits(bytes), 0010u);
  EXPECT_EQ(detail::narrow_group(bytes), 0u);
  EXPECT_EQ(list, encoded({{owner, 6}, {user, 7, 4004}, {group, 2}, {mask, 5}, {others, 0}}));
  EXPECT_EQ(detail::group_bits(bytes), 0u);
  EXPECT_EQ(detail::group_bits(bytes.first(7)), 0u);  // cut off
  EXPECT_EQ(detail::narrow_group(02775u), 02755u);
  EXPECT_EQ(detail::narrow_group(0604u), 0600u);
  EXPECT_EQ(detail::early_mode(04644, false), 0644u);
  EXPECT_EQ(detail::early_mode(0664, false), 0644u);
  EXPECT_EQ(detail::early_mode(0606, false), 0600u);
  EXPECT_EQ(detail::early_mode(0644, true), 0600u);
  const auto plain = detail::plain_list(0754);
  EXPECT_EQ(std::memcmp(plain.data(), encoded({{owner, 7}, {group, 5}, {others, 4}}).data(), 28),
            0);
}

// ---- The walk ----

struct Way {
  const char* name;
  bool keeps_owner;  // and all the rest, where the actor may
  // What is done to the file base/old: it is copied into base/in, or replaced there. The new one's
  // path.
  std::function<std::string(const std::string& base, FileTap* tap)> go;
};

std::string replaced(const std::string& base, FileTap* tap) {
  FileEngine files({.backend = FileBackend::caller, .tap = tap});
  static_cast<void>(
      files.replace(base + "/in/old", test::bytes_of("new"), {.durable = true}).get());
  return base + "/in/old";
}
std::string copied(const std::string& base, const std::string& to, FileTap* tap) {
  FileEngine files({.backend = FileBackend::caller, .tap = tap});
  static_cast<void>(files.copy(base + "/old", to).get());
  return to;
}
std::string tree(const std::string& from, const std::string& to, FileTap* tap, bool durable,
                 bool verify = false) {
  static_cast<void>(
      copy_tree({from}, to, {.width = 1, .durable = durable, .verify = verify, .tap = tap}));
  return to;
}

auto copying(const char* to) {
  return [to](const std::string& base, FileTap* tap) { return copied(base, base + to, tap); };
}
// The new one is `file` below what is made.
auto copying_tree(const char* from, const char* to, bool durable, const char* file = "") {
  return [=](const std::string& base, FileTap* tap) {
    return tree(base + from, base + to, tap, durable) + file;
  };
}

const std::vector<Way>& ways() {
  static const std::vector<Way> all{
      {"replace", true, replaced},
      {"copy over", true, copying("/in/old")},
      {"copy to a new name", false, copying("/in/new")},
      {"copy_tree to a new name", true, copying_tree("/old", "/in/new", false)},
      {"copy_tree over", true, copying_tree("/old", "/in/old", true)},
      {"copy_tree of a tree", true, copying_tree("/tree", "/in/tree", true, "/old")},
      {"copy_tree into a tree", true, copying_tree("/tree/.", "/in/there", false, "/old")},
      {"copy_tree of a FIFO", true, copying_tree("/fifo", "/in/fifo", false)},
  };
  return all;
}

constexpr std::array kModes{0600u, 0640u, 0664u, 0660u, 0644u, 0604u, 0666u, 0400u, 02750u};

const std::vector<List>& lists() {
  static const std::vector<List> all{
      {},
      {{owner, 6}, {user, 6, 4004}, {group, 0}, {mask, 6}, {others, 0}},
      {{owner, 6}, {user, 0, 4004}, {group, 4}, {mask, 4}, {others, 4}},
      {{owner, 6}, {group, 2}, {named_group, 4, kGuests}, {mask, 7}, {others, 0}},
  };
  return all;
}

enum class Place { plain, gives_its_group, gives_its_list, gives_both };

class RightsWalk : public testing::Test {
 protected:
  void SetUp() override {
    if (!is_root()) GTEST_SKIP() << "needs root, to be somebody else";
    const List list{{owner, 6}, {user, 6, 4004}, {group, 6}, {mask, 6}, {others, 0}};
    put(base_ + "/probe", "");
    const std::string bytes = encoded(list);
    if (setxattr((base_ + "/probe").c_str(), detail::kAccessList, bytes.data(), bytes.size(), 0) !=
        0) {
      GTEST_SKIP() << "no lists here";
    }
    umask_ = umask(0);
  }
  void TearDown() override { umask(umask_); }

  void give(const std::string& path, unsigned mode, const List& list) {
    ASSERT_EQ(lchown(path.c_str(), kOwner.user, kStaff), 0);
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
    if (list.empty()) return;
    const std::string bytes = encoded(list);
    ASSERT_EQ(setxattr(path.c_str(), detail::kAccessList, bytes.data(), bytes.size(), 0), 0)
        << path;
  }

  // All that the ways need, with files of these rights.
  void fresh(unsigned mode, const List& list, Place place) {
    fs::remove_all(base_);
    fs::create_directories(base_ + "/in/there");
    fs::create_directories(base_ + "/tree");
    chmod(base_.c_str(), 0777);
    for (const char* const name : {"/old", "/tree/old", "/in/old", "/in/there/old"}) {
      put(base_ + name, "old");
      ASSERT_EQ(setxattr((base_ + name).c_str(), "user.note", "kept", 4, 0), 0);
    }
    ASSERT_EQ(mkfifo((base_ + "/fifo").c_str(), 0600), 0);
    for (const char* const name : {"/old", "/tree/old", "/in/old", "/in/there/old", "/fifo"}) {
      give(base_ + name, mode, list);
    }
    give(base_ + "/tree", mode | (mode & 0444) >> 2, {});
    const bool group_too = place == Place::gives_its_group || place == Place::gives_both;
    const bool list_too = place == Place::gives_its_list || place == Place::gives_both;
    for (const char* const name : {"/in", "/in/there"}) {
      const std::string path = base_ + name;
      ASSERT_EQ(chown(path.c_str(), 0, group_too ? kGuests : 0), 0);
      ASSERT_EQ(chmod(path.c_str(), group_too ? 02777 : 0777), 0);
      if (!list_too) continue;
      const std::string bytes =
          encoded({{owner, 7}, {user, 7, 4004}, {group, 7}, {mask, 7}, {others, 7}});
      for (const char* const key : {detail::kDefaultList, detail::kAccessList}) {
        ASSERT_EQ(setxattr(path.c_str(), key, bytes.data(), bytes.size(), 0), 0);
      }
    }
  }

  // What each may do with a file, where they come to it: in which directories below base_ they may
  // search. Of directories, what they may do with these themselves.
  unsigned reach(const std::string& path, const Somebody& who) const {
    Rights rights{};
    for (std::size_t at = path.find('/', base_.size() + 1); at != std::string::npos;
         at = path.find('/', at + 1)) {
      if (!rights_of(path.substr(0, at), rights)) return 0;
      if ((may_do(rights, who) & 1) == 0) return 0;
    }
    return rights_of(path, rights) ? may_do(rights, who) : 0;
  }

  // "", or the user that may do more than `old` allows.
  std::string widened(const Somebody& actor, const Rights& old, const std::string& path) const {
    for (const Somebody& who : kAll) {
      if (who.user == actor.user) continue;
      if (const unsigned more = reach(path, who) & ~may_do(old, who); more != 0) {
        Rights is{};
        rights_of(path, is);
        return path + ": " + std::to_string(who.user) + " may do " + std::to_string(more) +
               " more; owner " + std::to_string(is.user) + ", group " + std::to_string(is.group) +
               ", mode " + std::to_string(is.mode & 07777) + ", entries " +
               std::to_string(is.list.size());
      }
    }
    return "";
  }

  // Files that are not the new one, or not yet: temporary ones, and what is in temporary
  // directories.
  std::string widened_below(const Somebody& actor, const Rights& old) const {
    std::error_code gone;
    for (auto entry = fs::recursive_directory_iterator(base_ + "/in", gone);
         entry != fs::recursive_directory_iterator(); entry.increment(gone)) {
      const std::string path = entry->path();
      if (path.find(".handoff~") == std::string::npos || entry->is_directory(gone)) continue;
      if (std::string fault = widened(actor, old, path); !fault.empty()) return fault;
    }
    return "";
  }

  // Looks after each call, up to the first fault.
  test::TapOf watching(const Somebody& actor, const Rights& old, std::string& fault) const {
    return test::TapOf(
        [](const FileCallView& call) { return test::answer_if(test::is_sync(call), 0); },
        [&, this](const FileCallView& call, long) {
          if (!fault.empty()) return;
          fault = widened_below(actor, old);
          if (!fault.empty()) fault += std::string(" after ") + call.name;
        });
  }

  // "", or what went wrong.
  std::string walk(const Somebody& actor, const Way& way) {
    Rights old{};
    if (!rights_of(base_ + "/old", old)) return "there is no file";
    std::string fault;
    test::TapOf watch = watching(actor, old, fault);
    std::string path;
    as(actor, [&] { path = way.go(base_, &watch); });
    if (!fault.empty()) return fault;
    return widened(actor, old, path);
  }

  const test::Folder folder_{test::fast_place()};
  const std::string base_ = folder_.path();
  mode_t umask_ = 0;
};

TEST_F(RightsWalk, NobodyGetsMore) {
  constexpr std::array places{Place::plain, Place::gives_its_group, Place::gives_its_list,
                              Place::gives_both};
  constexpr std::array<mode_t, 3> umasks{0, 022, 077};
  std::size_t turn = 0;
  for (const Somebody& actor : {kRoot, kOwner, kMember, kStranger}) {
    for (const Way& way : ways()) {
      for (const unsigned mode : kModes) {
        for (const List& list : lists()) {
          for (std::size_t n = 0; n < (test::deep() ? places.size() * umasks.size() : 1); ++n) {
            const Place place = places[turn % places.size()];
            const mode_t mask_now = umasks[turn / places.size() % umasks.size()];
            // A sanitizer sees a part of them.
            if (++turn % 3 != 0 && test::slow && !test::deep()) continue;
            umask(0);
            fresh(mode, list, place);
            umask(mask_now);
            ASSERT_EQ(walk(actor, way), "")
                << way.name << ", by " << actor.user << ", mode " << std::oct << mode << ", umask "
                << mask_now << std::dec << ", list of " << list.size() << ", place "
                << static_cast<int>(place);
          }
        }
      }
    }
  }
}

// A way that takes over the mode alone, as one would.
TEST_F(RightsWalk, CanaryAModeWithoutItsListIsFound) {
  const Way naive{"naive", true, [](const std::string& base, FileTap*) {
                    struct stat old{};
                    EXPECT_EQ(lstat((base + "/in/old").c_str(), &old), 0);
                    put(base + "/in/new", "new");
                    EXPECT_EQ(chown((base + "/in/new").c_str(), old.st_uid, old.st_gid), 0);
                    chmod((base + "/in/new").c_str(), old.st_mode & 07777);
                    return base + "/in/new";
                  }};
  fresh(0600, lists()[1], Place::plain);
  EXPECT_NE(walk(kRoot, naive), "");
  fresh(0640, {}, Place::gives_its_list);
  EXPECT_NE(walk(kRoot, naive), "");
  const Way early{"early", true, [](const std::string& base, FileTap* tap) {
                    const std::string path = base + "/in/.x.handoff~";
                    put(path, "new");
                    chmod(path.c_str(), 0666);
                    tap->after({.name = "open"}, 0);
                    unlink(path.c_str());
                    return base + "/in/old";
                  }};
  fresh(0600, {}, Place::plain);
  EXPECT_NE(walk(kRoot, early), "");
}

// An actor that may give all of it away keeps all of it.
TEST_F(RightsWalk, RootAndTheOwnerKeepAll) {
  for (const Somebody& actor : {kRoot, kOwner}) {
    for (const Way& way : ways()) {
      if (!way.keeps_owner) continue;
      for (const List& list : lists()) {
        for (const Place place : {Place::plain, Place::gives_both}) {
          SCOPED_TRACE(testing::Message() << way.name << ", by " << actor.user << ", list of "
                                          << list.size() << static_cast<int>(place));
          fresh(0640, list, place);
          Rights old{};
          Rights now{};
          ASSERT_TRUE(rights_of(base_ + "/old", old));
          std::string path;
          test::TapOf tap = test::unsynced();
          as(actor, [&] { path = way.go(base_, &tap); });
          ASSERT_TRUE(rights_of(path, now));
          EXPECT_EQ(now.user, old.user);
          EXPECT_EQ(now.group, old.group);
          EXPECT_EQ(now.mode & 07777, old.mode & 07777);
          EXPECT_EQ(encoded(now.list), encoded(old.list));
          std::array<char, 8> note{};
          const bool fifo = path.ends_with("fifo");
          EXPECT_EQ(getxattr(path.c_str(), "user.note", note.data(), note.size()), fifo ? -1 : 4);
        }
      }
    }
  }
}

TEST_F(RightsWalk, WhatRunsAsItsUserDoesSoForThatUserOnly) {
  for (const Somebody& actor : {kRoot, kOwner, kMember, kStranger}) {
    for (const Way& way : ways()) {
      fresh(06755, {}, Place::plain);
      std::string path;
      as(actor, [&] { path = way.go(base_, nullptr); });
      Rights now{};
      ASSERT_TRUE(rights_of(path, now)) << way.name;
      EXPECT_TRUE(now.user == kOwner.user || (now.mode & S_ISUID) == 0) << way.name << actor.user;
      EXPECT_TRUE(now.group == kStaff || (now.mode & S_ISGID) == 0) << way.name << actor.user;
    }
  }
}

// To be verified it is opened to its own user, who may not read it, and to nobody else.
TEST_F(RightsWalk, ACopyThatItsUserMayNotReadIsVerified) {
  fresh(0040, {}, Place::plain);
  Rights old{};
  ASSERT_TRUE(rights_of(base_ + "/old", old));
  old.user = kRoot.user;  // the owner is in the group too
  std::string fault;
  test::TapOf watch = watching(kMember, old, fault);
  as(kMember,
     [&] { static_cast<void>(tree(base_ + "/old", base_ + "/in/old", &watch, false, true)); });
  EXPECT_EQ(fault, "");
}

// What a file may do beyond its user's rights it may with its old contents only.
TEST_F(RightsWalk, NewContentsHaveNoCapabilitiesOfTheOldOnes) {
  for (const Way& way : {ways()[0], ways()[1]}) {
    fresh(0755, {}, Place::plain);
    const std::array<std::uint32_t, 5> raw_sockets{0x02000001, 1u << 13};  // vfs_cap_data
    constexpr const char* key = "security.capability";
    if (setxattr((base_ + "/in/old").c_str(), key, raw_sockets.data(), sizeof raw_sockets, 0) != 0)
      GTEST_SKIP() << "no capabilities of files here";
    const std::string path = way.go(base_, nullptr);
    EXPECT_LT(getxattr(path.c_str(), key, nullptr, 0), 0) << way.name;
  }
}

// A directory that was there is the source's afterwards: none of its own lists is left.
TEST_F(RightsWalk, AMergedDirectoryHasTheListsOfItsSource) {
  for (const List& list : lists()) {
    fresh(0640, {}, Place::gives_both);
    give(base_ + "/tree", 0750, list);
    Rights old{};
    Rights now{};
    ASSERT_TRUE(rights_of(base_ + "/tree", old));
    EXPECT_TRUE(copy_tree({base_ + "/tree/."}, base_ + "/in/there").ok());
    ASSERT_TRUE(rights_of(base_ + "/in/there", now));
    EXPECT_EQ(encoded(now.list), encoded(old.list));
    EXPECT_EQ(now.mode, old.mode);
    EXPECT_LT(getxattr((base_ + "/in/there").c_str(), detail::kDefaultList, nullptr, 0), 0);
  }
}

}}  // namespace handoff

// SPDX-License-Identifier: MIT
//
// One run of copy_tree(): what its threads share.
//
// A directory is a task: it is opened, its names are read and sorted by inode (which is about the
// order on the device), directories in it become tasks of their own, all else goes into batches,
// which are tasks as well. A folder is finished (owner, attributes, mode, times) when the last
// entry in it is.
//
// Names: an entry of a directory that is new is made under its own name, for the new directory has
// a temporary one. An entry of a directory that was there is made under a temporary name and
// renamed when it is whole: at once, or with `durable` after the sync of the file systems. So
// nothing stands under its final name before, at the price of one rename for each new tree.
#pragma once

#include <errno.h>

#include <cstddef>
#include <cstdint>
#include <handoff/config.hpp>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/file/copy_tree.hpp>
#include <handoff/file/copy_tree_options.hpp>
#include <handoff/sync/mutex.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "copy_tree_calls.hpp"
#include "copy_tree_crew.hpp"
#include "copy_tree_folder.hpp"
#include "rights.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// A name in a directory, and what it was when the directory was read.
struct CopyEntry {
  std::string name = {};     // in the source
  std::string to_name = {};  // in the destination; "": the same
  std::uint64_t inode = 0;
  unsigned char type = 0;  // as dirent has it

  const std::string& target() const noexcept { return to_name.empty() ? name : to_name; }
};

// Where something went wrong. A message is made of it when it is told: only then there has to be
// memory, and a problem that finds none is told as one that was not (CopyJob::problem).
struct CopySpot {
  CopyFolder* folder;
  std::string_view name;  // in the folder; "": the folder itself
  bool in_copy;           // else in the source
};
// What went wrong there.
struct CopyWhat {
  static constexpr std::uint64_t nowhere = ~std::uint64_t{0};

  const char* said = "";
  std::string_view detail = {};  // behind it
  std::uint64_t offset = nowhere;
  bool in_copy = false;  // for code that knows no better
};

// A file that was written and has still to be verified, and to get its name.
struct CopiedFile {
  const CopyEntry* entry = nullptr;
  std::string temporary = {};  // its name at present; "": its own
  std::uint64_t bytes = 0;
  std::uint64_t to_device = 0;
  struct statx attributes{};  // of the source
  FileId first_of = {};        // it has several names: others wait for this one

  const std::string& disk_name() const noexcept {
    return temporary.empty() ? entry->target() : temporary;
  }
};

struct FileIdHash {
  std::size_t operator()(const FileId& id) const noexcept {
    return static_cast<std::size_t>((id.inode ^ (id.device << 20)) * 0x9e3779b97f4a7c15u);
  }
};

// Whether the contents may be others than before.
bool has_changed(const struct statx& before, const struct statx& after) noexcept;

class CopyJob {
 public:
  CopyJob(CopyTreeOptions& options, std::size_t folders_open);
  ~CopyJob();

  // Takes over where sources are and where their copies go, with their descriptors. Pinned.
  CopyFolder& add_root(std::unique_ptr<CopyFolder> root, OwnFile& from, OwnFile& to);
  // `entry` of a root is to be copied.
  void begin(CopyFolder& root, CopyEntry entry);
  // Copies what was begun. Once. Throws std::bad_alloc before it began.
  void run(std::size_t width);

  void problem(CopySpot where, CopyWhat what, long error) noexcept;
  void problem(std::string_view path, CopyWhat what, long error) noexcept;
  CopyCalls& calls() noexcept { return calls_; }
  CopyFolders& folders() noexcept { return folders_; }
  // What was counted beforehand, at present.
  void counted(std::uint64_t files, std::uint64_t bytes, bool all);
  bool stopped() const noexcept {
    const KeptUntil& until = options_.until;
    return until.stop_token().stop_requested() ||
           (until.has_deadline() && sync::clock::now() >= until.deadline());
  }
  CopyTreeResult take_result();

 private:
  struct Place {  // of the first name of a file with several
    CopyFolder* folder = nullptr;
    std::string name;  // under which it stands until all tasks have ended
  };
  struct Waiter {
    CopyFolder* folder;
    CopyEntry entry;
  };
  struct Link {
    bool ready = false;
    Place place;
    std::vector<Waiter> waiters;
  };
  struct Pending {  // is to get its name after the sync
    CopyFolder* folder;  // in which it stands
    std::string temporary;
    std::string name;
    CopyFolder* made;  // it is this one; else null
  };
  struct FileSystem {  // written to
    std::uint64_t device;
    int descriptor;
    std::string path;
  };
  enum class Claim { first, linked, waits };
  class FirstName;
  struct Kept {  // of the source's owner
    bool user;
    bool group;
    bool both() const noexcept { return user && group; }
  };
  struct Extended {  // attributes that the copy got
    bool any = false;
    bool access_list = false;
    bool default_list = false;
    unsigned group = kGroupBits;  // the most that the group may have without the access list
    unsigned others = kOtherBits;
  };

  // copy_tree_walk.cpp
  template <class Function>
  void call_safely(CopySpot where, Function&& function) noexcept {
    if (!attempt(function)) problem(where, {"copy"}, -ENOMEM);
  }
  // A task for `entries` of the folder. Without memory they end here, and that is told;
  // before the copy has begun, when there is no worker, it throws.
  template <class Task>
  void push(CopyFolder& folder, std::size_t entries, CopyWorker* worker, Task&& task) {
    folders_.add_work(folder, entries);
    if (worker == nullptr) return crew_.push(std::forward<Task>(task));
    if (attempt([&] { crew_.push(std::forward<Task>(task)); })) return;
    problem({&folder, {}, false}, {"copy all of it"}, -ENOMEM);
    for (; entries > 0; --entries) end_work(folder, *worker);
  }
  void run_folder(CopyFolder& parent, const CopyEntry& entry, CopyWorker& worker) noexcept;
  CopyFolder* open_folder(CopyFolder& parent, const CopyEntry& entry);
  bool open_target(CopyFolder& parent, CopyFolder& folder);
  long make_target(CopyFolder& parent, CopyFolder& folder);
  bool know_target(CopyFolder& parent, CopyFolder& folder);
  bool is_new_root(FileId id);
  void read_folder(CopyFolder& folder, CopyWorker& worker);
  void hand_out(CopyFolder& folder, std::vector<CopyEntry>& entries, CopyWorker* worker);
  void run_batch(CopyFolder& folder, const std::vector<CopyEntry>& entries,
                 CopyWorker& worker) noexcept;
  void end_work(CopyFolder& folder, CopyWorker& worker) noexcept;
  bool finish(CopyFolder& folder, CopyWorker& worker) noexcept;
  void name_later(CopyFolder& folder);

  // copy_tree_entries.cpp
  void copy_entry(CopyFolder& folder, const CopyEntry& entry, CopyWorker& worker,
                  std::vector<CopiedFile>& copied);
  void copy_file(CopyFolder& folder, const CopyEntry& entry, int from, CopyWorker& worker,
                 std::vector<CopiedFile>& copied);
  bool write_file(CopyFolder& folder, const CopyEntry& entry, int from, CopyWorker& worker,
                  CopiedFile& file);
  bool fill_file(CopyFolder& folder, const CopyEntry& entry, int from, int to, CopyWorker& worker,
                 CopiedFile& file);
  void copy_link(CopyFolder& folder, const CopyEntry& entry, const struct statx& attributes,
                 CopyWorker& worker);
  void copy_special(CopyFolder& folder, const CopyEntry& entry, const struct statx& attributes,
                    CopyWorker& worker);
  void settle_node(CopyFolder& folder, const CopyEntry& entry, const struct statx& attributes,
                   std::string& temporary, FirstName& first, CopyWorker& worker) noexcept;
  bool may_replace(CopyFolder& folder, const CopyEntry& entry, const struct statx& attributes);
  const std::string& new_name(CopyFolder& folder, const CopyEntry& entry, std::string& temporary);
  bool give_name(CopyFolder& folder, const CopyEntry& entry, std::string& temporary) noexcept;
  void settle(CopyFolder& folder, CopiedFile& file, CopyWorker& worker) noexcept;
  void remove_half(CopyFolder& folder, const std::string& name) noexcept;

  // copy_tree_links.cpp
  Claim claim(CopyFolder& folder, const CopyEntry& entry, const struct statx& attributes);
  void link_to(const Place& place, CopyFolder& folder, const CopyEntry& entry,
               const struct statx& attributes);
  void publish(CopyFolder& folder, const CopyEntry& entry, const std::string& temporary, FileId id,
               CopyWorker& worker) noexcept;
  void withdraw(FileId id, CopyWorker& worker) noexcept;
  void send(std::vector<Waiter> waiters, CopyWorker& worker) noexcept;
  void name_all(CopyWorker& worker) noexcept;
  bool sync_all() noexcept;

  // copy_tree_contents.cpp: 0 or -errno, with what was being done
  long copy_contents(int from, int to, CopyWorker& worker, CopiedFile& file, CopyWhat& what);
  long copy_sparse(int from, int to, CopyWorker& worker, CopiedFile& file, CopyWhat& what);
  long copy_piece(int from, int to, CopyWorker& worker, CopyWorker::Pair& pair, std::uint64_t begin,
                  std::uint64_t end, std::uint64_t& reached, CopyWhat& what);
  long copy_by_range(int from, int to, CopyWorker::Pair& pair, std::uint64_t& at, std::uint64_t end,
                     CopyWhat& what);
  long copy_by_buffer(int from, int to, CopyWorker& worker, std::uint64_t& at, std::uint64_t end,
                      CopyWhat& what);
  long copy_direct(int from, int to, CopyWorker& worker, CopyWorker::Pair& pair, std::uint64_t& at,
                   std::uint64_t end, CopyWhat& what);
  long write_direct(int to, CopyWorker& worker, CopyWorker::Pair& pair, std::uint64_t at,
                    std::size_t bytes, bool& direct, CopyWhat& what);
  long fill(int from, std::byte* into, std::size_t bytes, std::uint64_t at, CopyWhat& what);
  void moved(int to, std::uint64_t begin, std::uint64_t end);
  void verify(CopyFolder& folder, std::vector<CopiedFile>& files, CopyWorker& worker) noexcept;
  long open_written(CopyFolder& folder, const CopiedFile& file) noexcept;
  bool verify_file(CopyFolder& folder, CopiedFile& file, CopyWorker& worker) noexcept;
  bool same_contents(int from, int to, CopyFolder& folder, CopiedFile& file,
                     CopyWorker& worker) noexcept;

  // copy_tree_attributes.cpp: what cannot be kept is a problem
  void keep_attributes(CopySpot source, CopySpot copy, FileRef from, FileRef to,
                       const struct statx& as, const struct statx& made, bool may_have_list,
                       CopyWorker& worker) noexcept;
  void keep_folder(CopyFolder& folder, const struct statx& made, CopyWorker& worker) noexcept;
  Kept keep_owner(CopySpot copy, FileRef to, const struct statx& as,
                  const struct statx& made) noexcept;
  Extended keep_extended(CopySpot source, CopySpot copy, FileRef from, FileRef to, bool group_kept,
                         bool is_link, CopyWorker& worker) noexcept;
  long set_extended(FileRef to, const char* key, const void* value, std::size_t bytes) noexcept;
  bool drop_lists(FileRef to, unsigned mode, bool keeps_default) noexcept;
  unsigned made_mode(const CopyFolder& folder, const struct statx& as) const noexcept;

  static CopySpot from_path(CopyFolder& folder, const CopyEntry& entry) noexcept {
    return {&folder, entry.name, false};
  }
  static CopySpot to_path(CopyFolder& folder, const CopyEntry& entry) noexcept {
    return {&folder, entry.target(), true};
  }
  template <class Add>
  void tell(const Add& add) noexcept;
  void add_problem(std::string path, CopyWhat what, long error);
  std::uint64_t& count_of(const struct statx& attributes) noexcept;
  long open(int in, const char* name, int flags, unsigned mode = 0) noexcept {
    return folders_.open(in, name, flags, mode);
  }
  long open_source(int in, const char* name, int flags) noexcept;
  void add_bytes(std::uint64_t bytes);
  void add_file_system(CopyFolder& folder) noexcept;
  void look(bool at_end = false);
  // Asked before something is left out.
  bool cut_off() noexcept;

  CopyTreeOptions& options_;
  CopyCalls calls_;
  CopyFolders folders_;
  CopyCrew crew_;
  const unsigned user_;
  const unsigned group_;

  sync::Mutex mutex_;  // for all below
  CopyTreeResult result_;
  CopyTreeProblem untold_;  // had from the beginning: other problems found no memory
  bool some_untold_ = false;
  std::vector<std::unique_ptr<CopyFolder>> roots_;
  CopyTreeProgress progress_;  // but for `files`, which result_ has
  std::unordered_map<FileId, Link, FileIdHash> links_;
  std::vector<Pending> pending_;
  std::unordered_set<FileId, FileIdHash> new_roots_;  // new directories in such that were there
  std::vector<FileSystem> file_systems_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail

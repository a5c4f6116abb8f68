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

#include <cstddef>
#include <cstdint>
#include <handoff/config.hpp>
#include <handoff/file/copy_tree.hpp>
#include <handoff/file/copy_tree_options.hpp>
#include <handoff/sync/mutex.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "copy_tree_calls.hpp"
#include "copy_tree_crew.hpp"
#include "copy_tree_folder.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// A name in a directory, and what it was when the directory was read.
struct CopyEntry {
  std::string name = {};     // in the source
  std::string to_name = {};  // in the destination; "": the same
  std::uint64_t inode = 0;
  unsigned char type = 0;  // as dirent has it

  const std::string& target() const noexcept { return to_name.empty() ? name : to_name; }
};

// A file that was written and has still to be verified, and to get its name.
struct CopiedFile {
  const CopyEntry* entry = nullptr;
  std::string temporary = {};  // its name at present; "": its own
  std::uint64_t bytes = 0;
  std::uint64_t to_device = 0;
  struct statx attributes{};  // of the source
  bool linked = false;         // its inode stands in the table of hard links
};

// Whether the contents may be others than before.
bool has_changed(const struct statx& before, const struct statx& after) noexcept;

class CopyJob {
 public:
  CopyJob(CopyTreeOptions& options, std::size_t folders_open);
  CopyJob(const CopyJob&) = delete;
  CopyJob& operator=(const CopyJob&) = delete;

  // Takes over a root with its descriptors: `entry` of it is to be copied.
  void begin(CopyFolder& root, CopyEntry entry);
  // Copies what was begun. Once.
  void run(std::size_t width);

  void problem(std::string path, std::string what, long error);
  CopyCalls& calls() noexcept { return calls_; }
  // What was counted beforehand, at present.
  void counted(std::uint64_t files, std::uint64_t bytes, bool all);
  bool stopped() const noexcept { return options_.stop.stop_requested(); }
  CopyTreeResult take_result() { return std::move(result_); }

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
  struct IdHash {
    std::size_t operator()(const FileId& id) const noexcept {
      return static_cast<std::size_t>((id.inode ^ (id.device << 20)) * 0x9e3779b97f4a7c15u);
    }
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

  // copy_tree_walk.cpp
  void run_folder(CopyFolder& parent, const CopyEntry& entry);
  CopyFolder* open_folder(CopyFolder& parent, const CopyEntry& entry);
  bool open_target(CopyFolder& parent, CopyFolder& folder);
  bool is_new_root(FileId id);
  void read_folder(CopyFolder& folder);
  void hand_out(CopyFolder& folder, std::vector<CopyEntry>& entries);
  void run_batch(CopyFolder& folder, const std::vector<CopyEntry>& entries, CopyWorker& worker);
  void end_work(CopyFolder& folder);
  bool finish(CopyFolder& folder);
  void call_safely(CopyFolder& folder, const std::string& name, UniqueFunction<void()> function);

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
  bool may_replace(CopyFolder& folder, const CopyEntry& entry, const struct statx& attributes);
  std::string new_name(CopyFolder& folder, const CopyEntry& entry, std::string& temporary);
  bool give_name(CopyFolder& folder, const CopyEntry& entry, std::string& temporary);
  void settle(CopyFolder& folder, CopiedFile& file);
  void remove_half(CopyFolder& folder, const CopyEntry& entry, const std::string& temporary);

  // copy_tree_links.cpp
  Claim claim(CopyFolder& folder, const CopyEntry& entry, const struct statx& attributes);
  void link_to(const Place& place, CopyFolder& folder, const CopyEntry& entry,
               const struct statx& attributes);
  void publish(CopyFolder& folder, const CopyEntry& entry, const std::string& temporary, FileId id);
  void withdraw(FileId id);
  void send(std::vector<Waiter> waiters);
  void name_all();
  bool sync_all();

  // copy_tree_contents.cpp: 0 or -errno, with what was being done
  long copy_contents(int from, int to, CopyWorker& worker, CopiedFile& file, std::string& what);
  long copy_sparse(int from, int to, CopyWorker& worker, const CopiedFile& file, std::string& what);
  long copy_piece(int from, int to, CopyWorker& worker, CopyWorker::Pair& pair, std::uint64_t begin,
                  std::uint64_t end, std::uint64_t& reached, std::string& what);
  long copy_by_range(int from, int to, CopyWorker::Pair& pair, std::uint64_t& at, std::uint64_t end,
                     std::string& what);
  long copy_by_buffer(int from, int to, CopyWorker& worker, std::uint64_t& at, std::uint64_t end,
                      std::string& what);
  long copy_direct(int from, int to, CopyWorker& worker, CopyWorker::Pair& pair, std::uint64_t& at,
                   std::uint64_t end, std::string& what);
  long write_direct(int to, CopyWorker& worker, CopyWorker::Pair& pair, std::uint64_t at,
                    std::size_t bytes, bool& direct, std::string& what);
  long fill(int from, std::byte* into, std::size_t bytes, std::uint64_t at, std::string& what);
  void moved(int to, std::uint64_t begin, std::uint64_t end);
  void verify(CopyFolder& folder, std::vector<CopiedFile>& files, CopyWorker& worker);
  bool verify_file(CopyFolder& folder, CopiedFile& file, CopyWorker& worker);
  bool same_contents(int from, int to, CopyFolder& folder, CopiedFile& file, CopyWorker& worker);

  // copy_tree_attributes.cpp: what cannot be kept is a problem
  void keep_attributes(CopyFolder& folder, const CopyEntry& entry, int from, int to,
                       const struct statx& as, const struct statx& made, bool inherits,
                       CopyWorker& worker);
  void keep_attributes_by_name(CopyFolder& folder, const CopyEntry& entry, const std::string& name,
                               const struct statx& as, CopyWorker& worker);
  bool keep_owner(CopyFolder& folder, const CopyEntry& entry, int to, const char* name,
                  const struct statx& as, const struct statx& made);
  template <class List, class Get, class Set>
  void keep_extended(CopyFolder& folder, const CopyEntry& entry, CopyWorker& worker, List&& list,
                     Get&& get, Set&& set);
  void drop_inherited(int to);
  unsigned made_mode(const struct statx& as) const noexcept;

  std::string from_path(CopyFolder& folder, const CopyEntry& entry);
  std::string to_path(CopyFolder& folder, const CopyEntry& entry);
  long open(int in, const char* name, int flags, unsigned mode = 0);
  long open_source(int in, const char* name, int flags);
  void add_bytes(std::uint64_t bytes);
  void add_file_system(CopyFolder& folder);
  void look();

  CopyTreeOptions& options_;
  CopyCalls calls_;
  CopyFolders folders_;
  CopyCrew crew_;
  const unsigned user_;
  const unsigned group_;

  sync::Mutex mutex_;  // for all below
  CopyTreeResult result_;
  CopyTreeProgress progress_;
  std::unordered_map<FileId, Link, IdHash> links_;
  std::vector<Pending> pending_;
  std::unordered_set<FileId, IdHash> new_roots_;  // new directories in such that were there
  std::vector<FileSystem> file_systems_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail

// SPDX-License-Identifier: MIT
//
// One entry of a directory that is no directory: a file, a link, a special file.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/sysmacros.h>

#include <array>

#include "copy_tree_job.hpp"
#include "path.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

constexpr int kAttempts = 3;  // to read a file that changes meanwhile

bool is_file_type(unsigned char type, unsigned mode) noexcept {
  return type == (mode & S_IFMT) >> 12;
}

}  // namespace

std::string CopyJob::from_path(CopyFolder& folder, const CopyEntry& entry) {
  return folders_.from_path(folder, entry.name);
}

std::string CopyJob::to_path(CopyFolder& folder, const CopyEntry& entry) {
  return folders_.to_path(folder, entry.target());
}

// Where there are too few descriptors, those of directories that rest are given up first.
long CopyJob::open(int in, const char* name, int flags, unsigned mode) {
  for (;;) {
    const long result = calls_.open(in, name, flags, mode);
    if ((result != -EMFILE && result != -ENFILE) || !folders_.spare()) return result;
  }
}

// Reading leaves no trace where that is allowed, and waits for no FIFO.
long CopyJob::open_source(int in, const char* name, int flags) {
  const int all = flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  const long result = open(in, name, all | O_NOATIME);
  return result == -EPERM ? open(in, name, all) : result;
}

void CopyJob::copy_entry(CopyFolder& folder, const CopyEntry& entry, CopyWorker& worker,
                         std::vector<CopiedFile>& copied) {
  constexpr unsigned char file_type = S_IFREG >> 12;
  if (entry.type == file_type) {
    const long from = open_source(folder.from, entry.name.c_str(), O_RDONLY);
    if (from == -ELOOP || from == -ENXIO) {
      return problem(from_path(folder, entry), "was replaced while it was copied", 0);
    }
    if (from < 0) return problem(from_path(folder, entry), "open", from);
    copy_file(folder, entry, static_cast<int>(from), worker, copied);
    calls_.close(static_cast<int>(from));
    return;
  }
  struct statx attributes{};
  const long result = calls_.stat(folder.from, entry.name.c_str(), attributes);
  if (result < 0) return problem(from_path(folder, entry), "look at", result);
  if (!is_file_type(entry.type, attributes.stx_mode)) {
    return problem(from_path(folder, entry), "was replaced while it was copied", 0);
  }
  if (!may_replace(folder, entry, attributes)) return;
  const Claim what = claim(folder, entry, attributes);
  if (what == Claim::linked || what == Claim::waits) return;
  if (S_ISLNK(attributes.stx_mode)) return copy_link(folder, entry, attributes, worker);
  copy_special(folder, entry, attributes, worker);
}

// In a directory that was there: what the name stands for may be replaced.
bool CopyJob::may_replace(CopyFolder& folder, const CopyEntry& entry,
                          const struct statx& attributes) {
  if (folder.made) return true;
  struct statx there{};
  const long result = calls_.stat(folder.to, entry.target().c_str(), there);
  if (result == -ENOENT) return true;
  if (result < 0) {
    problem(to_path(folder, entry), "look at", result);
    return false;
  }
  if (id_of(there) == id_of(attributes)) {
    problem(to_path(folder, entry), "is the source itself", 0);
    return false;
  }
  if (S_ISDIR(there.stx_mode)) {
    problem(to_path(folder, entry), "is in the way", EISDIR);
    return false;
  }
  return true;
}

// Under which name it is made.
std::string CopyJob::new_name(CopyFolder& folder, const CopyEntry& entry, std::string& temporary) {
  if (folder.made) return entry.target();
  temporary = temporary_name(entry.target());
  return temporary;
}

void CopyJob::remove_half(CopyFolder& folder, const CopyEntry& entry,
                          const std::string& temporary) {
  const std::string& name = temporary.empty() ? entry.target() : temporary;
  const long result = calls_.unlink(folder.to, name.c_str());
  if (result < 0 && result != -ENOENT) {
    problem(folders_.to_path(folder, name), "remove what is not whole", result);
  }
}

void CopyJob::copy_file(CopyFolder& folder, const CopyEntry& entry, int from, CopyWorker& worker,
                        std::vector<CopiedFile>& copied) {
  CopiedFile file{.entry = &entry};
  const long result = calls_.stat(from, "", file.attributes);
  if (result < 0) return problem(from_path(folder, entry), "look at", result);
  if (!S_ISREG(file.attributes.stx_mode)) {
    return problem(from_path(folder, entry), "was replaced while it was copied", 0);
  }
  if (!may_replace(folder, entry, file.attributes)) return;
  const Claim what = claim(folder, entry, file.attributes);
  if (what == Claim::linked || what == Claim::waits) return;
  file.linked = file.attributes.stx_nlink > 1;
  if (write_file(folder, entry, from, worker, file)) {
    copied.push_back(std::move(file));
  } else if (file.linked) {
    withdraw(id_of(file.attributes));
  }
}

// A new file with everything. What is not whole is removed, and false.
bool CopyJob::write_file(CopyFolder& folder, const CopyEntry& entry, int from, CopyWorker& worker,
                         CopiedFile& file) {
  const std::string name = new_name(folder, entry, file.temporary);
  const long made = open(folder.to, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
                         made_mode(file.attributes));
  if (made < 0) {
    problem(to_path(folder, entry), "create", made);
    return false;
  }
  const int to = static_cast<int>(made);
  bool whole = fill_file(folder, entry, from, to, worker, file);
  const long closed = calls_.close(to);
  if (whole && closed < 0) problem(to_path(folder, entry), "close", closed);
  whole = whole && closed >= 0;
  if (!whole) remove_half(folder, entry, file.temporary);
  return whole;
}

bool CopyJob::fill_file(CopyFolder& folder, const CopyEntry& entry, int from, int to,
                        CopyWorker& worker, CopiedFile& file) {
  struct statx made{};
  long result = calls_.stat(to, "", made);
  if (result < 0) {
    problem(to_path(folder, entry), "look at the copy", result);
    return false;
  }
  file.to_device = id_of(made).device;
  for (int attempt = 1;; ++attempt) {
    std::string what;
    result = copy_contents(from, to, worker, file, what);
    if (result == -ECANCELED && stopped()) return false;
    if (result < 0) {
      const bool put = what.starts_with("write") || what.starts_with("set");
      problem(put ? to_path(folder, entry) : from_path(folder, entry), what, result);
      return false;
    }
    struct statx now{};
    result = calls_.stat(from, "", now);
    if (result < 0) {
      problem(from_path(folder, entry), "look at", result);
      return false;
    }
    const bool changed = has_changed(file.attributes, now);
    if (!changed || attempt == kAttempts) {
      if (changed) problem(from_path(folder, entry), "changed while it was copied", 0);
      break;
    }
    file.attributes = now;
    result = calls_.truncate(to, 0);
    if (result < 0) {
      problem(to_path(folder, entry), "begin again", result);
      return false;
    }
  }
  keep_attributes(folder, entry, from, to, file.attributes, made, folder.inherits, worker);
  return true;
}

void CopyJob::copy_link(CopyFolder& folder, const CopyEntry& entry, const struct statx& attributes,
                        CopyWorker& worker) {
  std::array<char, PATH_MAX + 1> target;
  const FileId linked = attributes.stx_nlink > 1 ? id_of(attributes) : FileId{};
  long result = calls_.read_link(folder.from, entry.name.c_str(), target.data(), PATH_MAX);
  if (result < 0) {
    problem(from_path(folder, entry), "read the link", result);
    return withdraw(linked);
  }
  target[static_cast<std::size_t>(result)] = '\0';
  std::string temporary;
  const std::string name = new_name(folder, entry, temporary);
  result = calls_.make_link(target.data(), folder.to, name.c_str());
  if (result < 0) {
    problem(to_path(folder, entry), "create the link", result);
    return withdraw(linked);
  }
  keep_attributes_by_name(folder, entry, name, attributes, worker);
  if (!give_name(folder, entry, temporary)) return withdraw(linked);
  publish(folder, entry, temporary, linked);
  sync::Lock lock(mutex_);
  ++result_.links;
  ++progress_.files;
}

void CopyJob::copy_special(CopyFolder& folder, const CopyEntry& entry,
                           const struct statx& attributes, CopyWorker& worker) {
  const FileId linked = attributes.stx_nlink > 1 ? id_of(attributes) : FileId{};
  std::string temporary;
  const std::string name = new_name(folder, entry, temporary);
  const unsigned mode = (attributes.stx_mode & S_IFMT) | made_mode(attributes);
  const dev_t device = ::makedev(attributes.stx_rdev_major, attributes.stx_rdev_minor);
  const long result = calls_.make_node(folder.to, name.c_str(), mode, device);
  if (result < 0) {
    problem(to_path(folder, entry), "create the special file", result);
    return withdraw(linked);
  }
  keep_attributes_by_name(folder, entry, name, attributes, worker);
  if (!give_name(folder, entry, temporary)) return withdraw(linked);
  publish(folder, entry, temporary, linked);
  sync::Lock lock(mutex_);
  ++result_.special_files;
  ++progress_.files;
}

// A file that is whole, and verified if that was asked for.
void CopyJob::settle(CopyFolder& folder, CopiedFile& file) {
  const FileId linked = file.linked ? id_of(file.attributes) : FileId{};
  if (!give_name(folder, *file.entry, file.temporary)) return withdraw(linked);
  publish(folder, *file.entry, file.temporary, linked);
  sync::Lock lock(mutex_);
  ++result_.files;
  ++progress_.files;
  result_.bytes += file.bytes;
}

// Its own name for its temporary one: now, or after the sync. False: it cannot have it, and is
// removed.
bool CopyJob::give_name(CopyFolder& folder, const CopyEntry& entry, std::string& temporary) {
  if (temporary.empty()) return true;
  if (options_.durable) {
    folders_.add_work(folder);
    folders_.retain(folder);
    sync::Lock lock(mutex_);
    pending_.push_back({&folder, temporary, entry.target(), nullptr});
    return true;
  }
  const long result = calls_.rename(folder.to, temporary.c_str(), entry.target().c_str());
  if (result >= 0) {
    temporary.clear();
    return true;
  }
  problem(to_path(folder, entry), "rename", result);
  remove_half(folder, entry, temporary);
  return false;
}

}}}  // namespace handoff::HANDOFF_ABI::detail

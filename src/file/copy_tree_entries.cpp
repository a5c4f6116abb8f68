// SPDX-License-Identifier: MIT
//
// One entry of a directory that is no directory: a file, a link, a special file.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/sysmacros.h>

#include <array>
#include <utility>

#include "../sync/internal/seen_sanitizer.hpp"
#include "copy_tree_job.hpp"
#include "path.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

constexpr int kAttempts = 3;  // to read a file that changes meanwhile

bool is_file_type(unsigned char type, unsigned mode) noexcept {
  return type == (mode & S_IFMT) >> 12;
}

}  // namespace

// The first name of a file with several that is met. Others wait for it: unless the file that is
// made has its name in time, one of them is the first.
class CopyJob::FirstName {
 public:
  FirstName(CopyJob& job, const struct statx& attributes, CopyWorker& worker) noexcept
      : job_(job), id_(attributes.stx_nlink > 1 ? id_of(attributes) : FileId{}), worker_(worker) {}
  FirstName(const FirstName&) = delete;
  FirstName& operator=(const FirstName&) = delete;
  ~FirstName() { job_.withdraw(id_, worker_); }

  // It has it, or somebody else sees to that. FileId{} of a file with one name.
  FileId release() noexcept { return std::exchange(id_, FileId{}); }

 private:
  CopyJob& job_;
  FileId id_;
  CopyWorker& worker_;
};

// Reading leaves no trace where that is allowed, and waits for no FIFO.
long CopyJob::open_source(int in, const char* name, int flags) noexcept {
  const int all = flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  const long result = open(in, name, all | O_NOATIME);
  return result == -EPERM ? open(in, name, all) : result;
}

void CopyJob::copy_entry(CopyFolder& folder, const CopyEntry& entry, CopyWorker& worker,
                         std::vector<CopiedFile>& copied) {
  constexpr unsigned char file_type = S_IFREG >> 12;
  if (entry.type == file_type) {
    const OwnFile from(calls_.tap(), open_source(folder.from, entry.name.c_str(), O_RDONLY));
    if (from.get() == -ELOOP || from.get() == -ENXIO) {
      return problem(from_path(folder, entry), {"was replaced while it was copied"}, 0);
    }
    if (from.get() < 0) return problem(from_path(folder, entry), {"open"}, from.get());
    return copy_file(folder, entry, from.get(), worker, copied);
  }
  struct statx attributes{};
  const long result = calls_.stat(folder.from, entry.name.c_str(), attributes);
  if (result < 0) return problem(from_path(folder, entry), {"look at"}, result);
  if (!is_file_type(entry.type, attributes.stx_mode)) {
    return problem(from_path(folder, entry), {"was replaced while it was copied"}, 0);
  }
  if (!may_replace(folder, entry, attributes)) return;
  if (claim(folder, entry, attributes) != Claim::first) return;
  if (S_ISLNK(attributes.stx_mode)) return copy_link(folder, entry, attributes, worker);
  copy_special(folder, entry, attributes, worker);
}

// In a directory that was there: what the name stands for may be replaced. A device, FIFO or socket
// is only by one of its kind: a caller that names it as the destination means to write into it.
bool CopyJob::may_replace(CopyFolder& folder, const CopyEntry& entry,
                          const struct statx& attributes) {
  if (folder.made) return true;
  struct statx there{};
  const long result = calls_.stat(folder.to, entry.target().c_str(), there);
  if (result == -ENOENT) return true;
  const CopySpot spot = to_path(folder, entry);
  if (result < 0) return problem(spot, {"look at"}, result), false;
  if (id_of(there) == id_of(attributes)) return problem(spot, {"is the source itself"}, 0), false;
  if (S_ISDIR(there.stx_mode)) return problem(spot, {"is in the way"}, -EISDIR), false;
  const unsigned kind = there.stx_mode & S_IFMT;
  if (kind == S_IFREG || kind == S_IFLNK || kind == (attributes.stx_mode & S_IFMT)) return true;
  return problem(spot, {"is a device, FIFO or socket, and stays what it is"}, 0), false;
}

// Under which name it is made.
const std::string& CopyJob::new_name(CopyFolder& folder, const CopyEntry& entry,
                                     std::string& temporary) {
  if (folder.made) return entry.target();
  return temporary = temporary_name(entry.target());
}

void CopyJob::remove_half(CopyFolder& folder, const std::string& name) noexcept {
  const long result = calls_.unlink(folder.to, name.c_str());
  if (result < 0 && result != -ENOENT) {
    problem({&folder, name, true}, {"remove what is not whole"}, result);
  }
}

void CopyJob::copy_file(CopyFolder& folder, const CopyEntry& entry, int from, CopyWorker& worker,
                        std::vector<CopiedFile>& copied) {
  CopiedFile file{.entry = &entry};
  const long result = calls_.stat(from, "", file.attributes);
  if (result < 0) return problem(from_path(folder, entry), {"look at"}, result);
  if (!S_ISREG(file.attributes.stx_mode)) {
    return problem(from_path(folder, entry), {"was replaced while it was copied"}, 0);
  }
  if (!may_replace(folder, entry, file.attributes)) return;
  if (claim(folder, entry, file.attributes) != Claim::first) return;
  FirstName first(*this, file.attributes, worker);
  if (!write_file(folder, entry, from, worker, file)) return;
  file.first_of = first.release();  // settle() sees to it
  copied.push_back(std::move(file));  // there is room
}

// A new file with everything. What is not whole is removed, and false.
bool CopyJob::write_file(CopyFolder& folder, const CopyEntry& entry, int from, CopyWorker& worker,
                         CopiedFile& file) {
  const std::string& name = new_name(folder, entry, file.temporary);
  OwnFile to(calls_.tap(), open(folder.to, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
                                made_mode(folder, file.attributes)));
  if (to.get() < 0) return problem(to_path(folder, entry), {"create"}, to.get()), false;
  bool whole = false;
  call_safely(from_path(folder, entry),
              [&] { whole = fill_file(folder, entry, from, to.get(), worker, file); });
  const long closed = to.close();
  if (whole && closed < 0) problem(to_path(folder, entry), {"close"}, closed);
  whole = whole && closed >= 0;
  if (!whole) remove_half(folder, name);
  return whole;
}

bool CopyJob::fill_file(CopyFolder& folder, const CopyEntry& entry, int from, int to,
                        CopyWorker& worker, CopiedFile& file) {
  const CopySpot source = from_path(folder, entry);
  const CopySpot copy = to_path(folder, entry);
  struct statx made{};
  long result = calls_.stat(to, "", made);
  if (result < 0) return problem(copy, {"look at the copy"}, result), false;
  file.to_device = id_of(made).device;
  for (int attempt = 1;; ++attempt) {
    CopyWhat what;
    result = copy_contents(from, to, worker, file, what);
    if (result == -ECANCELED && cut_off()) return false;
    if (result < 0) return problem(what.in_copy ? copy : source, what, result), false;
    struct statx now{};
    result = calls_.stat(from, "", now);
    if (result < 0) return problem(source, {"look at"}, result), false;
    const bool changed = has_changed(file.attributes, now);
    if (!changed || attempt == kAttempts) {
      if (changed) problem(source, {"changed while it was copied"}, 0);
      break;
    }
    file.attributes = now;
    result = calls_.truncate(to, 0);
    if (result < 0) return problem(copy, {"begin again"}, result), false;
  }
  keep_attributes(source, copy, {from}, {to}, file.attributes, made, folder.inherits, worker);
  return true;
}

void CopyJob::copy_link(CopyFolder& folder, const CopyEntry& entry, const struct statx& attributes,
                        CopyWorker& worker) {
  FirstName first(*this, attributes, worker);
  std::array<char, PATH_MAX + 1> target;
  long result = calls_.read_link(folder.from, entry.name.c_str(), target.data(), PATH_MAX);
  if (result < 0) return problem(from_path(folder, entry), {"read the link"}, result);
  target[static_cast<std::size_t>(result)] = '\0';
  std::string temporary;
  const std::string& name = new_name(folder, entry, temporary);
  result = calls_.make_link(target.data(), folder.to, name.c_str());
  if (result < 0) return problem(to_path(folder, entry), {"create the link"}, result);
  settle_node(folder, entry, attributes, temporary, first, worker);
}

void CopyJob::copy_special(CopyFolder& folder, const CopyEntry& entry,
                           const struct statx& attributes, CopyWorker& worker) {
  FirstName first(*this, attributes, worker);
  std::string temporary;
  const std::string& name = new_name(folder, entry, temporary);
  const unsigned mode = (attributes.stx_mode & S_IFMT) | made_mode(folder, attributes);
  const dev_t device = ::makedev(attributes.stx_rdev_major, attributes.stx_rdev_minor);
  const long result = calls_.make_node(folder.to, name.c_str(), mode, device);
  if (result < 0) return problem(to_path(folder, entry), {"create the special file"}, result);
  settle_node(folder, entry, attributes, temporary, first, worker);
}

// Under the mutex.
std::uint64_t& CopyJob::count_of(const struct statx& attributes) noexcept {
  if (S_ISREG(attributes.stx_mode)) return result_.files;
  return S_ISLNK(attributes.stx_mode) ? result_.links : result_.special_files;
}

// A link or special file that was made.
void CopyJob::settle_node(CopyFolder& folder, const CopyEntry& entry,
                          const struct statx& attributes, std::string& temporary, FirstName& first,
                          CopyWorker& worker) noexcept {
  const FileRef copy{folder.to, (temporary.empty() ? entry.target() : temporary).c_str()};
  struct statx made{};
  const long result = calls_.stat(copy.file, copy.name, made);
  if (result < 0) {
    problem(to_path(folder, entry), {"look at the copy"}, result);
  } else {
    keep_attributes(from_path(folder, entry), to_path(folder, entry),
                    {folder.from, entry.name.c_str()}, copy, attributes, made, folder.inherits,
                    worker);
  }
  if (!give_name(folder, entry, temporary)) return;
  publish(folder, entry, temporary, first.release(), worker);
  sync::SeenLock lock(mutex_);
  ++count_of(attributes);
}

// A file that is whole, and verified if that was asked for.
void CopyJob::settle(CopyFolder& folder, CopiedFile& file, CopyWorker& worker) noexcept {
  if (!give_name(folder, *file.entry, file.temporary)) return withdraw(file.first_of, worker);
  publish(folder, *file.entry, file.temporary, file.first_of, worker);
  sync::SeenLock lock(mutex_);
  ++result_.files;
  result_.bytes += file.bytes;
}

// Its own name for its temporary one: now, or after the sync. False: it cannot have it, and is
// removed.
bool CopyJob::give_name(CopyFolder& folder, const CopyEntry& entry,
                        std::string& temporary) noexcept {
  if (temporary.empty()) return true;
  long result = 0;
  if (options_.durable) {
    const auto note = [&] {
      Pending pending{&folder, temporary, entry.target(), nullptr};
      sync::SeenLock lock(mutex_);
      pending_.push_back(std::move(pending));
    };
    if (attempt(note)) {
      folders_.add_work(folder);
      folders_.retain(folder);
      return true;
    }
    result = -ENOMEM;
  } else {
    result = calls_.rename(folder.to, temporary.c_str(), entry.target().c_str());
    if (result >= 0) {
      temporary.clear();
      return true;
    }
  }
  problem(to_path(folder, entry), {"rename"}, result);
  remove_half(folder, temporary);
  return false;
}

}}}  // namespace handoff::HANDOFF_ABI::detail

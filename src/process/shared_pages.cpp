// SPDX-License-Identifier: MIT
//
// Files in memory: made, named, reserved, sealed, checked.
#include "shared_pages.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <handoff/core/internal/plain_text.hpp>
#include <utility>

#include "../sync/internal/file_limit.hpp"
#include "memory_left.hpp"

// Newer than some headers.
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

constexpr std::uint64_t kSharedPage = 4096;  // the header's; the system's may be larger
constexpr std::size_t kSharedNameMost = 255;
constexpr int kSharedSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

SharedFailure call_failed(const char* step, const char* why = "") noexcept {
  return {.step = step, .error = errno, .why = why};
}
// Until it was not interrupted.
template <class Call>
auto uninterrupted(const Call& call) noexcept {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

SharedFailure check_named(const FileFacts& facts) noexcept {
  if (!S_ISREG(facts.mode)) return {"owner", EPROTO, "what has the name is no memory"};
  if (facts.owner != ::geteuid()) {
    return {"owner", EACCES, "what has the name is another user's"};
  }
  if ((facts.mode & 07777U & ~0600U) != 0) {
    return {"owner", EACCES, "what has the name is open to other users"};
  }
  if (facts.links == 0) return {"owner", ENOENT, "the name was removed meanwhile"};
  if (facts.links != 1) return {"owner", EACCES, "what has the name has another one too"};
  return {};
}

}  // namespace

std::uint64_t page_size() noexcept {
  const long page = ::sysconf(_SC_PAGESIZE);
  return page < 0 ? kSharedPage : std::max(kSharedPage, static_cast<std::uint64_t>(page));
}

Pages::Pages(Pages&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
Pages& Pages::operator=(Pages&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}
Pages::~Pages() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
}

SharedFailure Pages::map(int file, std::size_t bytes, bool writable) noexcept {
  void* const memory =
      ::mmap(nullptr, bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) {
    const bool denied = writable && (errno == EACCES || errno == EPERM);
    return call_failed("mmap", denied ? "it can be mapped for reading only" : "");
  }
  data_ = static_cast<std::byte*>(memory);
  bytes_ = bytes;
  return {};
}

SharedFailure facts_of(int file, FileFacts& facts) noexcept {
  struct stat now{};
  if (::fstat(file, &now) != 0) return call_failed("fstat");
  facts = {.device = static_cast<std::uint64_t>(now.st_dev),
           .number = static_cast<std::uint64_t>(now.st_ino),
           .bytes = now.st_size < 0 ? 0 : static_cast<std::uint64_t>(now.st_size),
           .links = static_cast<std::uint64_t>(now.st_nlink),
           .page = static_cast<std::uint64_t>(std::max<blksize_t>(now.st_blksize, 0)),
           .owner = now.st_uid,
           .mode = now.st_mode};
  return {};
}

SharedFailure make_unnamed(bool huge, Descriptor& file, FileFacts& facts) noexcept {
  const int number = descriptors::of_memory("handoff", huge ? MFD_HUGETLB : 0U);
  if (number < 0) return call_failed("memfd_create", "memory without a name cannot be had here");
  file = Descriptor(number);
  // Another user that is given a descriptor for reading must not open it anew for writing.
  if (::fchmod(number, 0600) != 0) return call_failed("fchmod");
  return facts_of(number, facts);
}

SharedFailure make_named(const std::string& name, Descriptor& file, FileFacts& facts) noexcept {
  const int number = uninterrupted([&] {
    return descriptors::of_shared_file(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
  });
  if (number < 0) return call_failed("shm_open", errno == EEXIST ? "the name is taken" : "");
  file = Descriptor(number);
  if (const SharedFailure failure = facts_of(number, facts)) {
    ::shm_unlink(name.c_str());  // made a moment ago, and cannot be compared
    return failure;
  }
  // The lock ends with this process and those that it forks: remove_left_behind() asks for it.
  SharedFailure failure;
  if (::fchmod(number, 0600) != 0) {
    failure = call_failed("fchmod");
  } else if (::flock(number, LOCK_EX | LOCK_NB) != 0) {
    failure = call_failed("flock");
  } else {
    failure = facts_of(number, facts);
  }
  if (!failure && facts.links == 0) {
    failure = {"shm_open", ENOENT, "the name was removed meanwhile"};
  }
  if (failure) remove_named(name.c_str(), facts);
  return failure;
}

SharedFailure open_named(const std::string& name, bool writable, Descriptor& file,
                         FileFacts& facts) noexcept {
  // O_NONBLOCK: not to wait for the other end of a FIFO.
  const int flags = (writable ? O_RDWR : O_RDONLY) | O_NOFOLLOW | O_NONBLOCK;
  const int number =
      uninterrupted([&] { return descriptors::of_shared_file(name.c_str(), flags); });
  if (number < 0) {
    if (errno == ELOOP) return call_failed("shm_open", "what has the name is a link");
    return call_failed("shm_open", errno == EACCES ? "what has the name is another user's" : "");
  }
  file = Descriptor(number);
  if (const SharedFailure failure = facts_of(number, facts)) return failure;
  return check_named(facts);
}

void remove_named(const char* name, const FileFacts& facts) noexcept {
  const Descriptor file(descriptors::of_shared_file(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  FileFacts now;
  if (!file.is_open() || facts_of(file.get(), now)) return;
  if (now.device == facts.device && now.number == facts.number) ::shm_unlink(name);
}

SharedFailure remove_left_behind(const std::string& name, int file) noexcept {
  if (::flock(file, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return {"flock", EBUSY, "its creator has it still"};
    return call_failed("flock");
  }
  FileFacts facts;
  if (const SharedFailure failure = facts_of(file, facts)) return failure;
  remove_named(name.c_str(), facts);
  return {};
}

SharedFailure set_size(int file, std::uint64_t bytes, PageKind kind) noexcept {
  if (bytes > most_file_bytes()) {
    return {"ftruncate", EFBIG, "this process may not make a file as large (RLIMIT_FSIZE)"};
  }
  if (kind != PageKind::huge && !is_memory_there(bytes)) {
    // The kernel would take pages as long as there are some, and then kill a process.
    return {"size", ENOMEM, "the system, or a cgroup of this process, has not so much memory left"};
  }
  if (uninterrupted([&] { return ::ftruncate(file, static_cast<off_t>(bytes)); }) != 0) {
    return call_failed("ftruncate");
  }
  return {};
}

// In parts, which an interruption makes smaller: the kernel takes back all of a call that it
// interrupts, and a timer must not keep it from ever getting there.
SharedFailure reserve_pages(int file, std::uint64_t bytes) noexcept {
  std::uint64_t part = std::uint64_t{64} << 20U;
  for (std::uint64_t done = 0; done < bytes;) {
    const std::uint64_t now = std::min(part, bytes - done);
    if (::fallocate(file, 0, static_cast<off_t>(done), static_cast<off_t>(now)) == 0) {
      done += now;
    } else if (errno == EINTR) {
      part = std::max(part / 2, std::uint64_t{64} << 10U);
    } else {
      return call_failed("fallocate", "there is not so much memory to be had");
    }
  }
  return {};
}

SharedFailure fill_file(int file, std::uint64_t bytes, PageKind kind, Pages& pages) noexcept {
  if (const SharedFailure failure = set_size(file, bytes, kind)) return failure;
  if (const SharedFailure failure = pages.map(file, static_cast<std::size_t>(bytes), true)) {
    return failure;
  }
  if (kind == PageKind::huge_if_possible) {
    // A page becomes a huge one when it is first touched. Where this is refused, they are small.
    ask_for_huge(pages);
    ::madvise(pages.data(), pages.size(), MADV_POPULATE_WRITE);
  }
  return reserve_pages(file, bytes);
}

void ask_for_huge(const Pages& pages) noexcept {
  ::madvise(pages.data(), pages.size(), MADV_HUGEPAGE);
}

SharedFailure seal(int file, bool for_reading) noexcept {
  if (::fcntl(file, F_ADD_SEALS, kSharedSeals | (for_reading ? F_SEAL_FUTURE_WRITE : 0)) != 0) {
    return call_failed("seals");
  }
  return {};
}

SharedFailure check_seals(int file) noexcept {
  const int seals = ::fcntl(file, F_GET_SEALS);
  if (seals < 0) return {"seals", EPROTO, "it is no memory that can be sealed"};
  if ((seals & kSharedSeals) != kSharedSeals) {
    return {"seals", EPROTO, "its size is not sealed: another process could cut it short"};
  }
  return {};
}

SharedFailure read_header(int file, SharedHeaderCopy& header) noexcept {
  constexpr off_t ready_at = offsetof(SharedHeaderCopy, ready);
  const ssize_t ready =
      uninterrupted([&] { return ::pread(file, &header.ready, sizeof header.ready, ready_at); });
  if (ready < 0) return call_failed("pread");
  const ssize_t words =
      uninterrupted([&] { return ::pread(file, &header.words, sizeof header.words, 0); });
  if (words < 0) return call_failed("pread");
  if (ready != sizeof header.ready || words != sizeof header.words) {
    return {"header", EPROTO, "it ends within its first page"};
  }
  return {};
}

SharedFailure reopen_for_reading(int file, int& reopened) noexcept {
  std::array<char, 32> path{"/proc/self/fd/"};  // and a number, and a zero
  char* const number_at = path.data() + std::strlen(path.data());
  std::to_chars(number_at, path.data() + path.size() - 1, file);
  const int number = uninterrupted([&] { return descriptors::of_file(path.data(), O_RDONLY); });
  if (number < 0) return call_failed("open", "/proc cannot be used here");
  reopened = number;
  return {};
}

SharedFailure duplicate(int file, Descriptor& copy) noexcept {
  const int number = descriptors::copy_of(file);
  if (number < 0)
    return call_failed("fcntl", "it is no descriptor, or there can be no more of them");
  copy = Descriptor(number);
  return {};
}

bool is_shared_name(const std::string& name) noexcept {
  if (name.size() < 2 || name.size() > kSharedNameMost || name.front() != '/') return false;
  if (name == "/." || name == "/.." || name.find('/', 1) != std::string::npos) return false;
  return is_plain(name);  // it is shown in lines of text
}

}}}  // namespace handoff::HANDOFF_ABI::detail

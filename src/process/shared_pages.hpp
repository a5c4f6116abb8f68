// SPDX-License-Identifier: MIT
//
// The system's part of shared memory: files in memory, their seals, their pages. Each step says
// which call failed; none throws, and none leaves anything behind.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <handoff/config.hpp>
#include <string>

#include "../sync/internal/descriptor.hpp"
#include "shared_header.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// A mapping that ends with its owner.
class Pages {
 public:
  Pages() noexcept = default;
  Pages(Pages&& other) noexcept;
  Pages& operator=(Pages&& other) noexcept;
  ~Pages();

  SharedFailure map(int file, std::size_t bytes, bool writable) noexcept;
  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// What fstat says.
struct FileFacts {
  std::uint64_t device = 0;
  std::uint64_t number = 0;
  std::uint64_t bytes = 0;
  std::uint64_t links = 0;
  std::uint64_t page = 0;  // the size of its pages, if they are huge ones
  uid_t owner = 0;
  mode_t mode = 0;
};
SharedFailure facts_of(int file, FileFacts& facts) noexcept;

// A new file without a name; `huge`: of huge pages.
SharedFailure make_unnamed(bool huge, Descriptor& file, FileFacts& facts) noexcept;
// A new file with a name that nothing had, locked for as long as its creator lives.
SharedFailure make_named(const std::string& name, Descriptor& file, FileFacts& facts) noexcept;
std::uint64_t page_size() noexcept;
// One that has this name, of this user and for this user only.
SharedFailure open_named(const std::string& name, bool writable, Descriptor& file,
                         FileFacts& facts) noexcept;
// Takes the name away if it is still this file's.
void remove_named(const char* name, const FileFacts& facts) noexcept;
// Takes the name away unless the creator lives.
SharedFailure remove_left_behind(const std::string& name, int file) noexcept;

enum class PageKind : std::uint8_t {
  usual,
  huge_if_possible,  // the system is asked for huge ones
  huge,  // of a pool of their own
};
// The new file's size. More than the limits of this process, or than the system has, is refused.
SharedFailure set_size(int file, std::uint64_t bytes, PageKind kind) noexcept;
// Each page of the file has its place in memory afterwards.
SharedFailure reserve_pages(int file, std::uint64_t bytes) noexcept;
// Both, and maps the file in between: only then can its pages become huge ones.
SharedFailure fill_file(int file, std::uint64_t bytes, PageKind kind, Pages& pages) noexcept;
void ask_for_huge(const Pages& pages) noexcept;
// Nobody changes its size from now on; `for_reading`: nor maps it for writing.
SharedFailure seal(int file, bool for_reading) noexcept;
SharedFailure check_seals(int file) noexcept;

// The ready word first, then the rest.
SharedFailure read_header(int file, SharedHeaderCopy& header) noexcept;
SharedFailure reopen_for_reading(int file, int& reopened) noexcept;
SharedFailure duplicate(int file, Descriptor& copy) noexcept;

// Whether a file may have this name.
bool is_shared_name(const std::string& name) noexcept;

}}}  // namespace handoff::HANDOFF_ABI::detail

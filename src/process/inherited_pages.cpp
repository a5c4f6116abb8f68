// SPDX-License-Identifier: MIT
#include "inherited_pages.hpp"

#include <errno.h>
#include <sys/mman.h>

#include "memory_left.hpp"
#include "shared_pages.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

int InheritedPages::take(std::size_t bytes, int flags, int file) noexcept {
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | flags, file, 0);
  if (memory == MAP_FAILED) return errno;
  memory_ = memory;
  bytes_ = bytes;
  next_ = static_cast<char*>(memory);
  return 0;
}

int InheritedPages::map(std::size_t bytes) noexcept {
  if (!is_memory_there(bytes)) return ENOMEM;
  if (const int error = take(bytes, MAP_ANONYMOUS, -1); error != 0) return error;
  // Lack of memory is an error here, and no signal later. Older kernels do not know the call: there
  // the writes of place() take the first pages.
  if (::madvise(memory_, bytes, MADV_POPULATE_WRITE) != 0 && errno != EINVAL) return errno;
  return 0;
}

int InheritedPages::map_file(std::size_t bytes, Descriptor& file) noexcept {
  FileFacts facts;
  if (const SharedFailure failure = make_unnamed(false, file, facts)) return failure.error;
  if (const SharedFailure failure = set_size(file.get(), bytes, PageKind::usual)) {
    return failure.error;
  }
  if (const SharedFailure failure = reserve_pages(file.get(), bytes)) return failure.error;
  if (const SharedFailure failure = seal(file.get(), false)) return failure.error;
  return attach(file.get(), bytes);
}

int InheritedPages::attach(int file, std::size_t bytes) noexcept {
  FileFacts facts;
  if (const SharedFailure failure = facts_of(file, facts)) return failure.error;
  if (const SharedFailure failure = check_seals(file)) return failure.error;
  return facts.bytes != bytes ? EPROTO : take(bytes, MAP_POPULATE, file);
}

InheritedPages::~InheritedPages() {
  if (memory_ != nullptr) ::munmap(memory_, bytes_);
}

}}}  // namespace handoff::HANDOFF_ABI::detail

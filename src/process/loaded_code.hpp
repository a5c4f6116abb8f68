// SPDX-License-Identifier: MIT
//
// The code of the program at one moment: a kernel outside of it is in no worker that was forked
// then.
#pragma once

#include <link.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <handoff/config.hpp>
#include <vector>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class LoadedCode {
 public:
  LoadedCode() { ::dl_iterate_phdr(&LoadedCode::add, this); }

  bool has(std::uintptr_t address) const noexcept {
    return std::any_of(segments_.begin(), segments_.end(), [address](const Segment& segment) {
      return address - segment.first < segment.bytes;
    });
  }

 private:
  struct Segment {
    std::uintptr_t first;
    std::uintptr_t bytes;
  };

  static int add(dl_phdr_info* info, std::size_t, void* self) {
    for (std::size_t i = 0; i < info->dlpi_phnum; ++i) {
      const ElfW(Phdr)& header = info->dlpi_phdr[i];
      if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
      static_cast<LoadedCode*>(self)->segments_.push_back(
          {info->dlpi_addr + header.p_vaddr, header.p_memsz});
    }
    return 0;
  }

  std::vector<Segment> segments_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail

// SPDX-License-Identifier: MIT
#include "copy_tree_count.hpp"

#include <dirent.h>
#include <fcntl.h>

#include <handoff/core/internal/attempt.hpp>
#include <memory>
#include <string_view>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

CopyCount::CopyCount(CopyJob& job, const std::vector<std::string>& from, std::size_t deepest)
    : job_(job), from_(from), deepest_(deepest) {
  (void)attempt([&] {
    thread_ = sync::Thread({.name = "copy-count"}, [this]() noexcept { count(); });
  });  // then there is no estimate
}

CopyCount::~CopyCount() {
  over_.request_stop();
  thread_.join();
}

void CopyCount::count() noexcept {
  const auto all = [this] {
    for (const std::string& source : from_) {
      struct statx attributes{};
      if (calls_.stat(AT_FDCWD, source.c_str(), attributes) != 0) continue;
      if (!S_ISDIR(attributes.stx_mode)) {
        add(attributes);
        continue;
      }
      const OwnFile folder(calls_.tap(),
                           calls_.open(AT_FDCWD, source.c_str(), O_RDONLY | O_DIRECTORY));
      if (folder.get() >= 0) count_below(folder.get(), 0);
    }
    if (!over_.stop_requested()) job_.counted(files_, bytes_, true);
  };
  (void)attempt(all);  // no memory, no estimate
}

void CopyCount::add(const struct statx& attributes) {
  if (!S_ISREG(attributes.stx_mode)) return;
  ++files_;
  const bool is_first = attributes.stx_nlink < 2 || linked_.insert(id_of(attributes)).second;
  if (is_first) bytes_ += attributes.stx_size;
  constexpr std::uint64_t often = 256;
  if (files_ % often == 0) job_.counted(files_, bytes_, false);
}

void CopyCount::count_below(int folder, std::size_t depth) {
  const auto buffer = std::make_unique<std::byte[]>(CopyWorker::buffer_bytes);
  for (;;) {
    const long bytes = calls_.entries(folder, buffer.get(), CopyWorker::buffer_bytes);
    if (bytes <= 0) return;
    for (long at = 0; at < bytes;) {
      const auto* const one = reinterpret_cast<const dirent64*>(buffer.get() + at);
      at += one->d_reclen;
      const std::string_view name(one->d_name);
      if (name == "." || name == "..") continue;
      if (over_.stop_requested()) return;
      struct statx attributes{};
      if (calls_.stat(folder, one->d_name, attributes) != 0) continue;
      if (!S_ISDIR(attributes.stx_mode)) {
        add(attributes);
      } else if (depth < deepest_) {
        const OwnFile below(calls_.tap(), calls_.open(folder, one->d_name, kOpenFolder));
        if (below.get() >= 0) count_below(below.get(), depth + 1);
      }
    }
  }
}

}}}  // namespace handoff::HANDOFF_ABI::detail

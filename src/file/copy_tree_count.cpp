// SPDX-License-Identifier: MIT
#include "copy_tree_count.hpp"

#include <dirent.h>
#include <fcntl.h>

#include <exception>
#include <memory>
#include <string_view>
#include <system_error>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

constexpr int kDeepest = 64;  // one descriptor each

}  // namespace

CopyCount::CopyCount(CopyJob& job, const std::vector<std::string>& from) : job_(job), from_(from) {
  try {
    thread_ = sync::Thread({.name = "copy-count"}, [this]() noexcept { count(); });
  } catch (const std::system_error&) {  // then there is no estimate
  }
}

CopyCount::~CopyCount() {
  over_.request_stop();
  thread_.join();
}

void CopyCount::count() noexcept {
  try {
    for (const std::string& source : from_) {
      struct statx attributes{};
      if (calls_.stat(AT_FDCWD, source.c_str(), attributes) != 0) continue;
      if (!S_ISDIR(attributes.stx_mode)) {
        add(attributes);
        continue;
      }
      const long folder = calls_.open(AT_FDCWD, source.c_str(), O_RDONLY | O_DIRECTORY);
      if (folder < 0) continue;
      count_below(static_cast<int>(folder), 0);
      calls_.close(static_cast<int>(folder));
    }
    if (!over_.stop_requested()) job_.counted(files_, bytes_, true);
  } catch (const std::exception&) {  // no memory, no estimate
  }
}

void CopyCount::add(const struct statx& attributes) {
  ++files_;
  if (S_ISREG(attributes.stx_mode)) bytes_ += attributes.stx_size;
  constexpr std::uint64_t often = 256;
  if (files_ % often == 0) job_.counted(files_, bytes_, false);
}

void CopyCount::count_below(int folder, int depth) {
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
      } else if (depth < kDeepest) {
        const long below = calls_.open(folder, one->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
        if (below < 0) continue;
        count_below(static_cast<int>(below), depth + 1);
        calls_.close(static_cast<int>(below));
      }
    }
  }
}

}}}  // namespace handoff::HANDOFF_ABI::detail

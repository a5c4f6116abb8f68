// SPDX-License-Identifier: MIT
#include "rank_checkpoint.hpp"

#include <errno.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <handoff/core/misuse.hpp>
#include <handoff/file/append_log_reader.hpp>
#include <system_error>

#include "../core/internal/call_failed.hpp"
#include "block_plan.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

// The first record.
struct Title {
  std::array<char, 16> words{"handoff ranks 1"};
  RankCheckpoint::Input input;
};

AppendLogOptions log_options(const RankCheckpoint::Input& input) {
  AppendLogOptions options;
  options.max_record_bytes =
      std::max<std::uint64_t>(options.max_record_bytes, sizeof(IndexRange) + input.bytes_per_index);
  return options;
}

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  raise(call_failed(EINVAL, "checkpoint " + path + ": " + why));
}

}  // namespace

RankCheckpoint::RankCheckpoint(const std::string& path, const Input& input,
                               std::span<std::byte> results)
    : path_(path), input_(input) {
  if (!std::filesystem::exists(path)) {
    const std::string unfinished = path + ".unfinished";
    {
      AppendLog log(unfinished, log_options(input));
      const Title title{.input = input};
      if (log.last() == 0) (void)log.append(std::as_bytes(std::span(&title, 1))).value();
      log.flush().check();
    }
    std::filesystem::rename(unfinished, path);
  }
  check_first_record();
  log_ = std::make_unique<AppendLog>(path, log_options(input));
  read(results);
}

// Before the log is opened for writing, which removes a torn end.
void RankCheckpoint::check_first_record() {
  AppendLogReader reader(path_);
  AppendLogRecord record;
  Title title;
  const Title wanted;
  if (!reader.next(record)) {
    refuse(path_, "its beginning is missing: it is truncated, or no checkpoint");
  }
  if (record.bytes.size() != sizeof title) refuse(path_, "it is no checkpoint of a RankTeam");
  std::memcpy(&title, record.bytes.data(), sizeof title);
  if (title.words != wanted.words) refuse(path_, "it is no checkpoint of a RankTeam");
  const auto differs = [&](const char* what, std::uint64_t is, std::uint64_t should) {
    if (is == should) return;
    refuse(path_, std::string("it belongs to a run with another ") + what + " (" +
                      std::to_string(is) + ", and here " + std::to_string(should) +
                      "): give another path, or remove it");
  };
  differs("number of indices", title.input.count, input_.count);
  differs("number of bytes for each index", title.input.bytes_per_index, input_.bytes_per_index);
  differs("input", title.input.digest, input_.digest);
}

void RankCheckpoint::read(std::span<std::byte> results) {
  std::vector<IndexRange> found;
  AppendLogReader reader(path_, {.from = 2});
  for (AppendLogRecord record; reader.next(record);) {
    IndexRange range;
    if (record.bytes.size() >= sizeof range) std::memcpy(&range, record.bytes.data(), sizeof range);
    const std::span<const std::byte> data =
        record.bytes.subspan(std::min(sizeof range, record.bytes.size()));
    if (range.empty() || range.last > input_.count || range.first > range.last ||
        data.size() != range.size() * input_.bytes_per_index) {
      refuse(path_, "record " + std::to_string(record.sequence) + " is damaged");
    }
    if (!data.empty()) {
      std::memcpy(results.data() + range.first * input_.bytes_per_index, data.data(), data.size());
    }
    found.push_back(range);
  }
  std::sort(found.begin(), found.end(),
            [](IndexRange a, IndexRange b) { return a.first < b.first; });
  std::size_t next = 0;
  for (const IndexRange range : found) {
    if (range.first > next) left_.push_back({next, range.first});
    next = std::max(next, range.last);
  }
  if (next < input_.count) left_.push_back({next, input_.count});
}

// In records of a MiB, or of one index: no longer than the log takes.
void RankCheckpoint::record(IndexRange range, const std::byte* results) {
  const std::size_t most = largest_block(std::max<std::uint64_t>(input_.bytes_per_index, 1));
  while (!range.empty()) {
    const IndexRange part{range.first, std::min(range.first + most, range.last)};
    const std::size_t bytes = part.size() * input_.bytes_per_index;
    record_.resize(sizeof part + bytes);
    std::memcpy(record_.data(), &part, sizeof part);
    if (bytes != 0) std::memcpy(record_.data() + sizeof part, results, bytes);
    // A failure is final: that of any record tells.
    if (written_ && written_->is_ready()) written_->get().check();
    written_ = log_->append_async(record_);
    results += bytes;
    range.first = part.last;
  }
}

bool RankCheckpoint::flush(const Until& until) {
  const AppendResult result = log_->flush(until);
  if (result.failure().error == ETIME) return false;
  result.check();
  return true;
}

}}}  // namespace handoff::HANDOFF_ABI::detail

// SPDX-License-Identifier: MIT
#include <handoff/file/append_log_reader.hpp>

#include <algorithm>
#include <cerrno>
#include <handoff/core/misuse.hpp>
#include <handoff/file/file_result.hpp>
#include <utility>
#include <vector>

#include "append_log_format.hpp"
#include "append_log_scan.hpp"
#include "file_call.hpp"
#include "path.hpp"

namespace handoff { inline namespace HANDOFF_ABI {
namespace detail {
namespace {

constexpr const char* kTrimmed = "the records from there on were trimmed";

}  // namespace

class AppendLogReading {
 public:
  AppendLogReading(std::string directory, const AppendLogReaderOptions& options);
  bool next(AppendLogRecord& record);

 private:
  // What is known of the end that was found.
  enum class Look : std::uint8_t {
    first,   // by what was read before it, maybe long ago
    second,  // read after the segments were listed
    third,   // read after the proof was found that it is none
  };

  void list();
  bool begin();
  void open_segment(std::uint64_t first);
  bool look_again();
  [[noreturn]] void fail(int error, const char* call, std::uint64_t first, std::uint64_t offset,
                         const char* step = "") const;
  [[noreturn]] void fail(int error, const char* call, const char* step) const;

  const std::string directory_;
  const std::uint64_t from_;
  FileTap* const tap_;
  OwnFile directory_file_;
  OwnFile segment_;
  bool begun_ = false;       // a segment is open
  std::uint64_t first_ = 0;  // of it
  std::uint64_t log_ = 0;
  AppendLogScan scan_;
  Look look_ = Look::first;
  std::vector<std::uint64_t> segments_;  // as listed last
};

AppendLogReading::AppendLogReading(std::string directory, const AppendLogReaderOptions& options)
    : directory_(std::move(directory)),
      from_(options.from),
      tap_(options.tap),
      directory_file_(tap_),
      segment_(tap_),
      scan_(tap_) {
  if (directory_.empty()) fail(ENOENT, "", kNoFolder);
  if (has_zero_byte(directory_)) fail(EINVAL, "", kZeroByte);
  const int error = directory_file_.open({.kind = FileCallKind::open,
                                          .path = directory_.c_str(),
                                          .flags = O_RDONLY | O_DIRECTORY | O_NONBLOCK});
  if (error != 0) fail(error, "open", error == ENOENT ? "no such folder" : "open the folder");
  begun_ = begin();
}

void AppendLogReading::fail(int error, const char* call, std::uint64_t first, std::uint64_t offset,
                            const char* step) const {
  raise(FileFailure{.error = error,
                    .call = call,
                    .step = step,
                    .owner = "AppendLogReader",
                    .file = directory_ + "/" + segment_name(first).data(),
                    .offset = offset}
            .exception());
}
void AppendLogReading::fail(int error, const char* call, const char* step) const {
  raise(FileFailure{
      .error = error, .call = call, .step = step, .owner = "AppendLogReader", .file = directory_}
            .exception());
}

void AppendLogReading::list() {
  const int error = list_segments(directory_file_.get(), segments_, tap_);
  if (error != 0) fail(error, "getdents64", "list the segments");
}

// The segment with `from_` in it; false: there is none yet.
bool AppendLogReading::begin() {
  list();
  if (segments_.empty()) return false;
  if (from_ != 0 && from_ < segments_.front())
    fail(ENODATA, "", "the record that `from` names was trimmed");
  const auto above =
      std::upper_bound(segments_.begin(), segments_.end(), std::max(from_, segments_.front()));
  open_segment(*(above - 1));
  return true;
}

void AppendLogReading::open_segment(std::uint64_t first) {
  OwnFile file(tap_);
  const int error = file.open({.kind = FileCallKind::open,
                               .descriptor = directory_file_.get(),
                               .path = segment_name(first).data(),
                               .flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK});
  if (error == ENOENT) fail(ENODATA, "", first, 0, kTrimmed);
  if (error != 0) fail(error, "open", first, 0);
  AppendLogScan scan(tap_);
  switch (scan.begin(file.get(), first)) {
    case AppendLogScan::Header::whole: break;
    case AppendLogScan::Header::damaged: fail(EBADMSG, "header", first, 0, "its header is damaged");
    case AppendLogScan::Header::failed: fail(scan.error(), scan.call(), first, 0);
  }
  if (begun_ && scan.log() != log_) fail(EBADMSG, "header", first, 0, "it is of another log");
  log_ = scan.log();
  first_ = first;
  segment_.swap(file);
  scan_ = std::move(scan);
  look_ = Look::first;
}

bool AppendLogReading::next(AppendLogRecord& record) {
  if (!begun_) begun_ = begin();
  if (!begun_) return false;
  for (;;) {
    switch (scan_.next()) {
      case AppendLogScan::Found::failed: fail(scan_.error(), scan_.call(), first_, scan_.offset());
      case AppendLogScan::Found::end:
        if (!look_again()) return false;
        continue;
      case AppendLogScan::Found::head: look_ = Look::first; continue;
      case AppendLogScan::Found::record: break;
    }
    look_ = Look::first;
    if (scan_.sequence() < from_) continue;
    record = {.sequence = scan_.sequence(), .bytes = scan_.record()};
    return true;
  }
}

// At an end. True: there may be more, look again. False: nothing is there at the moment.
bool AppendLogReading::look_again() {
  if (look_ == Look::third) fail(EBADMSG, "checksum", first_, scan_.offset(), "damaged");
  if (look_ == Look::first) {
    list();
    look_ = Look::second;
    scan_.forget();
    return true;
  }
  look_ = Look::first;
  const auto newer = std::upper_bound(segments_.begin(), segments_.end(), first_);
  if (newer != segments_.end()) {
    // No writer changes this segment any more: its records end where the next one's begin.
    if (*newer == scan_.next_sequence()) {
      open_segment(*newer);
      return true;
    }
    const bool is_there = newer != segments_.begin() && *(newer - 1) == first_;
    if (!is_there) fail(ENODATA, "", first_, scan_.offset(), kTrimmed);
    fail(EBADMSG, "checksum", first_, scan_.offset(), "damaged, or the next segment is missing");
  }
  const bool damaged = scan_.proves_damage();
  if (scan_.error() != 0) fail(scan_.error(), scan_.call(), first_, scan_.offset());
  scan_.forget();
  if (!damaged) return false;
  look_ = Look::third;
  return true;
}

}  // namespace detail

AppendLogReader::AppendLogReader(std::string directory, const AppendLogReaderOptions& options)
    : reading_(std::make_unique<detail::AppendLogReading>(std::move(directory), options)) {}
AppendLogReader::~AppendLogReader() = default;

bool AppendLogReader::next(AppendLogRecord& record) { return reading_->next(record); }

}}  // namespace handoff::HANDOFF_ABI

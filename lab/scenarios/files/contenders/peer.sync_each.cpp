// SPDX-License-Identifier: MIT
// What people write first: each record is written and synced under a mutex.
#include <mutex>

#include "scenarios/files/blocking.hpp"

namespace handoff::lab::files {
namespace {

class SyncEach final : public Way {
 public:
  void open_log(const Log& log) override {
    durable_ = log.durable;
    path_ = log.folder + "/log";
    file_ = std::make_unique<Descriptor>(path_, O_WRONLY | O_CREAT | O_EXCL | O_APPEND);
    end_ = 0;
  }
  void append_one(std::size_t /*thread*/, const Record& record) override {
    const std::lock_guard lock(mutex_);
    write_at(file_->number(), record, end_, path_);
    end_ += record.size();
    if (durable_ && fdatasync(file_->number()) != 0) fail("syncing", path_, errno);
  }
  void close_log() override { file_.reset(); }
  std::vector<Record> read_back(const Log& /*log*/) override {
    const Descriptor file(path_, O_RDONLY);
    std::vector<Record> records(end_ / kRecord);
    for (std::size_t i = 0; i < records.size(); ++i) {
      read_at(file.number(), records[i], i * kRecord, path_);
    }
    return records;
  }

 private:
  std::mutex mutex_;
  std::string path_;
  std::unique_ptr<Descriptor> file_;
  std::uint64_t end_ = 0;
  bool durable_ = true;
};

}  // namespace

std::unique_ptr<Way> contender(const Task& /*task*/) { return std::make_unique<SyncEach>(); }

}  // namespace handoff::lab::files

// SPDX-License-Identifier: MIT
// The library's AppendLog: threads that wait at the same time share one write and one sync.
#include <handoff/file/append_log.hpp>
#include <handoff/file/append_log_reader.hpp>

#include "scenarios/files/contender.hpp"

namespace handoff::lab::files {
namespace {

class OwnLog final : public Way {
 public:
  void open_log(const Log& log) override {
    AppendLogOptions options;
    if (!log.durable) options.sync = AppendLogSync::on_request;
    log_ = std::make_unique<AppendLog>(log.folder + "/log", options);
  }
  void append_one(std::size_t /*thread*/, const Record& record) override {
    log_->append(record).check();
  }
  void close_log() override { log_.reset(); }
  std::vector<Record> read_back(const Log& log) override {
    std::vector<Record> records;
    AppendLogReader reader(log.folder + "/log");
    for (const AppendLogRecord& record : reader) {
      if (record.bytes.size() != kRecord) throw std::runtime_error("a record has another length");
      std::memcpy(records.emplace_back().data(), record.bytes.data(), kRecord);
    }
    return records;
  }

 private:
  std::unique_ptr<AppendLog> log_;
};

}  // namespace

std::unique_ptr<Way> contender(const Task& /*task*/) { return std::make_unique<OwnLog>(); }

}  // namespace handoff::lab::files

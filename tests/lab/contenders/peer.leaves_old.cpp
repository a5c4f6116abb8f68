// SPDX-License-Identifier: MIT
// For tests: one sector keeps what was there before, one file is too short, and of a log one record
// is missing.
#include <sys/stat.h>

#include "lying_files.hpp"

namespace handoff::lab::files {
namespace {

class LeavesOld final : public Way {
 public:
  void write(const Transfer& transfer) override {
    if (transfer.create) {
      honest_.write(transfer);
      if (truncate(transfer.paths[0].c_str(), static_cast<off_t>(transfer.bytes - 1)) != 0) {
        fail("shortening", transfer.paths[0], errno);
      }
      return;
    }
    constexpr std::uint64_t place = 5 * kSector;
    std::vector<std::byte> old(kSector);
    const Descriptor file(transfer.paths[0], O_RDWR);
    read_at(file.number(), old, place, transfer.paths[0]);
    honest_.write(transfer);
    write_at(file.number(), old, place, transfer.paths[0]);
  }

  void open_log(const Log& /*log*/) override { records_.clear(); }
  void append_one(std::size_t /*thread*/, const Record& record) override {
    records_.push_back(record);  // in a test there is one thread
  }
  std::vector<Record> read_back(const Log& /*log*/) override {
    records_.erase(records_.begin() + 3);
    return records_;
  }

 private:
  Honest honest_{kArticleBlock};
  std::vector<Record> records_;
};

}  // namespace

std::unique_ptr<Way> contender(const Task& /*task*/) { return std::make_unique<LeavesOld>(); }

}  // namespace handoff::lab::files

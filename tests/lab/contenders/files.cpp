// SPDX-License-Identifier: MIT
// Files written and read as they should be, and then spoiled.
#include "scenarios/files/blocking.hpp"
#include "scenarios/files/copying.hpp"

namespace handoff::lab::files {
namespace {

using Honest = Blocking<OneThread>;

// One byte of what it wrote is changed, far behind the first sectors; and one of what it reads,
// where only a look at all bytes finds it.
constexpr std::uint64_t kPlace = 1234567;

class Flips final : public Way {
 public:
  void write(const Transfer& transfer) override {
    honest_.write(transfer);
    const std::string& path = transfer.paths[1];
    const Descriptor file(path, O_RDWR);
    std::array<std::byte, 1> byte{};
    read_at(file.number(), byte, kPlace, path);
    byte[0] ^= std::byte{16};
    write_at(file.number(), byte, kPlace, path);
  }
  void read(const Transfer& transfer) override {
    std::vector<std::byte> block(transfer.block);
    for (std::size_t i = 0; i < transfer.paths.size(); ++i) {
      const Descriptor file(transfer.paths[i], O_RDONLY);
      for (std::uint64_t at = 0; at < transfer.bytes; at += block.size()) {
        read_at(file.number(), block, at, transfer.paths[i]);
        if (i == 1 && at <= kPlace && kPlace < at + block.size()) {
          block[kPlace - at] ^= std::byte{16};
        }
        transfer.take(i, at, block);
      }
    }
  }

 private:
  Honest honest_{kArticleBlock};
};

// One sector keeps what was there before, one file is too short, and of a log one record is
// missing.
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

// A copy by cp without -a, so that its times are others.
std::unique_ptr<Way> miscopies(const Task& /*task*/) {
  return std::make_unique<Copying>("cp", std::vector<std::string>{"-r"});
}

}  // namespace

std::unique_ptr<Way> contender(const Task& task) {
  return chosen<std::unique_ptr<Way>(const Task&)>({{"peer.flips", way_of<Flips>},
                                                    {"peer.leaves_old", way_of<LeavesOld>},
                                                    {"peer.miscopies", miscopies}})(task);
}

}  // namespace handoff::lab::files

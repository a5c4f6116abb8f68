// SPDX-License-Identifier: MIT
// For tests: one byte of what it wrote is changed, far behind the first sectors; and one of what it
// reads, where only a look at all bytes finds it.
#include "lying_files.hpp"

namespace handoff::lab::files {
namespace {

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

}  // namespace

std::unique_ptr<Way> contender(const Task& /*task*/) { return std::make_unique<Flips>(); }

}  // namespace handoff::lab::files

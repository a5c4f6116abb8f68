// SPDX-License-Identifier: MIT
// What people write for small files: one std::ofstream after the other.
#include <filesystem>
#include <fstream>

#include "scenarios/files/contender.hpp"
#include "scenarios/files/disk.hpp"

namespace handoff::lab::files {
namespace {

class Fstream final : public Way {
 public:
  void write(const Transfer& transfer) override {
    for (std::size_t i = 0; i < transfer.paths.size(); ++i) {
      std::ofstream file(transfer.paths[i], std::ios::binary);
      transfer.make(i, 0, buffers_[0]);
      file.write(reinterpret_cast<const char*>(buffers_[0].data()), kSector);
      file.close();
      if (!file) fail("writing", transfer.paths[i], EIO);
    }
  }
  void read(const Transfer& transfer) override {
    for (std::size_t i = 0; i < transfer.paths.size(); ++i) {
      std::ifstream file(transfer.paths[i], std::ios::binary);
      file.read(reinterpret_cast<char*>(buffers_[0].data()), kSector);
      if (!file) fail("reading", transfer.paths[i], EIO);
      transfer.take(i, 0, buffers_[0]);
    }
  }
  void remove(const std::vector<std::string>& paths) override {
    for (const std::string& path : paths) std::filesystem::remove(path);
  }

 private:
  Buffers buffers_{1, kSector};
};

}  // namespace

std::unique_ptr<Way> contender(const Task& task) {
  if (task.durable) throw Unavailable("a stream cannot sync");
  return std::make_unique<Fstream>();
}

}  // namespace handoff::lab::files

// SPDX-License-Identifier: MIT
// dd, for trees of a few large files: one after the other, 1 MiB at a time, each synced where the
// copy must be durable.
#include <filesystem>

#include "scenarios/files/child.hpp"
#include "scenarios/files/contender.hpp"

namespace handoff::lab::files {
namespace {

class Dd final : public Way {
 public:
  void copy(const std::string& from, const std::string& to, bool durable) override {
    std::filesystem::create_directory(to);
    for (const auto& entry : std::filesystem::directory_iterator(from)) {
      std::vector<std::string> words{program_, "if=" + entry.path().string(),
                                     "of=" + to + '/' + entry.path().filename().string(), "bs=1M",
                                     "status=none"};
      if (durable) words.emplace_back("conv=fsync");
      children_.run(words);
    }
  }
  bool keeps_attributes() const override { return false; }
  double cpu_of_children() override { return children_.cpu_seconds(); }

 private:
  std::string program_ = program("dd");
  Children children_;
};

}  // namespace

std::unique_ptr<Way> contender(const Task& /*task*/) { return std::make_unique<Dd>(); }

}  // namespace handoff::lab::files

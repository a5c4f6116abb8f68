// SPDX-License-Identifier: MIT
// Programs that copy trees.
#include <filesystem>

#include "scenarios/files/child.hpp"
#include "scenarios/files/contender.hpp"
#include "scenarios/files/copying.hpp"

namespace handoff::lab::files {
namespace {

// The program handoff-copy of this build.
class OwnCopy final : public Way {
 public:
  void copy(const std::string& from, const std::string& to, bool durable) override {
    std::vector<std::string> words{program_};
    if (durable) words.emplace_back("--durable");
    words.push_back(from);
    words.push_back(to);
    children_.run(words);
  }
  double cpu_of_children() override { return children_.cpu_seconds(); }

 private:
  // That of this build, or, where the lab is installed, the one beside it.
  static std::string found() {
    return access(HANDOFF_COPY_PROGRAM, X_OK) == 0 ? HANDOFF_COPY_PROGRAM : program("handoff-copy");
  }

  std::string program_ = found();
  Children children_;
};

std::unique_ptr<Way> own_copy(const Task& /*task*/) { return std::make_unique<OwnCopy>(); }

// cp of coreutils, told to copy bytes and not to share blocks: that is what is compared.
std::unique_ptr<Way> cp(const Task& /*task*/) {
  return std::make_unique<Copying>("cp", std::vector<std::string>{"-a", "--reflink=never"});
}

// rsync between two folders of one machine, where it copies whole files.
std::unique_ptr<Way> rsync(const Task& /*task*/) {
  return std::make_unique<Copying>("rsync", std::vector<std::string>{"-aHS", "--whole-file"}, true);
}

// xcp, a cp with threads, where it is installed.
// It does not promise hard links, owners or times of links.
class Xcp final : public Copying {
 public:
  Xcp() : Copying("xcp", {"--recursive", "--reflink=never", "--no-progress"}) {}
  bool keeps_attributes() const override { return false; }
};

std::unique_ptr<Way> xcp(const Task& /*task*/) { return std::make_unique<Xcp>(); }

// dd, for trees of a few large files: one after the other, 1 MiB at a time, each synced where the
// copy must be durable.
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

std::unique_ptr<Way> dd(const Task& /*task*/) { return std::make_unique<Dd>(); }

}  // namespace

std::unique_ptr<Way> contender(const Task& task) {
  return chosen<std::unique_ptr<Way>(const Task&)>({{"own.copy", own_copy},
                                                    {"peer.cp", cp},
                                                    {"peer.rsync", rsync},
                                                    {"peer.xcp", xcp},
                                                    {"peer.dd", dd}})(task);
}

}  // namespace handoff::lab::files

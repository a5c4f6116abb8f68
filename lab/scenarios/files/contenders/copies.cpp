// SPDX-License-Identifier: MIT
// Programs that copy trees.
#include <filesystem>

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

// cp of coreutils, told to copy bytes and not to share blocks: that is what is compared.
struct Cp final : Copying {
  Cp() : Copying("cp", {"-a", "--reflink=never"}) {}
};

// rsync between two folders of one machine, where it copies whole files.
struct Rsync final : Copying {
  Rsync() : Copying("rsync", {"-aHS", "--whole-file"}, true) {}
};

// xcp, a cp with threads, where it is installed.
// It does not promise hard links, owners or times of links.
class Xcp final : public Copying {
 public:
  Xcp() : Copying("xcp", {"--recursive", "--reflink=never", "--no-progress"}) {}
  bool keeps_attributes() const override { return false; }
};

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

}  // namespace

std::unique_ptr<Way> contender(const Task& task) {
  return chosen<std::unique_ptr<Way>(const Task&)>({{"own.copy", way_of<OwnCopy>},
                                                    {"peer.cp", way_of<Cp>},
                                                    {"peer.rsync", way_of<Rsync>},
                                                    {"peer.xcp", way_of<Xcp>},
                                                    {"peer.dd", way_of<Dd>}})(task);
}

}  // namespace handoff::lab::files

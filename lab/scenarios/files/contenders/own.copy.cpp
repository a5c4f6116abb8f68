// SPDX-License-Identifier: MIT
// The program handoff-copy of this build.
#include "scenarios/files/child.hpp"
#include "scenarios/files/contender.hpp"

namespace handoff::lab::files {
namespace {

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

}  // namespace

std::unique_ptr<Way> contender(const Task& /*task*/) { return std::make_unique<OwnCopy>(); }

}  // namespace handoff::lab::files

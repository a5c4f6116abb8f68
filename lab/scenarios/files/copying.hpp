// SPDX-License-Identifier: MIT
// A tree copied by a program; where it must be durable and the program knows no such thing, the
// file system is synced after it, as `sync -f` does.
#pragma once

#include "scenarios/files/child.hpp"
#include "scenarios/files/disk.hpp"

namespace handoff::lab::files {

class Copying : public Way {
 public:
  // With the options that keep modes, times, owners and links.
  Copying(const std::string& name, std::vector<std::string> options, bool contents_of = false)
      : options_(std::move(options)), contents_of_(contents_of) {
    options_.insert(options_.begin(), program(name));
  }

  void copy(const std::string& from, const std::string& to, bool durable) override {
    std::vector<std::string> words = options_;
    words.push_back(contents_of_ ? from + '/' : from);
    words.push_back(contents_of_ ? to + '/' : to);
    children_.run(words);
    if (durable) settle(to);
  }
  double cpu_of_children() override { return children_.cpu_seconds(); }

 private:
  std::vector<std::string> options_;
  bool contents_of_;
  Children children_;
};

}  // namespace handoff::lab::files

// SPDX-License-Identifier: MIT
//
// A control group below that of this process, with one limit, where this user may make one.
#pragma once

#include "support/test.hpp"

namespace handoff::test {

class ControlGroup {
 public:
  // `limit`: the file with it, in the first and in the second version of groups. None if it may not
  // be made: path() is empty.
  ControlGroup(const std::string& controller, const std::pair<std::string, std::string>& limit,
               std::uint64_t most) {
    bool is_second = false;
    const std::string parent = place_of(controller, is_second);
    if (parent.empty()) return;
    path_ = parent + "/handoff-test-" + controller + "-" + std::to_string(::getpid());
    limit_ = is_second ? limit.second : limit.first;
    if (::mkdir(path_.c_str(), 0700) != 0) {
      path_.clear();
    } else if (!allow(most)) {
      remove();
    }
  }
  ~ControlGroup() { remove(); }
  ControlGroup(const ControlGroup&) = delete;
  ControlGroup& operator=(const ControlGroup&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string limit() const { return path_ + "/" + limit_; }
  bool allow(std::uint64_t most) const { return write(limit(), std::to_string(most)); }

  static bool write(const std::string& file, const std::string& text) {
    std::ofstream out(file);
    out << text << std::flush;
    return out.good();
  }

 private:
  // The folder of this process's group that has the controller; empty: there is none.
  static std::string place_of(const std::string& controller, bool& is_second) {
    std::ifstream groups("/proc/self/cgroup");
    std::string found;
    for (std::string line; std::getline(groups, line);) {
      const std::size_t first = line.find(':');
      const std::size_t second = line.find(':', first + 1);
      if (second == std::string::npos) continue;
      const std::string controllers = line.substr(first + 1, second - first - 1);
      is_second = controllers.empty();
      if (controllers == controller)
        return mount_of("cgroup", controller) + line.substr(second + 1);
      if (is_second) found = mount_of("cgroup2", "") + line.substr(second + 1);
    }
    is_second = true;
    return found;
  }
  static std::string mount_of(const std::string& type, const std::string& option) {
    std::ifstream mounts("/proc/self/mounts");
    for (std::string line; std::getline(mounts, line);) {
      std::istringstream words(line);
      std::string device, folder, kind, options;
      words >> device >> folder >> kind >> options;
      if (kind != type) continue;
      if (option.empty() || ("," + options + ",").find("," + option + ",") != std::string::npos) {
        return folder;
      }
    }
    return "/nowhere";
  }
  // Its processes may be dead and not gone yet.
  void remove() {
    for (int i = 0; i < 1000 && !path_.empty() && ::rmdir(path_.c_str()) != 0; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    path_.clear();
  }

  std::string path_;
  std::string limit_;
};

}  // namespace handoff::test

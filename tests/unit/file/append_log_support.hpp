// SPDX-License-Identifier: MIT
//
// What the tests of AppendLog share: a folder with a log, what is in it, and logs as a killed
// writer leaves them.
#pragma once

#include "support/file_tap.hpp"
#include "support/test.hpp"
#include "unit/file/file_support.hpp"

namespace handoff::test {

inline constexpr AppendLogOptions kPlain{.preallocate = false};

// Gone at the end; in memory if it may be, as hardly a test is about a device.
class LogFolder {
 public:
  std::string log() const { return folder_ / "log"; }
  std::string segment() const { return log() + "/0000000000000001.log"; }  // the first one
  std::vector<std::string> segments() const { return files(".log"); }
  std::vector<std::string> kept() const { return files(".cut"); }

 private:
  std::vector<std::string> files(const char* extension) const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(log())) {
      if (entry.path().extension() == extension) names.push_back(entry.path());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  Folder folder_{fast_place()};
};

inline std::vector<std::string> read_all(const std::string& log, std::uint64_t from = 0) {
  std::vector<std::string> all;
  std::uint64_t expected = from;
  for (const AppendLogRecord& record : AppendLogReader(log, {.from = from})) {
    if (expected == 0) expected = record.sequence;
    EXPECT_EQ(record.sequence, expected++);
    all.emplace_back(record.text());
  }
  return all;
}

inline void append_all(AppendLog& log, const std::vector<std::string>& records, std::size_t batch) {
  for (std::size_t i = 0; i < records.size(); ++i) {
    log.append_later(records[i]).check();
    if ((i + 1) % batch == 0) log.flush().check();
  }
}

// As a killed writer leaves it: each record acknowledged, the last batch not by a proof behind it.
inline void append_and_be_killed(const LogFolder& folder, const std::vector<std::string>& records,
                                 std::size_t batch = 1, const AppendLogOptions& options = kPlain) {
  AppendLog log(folder.log(), options);
  append_all(log, records, batch);
  std::map<std::string, std::string> left;
  for (const std::string& name : folder.segments()) left[name] = contents(name);
  log.close();
  for (const auto& [name, bytes] : left) put(name, bytes);
}

}  // namespace handoff::test

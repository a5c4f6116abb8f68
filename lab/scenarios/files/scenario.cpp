// SPDX-License-Identifier: MIT
#include "scenarios/files/scenario.hpp"

#include <cmath>
#include <cstring>
#include <map>

#include <fmt/format.h>

#include "harness/file_system.hpp"
#include "scenarios/files/articles.hpp"
#include "scenarios/files/workload.hpp"

namespace handoff::lab::files {
namespace {

constexpr double kMib = 1024.0 * 1024.0;

// Copies of a tree of very many files, and small files, stay here until the program ends. ext4
// without a journal does not use an inode again for some minutes after its file was removed, and
// looks through all of these at each new file: a contender that comes later would pay for those
// before.
const std::string& kept_files() {
  static const RunFolder folder;
  return folder.path();
}

// Its input is the name of a folder that all contenders of the cell share, and that is gone with
// the cell; of copies, after it that of a folder for those that are kept.
class Filing final : public Problem {
 public:
  explicit Filing(const Cell& cell) : metric_(cell.metric()), input_("files", 2 * kLongestPath) {
    const bool keeps = metric_ == "copy" || metric_ == "file";
    const std::string kept = keeps ? kept_files() : std::string();
    folder_.path().copy(reinterpret_cast<char*>(input_.bytes().data()), kLongestPath - 1);
    kept.copy(reinterpret_cast<char*>(input_.bytes().data()) + kLongestPath, kLongestPath - 1);
    input_.seal();
    const auto number = [&](const char* name) {
      const std::string* const value = cell.find(name);
      return value == nullptr ? 1.0 : std::stod(*value);
    };
    bytes_ = cell.find("mib") == nullptr ? 0 : number("files") * number("mib") * kMib;
    const std::string* const tree = cell.find("tree");
    if (tree != nullptr && (*tree == "five_gib" || *tree == "usr_share")) bytes_ = 5120 * kMib;
  }

  const MemoryFile& input() const override { return input_; }
  std::size_t answer_bytes() const override { return sizeof(Answer); }
  bool kernel_works_for_it() const override { return true; }  // also for reads, with what it frees

  std::optional<std::string> fault(bool /*of_a_limit*/,
                                   std::span<const std::byte> bytes) const override {
    Answer answer{};
    std::memcpy(&answer, bytes.data(), sizeof answer);
    if (answer.faults == 0) {
      if (answer.operations != 0) return {};
      return "nothing was looked at";
    }
    const std::string more =
        answer.faults == 1 ? "" : fmt::format("; {} faults in all", answer.faults);
    return fault_of(answer) + more;
  }

  double metric(const Reading& reading) const override {
    constexpr double ns_per_s = 1e9;
    if (metric_.ends_with("_cpu")) return reading.figure("cpu_s_per_gb");
    if (metric_ == "append_p99") return reading.figure("p99_syncs");
    if (metric_ == "file") return reading.ns_per_item();
    if (metric_ == "article") return reading.figure("article_ms");
    const double by_itself = reading.figure("seconds");
    if (!std::isnan(by_itself)) return reading.items / reading.operations / by_itself;
    return ns_per_s / reading.ns_per_item();
  }

  // A device that writes 25 MB/s is slow, and honest; beside what is done around it.
  std::chrono::nanoseconds slowest_operation() const override {
    constexpr double bytes_per_s = 25e6;
    const auto seconds = static_cast<long long>(bytes_ / bytes_per_s);
    return std::chrono::seconds(20 + seconds);
  }

 private:
  static std::string fault_of(const Answer& answer) {
    const std::string where = fmt::format("file {}, byte {}: ", answer.file, answer.offset);
    switch (answer.first) {
      case Fault::none: return "an unknown fault";
      case Fault::place: return where + "what is there belongs elsewhere, or was never written";
      case Fault::generation: return where + "what is there is of another time";
      case Fault::torn: return where + "half of the sector is of another time";
      case Fault::bytes: return where + "a byte differs";
      case Fault::length:
        return fmt::format("file {} has {} bytes, not {}", answer.file, answer.offset,
                           answer.wanted);
      case Fault::missing: return fmt::format("file {} is missing", answer.file);
      case Fault::attributes:
        return fmt::format("entry {} has another kind, mode, time or link than its source",
                           answer.file);
    }
    return "an unknown fault";
  }

  std::string metric_;
  RunFolder folder_;
  MemoryFile input_;
  double bytes_ = 0;
};

const std::vector<std::string> kWrites{"write_new", "write_new_cpu", "overwrite", "overwrite_cpu"};
const std::vector<std::string> kTransfers{"write_new",     "write_new_cpu", "overwrite",
                                          "overwrite_cpu", "read_cold",     "read_cold_cpu",
                                          "read_warm",     "read_warm_cpu"};
const std::vector<std::string> kRandom{"random_read", "random_write"};
const std::vector<std::string> kAppends{"append", "append_p99"};

std::vector<Parameter> sizes() {
  std::vector<Parameter> all{{"files", "how many", {"5", "10", "50"}, {}, 1, 100'000, kTransfers},
                             {"files", "how many", {"5", "10", "50"}, {}, 1, 100'000, {"article"}},
                             {"files", "how many", {"10000"}, {}, 1, 100'000, {"small"}},
                             {"files", "how many", {"200"}, {}, 1, 100'000, {"file"}},
                             {"mib", "size of a file", {"16"}, {}, 1, 65'536, kTransfers},
                             {"mib", "size of a file", {"80"}, {}, 1, 65'536, {"article"}},
                             {"mib", "size of a file", {"256"}, {}, 1, 65'536, {"one_file"}},
                             {"mib", "size of a file", {"64"}, {}, 1, 65'536, kRandom}};
  std::vector<std::string> in_blocks = kTransfers;
  in_blocks.emplace_back("one_file");
  all.push_back({"block",
                 "KiB at a time, a multiple of 4; the article's schemes have 16",
                 {"1024"},
                 {},
                 4,
                 16'384,
                 in_blocks});
  return all;
}

std::vector<Parameter> all_parameters() {
  std::vector<Parameter> all = sizes();
  const std::vector<std::string> either{"0", "1"};
  const char* const durable = "whether the work ends when it survives a loss of power";
  std::vector<std::string> synced = kWrites;
  for (const char* metric : {"one_file", "append", "append_p99", "copy"}) {
    synced.emplace_back(metric);
  }
  all.push_back({"durable", durable, {"1"}, either, 0, 0, synced});
  all.push_back({"durable", durable, {"0"}, either, 0, 0, {"small", "file"}});
  all.push_back({"depth", "requests under way", {"1", "8", "64"}, {}, 1, 1024, kRandom});
  all.push_back({"direct", "whether past the page cache", {"0", "1"}, either, 0, 0, kRandom});
  all.push_back({"threads", "that append", {"1", "64"}, {}, 1, 256, kAppends});
  all.push_back({"threads", "that write", {"8"}, {}, 1, 256, {"one_file"}});
  const std::vector<std::string> steps{"create", "read", "remove"};
  all.push_back({"step", "what is timed", steps, steps, 0, 0, {"small"}});
  all.push_back({"tree",
                 "2000 small files with links and a hole, 4 of 64 MiB, the system's, or 5 "
                 "of 1 GiB",
                 {"small", "large"},
                 {"small", "large", "usr_share", "five_gib"},
                 0,
                 0,
                 {"copy"}});
  all.push_back({"cache",
                 "whether the page cache has the tree",
                 {"warm", "cold"},
                 {"warm", "cold"},
                 0,
                 0,
                 {"copy"}});
  all.push_back({"clock",
                 "the time that passes, or clock(): the CPU time of all threads",
                 {"wall", "cpu"},
                 {"wall", "cpu"},
                 0,
                 0,
                 {"article"}});
  return all;
}

class Files final : public Scenario {
 public:
  std::string name() const override { return "files"; }
  std::string summary() const override {
    return "files written, read, appended to and copied; each is checked, on a real device";
  }

  const std::vector<Metric>& metrics() const override {
    static const std::vector<Metric> metrics{
        {"write_new", "MB/s", true, "new files: made, written, synced if durable, closed"},
        {"write_new_cpu", "s/GB", false, "CPU time of all threads for that, for 1 GB"},
        {"overwrite", "MB/s", true, "the same for existing files"},
        {"overwrite_cpu", "s/GB", false, "CPU time of all threads for that, for 1 GB"},
        {"read_cold", "MB/s", true,
         "files that are not in the page cache (checked); both ends of each 4 KiB are read"},
        {"read_cold_cpu", "s/GB", false, "CPU time of all threads for that, for 1 GB"},
        {"read_warm", "MB/s", true, "the same for files in the page cache"},
        {"read_warm_cpu", "s/GB", false, "CPU time of all threads for that, for 1 GB"},
        {"small", "files/s", true, "files of 4 KiB in one folder"},
        {"file", "ns", false, "one of many new files of 4 KiB, not synced"},
        {"random_read", "IO/s", true, "4 KiB at places of one file at random"},
        {"random_write", "IO/s", true, "4 KiB at places of one file at random, not synced"},
        {"append", "records/s", true, "256 bytes appended to a log"},
        {"append_p99", "syncs", false,
         "p99 of an append; 1 is the time of one thread to write and sync a record"},
        {"one_file", "MB/s", true, "one new file, written in blocks by many threads"},
        {"copy", "MB/s", true, "a tree copied, with modes, times, links and holes"},
        {"article", "ms", false, "new files written and synced, as the article times it"}};
    return metrics;
  }

  const std::vector<Parameter>& parameters() const override {
    static const std::vector<Parameter> parameters = all_parameters();
    return parameters;
  }

  std::vector<Article> articles() const override { return articles_of_files(); }

  // The same for all contenders of a cell, and gone with the last of them.
  std::shared_ptr<const Problem> problem(const Cell& cell) override {
    std::weak_ptr<const Problem>& known = known_[cell.metric() + ' ' + cell.text()];
    std::shared_ptr<const Problem> problem = known.lock();
    if (problem == nullptr) {
      problem = std::make_shared<Filing>(cell);
      known = problem;
    }
    return problem;
  }

 private:
  std::map<std::string, std::weak_ptr<const Problem>> known_;
};

}  // namespace

std::unique_ptr<Scenario> make_scenario() { return std::make_unique<Files>(); }

}  // namespace handoff::lab::files

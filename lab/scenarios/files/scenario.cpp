// SPDX-License-Identifier: MIT
// Files: written, read, copied and appended to by many ways, on the device that is here.
#include "harness/file_system.hpp"
#include "scenarios/files/workload.hpp"
#include "scenarios/registry.hpp"

namespace handoff::lab::files { namespace {

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

std::vector<std::string> with(std::vector<std::string> some,
                              std::initializer_list<const char*> more) {
  some.insert(some.end(), more.begin(), more.end());
  return some;
}

std::vector<Parameter> all_parameters() {
  const std::vector<std::string> either{"0", "1"};
  const char* const durable = "whether the work ends when it survives a loss of power";
  return {
      {"files", "how many", {"5", "10", "50"}, {}, 1, 100'000, kTransfers},
      {"files", "how many", {"5", "10", "50"}, {}, 1, 100'000, {"article"}},
      {"files", "how many", {"10000"}, {}, 1, 100'000, {"small"}},
      {"files", "how many", {"200"}, {}, 1, 100'000, {"file"}},
      {"mib", "size of a file", {"16"}, {}, 1, 65'536, kTransfers},
      {"mib", "size of a file", {"80"}, {}, 1, 65'536, {"article"}},
      {"mib", "size of a file", {"256"}, {}, 1, 65'536, {"one_file"}},
      {"mib", "size of a file", {"64"}, {}, 1, 65'536, kRandom},
      Parameter::number("block", "KiB at a time, a multiple of 4; the article's schemes have 16",
                        {"1024"}, 4, 16'384, with(kTransfers, {"one_file"})),
      Parameter::one_of("durable", durable, either,
                        with(kWrites, {"one_file", "append", "append_p99", "copy"}), {"1"}),
      Parameter::one_of("durable", durable, either, {"small", "file"}, {"0"}),
      {"depth", "requests under way", {"1", "8", "64"}, {}, 1, 1024, kRandom},
      Parameter::one_of("direct", "whether past the page cache", either, kRandom),
      {"threads", "that append", {"1", "64"}, {}, 1, 256, {"append", "append_p99"}},
      {"threads", "that write", {"8"}, {}, 1, 256, {"one_file"}},
      Parameter::one_of("step", "what is timed", {"create", "read", "remove"}, {"small"}),
      Parameter::one_of(
          "tree",
          "2000 small files with links and a hole, 4 of 64 MiB, the system's, or 5 of 1 GiB",
          {"small", "large", "usr_share", "five_gib"}, {"copy"}, {"small", "large"}),
      Parameter::one_of("cache", "whether the page cache has the tree", {"warm", "cold"}, {"copy"}),
      Parameter::one_of("clock", "the time that passes, or clock(): the CPU time of all threads",
                        {"wall", "cpu"}, {"article"})};
}

// The article prints clock(), which adds up the CPU time of all threads, and takes it for the time
// that passed. Beside it stands here, once, the same clock, and once the time that did pass.
//
// Its figures are not those of files that were written: 5,120 calls for each file took 2.5 ms,
// 0.5 us for 16 KiB with a sync. So fast is a call that fails: files are made with whatever mode
// is on the stack, the next run may not open them, and no result is looked at.
struct Line {
  const char* files;
  double thread_per_file;
  double pool;
  double io_thread;
  double single;
};
// As printed, in us.
constexpr std::array kLines{Line{"5", 20202, 15302, 12598, 12910},
                            Line{"10", 39416, 31865, 25251, 24894},
                            Line{"50", 204716, 143714, 121179, 122469}};

Article article_of(const Line& line, const char* clock) {
  constexpr double us_per_ms = 1000;
  const Cell cell("article", {{"files", line.files}, {"mib", "80"}, {"clock", clock}});
  const bool same = std::string(clock) == "cpu";
  const std::string note = same ? "clock(); 0.5 us a call: its calls failed" : "clock() there";
  const std::string why = same ? "there its calls failed" : "another clock there";
  const auto row = [&](const char* scheme, double us, const char* contender) {
    return ArticleRow{scheme, us / us_per_ms, note, contender, why, {}};
  };
  return {fmt::format("An experiment with parallel IO (MacBook): {} files of 80 MiB, {}",
                      line.files, same ? "by clock()" : "by the time that passes here"),
          cell,
          {row("one_thread_in_all", line.single, "seed.single"),
           row("one_io_thread", line.io_thread, "seed.io_thread"),
           row("fake_thread_pool", line.pool, "seed.round_robin"),
           row("one_thread_per_task", line.thread_per_file, "seed.thread_per_file")},
          1};
}

std::vector<Article> articles() {
  std::vector<Article> articles;
  for (const Line& line : kLines) {
    articles.push_back(article_of(line, "cpu"));
    articles.push_back(article_of(line, "wall"));
  }
  return articles;
}

}}  // namespace handoff::lab::files

handoff::lab::ScenarioTable handoff::lab::files_scenario() {
  using namespace files;
  return {
      .name = "files",
      .summary = "files written, read, appended to and copied; each is checked, on a real device",
      .metrics =
          {{"write_new", "MB/s", true, "new files: made, written, synced if durable, closed"},
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
           {"article", "ms", false, "new files written and synced, as the article times it"}},
      .parameters = all_parameters(),
      // The same for all contenders of a cell, and gone with the last of them.
      .problem =
          [known =
               std::map<std::string, std::weak_ptr<const Problem>>()](const Cell& cell) mutable {
            std::weak_ptr<const Problem>& last = known[cell.metric() + ' ' + cell.text()];
            std::shared_ptr<const Problem> problem = last.lock();
            if (problem == nullptr) last = problem = std::make_shared<Filing>(cell);
            return problem;
          },
      .articles = articles()};
}

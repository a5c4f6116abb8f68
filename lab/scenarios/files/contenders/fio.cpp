// SPDX-License-Identifier: MIT
// The installed fio, with two of its engines.
#include "scenarios/files/child.hpp"
#include "scenarios/files/disk.hpp"

namespace handoff::lab::files {
namespace {

// fio, with a job made for the cell. It says itself how long the job took: starting it and laying
// out files is no part of that, nor is reserving room for new files. It writes one word, over and
// over; that is what its files are looked at for.
// psync: a thread for each request that is under way. io_uring: one thread, and buffers and files
// that the kernel knows.
enum class FioEngine : std::uint8_t { psync, io_uring };

class Fio final : public Way {
 public:
  Fio(const Task& task, FioEngine engine) : engine_(engine) {
    if (task.bytes % task.block != 0) throw Unavailable("fio writes whole blocks only");
  }

  void write(const Transfer& transfer) override {
    std::vector<std::string> words = common("write", transfer.durable);
    words.push_back("--buffer_pattern=" + std::string(kPattern));
    words.emplace_back("--overwrite=" + std::to_string(transfer.create ? 0 : 1));
    if (transfer.durable) words.emplace_back("--end_fsync=1");
    run_transfer(transfer, std::move(words), transfer.durable ? kWrites : kCached, "write");
  }
  void read(const Transfer& transfer) override {
    if (transfer.look_closely) return;  // it has no look at what it reads
    run_transfer(transfer, common("read", !transfer.cached), transfer.cached ? kCached : kReads,
                 "read");
  }
  void random_read(Random& random) override { touch(random, "randread", "read"); }
  void random_write(Random& random) override { touch(random, "randwrite", "write"); }

  bool writes_sectors() const override { return false; }
  bool is_own(std::span<const std::byte> sector) const override {
    for (std::size_t at = 0; at < sector.size(); ++at) {
      if (std::to_integer<char>(sector[at]) != kWord[at % kWord.size()]) return false;
    }
    return true;
  }
  double cpu_of_children() override { return std::exchange(cpu_seconds_, 0); }
  double seconds_by_itself() const override { return seconds_; }

 private:
  static constexpr std::string_view kWord = "handoff!";
  static constexpr const char* kPattern = "\"handoff!\"";
  static constexpr std::size_t kWrites = 16;  // under way
  static constexpr std::size_t kReads = 4;
  static constexpr std::size_t kCached = 2;

  std::vector<std::string> common(const char* kind, bool direct) const {
    std::vector<std::string> words{program_,
                                   "--output-format=json",
                                   "--eta=never",
                                   "--thread",
                                   "--group_reporting",
                                   "--disk_util=0",
                                   "--clocksource=clock_gettime",
                                   "--invalidate=0",
                                   "--randrepeat=0",
                                   "--norandommap",
                                   "--lat_percentiles=1",
                                   "--clat_percentiles=0",
                                   "--percentile_list=99.9",
                                   std::string("--rw=") + kind,
                                   "--direct=" + std::to_string(direct ? 1 : 0)};
    words.emplace_back(engine_ == FioEngine::psync ? "--ioengine=psync" : "--ioengine=io_uring");
    return words;
  }

  void add_ring(std::vector<std::string>& words, std::size_t depth) const {
    words.push_back("--iodepth=" + std::to_string(depth));
    words.emplace_back("--fixedbufs=1");
    words.emplace_back("--registerfiles=1");
  }

  // The files are shared out among as many jobs as threads are to work.
  void run_transfer(const Transfer& transfer, std::vector<std::string> words, std::size_t depth,
                    const char* direction) {
    const std::size_t files = transfer.paths.size();
    const std::size_t jobs = engine_ == FioEngine::psync ? std::min(depth, files) : 1;
    const std::string& first = transfer.paths[0];
    words.push_back("--directory=" + first.substr(0, first.rfind('/')));
    words.push_back("--bs=" + std::to_string(transfer.block));
    words.emplace_back("--file_service_type=sequential");
    if (engine_ == FioEngine::io_uring) add_ring(words, depth);
    for (std::size_t job = 0; job < jobs; ++job) {
      std::string names;
      std::size_t count = 0;
      for (std::size_t file = job; file < files; file += jobs, ++count) {
        const std::string& path = transfer.paths[file];
        if (!names.empty()) names += ':';
        names.append(path, path.rfind('/') + 1);
      }
      words.push_back("--name=job" + std::to_string(job));
      words.push_back("--filename=" + names);
      words.push_back("--size=" + std::to_string(transfer.bytes * count));
    }
    const std::string said = run(words, direction);
    const auto bytes = static_cast<double>(transfer.bytes * files);
    if (number_in(said, direction, "io_bytes") != bytes) {
      throw std::runtime_error("fio moved another number of bytes");
    }
  }

  // It counts whole milliseconds: so it does as many times the requests as take a tenth of a
  // second.
  void touch(Random& random, const char* kind, const char* direction) {
    constexpr double least = 0.1;
    constexpr std::size_t step = 8;
    constexpr std::size_t most = 4096;
    for (;; times_ *= step) {
      const std::string said = touch_once(random, kind, direction);
      if (seconds_ < least && times_ < most) continue;
      random.ns.clear();
      random.p99_9_ns = static_cast<std::uint64_t>(number_in(said, direction, "99.900000"));
      const double part = static_cast<double>(random.offsets.size() * kSector) /
                          number_in(said, direction, "io_bytes");
      seconds_ *= part;
      cpu_seconds_ *= part;
      return;
    }
  }

  std::string touch_once(const Random& random, const char* kind, const char* direction) {
    std::vector<std::string> words = common(kind, random.direct);
    const std::size_t jobs = engine_ == FioEngine::psync ? random.depth : 1;
    const std::size_t each = std::max<std::size_t>(1, random.offsets.size() * times_ / jobs);
    words.emplace_back("--name=job");
    words.push_back("--filename=" + random.path);
    words.push_back("--bs=" + std::to_string(kSector));
    words.push_back("--numjobs=" + std::to_string(jobs));
    words.push_back("--io_size=" + std::to_string(each * kSector));
    words.push_back("--buffer_pattern=" + std::string(kPattern));
    words.emplace_back("--overwrite=1");
    if (engine_ == FioEngine::io_uring) add_ring(words, random.depth);
    return run(words, direction);
  }

  std::string run(std::vector<std::string> words, const char* direction) {
    seconds_ = 0;
    std::string said = children_.run(std::move(words));
    constexpr double ms = 1e-3;
    constexpr double percent = 0.01;
    seconds_ = number_in(said, direction, "runtime") * ms;
    const double all = number_in(said, "jobs", "job_runtime") * ms;
    cpu_seconds_ =
        all * percent * (number_in(said, "jobs", "usr_cpu") + number_in(said, "jobs", "sys_cpu"));
    return said;
  }

  // The first number of that name behind the object or list of that name.
  static double number_in(const std::string& json, const std::string& object,
                          const std::string& name) {
    const auto start = json.find('"' + object + "\" :");
    const auto found = json.find('"' + name + "\" :", start);
    if (start == std::string::npos || found == std::string::npos) {
      throw std::runtime_error("fio says no " + name + ": " + json.substr(0, 200));
    }
    return std::stod(json.substr(found + name.size() + 4));
  }

  FioEngine engine_;
  std::string program_ = program("fio");
  Children children_;
  double seconds_ = 0;
  std::size_t times_ = 1;
  double cpu_seconds_ = 0;
};

}  // namespace

std::unique_ptr<Way> contender(const Task& task) {
  return chosen<std::unique_ptr<Way>(const Task&)>(
      {{"peer.fio_psync", way_of<Fio, FioEngine::psync>},
       {"peer.fio_io_uring", way_of<Fio, FioEngine::io_uring>}})(task);
}

}  // namespace handoff::lab::files

// SPDX-License-Identifier: MIT
// What a contender of `files` does: a Way, of which it overrides what it can. Everything around it
// (making inputs, dropping caches, looking at what was written) is done by contender.cpp, untimed.
#pragma once

#include "harness/contender.hpp"
#include "scenarios/files/workload.hpp"

namespace handoff::lab::files {

// What was found wrong, by any thread. The first one is kept.
class Report {
 public:
  void looked_at(std::uint64_t sectors) { sectors_.fetch_add(sectors, std::memory_order_relaxed); }
  void wrong(Fault fault, std::uint64_t file, std::uint64_t offset, std::uint64_t wanted = 0);
  [[nodiscard]] Answer answer(std::uint64_t operations) const;

 private:
  std::atomic<std::uint64_t> sectors_{0};
  std::atomic<std::uint64_t> faults_{0};
  std::atomic<bool> taken_{false};
  std::atomic<bool> there_{false};
  Answer first_{};
};

// Whole files to write or to read, in blocks.
struct Transfer {
  std::vector<std::string> paths;
  std::uint64_t bytes = 0;  // of each, in whole blocks
  std::size_t block = 0;    // that is asked for; the article's schemes have their own
  bool create = false;      // none of them is there
  bool durable = false;
  bool cached = false;  // reading: all is in the page cache
  std::uint64_t generation = 0;
  bool look_closely = false;  // reading: at all bytes
  Report* report = nullptr;

  // What a block must hold before it is written; what became of one that was read.
  void make(std::size_t file, std::uint64_t offset, std::span<std::byte> block_there) const {
    stamp(block_there, file, offset, generation);
  }
  void take(std::size_t file, std::uint64_t offset, std::span<const std::byte> block_there) const {
    if (look_closely || !looks_right(block_there, file, offset)) look(file, offset, block_there);
  }
  void look(std::size_t file, std::uint64_t offset, std::span<const std::byte> there) const;
};

// Sectors of one file, in no order.
struct Random {
  std::string path;
  std::vector<std::uint64_t> offsets;
  std::size_t depth = 1;  // so many under way at once
  bool direct = false;
  std::uint64_t generation = 0;  // of what is written
  std::vector<std::uint32_t> ns;  // how long each took; the way fills it in
  std::uint64_t p99_9_ns = 0;     // or only this, where no more is known
  Report* report = nullptr;
};

// Records that threads append, and know to be durable when append_one() returns.
struct Log {
  std::string folder;  // there, and empty
  std::size_t threads = 1;
  bool durable = false;
};
inline constexpr std::size_t kRecord = 256;
using Record = std::array<std::byte, kRecord>;

struct Task {
  std::string metric;
  std::string work;  // the metric without _cpu
  std::string shared;  // the cell's folder, which all contenders share
  std::string folder;  // this launch's own, below it
  std::string kept;  // of copies: a folder that stays until the program ends
  std::size_t files = 1;
  std::uint64_t bytes = 0;  // of each file
  std::size_t block = 0;
  bool durable = false;
  bool direct = false;
  std::size_t depth = 1;
  std::size_t threads = 1;
  std::string what;  // of small files: the step; of a copy: the tree; of the article: the clock
  bool cold = false;  // of a copy: nothing of the tree is cached
};

class Way : Pinned {
 public:
  Way() = default;
  virtual ~Way() = default;

  // Not timed: what is written may be made ready, as far as memory holds it.
  virtual void about_to_write(const Transfer& /*transfer*/) {}
  virtual void write(const Transfer& /*transfer*/) { lacks("writing of whole files"); }
  virtual void read(const Transfer& /*transfer*/) { lacks("reading of whole files"); }
  // Many threads write blocks of one new file in turns.
  virtual void write_one(const Transfer& /*transfer*/, std::size_t /*threads*/) {
    lacks("writing of one file by many");
  }
  virtual void remove(const std::vector<std::string>& paths);
  // Once before the first of these.
  virtual void open_random(const Random& /*random*/, bool /*write*/) {}
  virtual void random_read(Random& /*random*/) { lacks("random reads"); }
  virtual void random_write(Random& /*random*/) { lacks("random writes"); }
  virtual void open_log(const Log& /*log*/) { lacks("log"); }
  virtual void append_one(std::size_t /*thread*/, const Record& /*record*/) { lacks("log"); }
  virtual void close_log() {}
  // All records that a reader finds, in any order.
  virtual std::vector<Record> read_back(const Log& /*log*/) { lacks("log"); }
  // A tree; the target is not there.
  virtual void copy(const std::string& /*from*/, const std::string& /*to*/, bool /*durable*/) {
    lacks("copying of trees");
  }

  // Only what a program writes that knows no sectors is looked at in another way.
  [[nodiscard]] virtual bool writes_sectors() const { return true; }
  // Whether such a sector is what it writes.
  [[nodiscard]] virtual bool is_own(std::span<const std::byte> /*sector*/) const { return false; }
  // Of a copy: modes, times and links, not the bytes alone.
  [[nodiscard]] virtual bool keeps_attributes() const { return true; }
  // CPU seconds of its child processes, since the last question.
  virtual double cpu_of_children() { return 0; }
  // How long the last work took by the program that did it, where starting that is no part of it.
  [[nodiscard]] virtual double seconds_by_itself() const { return 0; }

 private:
  [[noreturn]] static void lacks(const char* what) {
    throw Unavailable(std::string("this way has no ") + what);
  }
};

std::unique_ptr<Way> contender(const Task& task);

// A way that is made of the task, if it wants that, and of what is given here.
template <class Kind, auto... given>
std::unique_ptr<Way> way_of(const Task& task) {
  if constexpr (std::is_constructible_v<Kind, const Task&, decltype(given)...>) {
    return std::make_unique<Kind>(task, given...);
  } else {
    return std::make_unique<Kind>(given...);
  }
}

}  // namespace handoff::lab::files

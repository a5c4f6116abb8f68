// SPDX-License-Identifier: MIT
// The bare system calls, each work by the plain way that is best for it: what goes to the device by
// one io_uring past the page cache, from large pages, in room that is reserved first; what comes
// from the page cache by blocking calls of two threads; small files by those of one.
#include <atomic>
#include <memory>
#include <thread>

#include "scenarios/files/blocking.hpp"
#include "scenarios/files/ring.hpp"
#include "scenarios/files/windowed.hpp"

namespace handoff::lab::files {
namespace {

constexpr std::size_t kWrites = 16;  // under way
constexpr std::size_t kReads = 4;
constexpr std::size_t kCachedBlock = 256 * 1024;

struct OneThread {
  static void run(std::size_t count, const std::function<void(std::size_t)>& job) {
    for (std::size_t i = 0; i < count; ++i) job(i);
  }
};

struct TwoThreads {
  static void run(std::size_t count, const std::function<void(std::size_t)>& job) {
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
      for (std::size_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) job(i);
    };
    const std::jthread other(work);
    work();
  }
};

std::size_t depth_of(const Task& task) {
  if (task.work.starts_with("random")) return task.depth;
  return task.work == "read_cold" ? kReads : kWrites;
}

class Raw final : public Windowed<Ring> {
 public:
  explicit Raw(const Task& task) : Windowed(task, depth_of(task), depth_of(task)) {}

  void write(const Transfer& transfer) override {
    if (transfer.bytes <= kSector) return small_.write(transfer);
    if (!transfer.durable) return cached_.write(transfer);
    Windowed::write(transfer);
  }
  void read(const Transfer& transfer) override {
    if (transfer.cached) return cached_.read(transfer);
    Windowed::read(transfer);
  }
  void remove(const std::vector<std::string>& paths) override { small_.remove(paths); }
  void write_one(const Transfer& transfer, std::size_t threads) override {
    if (!transfer.durable) return cached_.write_one(transfer, threads);
    Windowed::write(transfer);
  }

  // One at a time needs no ring.
  void random_read(Random& random) override {
    if (random.depth > 1) return Windowed::random_read(random);
    for (std::size_t i = 0; i < random.offsets.size(); ++i) {
      const std::uint64_t start = ns_now();
      read_at(random_file(), memory(0), random.offsets[i], random.path);
      random.ns[i] = static_cast<std::uint32_t>(ns_now() - start);
      check(random, i, memory(0));
    }
  }
  void random_write(Random& random) override {
    if (random.depth > 1) return Windowed::random_write(random);
    for (std::size_t i = 0; i < random.offsets.size(); ++i) {
      const std::uint64_t start = ns_now();
      stamp(memory(0), 0, random.offsets[i], random.generation);
      write_at(random_file(), memory(0), random.offsets[i], random.path);
      random.ns[i] = static_cast<std::uint32_t>(ns_now() - start);
    }
  }

 private:
  Blocking<TwoThreads> cached_{kCachedBlock};
  Blocking<OneThread> small_{kArticleBlock};  // two would wait for one folder's lock
};

}  // namespace

std::unique_ptr<Way> contender(const Task& task) { return std::make_unique<Raw>(task); }

}  // namespace handoff::lab::files

// SPDX-License-Identifier: MIT
// The bare system calls, each work by the plain way that is best for it: what goes to the device by
// one io_uring past the page cache, from large pages, in room that is reserved first; what comes
// from the page cache by blocking calls of two threads; small files by those of one.
#include <liburing.h>

#include "scenarios/files/blocking.hpp"
#include "scenarios/files/windowed.hpp"

namespace handoff::lab::files {
namespace {

// The bare io_uring: sectors and blocks, so many under way, from memory that the kernel knows.
class Ring : Pinned {
 public:
  explicit Ring(std::size_t depth) {
    const int failed = io_uring_queue_init(static_cast<unsigned>(2 * depth), &ring_,
                                           IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_COOP_TASKRUN);
    if (failed != 0) {
      throw Unavailable(std::string("io_uring cannot be had here: ") + std::strerror(-failed));
    }
  }
  ~Ring() { io_uring_queue_exit(&ring_); }

  // So that the kernel need not look its pages up each time. Not all may do that.
  void tell_of(const Buffers& buffers) {
    iovec all{buffers[0].data(), buffers.count() * buffers.block()};
    known_ = io_uring_register_buffers(&ring_, &all, 1) == 0;
  }

  void write(int file, std::span<const std::byte> from, std::uint64_t offset, std::uint64_t tag) {
    io_uring_sqe* const entry = next();
    const auto bytes = static_cast<unsigned>(from.size());
    if (known_) {
      io_uring_prep_write_fixed(entry, file, from.data(), bytes, offset, 0);
    } else {
      io_uring_prep_write(entry, file, from.data(), bytes, offset);
    }
    io_uring_sqe_set_data64(entry, tag);
  }
  void read(int file, std::span<std::byte> into, std::uint64_t offset, std::uint64_t tag) {
    io_uring_sqe* const entry = next();
    const auto bytes = static_cast<unsigned>(into.size());
    if (known_) {
      io_uring_prep_read_fixed(entry, file, into.data(), bytes, offset, 0);
    } else {
      io_uring_prep_read(entry, file, into.data(), bytes, offset);
    }
    io_uring_sqe_set_data64(entry, tag);
  }
  void sync(int file, std::uint64_t tag) {
    io_uring_sqe* const entry = next();
    io_uring_prep_fsync(entry, file, 0);
    io_uring_sqe_set_data64(entry, tag);
  }

  void closing(int /*file*/) {}

  Done wait() {
    io_uring_cqe* done = nullptr;
    while (io_uring_peek_cqe(&ring_, &done) != 0) {
      const int submitted = io_uring_submit_and_wait(&ring_, 1);
      if (submitted < 0 && submitted != -EINTR) fail("waiting for", "io_uring", -submitted);
    }
    const Done result{io_uring_cqe_get_data64(done), done->res};
    io_uring_cqe_seen(&ring_, done);
    return result;
  }

 private:
  io_uring_sqe* next() {
    io_uring_sqe* entry = io_uring_get_sqe(&ring_);
    while (entry == nullptr) {
      io_uring_submit(&ring_);
      entry = io_uring_get_sqe(&ring_);
    }
    return entry;
  }

  io_uring ring_{};
  bool known_ = false;
};

constexpr std::size_t kWrites = 16;  // under way
constexpr std::size_t kReads = 4;
constexpr std::size_t kCachedBlock = 256 * 1024;

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

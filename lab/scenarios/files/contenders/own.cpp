// SPDX-License-Identifier: MIT
// The library's FileEngine with each of its backends.
#include <handoff/file/file_engine.hpp>

#include "scenarios/files/disk.hpp"

namespace handoff::lab::files {
namespace {

// The library's FileEngine in `files`, with one of its backends. Whole files are written by one
// request each, from memory that holds all of it; what is read goes into a few blocks, again and
// again.
// How many requests have not ended; the first failure is kept.
class Pending {
 public:
  void add() { count_.fetch_add(1, std::memory_order_relaxed); }
  void done() {
    if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1) count_.notify_all();
  }
  void done(const FileResult& result) {
    if (!result.ok()) {
      const std::lock_guard lock(mutex_);
      if (reason_.empty()) reason_ = result.failure().text();
    }
    done();
  }
  // Until all have; throws what failed.
  void wait() {
    for (std::size_t left = count_.load(std::memory_order_acquire); left != 0;
         left = count_.load(std::memory_order_acquire)) {
      count_.wait(left, std::memory_order_acquire);
    }
    const std::lock_guard lock(mutex_);
    if (!reason_.empty()) throw std::runtime_error(std::exchange(reason_, {}));
  }

 private:
  std::atomic<std::size_t> count_{0};
  std::mutex mutex_;
  std::string reason_;
};

class OwnEngine final : public Way {
 public:
  OwnEngine(const Task& task, FileBackend backend)
      : task_(task), engine_({.name = "lab", .backend = backend}) {
    const FileChoice choice = engine_.choice();
    if (backend == FileBackend::io_uring && !choice.io_uring_possible) {
      throw Unavailable("io_uring cannot be had here");
    }
  }

  void about_to_write(const Transfer& transfer) override {
    make_images(transfer);
    for (std::size_t file = 0; file < images_->count() && file < transfer.paths.size(); ++file) {
      transfer.make(file, 0, image_of(transfer, file));
    }
  }

  void write(const Transfer& transfer) override {
    std::vector<std::unique_ptr<Pending>> busy(images_->count());
    for (std::unique_ptr<Pending>& one : busy) one = std::make_unique<Pending>();
    for (std::size_t file = 0; file < transfer.paths.size(); ++file) {
      Pending& pending = *busy[file % busy.size()];
      const std::span<std::byte> image = image_of(transfer, file);
      if (file >= busy.size()) {
        pending.wait();
        transfer.make(file, 0, image);
      }
      FileRequest request{.operation = FileOperation::write, .path = transfer.paths[file]};
      request.from = std::span<const std::byte>(image);
      request.durable = transfer.durable;
      request.create = transfer.create;
      request.truncate = transfer.create;
      request.preallocate = transfer.create && transfer.bytes > kSector;
      request.direct = transfer.durable && transfer.bytes > kSector;
      post(std::move(request), pending, [](const FileResult& /*result*/) {});
    }
    for (const std::unique_ptr<Pending>& one : busy) one->wait();
  }

  void read(const Transfer& transfer) override {
    if (transfer.bytes <= kSector) return read_small(transfer);
    make_blocks(transfer.cached ? kCachedBlocks : kBlocks,
                transfer.cached ? kCachedBlock : transfer.block);
    Blocks work(transfer, blocks_->block());
    follow(work);
  }

  void remove(const std::vector<std::string>& paths) override {
    Pending pending;
    for (const std::string& path : paths) {
      post({.operation = FileOperation::remove, .path = path}, pending,
           [](const FileResult& /*result*/) {});
    }
    pending.wait();
  }

  // Each writer waits for its block before it makes the next one.
  void write_one(const Transfer& transfer, std::size_t threads) override {
    const OpenFile file = OpenFile::open(
        transfer.paths[0], {.write = true, .create = true, .direct = transfer.durable});
    make_blocks(threads, transfer.block);
    Pending pending;
    {
      std::vector<std::jthread> writers;
      for (std::size_t writer = 0; writer < threads; ++writer) {
        writers.emplace_back([&, writer] {
          const std::span<std::byte> block = (*blocks_)[writer];
          for (std::uint64_t at = writer * transfer.block; at < transfer.bytes;
               at += threads * transfer.block) {
            transfer.make(0, at, block);
            pending.add();
            pending.done(engine_.write(file, block, at).get());
          }
        });
      }
    }
    pending.wait();
    if (transfer.durable) engine_.sync(file).get().check();
  }

  void open_random(const Random& random, bool write) override {
    file_ = OpenFile::open(random.path, {.write = write, .direct = random.direct});
    make_blocks(random.depth, kSector);
  }
  void random_read(Random& random) override { touch(random, FileOperation::read); }
  void random_write(Random& random) override { touch(random, FileOperation::write); }

 private:
  static constexpr std::size_t kCachedBlock = 256 * 1024;
  static constexpr std::size_t kCachedBlocks = 8;
  static constexpr std::size_t kBlocks = 16;
  static constexpr std::uint64_t kImages = std::uint64_t{1} << 30;  // bytes of all together

  template <class Then>
  void post(FileRequest request, Pending& pending, Then then) {
    pending.add();
    const Status status =
        engine_.post(std::move(request), [&pending, then = std::move(then)](FileResult result) {
          then(result);
          pending.done(result);
        });
    if (status != Status::ok) throw std::runtime_error("the engine took no request");
  }

  void make_images(const Transfer& transfer) {
    if (images_ != nullptr) return;
    const auto count = std::min<std::uint64_t>(
        transfer.paths.size(), std::max<std::uint64_t>(1, kImages / transfer.bytes));
    images_ = std::make_unique<Buffers>(static_cast<std::size_t>(count),
                                        static_cast<std::size_t>(transfer.bytes));
  }
  std::span<std::byte> image_of(const Transfer& transfer, std::size_t file) const {
    return (*images_)[file % images_->count()].first(static_cast<std::size_t>(transfer.bytes));
  }
  void make_blocks(std::size_t count, std::size_t block) {
    if (blocks_ != nullptr && blocks_->count() == count && blocks_->block() == block) return;
    blocks_ = std::make_unique<Buffers>(count, block);
  }

  void read_small(const Transfer& transfer) {
    make_blocks(transfer.paths.size(), kSector);
    Pending pending;
    for (std::size_t file = 0; file < transfer.paths.size(); ++file) {
      FileRequest request{.operation = FileOperation::read, .path = transfer.paths[file]};
      request.into = (*blocks_)[file];
      post(std::move(request), pending, [&, file](const FileResult& result) {
        if (result.ok()) transfer.take(file, 0, (*blocks_)[file].first(result.bytes()));
      });
    }
    pending.wait();
  }

  static std::uint64_t now_ns() {
    return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  }

  // All files from their beginnings to their ends, a block at a time.
  class Blocks {
   public:
    struct Turn {
      std::size_t file = 0;
      std::uint64_t at = 0;
    };

    Blocks(const Transfer& transfer, std::size_t block)
        : transfer_(transfer), block_(block), in_a_file_((transfer.bytes + block - 1) / block) {
      for (const std::string& path : transfer.paths) {
        files_.push_back(OpenFile::open(path, {.direct = !transfer.cached}));
      }
    }

    bool next(Turn& turn, std::span<std::byte> block, FileRequest& request) {
      const std::uint64_t number = next_.fetch_add(1, std::memory_order_relaxed);
      turn = {static_cast<std::size_t>(number / in_a_file_), number % in_a_file_ * block_};
      if (turn.file >= files_.size()) return false;
      request = {.operation = FileOperation::read, .file = files_[turn.file], .offset = turn.at};
      request.into = block.first(
          static_cast<std::size_t>(std::min<std::uint64_t>(block_, transfer_.bytes - turn.at)));
      request.direct = !transfer_.cached;
      return true;
    }
    void ended(const Turn& turn, std::span<std::byte> block, const FileResult& result) {
      transfer_.take(turn.file, turn.at, block.first(result.bytes()));
    }

   private:
    const Transfer& transfer_;
    std::uint64_t block_;
    std::uint64_t in_a_file_;
    std::vector<OpenFile> files_;
    std::atomic<std::uint64_t> next_{0};
  };

  // Sectors of one file at places drawn before, each timed.
  class Sectors {
   public:
    struct Turn {
      std::size_t number = 0;
      std::uint64_t since = 0;
    };

    Sectors(Random& random, FileOperation operation, const OpenFile& file)
        : random_(random), operation_(operation), file_(file) {}

    bool next(Turn& turn, std::span<std::byte> block, FileRequest& request) {
      turn.number = next_.fetch_add(1, std::memory_order_relaxed);
      if (turn.number >= random_.offsets.size()) return false;
      turn.since = now_ns();
      request = {.operation = operation_, .file = file_, .offset = random_.offsets[turn.number]};
      if (operation_ == FileOperation::write) {
        stamp(block, 0, request.offset, random_.generation);
        request.from = std::span<const std::byte>(block);
      } else {
        request.into = block;
      }
      return true;
    }
    void ended(const Turn& turn, std::span<std::byte> block, const FileResult& /*result*/) {
      random_.ns[turn.number] = static_cast<std::uint32_t>(now_ns() - turn.since);
      const std::uint64_t offset = random_.offsets[turn.number];
      if (operation_ == FileOperation::read && !looks_right(block, 0, offset)) {
        random_.report->wrong(Fault::place, 0, offset);
      }
    }

   private:
    Random& random_;
    FileOperation operation_;
    const OpenFile& file_;
    std::atomic<std::size_t> next_{0};
  };

  // One of so many chains of requests: each begins the next one when it has ended, on the thread
  // that it ended on, whose cache has the block.
  template <class Work>
  struct Chain {
    OwnEngine& way;
    Work& work;
    Pending& pending;
    std::span<std::byte> block;
    typename Work::Turn turn = {};

    // A request that ends before post() does, on this thread, is followed by a turn of the loop:
    // beginning the next one inside its callback would be a recursion.
    void begin() {
      for (bool ended = true; ended;) {
        ended = false;
        const Here outer = std::exchange(here, {this, &ended});
        post_next();
        here = outer;
      }
    }

    void post_next() {
      FileRequest request;
      if (!work.next(turn, block, request)) return pending.done();
      const Status status = way.engine_.post(std::move(request), [this](FileResult result) {
        if (!result.ok()) return pending.done(result);
        work.ended(turn, block, result);
        if (here.chain == this) {
          *here.ended = true;
        } else {
          begin();
        }
      });
      if (status != Status::ok) pending.done();
    }

    struct Here {
      const Chain* chain;
      bool* ended;
    };
    static inline thread_local Here here{};
  };

  // Does all of the work by as many chains as there are blocks of memory.
  template <class Work>
  void follow(Work& work) {
    Pending pending;
    std::vector<Chain<Work>> chains;
    for (std::size_t i = 0; i < blocks_->count(); ++i) {
      chains.push_back({*this, work, pending, (*blocks_)[i]});
      pending.add();
    }
    for (Chain<Work>& chain : chains) chain.begin();
    pending.wait();
  }

  void touch(Random& random, FileOperation operation) {
    Sectors work(random, operation, file_);
    follow(work);
  }

  Task task_;
  std::unique_ptr<Buffers> images_;
  std::unique_ptr<Buffers> blocks_;
  OpenFile file_;
  FileEngine engine_;  // ends before what its requests use
};

}  // namespace

std::unique_ptr<Way> contender(const Task& task) {
  return chosen<std::unique_ptr<Way>(const Task&)>(
      {{"own.automatic", way_of<OwnEngine, FileBackend::automatic>},
       {"own.caller", way_of<OwnEngine, FileBackend::caller>},
       {"own.io_thread", way_of<OwnEngine, FileBackend::io_thread>},
       {"own.pool", way_of<OwnEngine, FileBackend::pool>},
       {"own.thread_per_request", way_of<OwnEngine, FileBackend::thread_per_request>},
       {"own.io_uring", way_of<OwnEngine, FileBackend::io_uring>}})(task);
}

}  // namespace handoff::lab::files

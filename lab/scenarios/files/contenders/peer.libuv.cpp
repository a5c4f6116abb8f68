// SPDX-License-Identifier: MIT
// libuv: one loop, whose requests are made by its four threads.
#include <uv.h>

#include "scenarios/files/windowed.hpp"

namespace handoff::lab::files {
namespace {

class Loop : Pinned {
 public:
  Loop() { uv_loop_init(&loop_); }
  ~Loop() {
    uv_run(&loop_, UV_RUN_DEFAULT);
    uv_loop_close(&loop_);
  }

  void tell_of(const Buffers& /*buffers*/) {}

  void write(int file, std::span<std::byte> from, std::uint64_t offset, std::uint64_t tag) {
    const uv_buf_t memory = memory_of(from);
    uv_fs_write(&loop_, request(tag), file, &memory, 1, static_cast<std::int64_t>(offset), ended);
  }
  void read(int file, std::span<std::byte> into, std::uint64_t offset, std::uint64_t tag) {
    const uv_buf_t memory = memory_of(into);
    uv_fs_read(&loop_, request(tag), file, &memory, 1, static_cast<std::int64_t>(offset), ended);
  }
  void sync(int file, std::uint64_t tag) { uv_fs_fsync(&loop_, request(tag), file, ended); }
  void open(const std::string& path, int flags, std::uint64_t tag) {
    uv_fs_open(&loop_, request(tag), path.c_str(), flags, 0644, ended);
  }
  void close(int file, std::uint64_t tag) { uv_fs_close(&loop_, request(tag), file, ended); }
  void unlink(const std::string& path, std::uint64_t tag) {
    uv_fs_unlink(&loop_, request(tag), path.c_str(), ended);
  }
  void closing(int /*file*/) {}

  Done wait() {
    while (done_.empty()) uv_run(&loop_, UV_RUN_ONCE);
    const Done first = done_.front();
    done_.pop_front();
    return first;
  }

 private:
  struct Request {
    uv_fs_t fs{};
    Loop* loop = nullptr;
    std::uint64_t tag = 0;
  };

  static uv_buf_t memory_of(std::span<std::byte> bytes) {
    return uv_buf_init(reinterpret_cast<char*>(bytes.data()), static_cast<unsigned>(bytes.size()));
  }

  uv_fs_t* request(std::uint64_t tag) {
    if (free_.empty()) free_.push_back(std::make_unique<Request>());
    Request* const one = free_.back().release();
    free_.pop_back();
    one->loop = this;
    one->tag = tag;
    one->fs.data = one;
    return &one->fs;
  }

  static void ended(uv_fs_t* fs) {
    auto* const one = static_cast<Request*>(fs->data);
    one->loop->done_.push_back({one->tag, static_cast<int>(fs->result)});
    uv_fs_req_cleanup(fs);
    one->loop->free_.emplace_back(one);
  }

  uv_loop_t loop_{};
  std::deque<Done> done_;
  std::vector<std::unique_ptr<Request>> free_;
};

constexpr std::size_t kDepth = 16;
constexpr std::size_t kSmall = 64;  // small files under way

class Libuv final : public Windowed<Loop> {
 public:
  explicit Libuv(const Task& task)
      : Windowed(task, task.work.starts_with("random") ? task.depth : kDepth) {}

  void write(const Transfer& transfer) override {
    if (transfer.bytes > kSector) return Windowed::write(transfer);
    each_small(transfer, true);
  }
  void read(const Transfer& transfer) override {
    if (transfer.bytes > kSector) return Windowed::read(transfer);
    each_small(transfer, false);
  }
  void remove(const std::vector<std::string>& paths) override {
    std::size_t next = 0;
    std::size_t left = paths.size();
    for (; next < std::min(kSmall, paths.size()); ++next) queue().unlink(paths[next], next);
    for (; left != 0; --left) {
      const Done done = queue().wait();
      if (done.result < 0) fail("removing", paths[done.tag], -done.result);
      if (next < paths.size()) queue().unlink(paths[next], next), ++next;
    }
  }

 private:
  enum class Step : std::uint8_t { open, move, sync, close };
  struct Small {
    std::size_t number = 0;
    int file = -1;
    Step step = Step::open;
  };

  // Each is opened, moved, synced if it must be, and closed.
  void each_small(const Transfer& transfer, bool write) {
    const Buffers buffers(kSmall, kSector);
    std::vector<Small> slots(std::min(kSmall, transfer.paths.size()));
    std::size_t next = 0;
    const auto open = [&](std::size_t slot) {
      const int create = transfer.create ? O_CREAT | O_EXCL : 0;
      slots[slot] = {next++, -1, Step::open};
      queue().open(transfer.paths[slots[slot].number], write ? O_WRONLY | create : O_RDONLY, slot);
    };
    for (std::size_t slot = 0; slot < slots.size(); ++slot) open(slot);
    for (std::size_t left = transfer.paths.size(); left != 0;) {
      const Done done = queue().wait();
      Small& one = slots[done.tag];
      if (done.result < 0) fail("moving", transfer.paths[one.number], -done.result);
      if (one.step == Step::close) {
        --left;
        if (next < transfer.paths.size()) open(done.tag);
        continue;
      }
      go_on(transfer, one, done, buffers[done.tag], write);
    }
  }

  void go_on(const Transfer& transfer, Small& one, const Done& done, std::span<std::byte> block,
             bool write) {
    if (one.step == Step::open) {
      one.file = done.result;
      one.step = Step::move;
      if (!write) return queue().read(one.file, block, 0, done.tag);
      transfer.make(one.number, 0, block);
      return queue().write(one.file, block, 0, done.tag);
    }
    if (one.step == Step::move) {
      if (done.result != static_cast<int>(kSector)) {
        fail("moving", transfer.paths[one.number], ENODATA);
      }
      if (!write) transfer.take(one.number, 0, block);
      if (write && transfer.durable) {
        one.step = Step::sync;
        return queue().sync(one.file, done.tag);
      }
    }
    one.step = Step::close;
    queue().close(one.file, done.tag);
  }
};

}  // namespace

std::unique_ptr<Way> contender(const Task& task) { return std::make_unique<Libuv>(task); }

}  // namespace handoff::lab::files

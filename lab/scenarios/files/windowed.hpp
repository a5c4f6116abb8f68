// SPDX-License-Identifier: MIT
// Files by a queue of requests, of which so many are under way. A Queue has
//
//   void tell_of(const Buffers&)                          before all else
//   void write(int file, span, offset, tag), read(...)    begins one
//   void sync(int file, tag)
//   Done wait()                                           {tag, result} of one that ended
//   void closing(int file)                                nothing of it is under way any more
#pragma once

#include "scenarios/files/disk.hpp"

namespace handoff::lab::files {

struct Done {
  std::uint64_t tag;
  int result;  // bytes, or a negative errno
};

inline std::uint64_t ns_now() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

template <class Queue>
class Windowed : public Way {
 public:
  template <class... Arguments>
  Windowed(const Task& task, std::size_t depth, Arguments&&... arguments)
      : depth_(depth),
        buffers_(depth, task.work.starts_with("random") ? kSector : task.block),
        queue_(std::forward<Arguments>(arguments)...) {
    queue_.tell_of(buffers_);
  }

  void write(const Transfer& transfer) override { Moving(*this, transfer, true).run(); }
  void read(const Transfer& transfer) override { Moving(*this, transfer, false).run(); }

  void open_random(const Random& random, bool write) override {
    file_ = std::make_unique<Descriptor>(
        random.path, (write ? O_RDWR : O_RDONLY) | (random.direct ? O_DIRECT : 0));
  }
  void random_read(Random& random) override { touch(random, false); }
  void random_write(Random& random) override { touch(random, true); }

 protected:
  [[nodiscard]] int random_file() const { return file_->number(); }
  [[nodiscard]] std::span<std::byte> memory(std::size_t slot) const { return buffers_[slot]; }
  [[nodiscard]] Queue& queue() { return queue_; }

  static void check(const Random& random, std::size_t number, std::span<const std::byte> sector) {
    if (looks_right(sector, 0, random.offsets[number])) return;
    random.report->wrong(Fault::place, 0, random.offsets[number]);
  }

 private:
  // Blocks in the order of the files. The tag of a block is its slot, that of a sync its file.
  class Moving {
   public:
    Moving(Windowed& way, const Transfer& transfer, bool write)
        : way_(way), transfer_(transfer), write_(write), slots_(way.depth_) {
      for (std::size_t i = 0; i < way.depth_; ++i) free_.push_back(i);
    }

    void run() {
      while (file_ < transfer_.paths.size() || under_way_ != 0) {
        while (!free_.empty() && file_ < transfer_.paths.size()) begin();
        const Done done = way_.queue_.wait();
        --under_way_;
        if ((done.tag & kSync) != 0) {
          ended(done.tag & ~kSync, done.result);
        } else {
          moved(static_cast<std::size_t>(done.tag), done.result);
        }
      }
    }

   private:
    static constexpr std::uint64_t kSync = std::uint64_t{1} << 63;

    struct Slot {
      std::size_t file;
      std::uint64_t offset;
      std::size_t bytes;
    };
    struct Open {
      std::unique_ptr<Descriptor> file;
      std::size_t left = 0;  // blocks that have not been moved
    };

    // To the device past the page cache, into room that is reserved.
    void open(Open& one) const {
      const std::string& path = transfer_.paths[file_];
      const bool direct = write_ ? transfer_.durable : !transfer_.cached;
      const int create = transfer_.create ? O_CREAT | O_EXCL : 0;
      one.file = std::make_unique<Descriptor>(
          path, (direct ? O_DIRECT : 0) | (write_ ? O_WRONLY | create : O_RDONLY));
      one.left =
          static_cast<std::size_t>((transfer_.bytes + transfer_.block - 1) / transfer_.block);
      if (write_ && transfer_.create && direct &&
          fallocate(one.file->number(), 0, 0, static_cast<off_t>(transfer_.bytes)) != 0) {
        fail("reserving room for", path, errno);
      }
    }

    void begin() {
      Open& one = open_[file_];
      if (offset_ == 0) open(one);
      const std::size_t slot = free_.back();
      free_.pop_back();
      const auto bytes = static_cast<std::size_t>(
          std::min<std::uint64_t>(transfer_.block, transfer_.bytes - offset_));
      slots_[slot] = {file_, offset_, bytes};
      const auto block = way_.buffers_[slot].first(bytes);
      if (write_) {
        transfer_.make(file_, offset_, block);
        way_.queue_.write(one.file->number(), block, offset_, slot);
      } else {
        way_.queue_.read(one.file->number(), block, offset_, slot);
      }
      ++under_way_;
      offset_ += bytes;
      if (offset_ < transfer_.bytes) return;
      ++file_;
      offset_ = 0;
    }

    void moved(std::size_t number, int result) {
      const Slot slot = slots_[number];
      if (result != static_cast<int>(slot.bytes)) {
        fail("moving", transfer_.paths[slot.file], result < 0 ? -result : ENODATA);
      }
      if (!write_) {
        transfer_.take(slot.file, slot.offset, way_.buffers_[number].first(slot.bytes));
      }
      free_.push_back(number);
      Open& one = open_[slot.file];
      if (--one.left != 0) return;
      if (!write_ || !transfer_.durable) return ended(slot.file, 0);
      way_.queue_.sync(one.file->number(), kSync | slot.file);
      ++under_way_;
    }

    void ended(std::size_t file, int result) {
      if (result < 0) fail("syncing", transfer_.paths[file], -result);
      way_.queue_.closing(open_[file].file->number());
      open_.erase(file);
    }

    Windowed& way_;
    const Transfer& transfer_;
    bool write_;
    std::vector<Slot> slots_;
    std::vector<std::size_t> free_;
    std::map<std::size_t, Open> open_;
    std::size_t file_ = 0;  // the next block
    std::uint64_t offset_ = 0;
    std::size_t under_way_ = 0;
  };

  void touch(Random& random, bool write) {
    std::vector<std::size_t> numbers(depth_);
    std::vector<std::uint64_t> since(depth_);
    std::size_t next = 0;
    const auto begin = [&](std::size_t slot) {
      const std::uint64_t offset = random.offsets[next];
      numbers[slot] = next++;
      since[slot] = ns_now();
      if (write) {
        stamp(buffers_[slot], 0, offset, random.generation);
        queue_.write(random_file(), buffers_[slot], offset, slot);
      } else {
        queue_.read(random_file(), buffers_[slot], offset, slot);
      }
    };
    std::size_t under_way = 0;
    for (; under_way < depth_ && next < random.offsets.size(); ++under_way) begin(under_way);
    while (under_way != 0) {
      const Done done = queue_.wait();
      const std::size_t slot = done.tag;
      if (done.result != static_cast<int>(kSector)) {
        fail("moving", random.path, done.result < 0 ? -done.result : ENODATA);
      }
      random.ns[numbers[slot]] = static_cast<std::uint32_t>(ns_now() - since[slot]);
      if (!write) check(random, numbers[slot], buffers_[slot]);
      if (next < random.offsets.size()) {
        begin(slot);
      } else {
        --under_way;
      }
    }
  }

  std::size_t depth_;
  Buffers buffers_;
  Queue queue_;
  std::unique_ptr<Descriptor> file_;
};

}  // namespace handoff::lab::files

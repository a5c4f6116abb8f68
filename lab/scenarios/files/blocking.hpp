// SPDX-License-Identifier: MIT
// Whole files by blocking calls, as the article has it: open, write 16 KiB at a time, fsync, close.
// Its bugs are gone: files are opened with a mode and truncated, errors are looked at, and a name
// does not depend on a digit. A Scheme decides which thread does which file:
//
//   void run(std::size_t count, const std::function<void(std::size_t)>& job);
#pragma once

#include "scenarios/files/disk.hpp"

namespace handoff::lab::files {

inline constexpr std::size_t kArticleBlock = 16 * 1024;

// The first failure of any job, thrown when all have ended.
class Failure {
 public:
  template <class Work>
  void guard(Work&& work) noexcept {
    try {
      work();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!first_) first_ = std::current_exception();
    }
  }
  void rethrow() {
    const std::lock_guard lock(mutex_);
    if (first_) std::rethrow_exception(std::exchange(first_, nullptr));
  }

 private:
  std::mutex mutex_;
  std::exception_ptr first_;
};

struct OneThread {
  static void run(std::size_t count, const std::function<void(std::size_t)>& job) {
    for (std::size_t i = 0; i < count; ++i) job(i);
  }
};

template <class Scheme>
class Blocking : public Way {
 public:
  template <class... Arguments>
  explicit Blocking(std::size_t block, Arguments&&... arguments)
      : block_(block), scheme_(std::forward<Arguments>(arguments)...) {}

  void write(const Transfer& transfer) override {
    each(transfer.paths.size(), [&](std::size_t file) { write_file(transfer, file); });
  }
  void read(const Transfer& transfer) override {
    each(transfer.paths.size(), [&](std::size_t file) { read_file(transfer, file); });
  }
  void remove(const std::vector<std::string>& paths) override {
    each(paths.size(), [&](std::size_t file) {
      if (unlink(paths[file].c_str()) != 0) fail("removing", paths[file], errno);
    });
  }
  // Each writer has every so-manieth block.
  void write_one(const Transfer& transfer, std::size_t threads) override {
    const std::string& path = transfer.paths[0];
    const Descriptor file(path, O_WRONLY | O_CREAT | O_EXCL);
    each(threads, [&](std::size_t writer) {
      const Buffers buffers(1, transfer.block);
      for (std::uint64_t at = writer * transfer.block; at < transfer.bytes;
           at += threads * transfer.block) {
        transfer.make(0, at, buffers[0]);
        write_at(file.number(), buffers[0], at, path);
      }
    });
    if (transfer.durable && fsync(file.number()) != 0) fail("syncing", path, errno);
  }

 private:
  void each(std::size_t count, const std::function<void(std::size_t)>& job) {
    Failure failure;
    scheme_.run(count, [&](std::size_t i) { failure.guard([&] { job(i); }); });
    failure.rethrow();
  }

  // Calls work(memory of one block): as the article's on the stack of its thread.
  template <class Work>
  void with_block(const Transfer& transfer, Work&& work) const {
    const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(block_, transfer.bytes));
    if (bytes > kArticleBlock) {
      const Buffers buffers(1, bytes);
      work(buffers[0]);
    } else {
      alignas(kSector) std::array<std::byte, kArticleBlock> memory;
      const std::span<std::byte> block = std::span(memory).first(bytes);
      fill(block, bytes);
      work(block);
    }
  }

  void write_file(const Transfer& transfer, std::size_t file) const {
    const std::string& path = transfer.paths[file];
    const Descriptor opened(path, O_WRONLY | (transfer.create ? O_CREAT | O_TRUNC : 0));
    with_block(transfer, [&](std::span<std::byte> block) {
      for (std::uint64_t at = 0; at < transfer.bytes; at += block.size()) {
        transfer.make(file, at, block);
        write_at(opened.number(), block, at, path);
      }
    });
    if (transfer.durable && fsync(opened.number()) != 0) fail("syncing", path, errno);
  }
  void read_file(const Transfer& transfer, std::size_t file) const {
    const std::string& path = transfer.paths[file];
    const Descriptor opened(path, O_RDONLY);
    with_block(transfer, [&](std::span<std::byte> block) {
      for (std::uint64_t at = 0; at < transfer.bytes; at += block.size()) {
        read_at(opened.number(), block, at, path);
        transfer.take(file, at, block);
      }
    });
  }

  std::size_t block_;
  Scheme scheme_;
};

}  // namespace handoff::lab::files

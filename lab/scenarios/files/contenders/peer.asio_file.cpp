// SPDX-License-Identifier: MIT
// Asio's random_access_file, which is there where Asio was told to use io_uring. It syncs by a
// blocking call, as it has no other.
#include <asio/buffer.hpp>
#include <asio/io_context.hpp>
#include <asio/random_access_file.hpp>

#include "scenarios/files/windowed.hpp"

namespace handoff::lab::files {
namespace {

class Context {
 public:
  void tell_of(const Buffers& /*buffers*/) {}

  void write(int file, std::span<const std::byte> from, std::uint64_t offset, std::uint64_t tag) {
    file_of(file).async_write_some_at(
        offset, asio::buffer(from.data(), from.size()),
        [this, tag](std::error_code error, std::size_t bytes) { ended(tag, error, bytes); });
  }
  void read(int file, std::span<std::byte> into, std::uint64_t offset, std::uint64_t tag) {
    file_of(file).async_read_some_at(
        offset, asio::buffer(into.data(), into.size()),
        [this, tag](std::error_code error, std::size_t bytes) { ended(tag, error, bytes); });
  }
  void sync(int file, std::uint64_t tag) {
    std::error_code error;
    file_of(file).sync_all(error);
    ended(tag, error, 0);
  }
  void closing(int file) { files_.erase(file); }

  Done wait() {
    while (done_.empty()) {
      context_.restart();
      context_.run_one();
    }
    const Done first = done_.front();
    done_.pop_front();
    return first;
  }

 private:
  void ended(std::uint64_t tag, std::error_code error, std::size_t bytes) {
    done_.push_back({tag, error ? -error.value() : static_cast<int>(bytes)});
  }

  asio::random_access_file& file_of(int number) {
    const auto found = files_.find(number);
    if (found != files_.end()) return found->second;
    return files_.emplace(number, asio::random_access_file(context_, dup(number))).first->second;
  }

  asio::io_context context_{1};
  std::map<int, asio::random_access_file> files_;
  std::deque<Done> done_;
};

constexpr std::size_t kDepth = 16;

}  // namespace

std::unique_ptr<Way> contender(const Task& task) {
  return std::make_unique<Windowed<Context>>(task,
                                             task.work.starts_with("random") ? task.depth : kDepth);
}

}  // namespace handoff::lab::files

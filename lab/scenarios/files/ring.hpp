// SPDX-License-Identifier: MIT
// The bare io_uring: sectors and blocks, so many under way, from memory that the kernel knows.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

#include <liburing.h>

#include "scenarios/files/buffers.hpp"
#include "scenarios/files/windowed.hpp"

namespace handoff::lab::files {

class Ring {
 public:
  explicit Ring(std::size_t depth) {
    const int failed = io_uring_queue_init(static_cast<unsigned>(2 * depth), &ring_,
                                           IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_COOP_TASKRUN);
    if (failed != 0) {
      throw Unavailable(std::string("io_uring cannot be had here: ") + std::strerror(-failed));
    }
  }
  ~Ring() { io_uring_queue_exit(&ring_); }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

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

}  // namespace handoff::lab::files

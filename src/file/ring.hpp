// SPDX-License-Identifier: MIT
//
// An io_uring of one thread, and what a FileCall is in it. Only where the library is built with
// liburing.
//
// Concurrency: of the thread that called open(). Blocks: submit_and_wait(). Allocates, throws:
// never.
#pragma once

#if defined(HANDOFF_HAS_URING)

#include <liburing.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <handoff/config.hpp>

#include "../sync/internal/descriptor.hpp"
#include "file_call.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// A call as the kernel is told it; stays where it is until the call has been submitted.
struct RingCall {
  FileCall call;
  open_how how{};
};

// Wakes the thread of a ring, which reads it through the ring. Any thread may ring it.
class RingBell {
 public:
  int open() noexcept {  // 0 or an errno
    event_ = Descriptor(descriptors::of_event(0));
    return event_.is_open() ? 0 : errno;
  }
  void ring() noexcept { descriptors::ring(event_.get()); }
  [[nodiscard]] int descriptor() const noexcept { return event_.get(); }

 private:
  Descriptor event_;
};

class Ring {
 public:
  Ring() noexcept = default;
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  ~Ring() { close(); }

  // Asks the kernel for a ring with room for `calls` at once. 0, or an errno: why there is
  // none, ENOSYS if the kernel's cannot do what is needed.
  int open(unsigned calls) noexcept;
  void close() noexcept;

  // Whether such a call can go through the ring.
  [[nodiscard]] bool takes(const FileCall& call) const noexcept;
  // Queues a call that it takes. `label` comes back with the result.
  void add(RingCall& call, std::uint64_t label) noexcept;
  // ... the wish to hear a bell; once.
  void add(const RingBell& bell, std::uint64_t label) noexcept;

  // Hands over what was queued, and waits until at least `results` are there. 0 or an errno.
  int submit_and_wait(unsigned results) noexcept;
  // Calls take(label, result) for each result that is there. Returns how many there were.
  template <class Take>
  unsigned take_results(Take&& take) noexcept {
    unsigned head = 0;
    unsigned count = 0;
    io_uring_cqe* result = nullptr;
    io_uring_for_each_cqe(&ring_, head, result) {
      ++count;
      take(result->user_data, static_cast<long>(result->res));
    }
    io_uring_cq_advance(&ring_, count);
    return count;
  }

 private:
  int set_up(unsigned calls) noexcept;
  int probe() noexcept;
  io_uring_sqe* place() noexcept;

  static constexpr std::size_t kOperations = 256;

  io_uring ring_{};
  bool open_ = false;
  std::uint64_t rung_ = 0;  // where the kernel writes how often a bell rang
  std::array<bool, kOperations> able_{};  // by IORING_OP
};

}}}  // namespace handoff::HANDOFF_ABI::detail

#endif

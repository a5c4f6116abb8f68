// SPDX-License-Identifier: MIT
//
// An io_uring of one thread: set-up with what the kernel has, and a FileCall as a submission.
#include "ring.hpp"

#if defined(HANDOFF_HAS_URING)

#include <algorithm>
#include <cerrno>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

// Younger than the liburing that is asked for; the numbers are the kernel's.
constexpr unsigned kFtruncate = 55;

// What the kernel moves at most in one call; a submission has 32 bits for the length.
constexpr std::uint64_t kMostBytes = 0x7ffff000;

// Without these there is no use in a ring. The others are performed by a thread where they miss.
constexpr std::array<unsigned, 6> kNeeded{IORING_OP_READ,   IORING_OP_WRITE, IORING_OP_READV,
                                          IORING_OP_WRITEV, IORING_OP_FSYNC, IORING_OP_CLOSE};

unsigned operation_of(const FileCall& call) noexcept {
  const bool one = call.piece_count == 1;
  switch (call.kind) {
    case FileCallKind::open: return call.resolve == 0 ? IORING_OP_OPENAT : IORING_OP_OPENAT2;
    case FileCallKind::close: return IORING_OP_CLOSE;
    case FileCallKind::read: return one ? IORING_OP_READ : IORING_OP_READV;
    case FileCallKind::write: return one ? IORING_OP_WRITE : IORING_OP_WRITEV;
    case FileCallKind::fsync:
    case FileCallKind::fdatasync: return IORING_OP_FSYNC;
    case FileCallKind::preallocate: return IORING_OP_FALLOCATE;
    case FileCallKind::truncate: return kFtruncate;
    case FileCallKind::rename: return IORING_OP_RENAMEAT;
    case FileCallKind::link: return IORING_OP_LINKAT;
    case FileCallKind::unlink: return IORING_OP_UNLINKAT;
    case FileCallKind::stat: return IORING_OP_STATX;
    case FileCallKind::make_directory: return IORING_OP_MKDIRAT;
    case FileCallKind::copy_range:
    case FileCallKind::clone:
    case FileCallKind::other: break;
  }
  return IORING_OP_NOP;  // there is none
}

// What neither moves bytes nor makes or ends a descriptor.
void prepare_rest(const FileCall& call, io_uring_sqe* entry) noexcept {
  switch (call.kind) {
    case FileCallKind::fsync: io_uring_prep_fsync(entry, call.descriptor, 0); break;
    case FileCallKind::fdatasync:
      io_uring_prep_fsync(entry, call.descriptor, IORING_FSYNC_DATASYNC);
      break;
    case FileCallKind::preallocate:
      io_uring_prep_fallocate(entry, call.descriptor, call.flags, static_cast<off_t>(call.offset),
                              static_cast<off_t>(call.bytes));
      break;
    case FileCallKind::truncate:
      io_uring_prep_rw(static_cast<int>(kFtruncate), entry, call.descriptor, nullptr, 0,
                       call.offset);
      break;
    case FileCallKind::rename:
      io_uring_prep_renameat(entry, call.descriptor, call.path, call.to_descriptor, call.to_path,
                             0);
      break;
    case FileCallKind::link:
      io_uring_prep_linkat(entry, call.descriptor, call.path, call.to_descriptor, call.to_path,
                           call.flags);
      break;
    case FileCallKind::unlink:
      io_uring_prep_unlinkat(entry, call.descriptor, call.path, call.flags);
      break;
    case FileCallKind::stat:
      io_uring_prep_statx(entry, call.descriptor, call.path, call.flags, STATX_BASIC_STATS,
                          call.attributes);
      break;
    case FileCallKind::make_directory:
      io_uring_prep_mkdirat(entry, call.descriptor, call.path, call.mode);
      break;
    default: break;
  }
}

}  // namespace

int Ring::open(unsigned calls) noexcept {
  if (const int error = set_up(calls); error != 0) return error;
  open_ = true;
  if (const int error = probe(); error != 0) {
    close();
    return error;
  }
  return 0;
}

int Ring::set_up(unsigned calls) noexcept {
  // The ring of this thread, which runs the kernel's part of a completion when it asks for results
  // and never in the middle of something else: the cheapest there is. Older kernels know less of
  // it.
  constexpr std::array<unsigned, 3> ways{IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN,
                                         IORING_SETUP_COOP_TASKRUN, 0};
  int error = EINVAL;
  for (const unsigned flags : ways) {
    // descriptor: above_streams() has it below; the kernel closes it on an exec.
    error = -io_uring_queue_init(calls, &ring_, flags);
    if (error != EINVAL) break;
  }
  if (error != 0) return error;
  const int number = descriptors::above_streams(ring_.ring_fd);
  error = number < 0 ? errno : 0;
  ring_.ring_fd = ring_.enter_ring_fd = number;
  if (error != 0) io_uring_queue_exit(&ring_);  // the mappings
  return error;
}

int Ring::probe() noexcept {
  // What a call names may be gone once the call was handed over.
  if ((ring_.features & IORING_FEAT_SUBMIT_STABLE) == 0) return ENOSYS;
  if ((ring_.features & IORING_FEAT_NODROP) == 0) return ENOSYS;
  alignas(io_uring_probe)
      std::array<std::byte, sizeof(io_uring_probe) + kOperations * sizeof(io_uring_probe_op)>
          memory{};
  auto* const known = reinterpret_cast<io_uring_probe*>(memory.data());
  if (const int error = -io_uring_register_probe(&ring_, known, kOperations); error != 0)
    return error;
  for (unsigned operation = 0; operation < kOperations; ++operation) {
    able_[operation] =
        operation < known->ops_len && (known->ops[operation].flags & IO_URING_OP_SUPPORTED) != 0;
  }
  const bool enough = std::all_of(kNeeded.begin(), kNeeded.end(),
                                  [this](unsigned operation) { return able_[operation]; });
  return enough ? 0 : ENOSYS;
}

int Ring::submit_and_wait(unsigned results) noexcept {
  const int submitted = results == 0 ? io_uring_submit_and_get_events(&ring_)
                                     : io_uring_submit_and_wait(&ring_, results);
  return submitted < 0 ? -submitted : 0;
}

void Ring::close() noexcept {
  if (open_) io_uring_queue_exit(&ring_);
  open_ = false;
}

bool Ring::takes(const FileCall& call) const noexcept {
  const unsigned operation = operation_of(call);
  return operation != IORING_OP_NOP && able_[operation];
}

io_uring_sqe* Ring::place() noexcept {
  io_uring_sqe* entry = io_uring_get_sqe(&ring_);
  // The queue has room for all calls at once, so this is for a kernel that took less than it could.
  while (entry == nullptr) {
    io_uring_submit(&ring_);
    entry = io_uring_get_sqe(&ring_);
  }
  return entry;
}

void Ring::add(const RingBell& bell, std::uint64_t label) noexcept {
  io_uring_sqe* const entry = place();
  io_uring_prep_read(entry, bell.descriptor(), &rung_, sizeof rung_, 0);
  io_uring_sqe_set_data64(entry, label);
}

void Ring::add(RingCall& what, std::uint64_t label) noexcept {
  const FileCall& call = what.call;
  io_uring_sqe* const entry = place();
  const auto length = [&]() noexcept {
    return static_cast<unsigned>(std::min<std::uint64_t>(call.pieces->iov_len, kMostBytes));
  };
  const auto pieces = static_cast<unsigned>(std::min(call.piece_count, kMostPieces));
  switch (call.kind) {
    case FileCallKind::open:
      if (call.resolve == 0) {
        // descriptor: above_streams() has what comes back (RingDriver::came_back()).
        io_uring_prep_openat(entry, call.descriptor, call.path, call.flags | O_CLOEXEC, call.mode);
        break;
      }
      what.how = {};
      what.how.flags = static_cast<std::uint64_t>(call.flags | O_CLOEXEC);
      // O_TMPFILE has the bit of O_DIRECTORY in it.
      what.how.mode =
          (call.flags & O_CREAT) != 0 || (call.flags & O_TMPFILE) == O_TMPFILE ? call.mode : 0;
      what.how.resolve = call.resolve;
      // descriptor: as above.
      io_uring_prep_openat2(entry, call.descriptor, call.path, &what.how);
      break;
    case FileCallKind::close: io_uring_prep_close(entry, call.descriptor); break;
    case FileCallKind::read:
      if (pieces == 1)
        io_uring_prep_read(entry, call.descriptor, call.pieces->iov_base, length(), call.offset);
      else io_uring_prep_readv(entry, call.descriptor, call.pieces, pieces, call.offset);
      break;
    case FileCallKind::write:
      if (pieces == 1)
        io_uring_prep_write(entry, call.descriptor, call.pieces->iov_base, length(), call.offset);
      else io_uring_prep_writev(entry, call.descriptor, call.pieces, pieces, call.offset);
      break;
    default: prepare_rest(call, entry); break;
  }
  io_uring_sqe_set_data64(entry, label);
}

}}}  // namespace handoff::HANDOFF_ABI::detail

#endif

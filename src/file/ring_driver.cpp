// SPDX-License-Identifier: MIT
//
// One thread, one ring. The thread's turn: take the runs that were started, ask each for calls
// while there are slots, hand all of them over and wait in one system call, tell the runs what came
// back.
//
// Labelled invariants:
//   RG-2  A run is in at most one place: with the host, among the arrivals, or here. Here it is
//         ready, or has calls out, or both. `driver_word` of a run that is ready is 1, and it is
//         not asked for calls until its turn comes: so it is ready once.
//   RG-3  The bell is always being read by the ring, until close() has rung it for the last time.
#include "ring_driver.hpp"

#include <cerrno>

#if defined(HANDOFF_HAS_URING)

#include <sys/uio.h>

#include <algorithm>
#include <bit>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/probe/internal/slice.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/internal/this_thread.hpp>
#include <handoff/sync/internal/thread.hpp>
#include <handoff/sync/mutex.hpp>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "../sync/internal/descriptor.hpp"
#include "../sync/internal/seen_sanitizer.hpp"
#include "open_file_state.hpp"
#include "ring.hpp"
#include "ring_arrivals.hpp"
#include "run_queue.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

constexpr std::size_t kMostWidth = 4096;
constexpr std::size_t kMostThreads = 4;
constexpr std::uint64_t kBellLabel = 0;  // slots have others
constexpr std::size_t kFewRuns = 2;
constexpr unsigned kMostInTurn = 64;  // runs that are driven
constexpr std::uint64_t kQuick = 64 << 10;  // bytes that are copied in some microseconds

// One call that is out.
struct RingSlot {
  FileRun* run = nullptr;
  FileCall call;  // as the run wants it
  RingCall handed;  // as it is made: shorter, if the tap says so
  long result = 0;  // of one that a thread made
  RingSlot* next = nullptr;
  std::vector<iovec> shorter;
};

// Those that are free, those that are not.
class CallSlots {
 public:
  explicit CallSlots(std::size_t count) : slots_(std::make_unique<RingSlot[]>(count)) {
    for (std::size_t i = 0; i < count; ++i) give_back(slots_[i]);
    out_ = 0;
  }

  [[nodiscard]] bool any_free() const noexcept { return free_ != nullptr; }
  [[nodiscard]] bool any_out() const noexcept { return out_ != 0; }
  RingSlot& take() noexcept {
    RingSlot& slot = *free_;
    free_ = slot.next;
    ++out_;
    return slot;
  }
  void give_back(RingSlot& slot) noexcept {
    slot.next = free_;
    free_ = &slot;
    --out_;
  }
  // What goes through the ring as the label of a call, and comes back.
  [[nodiscard]] std::uint64_t label(const RingSlot& slot) const noexcept {
    return static_cast<std::uint64_t>(&slot - slots_.get()) + 1;
  }
  [[nodiscard]] RingSlot& with_label(std::uint64_t label) noexcept { return slots_[label - 1]; }

 private:
  std::unique_ptr<RingSlot[]> slots_;
  RingSlot* free_ = nullptr;
  std::size_t out_ = 0;
};

class RingDriver final : public FileDriver {
 public:
  RingDriver(FileHost& host, const FileDriverOptions& options);
  ~RingDriver() override { close(); }

  // 0, or the errno why it cannot work. Once, before anything else.
  int open();

  void start(FileRun& run) noexcept override;
  void close() noexcept override;

 private:
  void work() noexcept;
  void turn() noexcept;
  void admit(FileRun& run) noexcept;
  void make_ready(FileRun& run) noexcept;
  void drive(FileRun& run) noexcept;
  void issue(FileRun& run, const FileCall& call) noexcept;
  bool read_at_once(FileRun& run, const FileCall& call) noexcept;
  void came_back(RingSlot& slot, long result) noexcept;
  bool give_to_thread(RingSlot& slot) noexcept;
  void take_from_threads() noexcept;

  FileHost& host_;
  FileTap* const tap_;
  const std::string name_;
  const std::size_t width_;

  RingBell bell_;
  sync::Thread thread_;

  sync::Mutex mutex_;
  // Said by the thread once, when it has opened the ring, and true from then on.
  sync::EventCount opened_;
  bool said_ = false;
  int error_ = 0;
  sync::ThreadId owner_ = nullptr;
  RingSlot* made_ = nullptr;  // whose calls threads have made

  RingArrivals<FileRun> arrivals_;

  // Only the thread uses these.
  Ring ring_;
  CallSlots slots_;
  RunQueue ready_;
  std::size_t runs_ = 0;  // that are here: ready, or with calls out
  bool closed_ = false;
  bool rings_ = false;  // the bell is being read
  bool reads_at_once_ = true;  // no file system has said that it cannot
  // For calls that the ring has no operation for and that may take long (copy_file_range,
  // FICLONE). Made for the first one.
  std::optional<ThreadPool> threads_;
};

RingDriver::RingDriver(FileHost& host, const FileDriverOptions& options)
    : host_(host),
      tap_(options.tap),
      name_(options.name),
      width_(std::clamp<std::size_t>(options.width, 1, kMostWidth)),
      slots_(width_) {}

int RingDriver::open() {
  if (const int error = bell_.open(); error != 0) return error;
  thread_ = sync::Thread({.name = name_}, [this]() noexcept { work(); });
  (void)opened_.await([this] {
    const sync::SeenLock lock(mutex_);
    return said_;
  });
  if (error_ != 0) thread_.join();
  return error_;
}

void RingDriver::start(FileRun& run) noexcept {
  run.driver_word = 0;
  if (owner_ == sync::this_thread_id()) return admit(run);
  sync::tell_given(&run);
  if (arrivals_.put(run)) bell_.ring();
}

void RingDriver::close() noexcept {
  // All runs have ended: nobody starts one any more.
  arrivals_.end();
  bell_.ring();
  thread_.join();
}

// ---- on its thread -------------------------------------------------------------------------

void RingDriver::work() noexcept {
  // One place more for the bell.
  const int error = ring_.open(static_cast<unsigned>(std::bit_ceil(width_ + 1)));
  {
    const sync::SeenLock lock(mutex_);
    error_ = error;
    owner_ = error == 0 ? sync::this_thread_id() : nullptr;
    said_ = true;
  }
  opened_.notify_all();
  if (error != 0) return;
  while (!closed_ || rings_ || slots_.any_out()) turn();
  ring_.close();
}

void RingDriver::turn() noexcept {
  const auto come_in = [this](FileRun& run) noexcept {
    sync::tell_taken(&run);
    admit(run);
  };
  if (!closed_) closed_ = !arrivals_.take(come_in);
  // Those whose reads end at once are followed by others for as long as callbacks post them, so
  // there is a bound.
  const auto may_drive = [this]() noexcept { return !ready_.empty() && slots_.any_free(); };
  for (unsigned left = kMostInTurn; left > 0 && may_drive(); --left) drive(*ready_.pop());
  if (may_drive() && !slots_.any_out()) return;  // nothing to hand over, nothing to hear of
  if (!rings_ && !closed_) {
    ring_.add(bell_, kBellLabel);
    rings_ = true;
  }
  if (closed_ && !rings_ && !slots_.any_out()) return;
  // RG-1. What arrives from here on rings the bell, which ends the wait.
  const bool wait = !may_drive() && (closed_ || arrivals_.fall_asleep());
  // An error (too little memory for the moment, a signal) is no result: the next turn tries again.
  if (wait) {
    const probe::Slice asleep(probe::Kind::sleep, "io");
    (void)ring_.submit_and_wait(1);
  } else {
    (void)ring_.submit_and_wait(0);
  }
  ring_.take_results([this](std::uint64_t label, long result) noexcept {
    if (label == kBellLabel) rings_ = false;
    else came_back(slots_.with_label(label), result);
  });
  if (threads_) take_from_threads();
}

// False: there is no thread for it.
bool RingDriver::give_to_thread(RingSlot& slot) noexcept {
  return attempt([&] {
    if (!threads_) {
      threads_.emplace(ThreadPoolOptions{
          .name = name_, .mode = PoolMode::cached, .width = kMostThreads, .core = 1});
    }
    threads_->post([this, &slot]() noexcept {
      slot.result = perform(slot.handed.call, nullptr);
      {
        const sync::SeenLock lock(mutex_);
        slot.next = std::exchange(made_, &slot);
      }
      bell_.ring();
    });
  });
}

void RingDriver::take_from_threads() noexcept {
  RingSlot* slot = nullptr;
  {
    const sync::SeenLock lock(mutex_);
    slot = std::exchange(made_, nullptr);
  }
  while (slot != nullptr) {
    RingSlot& done = *std::exchange(slot, slot->next);
    came_back(done, done.result);
  }
}

void RingDriver::admit(FileRun& run) noexcept {
  ++runs_;
  make_ready(run);
}

void RingDriver::make_ready(FileRun& run) noexcept {
  run.driver_word = 1;
  ready_.push(run);
}

// RG-2: the run has left ready_.
void RingDriver::drive(FileRun& run) noexcept {
  run.driver_word = 0;
  const std::size_t share = width_ / runs_;
  run.set_window(static_cast<unsigned>(std::clamp<std::size_t>(share, 1, FileRun::kMostOut)));
  while (slots_.any_free()) {
    FileCall call;
    switch (run.next(call)) {
      case FileRun::Step::issue: issue(run, call); continue;
      case FileRun::Step::busy: return;
      case FileRun::Step::parked: --runs_; return;
      case FileRun::Step::ended: --runs_; return host_.ended(run);
    }
  }
  make_ready(run);
}

void RingDriver::issue(FileRun& run, const FileCall& call) noexcept {
  FileTap::Verdict verdict;
  if (tap_ != nullptr) verdict = tap_->before(view(call));
  if (verdict.kind == FileTap::Verdict::answer) {
    tap_->after(view(call), verdict.value);
    return run.completed(call, verdict.value);
  }
  if (verdict.kind == FileTap::Verdict::proceed && read_at_once(run, call)) return;
  RingSlot& slot = slots_.take();
  slot.run = &run;
  slot.call = call;
  slot.handed.call = call;
  if (verdict.kind == FileTap::Verdict::shorten) {
    slot.shorter.resize(call.piece_count);  // under a tap alone, so it may allocate
    shorten(slot.handed.call, static_cast<std::uint64_t>(std::max(verdict.value, 1L)),
            slot.shorter);
  }
  if (ring_.takes(call)) return ring_.add(slot.handed, slots_.label(slot));
  if (give_to_thread(slot)) return;
  const long result = perform(slot.handed.call, nullptr);
  if (tap_ != nullptr) tap_->after(view(call), result);
  slots_.give_back(slot);
  run.completed(call, result);
}

// A small read of what is in the page cache: cheaper by a call that does not wait than by the ring,
// unless many go through the ring by one call. False: it would wait, or cannot be asked so.
bool RingDriver::read_at_once(FileRun& run, const FileCall& call) noexcept {
  if (call.kind != FileCallKind::read || call.bytes > kQuick || !reads_at_once_) return false;
  if (runs_ > kFewRuns) return false;
  const OpenFileState* const file = OpenFileAccess::state(run.request().file);
  if (file == nullptr || file->direct) return false;
  const auto count = static_cast<int>(std::min(call.piece_count, kMostPieces));
  const ssize_t result =
      ::preadv2(call.descriptor, call.pieces, count, static_cast<off_t>(call.offset), RWF_NOWAIT);
  if (result <= 0) {
    // The end of the file is the ring's to tell, and so are errors.
    if (result < 0 && (errno == EOPNOTSUPP || errno == ENOSYS)) reads_at_once_ = false;
    return false;
  }
  if (tap_ != nullptr) tap_->after(view(call), result);
  run.completed(call, result);
  return true;
}

void RingDriver::came_back(RingSlot& slot, long result) noexcept {
  FileRun& run = *slot.run;
  const FileCall call = slot.call;
  slots_.give_back(slot);
  if (call.kind == FileCallKind::open && result >= 0) {
    const int number = descriptors::above_streams(static_cast<int>(result));
    result = number < 0 ? -errno : number;
  }
  if (tap_ != nullptr) tap_->after(view(call), result);
  run.completed(call, result);
  if (run.driver_word == 0) make_ready(run);
}

}  // namespace

std::unique_ptr<FileDriver> make_ring_driver(FileHost& host, const FileDriverOptions& options,
                                             int& error) {
  auto driver = std::make_unique<RingDriver>(host, options);
  error = driver->open();
  return error == 0 ? std::move(driver) : nullptr;
}

int ring_refusal() noexcept {
  Ring ring;
  return ring.open(2);
}

}}}  // namespace handoff::HANDOFF_ABI::detail

#else

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

std::unique_ptr<FileDriver> make_ring_driver(FileHost&, const FileDriverOptions&, int& error) {
  error = ENOSYS;
  return nullptr;
}

int ring_refusal() noexcept { return ENOSYS; }

}}}  // namespace handoff::HANDOFF_ABI::detail

#endif

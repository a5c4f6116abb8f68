// SPDX-License-Identifier: MIT
//
// One accepted request on its way: coroutines that say which system call comes next. The same ones
// run under every driver, so that all backends give the same results.
//
//   run.set_window(1);                                  // how many calls may be out at once
//   for (FileCall call;;) {
//     switch (run.next(call)) {
//       case FileRun::Step::issue: run.completed(call, perform(call, tap)); continue;
//       case FileRun::Step::busy: ...                   // only with several calls out
//       case FileRun::Step::parked: return;             // do not touch it any more
//       case FileRun::Step::ended: return host.ended(run);
//     }
//   }
//
// Concurrency: next(), completed() and set_window() by one thread at a time, the driver's. After
//   `parked` the run belongs to what it waits for (room, a sync, its share of the device), which
//   gives it to its driver again by start(), perhaps before next() has returned.
// Calls that are out may complete in any order. What a call points to (path, pieces, attributes)
// stays valid until completed() for it has been called; `call` itself may be copied.
// Rules of retrying, for all operations: EINTR is made again; EAGAIN too, kMostAgain times in turn;
// a short transfer goes on behind it; 0 bytes written count as EIO. All else is final.
// Labelled invariants: docs/design/file_engine.md.
#pragma once

#include <sys/stat.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <handoff/config.hpp>
#include <handoff/file/file_request.hpp>
#include <handoff/file/file_result.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "file_call.hpp"
#include "path.hpp"
#include "run_frames.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class FileDriver;
class FileRun;
struct OpenFileState;

// What a run asks of its engine.
class FileServices {
 public:
  virtual FileTap* tap() const noexcept = 0;
  // The directory that no path leaves; AT_FDCWD: none.
  virtual int beneath() const noexcept = 0;
  // 0, or the errno with which what has not begun ends: ECANCELED, ETIME.
  virtual int whether_to_begin() const noexcept = 0;
  // Room for bytes in flight. False: parked until there is; then it has it.
  virtual bool reserve(FileRun& run, std::uint64_t bytes) noexcept = 0;
  // A share of the device. False: not yet; parked until then if `park`, and then it has it.
  virtual bool spend(FileRun& run, std::uint64_t bytes, bool park) noexcept = 0;
  // One fsync for all that wait (sync_groups.hpp). True: this run makes it, by begin_sync() and
  // end_sync(). False: parked until its result is there, or until this run has to make one.
  virtual bool join_sync(FileRun& run) noexcept = 0;
  // Returns the descriptor whose sync covers all that wait.
  virtual int begin_sync(FileRun& run) noexcept = 0;
  virtual void end_sync(FileRun& run, int error) noexcept = 0;

 protected:
  ~FileServices() = default;
};

class FileRun {
 public:
  enum class Step : std::uint8_t {
    issue,  // make this call
    busy,  // nothing more until a call that is out has completed
    parked,  // nothing is out; somebody will start it again. It may be running already
    ended,  // nothing is out; the result is there
  };
  static constexpr unsigned kMostOut = 16;  // calls at once
  static constexpr std::uint64_t kPiece = std::uint64_t{1} << 20;  // bytes of a call
  static constexpr unsigned kMostAgain = 1000;  // EAGAIN in turn

  FileRun(FileServices& services, FileRequest&& request) noexcept;
  FileRun(const FileRun&) = delete;
  FileRun& operator=(const FileRun&) = delete;

  // How many calls of a transfer the driver wants at once, 1 to kMostOut. Before each next(), if
  // it changes.
  void set_window(unsigned calls) noexcept { window_ = calls; }
  // It waits for its first share before it changes anything. Before the first next().
  void set_paced() noexcept { is_paced_ = true; }
  Step next(FileCall& call) noexcept;
  void completed(const FileCall& call, long result) noexcept;

  // The driver's, while the run is its.
  FileRun* queued_behind = nullptr;
  std::uint64_t driver_word = 0;  // whatever it likes
  // Which one; set by the engine.
  FileDriver* driver = nullptr;

  // What sync_groups.hpp keeps about a run that waits for a sync.
  struct SyncPlace {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::uint64_t opened = 0;  // opened_now() of the descriptor
    int descriptor = -1;
    bool makes = false;  // this run makes the sync
    int error = 0;
    // Whose the descriptor is. Null: the run's own, which is synced for the first time.
    OpenFileState* open_file = nullptr;
    FileRun* behind = nullptr;  // in one of the lists
    // The run that makes the sync has: the runs that it serves, later ones, the next maker.
    FileRun* served = nullptr;
    FileRun* waiting = nullptr;
    FileRun* waiting_last = nullptr;
    FileRun* next_maker = nullptr;
    OpenFileState* synced = nullptr;  // whose the descriptor is that it syncs
  };
  SyncPlace sync_place;

  // By any thread: as a stop by the request's token. False: so it was told before.
  bool stop() noexcept {
    // order: relaxed, the word is all there is.
    return !is_stopped_.exchange(true, sync::order::relaxed);
  }

  // By any thread: the errno with which it ends, as it was stopped or is late; 0: neither.
  int stopped() const noexcept;
  // By any thread, while it is parked: the same; if it has changed nothing yet, or not begun, the
  // end of its engine counts too.
  int given_up() const noexcept;

  const FileRequest& request() const noexcept { return request_; }
  // For a refused one, whose request goes back to its caller.
  FileRequest& request_to_return() noexcept { return request_; }
  // Once ended.
  FileResult& outcome() noexcept { return result_; }
  // Whether it came further than the question whether it may begin, and, if it is paced, than the
  // wait for its first share.
  bool has_begun() const noexcept { return begun_; }

 private:
  // What the coroutines wait for.
  enum class Wants : std::uint8_t {
    to_begin,
    to_go_on,
    call,  // call_ is to be made
    result,  // call_ is being made
    piece,  // call_ is to be made, and others may be out
    completion,  // of any of them
    bytes,  // wanted_ of those in flight
    share,  // of the device, for wanted_ bytes
    sync,  // of sync_place
    end,
  };

  // A wait; co_await gives what call_ has said: a number, or a negative errno.
  struct Pause : std::suspend_always {
    FileRun& run;
    long await_resume() const noexcept { return run.said_; }
  };

  // A part of the way. The part that calls it awaits it at once, and hears whether to go on: if
  // not, fail() has been called. Its frame is in frames_.
  class [[nodiscard]] Steps {
   public:
    struct promise_type;
    using Handle = std::coroutine_handle<promise_type>;

    struct End : std::suspend_always {
      void await_suspend(Handle ended) const noexcept {
        const promise_type& promise = ended.promise();
        if (promise.caller) promise.run.innermost_ = promise.caller;
        else promise.run.wants_ = Wants::end;
      }
    };

    struct promise_type {
      // What a part is called with is nothing, or one int.
      explicit promise_type(FileRun& its, int /*it*/ = 0) noexcept : run(its) {}
      static void* operator new(std::size_t bytes, FileRun& run, int /*it*/ = 0) noexcept {
        void* const frame = run.frames_.take(bytes);
        if (frame == nullptr) run.fail(-ENOMEM, "");
        return frame;
      }
      // The check knows no frames: this gives back what that `new` took.
      // NOLINTNEXTLINE(cert-dcl54-cpp,misc-new-delete-overloads)
      static void operator delete(void* frame, std::size_t bytes) noexcept {
        RunFrames::give_back(frame, bytes);
      }
      static Steps get_return_object_on_allocation_failure() noexcept { return Steps({}); }
      Steps get_return_object() noexcept { return Steps(Handle::from_promise(*this)); }
      std::suspend_always initial_suspend() const noexcept { return {}; }
      End final_suspend() const noexcept { return {}; }
      void return_value(bool said) noexcept { goes_on = said; }
      // terminate: no part throws, and what a user gave it must not.
      [[noreturn]] void unhandled_exception() const noexcept { std::terminate(); }

      FileRun& run;
      Handle caller;
      bool goes_on = false;
    };

    explicit Steps(Handle handle) noexcept : handle_(handle) {}
    Handle handle() const noexcept { return handle_; }

    bool await_ready() const noexcept { return !handle_; }
    void await_suspend(Handle caller) const noexcept {
      handle_.promise().caller = caller;
      caller.promise().run.innermost_ = handle_;
    }
    bool await_resume() const noexcept {
      if (!handle_) return false;
      const bool goes_on = handle_.promise().goes_on;
      handle_.destroy();
      return goes_on;
    }

   private:
    Handle handle_;  // null: there was no memory
  };

  enum class Target : std::uint8_t { none, plain, with_attributes };

  // What of one call of a transfer has not been moved.
  struct Slot {
    std::uint64_t at;  // in the transfer
    std::uint32_t left;
    std::uint16_t again;
    bool used;
    bool out;
  };

  // The machine, and the whole way (file_run.cpp).
  Pause pause(Wants wants, std::uint64_t bytes = 0) noexcept {
    wants_ = wants;
    wanted_ = bytes;
    return {{}, *this};
  }
  Steps whole() noexcept;
  bool may_begin() noexcept;
  bool is_untouched() const noexcept;
  int may_move() noexcept;
  const char* what_is_wrong() const noexcept;
  Steps operation() noexcept;
  // False. `step`: what the operation and the errno do not say.
  bool fail(long negative_errno, const char* call, const char* step = "") noexcept;
  bool call_failed() noexcept { return fail(said_, view(call_).name); }
  bool close_next() noexcept;
  void finish() noexcept;

  // Calls.
  Pause made() noexcept { return pause(Wants::call); }  // call_
  Pause make(const FileCall& call) noexcept {
    call_ = call;
    return made();
  }
  Pause look_at(int directory, const char* name, int flags) noexcept {
    return make({.kind = FileCallKind::stat,
                 .descriptor = directory,
                 .path = name,
                 .flags = flags,
                 .attributes = &seen_});
  }
  Pause look_at(int descriptor) noexcept { return look_at(descriptor, "", AT_EMPTY_PATH); }
  Pause unlink(int directory, const std::string& name) noexcept {
    return make({.kind = FileCallKind::unlink, .descriptor = directory, .path = name.c_str()});
  }
  Pause truncate(std::uint64_t length) noexcept {
    return make({.kind = FileCallKind::truncate, .descriptor = fd_, .offset = length});
  }
  Pause fsync(int descriptor) noexcept {
    return make({.kind = FileCallKind::fsync, .descriptor = descriptor});
  }
  Pause preallocate(int flags) noexcept {
    return make({.kind = FileCallKind::preallocate,
                 .descriptor = fd_,
                 .flags = flags,
                 .offset = file_offset_,
                 .bytes = total_});
  }
  // One that no ring has, on the spot.
  template <class Function>
  long other(const char* name, int descriptor, Function&& function) noexcept;

  // Files and directories, opened and made durable (file_run.cpp).
  FileCall open_call(const std::string& path, int flags) const noexcept;
  Steps open_file(int flags) noexcept;
  Steps open_directory() noexcept;
  void settle_flags(bool direct) noexcept;
  OpenFileState* lender_of(int descriptor) const noexcept;
  bool is_durable() const noexcept;
  Steps make_durable() noexcept;
  Steps sync(int descriptor) noexcept;

  // Operations (run_operations.cpp).
  Steps read() noexcept;
  Steps write() noexcept;
  bool has_preallocated() noexcept;
  Steps remove() noexcept;
  Steps ask() noexcept;
  Steps replace() noexcept;
  bool may_replace() noexcept;
  std::uint32_t temporary_mode() noexcept;
  long list_attributes(char* into, std::size_t bytes) noexcept;
  bool keep_rights() noexcept;
  bool keep_attributes(bool& group_kept, bool& has_list, std::uint32_t& mode) noexcept;
  bool drop_inherited_list(std::uint32_t mode) noexcept;
  Steps copy_contents() noexcept;
  Pause by_buffer(FileCallKind kind, int descriptor, std::uint64_t offset, std::size_t at,
                  std::size_t bytes) noexcept;
  std::uint64_t find_data(std::uint64_t& at, std::uint64_t end, bool& has_holes) noexcept;

  // Memory from or to a file (run_transfer.cpp).
  Steps transfer() noexcept;
  void move_the_rest() noexcept;
  bool has_more() const noexcept;
  std::uint64_t next_bytes() noexcept;
  void take_slot() noexcept;
  bool issue_rest() noexcept;
  bool may_be_direct() const noexcept;
  bool writes() const noexcept { return request_.operation != FileOperation::read; }
  // A read without memory of the caller's.
  bool owns_its_data() const noexcept { return !writes() && request_.into.pieces().empty(); }
  std::size_t memory_count() const noexcept;
  std::span<std::byte> memory_at(std::size_t number) const noexcept;
  std::size_t lay_pieces(std::uint64_t most) noexcept;
  void piece_completed(Slot& slot, long result) noexcept;
  void piece_moved(Slot& slot, std::uint64_t bytes) noexcept;
  void nothing_moved(Slot& slot) noexcept;
  void move_cursor(std::uint64_t bytes) noexcept;
  std::uint64_t moved() const noexcept;
  void told(std::uint64_t bytes) noexcept;

  FileServices& services_;
  FileRequest request_;
  FileResult result_;

  // The machine.
  Wants wants_ = Wants::to_begin;
  bool begun_ = false;
  sync::atomic<bool> is_stopped_{false};
  bool paid_ = false;  // what a transfer moves next
  unsigned window_ = 1;
  unsigned again_ = 0;
  unsigned out_ = 0;  // calls of a transfer
  std::uint64_t wanted_ = 0;
  long said_ = 0;
  FileCall call_;
  Steps::Handle innermost_;

  // Files.
  int fd_ = -1;  // the file; while something is replaced or copied, the new one
  int directory_ = -1;
  int source_ = -1;  // of a copy
  bool names_target_ = false;  // failures are about request_.to
  bool wrote_ = false;  // what close() says counts
  bool name_is_new_ = false;  // a directory entry was made
  bool direct_ = false;  // fd_ has O_DIRECT of our own
  bool has_temporary_ = false;
  bool renamed_ = false;
  bool is_paced_ = false;
  Target there_ = Target::none;  // what is to be replaced
  FileAttributes attributes_;  // of fd_, or of the source
  PathParts parts_;  // of the path whose directory is directory_
  std::string temporary_;
  std::vector<std::byte> buffer_;  // of a copy by hand, and for attributes
  std::uint64_t opened_ = 0;

  // The transfer.
  bool saw_end_ = false;
  bool preallocated_ = false;  // the file is longer than what was written
  int transfer_error_ = 0;
  unsigned taken_ = 0;  // of slots_: the others mean nothing yet
  unsigned laid_ = 0;  // of pieces_, where memory comes in several
  std::span<std::byte> own_memory_;  // of owns_its_data()
  std::uint64_t file_offset_ = 0;
  std::uint64_t total_ = 0;
  std::uint64_t end_ = 0;  // of what is done now: total_, a direct part, or where the file ended
  std::uint64_t next_ = 0;  // what no slot has had
  std::uint64_t told_ = 0;
  std::size_t cursor_piece_ = 0;
  std::size_t cursor_offset_ = 0;

  // Last, as the thread that makes the request does not touch them.
  RunFrames frames_;
  std::array<Slot, kMostOut> slots_;
  std::array<iovec, kMostOut> pieces_;
  struct statx seen_;  // by the last look: at fd_, at what is to be replaced, at directory_
};

// function() says -1 and errno. Made again when it was interrupted.
template <class Function>
long FileRun::other(const char* name, int descriptor, Function&& function) noexcept {
  for (unsigned again = 0;; ++again) {
    const long result = perform_other(name, descriptor, nullptr, services_.tap(), function);
    if (result != -EAGAIN || again >= kMostAgain) return result;
  }
}

inline std::uint64_t device_of(const struct statx& attributes) noexcept {
  return std::uint64_t{attributes.stx_dev_major} << 32 | attributes.stx_dev_minor;
}
FileAttributes attributes_of(const struct statx& from) noexcept;

struct FileResultAccess {
  static std::vector<std::byte>& data(FileResult& result) noexcept { return result.data_; }
  static std::uint64_t& bytes(FileResult& result) noexcept { return result.bytes_; }
  static std::uint64_t& offset(FileResult& result) noexcept { return result.offset_; }
  static FileAttributes& attributes(FileResult& result) noexcept { return result.attributes_; }
  static FileFailure& failure(FileResult& result) noexcept { return result.failure_; }
};

}}}  // namespace handoff::HANDOFF_ABI::detail

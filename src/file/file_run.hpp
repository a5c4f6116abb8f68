// SPDX-License-Identifier: MIT
//
// One accepted request on its way: a machine that says which system call comes next. The same
// machine runs under every driver, so that all backends give the same results.
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
#include <cstddef>
#include <cstdint>
#include <handoff/config.hpp>
#include <handoff/file/file_request.hpp>
#include <handoff/file/file_result.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "file_call.hpp"
#include "path.hpp"

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

  const FileRequest& request() const noexcept { return request_; }
  // For a refused one, whose request goes back to its caller.
  FileRequest& request_to_return() noexcept { return request_; }
  // Once ended.
  FileResult& outcome() noexcept { return result_; }
  // Whether it came further than the question whether it may begin.
  bool has_begun() const noexcept { return begun_; }

 private:
  // What comes behind a call, with its result; or behind something waited for, with 0 or a negative
  // errno. Sets mode_.
  using Then = void (FileRun::*)(long result) noexcept;

  enum class Mode : std::uint8_t {
    stage,  // then_ comes next
    call,  // call_ is to be made
    out,  // call_ is being made
    reserve,  // wants bytes in flight
    spend,  // wants its share of the device for a single call
    sync,  // wants a sync of sync_place
    synced,  // was woken in it
    transfer,  // pieces of memory from or to fd_
    ended,
  };

  enum class Target : std::uint8_t { none, plain, with_attributes };

  // One call of a transfer, or the rest of it.
  struct Slot {
    std::uint64_t begin;  // in the transfer
    std::uint64_t bytes;
    std::uint64_t done;
    unsigned again;
    bool used;
    bool out;
  };

  // The machine (file_run.cpp).
  void stage(Then then) noexcept;
  void call(const FileCall& call, Then then) noexcept;
  void reserve(std::uint64_t bytes, Then then) noexcept;
  void spend(std::uint64_t bytes, Then then) noexcept;
  void sync(int descriptor, std::uint64_t device, std::uint64_t inode, Then then) noexcept;
  void single_completed(long result) noexcept;
  int stopped() const noexcept;
  void begin(long) noexcept;
  const char* what_is_wrong() const noexcept;
  void sync_was_made(long result) noexcept;
  // `step`: what the operation and the errno do not say.
  void fail(long negative_errno, const char* call, const char* step = "") noexcept;
  void finish() noexcept;
  void clean(long) noexcept;
  void temporary_is_gone(long result) noexcept;
  void cleaned(long result) noexcept;
  template <class Function>
  long other(const char* name, int descriptor, Function&& function) noexcept;
  void told(std::uint64_t moved) noexcept;

  // Opening (run_open.cpp).
  FileCall open_call(const std::string& path, int flags) const noexcept;
  void open_file(const std::string& path, int flags, Then then) noexcept;
  void opened(long result) noexcept;
  void ask_attributes(Then then) noexcept;
  void attributes_are_there(long result) noexcept;
  void adopt_open_file() noexcept;
  void settle_flags(bool direct) noexcept;
  void open_directory(const std::string& path, Then then) noexcept;
  void directory_is_open(long result) noexcept;
  void sync_directory(Then then) noexcept;
  void directory_is_known(long result) noexcept;

  // Memory from or to a file (run_transfer.cpp).
  void transfer(Then then) noexcept;
  Step next_piece(FileCall& call) noexcept;
  bool take_slot() noexcept;
  void issue_slot(unsigned number, FileCall& call) noexcept;
  std::size_t memory_count() const noexcept;
  std::span<std::byte> memory_at(std::size_t number) const noexcept;
  std::size_t lay_pieces(std::uint64_t most) noexcept;
  void piece_completed(unsigned number, long result) noexcept;
  void piece_moved(Slot& slot, std::uint64_t bytes) noexcept;
  void nothing_moved(Slot& slot) noexcept;
  std::span<Slot> taken_slots() noexcept { return std::span(slots_).first(taken_); }
  void move_cursor(std::uint64_t bytes) noexcept;
  void transfer_failed(long negative_errno) noexcept;
  void transfer_is_over() noexcept;
  std::uint64_t moved() const noexcept;
  bool may_be_direct() const noexcept;

  // What is done with an open file (run_contents.cpp).
  void begin_file(long) noexcept;
  bool owns_its_data() const noexcept;
  int lost_before() const noexcept;
  void file_is_known(long result) noexcept;
  void file_is_ready(long) noexcept;
  void begin_read() noexcept;
  void room_for_read(long) noexcept;
  void read_is_over(long) noexcept;
  void begin_write() noexcept;
  void truncated(long result) noexcept;
  void preallocated(long result) noexcept;
  void cut_to_moved(long) noexcept;
  void cut(long result) noexcept;
  void write_is_over(long) noexcept;
  void sync_file() noexcept;
  void synced(long result) noexcept;
  void directory_of_new_name(long) noexcept;
  void directory_is_synced(long result) noexcept;
  void remove() noexcept;
  void remove_in_directory(long) noexcept;
  void removed(long result) noexcept;
  void ask_by_name() noexcept;
  void opened_to_ask(long result) noexcept;
  void asked(long result) noexcept;

  // New contents under an old name (run_replace.cpp).
  void begin_replace(long) noexcept;
  void replace_in_directory(long) noexcept;
  void target_is_known(long result) noexcept;
  void make_temporary() noexcept;
  void temporary_is_open(long result) noexcept;
  void contents_are_written(long) noexcept;
  void contents_are_whole() noexcept;
  long list_attributes(char* into, std::size_t bytes) noexcept;
  std::uint32_t temporary_mode() noexcept;
  bool keep_rights() noexcept;
  bool keep_attributes(bool& group_kept, bool& has_list, std::uint32_t& mode) noexcept;
  bool drop_inherited_list(std::uint32_t mode) noexcept;
  void temporary_is_synced(long result) noexcept;
  void temporary_is_closed(long result) noexcept;
  void name_is_changed(long result) noexcept;

  // From one file to another (run_copy.cpp).
  void begin_copy() noexcept;
  void temporary_is_ready_for_copy() noexcept;
  void cloned(long result) noexcept;
  void copy_on(long) noexcept;
  bool find_data() noexcept;
  void copy_piece(long) noexcept;
  void range_copied(long result) noexcept;
  void copy_by_hand() noexcept;
  void piece_was_read(long result) noexcept;
  void write_copied_piece() noexcept;
  void piece_was_written(long result) noexcept;
  void copied(std::uint64_t bytes) noexcept;
  void copy_is_over() noexcept;
  void length_is_set(long result) noexcept;

  FileServices& services_;
  FileRequest request_;
  FileResult result_;

  // The machine.
  Mode mode_ = Mode::stage;
  bool begun_ = false;
  unsigned window_ = 1;
  unsigned again_ = 0;
  Then then_ = &FileRun::begin;
  Then after_ = nullptr;  // of a longer step: a transfer, an open, a sync
  FileCall call_;
  std::uint64_t wanted_ = 0;  // bytes of reserve and spend
  bool paid_ = false;

  // Files.
  int fd_ = -1;  // the file; while something is replaced or copied, the new one
  int directory_ = -1;
  int source_ = -1;  // of a copy
  bool owns_fd_ = false;
  bool owns_source_ = false;
  bool counts_ = false;  // what the close under way says
  bool names_target_ = false;  // failures are about request_.to
  bool wrote_ = false;  // what close() says counts
  bool name_is_new_ = false;  // a directory entry was made
  bool exclusive_ = false;  // the open under way must make the file
  unsigned opens_ = 0;
  bool direct_ = false;  // fd_ has O_DIRECT of our own
  bool has_temporary_ = false;
  Target there_ = Target::none;  // what is to be replaced
  bool renamed_ = false;
  struct statx attributes_;  // of fd_, or of the source
  struct statx target_;  // of the file to be replaced, or of directory_
  PathParts parts_;  // of the path whose directory is directory_
  std::string temporary_;
  std::uint64_t opened_ = 0;

  // The transfer.
  std::span<std::byte> own_memory_;  // where it is one piece of our own
  bool owns_memory_ = false;
  std::uint64_t file_offset_ = 0;
  std::uint64_t total_ = 0;
  std::uint64_t end_ = 0;  // of what is done now: total_, a direct part, or where the file ended
  std::uint64_t next_ = 0;  // what no slot has had
  unsigned out_ = 0;
  int transfer_error_ = 0;
  bool writes_ = false;
  bool saw_end_ = false;
  std::size_t cursor_piece_ = 0;
  std::size_t cursor_offset_ = 0;
  unsigned taken_ = 0;  // of slots_: the others mean nothing yet
  std::array<Slot, kMostOut> slots_;
  std::array<iovec, kMostOut> pieces_;
  std::uint64_t told_ = 0;
  std::size_t laid_ = 0;  // of pieces_, where memory comes in several
  std::uint64_t grown_from_ = 0;  // bytes of a whole file before it was seen to grow
  bool preallocated_ = false;  // the file is longer than what was written

  // The copy.
  std::uint64_t copy_at_ = 0;
  std::uint64_t copy_end_ = 0;
  std::uint64_t segment_end_ = 0;
  bool by_hand_ = false;
  bool has_holes_ = false;
  std::vector<std::byte> buffer_;
  std::uint64_t buffered_ = 0;
  std::uint64_t buffer_begin_ = 0;
};

inline std::uint64_t device_of(const struct statx& attributes) noexcept {
  return std::uint64_t{attributes.stx_dev_major} << 32 | attributes.stx_dev_minor;
}

struct FileResultAccess {
  static std::vector<std::byte>& data(FileResult& result) noexcept { return result.data_; }
  static std::uint64_t& bytes(FileResult& result) noexcept { return result.bytes_; }
  static std::uint64_t& offset(FileResult& result) noexcept { return result.offset_; }
  static FileAttributes& attributes(FileResult& result) noexcept { return result.attributes_; }
  static FileFailure& failure(FileResult& result) noexcept { return result.failure_; }
};

}}}  // namespace handoff::HANDOFF_ABI::detail

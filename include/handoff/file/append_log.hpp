// SPDX-License-Identifier: MIT
//
// A log of records on disk: many threads append, and learn when their records are durable. Those
// that wait at the same time share one write and one sync.
//
//   handoff::AppendLog log("orders");                        // a directory
//   std::uint64_t at = log.append("paid 17").value();        // durable, or it throws
//   log.append_later("seen 18").check();                     // in memory ...
//   log.flush().check();                                     // ... now durable
//   for (const handoff::AppendLogRecord& record : handoff::AppendLogReader("orders"))
//     apply(record.sequence, record.bytes);
//
// For: what must survive a loss of power, in one order: the journal of a store, a durable queue, a
//   recording. Not for: several processes that write one log, random access, records that change.
//
// Contract:
// - Concurrency: thread-safe. The destructor comes last. One writer: a second AppendLog for the
//   directory, here or in another process, fails with EWOULDBLOCK. Readers may read meanwhile.
// - Order: sequence numbers are 1, 2, 3, ... in the order of the file. An append that began after
//   another one returned has a larger number. If a record is there, so are all before it.
// - Durable: what append() with AppendLogSync::each_append, wait() and flush() called ok survives a
//   loss of power. A record that was not acknowledged may be there or not.
// - Groups: a thread whose record is not durable and that finds nobody writing becomes the leader.
//   It writes and syncs all that is there; those who come meanwhile fill the next batch, and one of
//   them leads then. There is no thread and no waiting for others to join.
// - append_later() alone gets nothing written: the next append(), wait(), flush() or close() does,
//   or a batch that is full.
// - append_async() starts a thread of the log, at the first call: somebody has to lead though
//   nobody waits. What follows the Future runs on the thread that led: keep it short.
// - Blocks: append(), wait(), flush(), close(): for the disk. append_later() and append_async(): a
//   moment; while the batch is full, for the disk. A leader finishes its write whatever its `until`
//   says.
// - Errors: a write or a sync that failed is final. All that is not acknowledged, and every later
//   call, gets that failure; nothing is tried again. A log that is opened anew goes on with what is
//   there. So it is with a full disk.
// - Allocates: two batches at the start, more for a longer record; append_async() one node.
// - Closed: append() and trim() fail with ECANCELED.
// - Closing: finish makes all durable, finish_until what can be until then; abandon begins no more
//   writes. The Tally counts records: done are durable; failed, expired and cancelled ones were
//   never acknowledged as durable, and may be there or not. Another AppendLog may have the
//   directory then, also while a child that was forked lives. A second call waits for the first and
//   returns the same.
// - Recovery: opening a log after its writer ended without close() cuts off what is not whole at
//   the end of the newest segment. That is a batch that was being written, or an acknowledged
//   record of the last batch that the device has damaged: nothing behind it tells the two apart. So
//   it is kept in a file beside the segment, before anything is cut, and cut() says so.
// - Exceptions: the constructor throws std::system_error: the directory cannot be had, what is in
//   it is damaged, or what must be cut cannot be kept. It throws nothing of the disk away. Appends
//   throw std::bad_alloc, and nothing was appended then.
// - Limits: a file that would be longer than RLIMIT_FSIZE allows is EFBIG, and no signal. Where a
//   file system cannot sync a folder (EINVAL), a new segment's name is as durable as it makes it.
//
// Format, recovery, proof: docs/design/append_log.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <handoff/config.hpp>
#include <handoff/core/closing.hpp>
#include <handoff/core/future.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/core/until.hpp>
#include <handoff/file/append_log_options.hpp>
#include <handoff/file/append_result.hpp>
#include <handoff/file/file_result.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {
class AppendLogCore;
}  // namespace detail

class AppendLog {
 public:
  // Opens the log, or makes a new one; the directory's parent is there.
  explicit AppendLog(std::string directory, const AppendLogOptions& options = {});
  ~AppendLog();  // close()
  AppendLog(const AppendLog&) = delete;
  AppendLog& operator=(const AppendLog&) = delete;

  // Returns when the record is durable; with AppendLogSync::on_request, when it is written.
  AppendResult append(std::span<const std::byte> record);
  AppendResult append(std::string_view record) { return append(std::as_bytes(std::span(record))); }

  // Takes a copy, and a sequence number.
  AppendResult append_later(std::span<const std::byte> record);
  AppendResult append_later(std::string_view record) {
    return append_later(std::as_bytes(std::span(record)));
  }

  // As append(), without waiting.
  Future<AppendResult> append_async(std::span<const std::byte> record);
  Future<AppendResult> append_async(std::string_view record) {
    return append_async(std::as_bytes(std::span(record)));
  }

  // Until the record with this number is durable, and so all before it. ETIME, ECANCELED: `until`
  // came first. EINVAL: there is no such record.
  AppendResult wait(std::uint64_t sequence, const Until& until = {});
  // The same for all that was appended before this call; its value is the last of them, or 0.
  AppendResult flush(const Until& until = {});

  // Removes the segments whose records are all before `sequence`; the newest always stays. The
  // result has the number of segments. What a failure leaves is a whole log.
  FileResult trim(std::uint64_t sequence);

  // See the head comment.
  Tally close(Closing how = Closing::finish) noexcept;

  // What became of the records so far; pending are those that are not durable yet.
  [[nodiscard]] Tally tally() const noexcept;

  // The first record that was not trimmed, or will be there; the last that is durable; the last
  // that was appended: 0 if there is none. All of the moment.
  [[nodiscard]] std::uint64_t first() const noexcept;
  [[nodiscard]] std::uint64_t durable() const noexcept;
  [[nodiscard]] std::uint64_t last() const noexcept;
  [[nodiscard]] AppendLogStatistics statistics() const noexcept;

  // What was cut off when the log was opened. A program that counts on each acknowledged record
  // looks at it, and says so if there is something.
  [[nodiscard]] const AppendLogCut& cut() const noexcept;

 private:
  std::unique_ptr<detail::AppendLogCore> core_;
};

}}  // namespace handoff::HANDOFF_ABI

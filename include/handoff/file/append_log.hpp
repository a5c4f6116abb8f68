// SPDX-License-Identifier: MIT
//
// A log of records on disk: many threads append, and learn when their records are durable. Threads
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
// recording. Not for: several processes that write one log, random access, records that change.
//
// Contract:
// - Concurrency: thread-safe; the destructor comes after all other calls. One writer: a second
//   AppendLog, in any process, fails with EWOULDBLOCK. Readers may read meanwhile.
// - Order: sequence numbers are 1, 2, 3, ... in the order of the file. An append that began after
//   another one returned has a larger number. If a record is there, so are all before it.
// - Durable: if append() with AppendLogSync::each_append, wait() or flush() said ok, the record
//   survives a loss of power. A record that was not acknowledged may be there or not.
// - append_later() alone writes nothing: the next append(), wait(), flush() or close() does, or a
//   full batch. The first append_async() starts a thread. What follows its Future runs on the
//   thread that wrote: keep it short; there close() is misuse.
// - Blocks: append(), wait(), flush(), close(), for the disk; the others only while the batch is
//   full. A thread that writes finishes its write whatever its `until` says.
// - Allocates: the constructor two batches; a longer record more; append_async() one node. If an
//   append throws std::bad_alloc, nothing was appended.
// - Errors: a failed write or sync is final, also on a full disk: all that is not acknowledged and
//   every later call gets that failure. A log that is opened anew goes on with what is there.
// - Closed: append() and trim() fail with ECANCELED.
// - Closing: in the Tally `done` are the durable records; others may be there or not. Then another
//   AppendLog may open the directory, even if a forked child lives.
// - Recovery: the constructor cuts off what is not whole at the end of the newest segment, keeps it
//   in a file beside the segment, and says so by cut() (docs/guide/files.md).
// - Exceptions: the constructor throws std::system_error if the directory cannot be had, what is in
//   it is damaged, or what must be cut cannot be kept. Then it has removed nothing.
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
  Tally close(Closing how = Closing::finish);

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

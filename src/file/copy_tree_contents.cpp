// SPDX-License-Identifier: MIT
//
// What is in a file: by reference where the file system can, else copied by the kernel or through a
// buffer; read back and compared.
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "../sync/internal/seen_sanitizer.hpp"
#include "copy_tree_job.hpp"
#include "file_call.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

// Smaller files are faster through a buffer.
constexpr std::uint64_t kRangeFrom = CopyWorker::buffer_bytes;
// With `durable`, larger ones go past the page cache: the device begins at once, and the processor
// neither finds pages for the copy nor writes them back.
constexpr std::uint64_t kDirectFrom = std::uint64_t{64} << 10;
// After this many bytes the kernel is asked to begin writing, and the stop is looked for.
constexpr std::uint64_t kStep = std::uint64_t{8} << 20;
// For a file whose size says nothing about its end.
constexpr std::uint64_t kNoEnd = ~std::uint64_t{0} >> 1;

CopyWhat reading(const char* what, std::uint64_t offset) noexcept {
  return {.said = what, .offset = offset};
}
CopyWhat writing(const char* what, std::uint64_t offset) noexcept {
  return {.said = what, .offset = offset, .in_copy = true};
}

}  // namespace

long CopyJob::copy_contents(int from, int to, CopyWorker& worker, CopiedFile& file,
                            CopyWhat& what) {
  const std::uint64_t size = file.attributes.stx_size;
  CopyWorker::Pair& pair = worker.pair(id_of(file.attributes).device, file.to_device);
  if (size > 0 && pair.clone) {
    const long cloned = calls_.clone(from, to);
    if (cloned >= 0) {
      file.bytes = size;
      add_bytes(size);
      return 0;
    }
    if (!means_not_here(cloned)) {
      what = {"clone"};
      return cloned;
    }
    pair.clone = false;
  }
  const bool sparse = size > 0 && file.attributes.stx_blocks * 512 < size;
  if (sparse) return copy_sparse(from, to, worker, file, what);
  // Files of /proc say that they are empty.
  std::uint64_t reached = 0;
  const std::uint64_t end = size == 0 ? kNoEnd : size;
  const bool direct = options_.durable && pair.direct && size >= kDirectFrom;
  const long result = direct ? copy_direct(from, to, worker, pair, reached, end, what)
                             : copy_piece(from, to, worker, pair, 0, end, reached, what);
  file.bytes = reached;
  return result;
}

// What the kernel makes up (/sys) says that it is large and has no blocks, and ends earlier.
long CopyJob::copy_sparse(int from, int to, CopyWorker& worker, CopiedFile& file, CopyWhat& what) {
  CopyWorker::Pair none{.clone = false, .range = false};
  const std::uint64_t size = file.attributes.stx_size;
  std::uint64_t length = size;
  for (std::uint64_t offset = 0; offset < size;) {
    std::uint64_t begin = offset;
    long sought = calls_.seek(from, begin, SEEK_DATA);
    if (sought == -ENXIO) break;  // a hole up to the end
    std::uint64_t end = begin;
    if (sought >= 0) sought = calls_.seek(from, end, SEEK_HOLE);
    end = std::min(end, size);
    if (sought == -EINVAL) {  // holes are not told here
      begin = offset;
      end = kNoEnd;
    } else if (sought < 0) {
      what = reading("look for holes", offset);
      return sought;
    }
    if (begin >= end) break;  // it has grown: what was its end is in a hole
    std::uint64_t reached = 0;
    const long result = copy_piece(from, to, worker, none, begin, end, reached, what);
    if (result < 0) return result;
    if (reached < end) {
      length = reached;
      break;
    }
    offset = end;
  }
  file.bytes = length;
  const long result = calls_.truncate(to, length);
  if (result < 0) what = writing("set the length", length);
  return result;
}

// From `begin` to `end`, or as far as there is something; `reached` says how far.
long CopyJob::copy_piece(int from, int to, CopyWorker& worker, CopyWorker::Pair& pair,
                         std::uint64_t begin, std::uint64_t end, std::uint64_t& reached,
                         CopyWhat& what) {
  reached = begin;
  if (pair.range && end - begin >= kRangeFrom && end < kNoEnd) {
    if (begin == 0) (void)calls_.advise(from, 0, 0, POSIX_FADV_SEQUENTIAL);
    const long result = copy_by_range(from, to, pair, reached, end, what);
    if (result < 0 || reached >= end) return result;
  }
  return copy_by_buffer(from, to, worker, reached, end, what);
}

long CopyJob::copy_by_range(int from, int to, CopyWorker::Pair& pair, std::uint64_t& at_byte,
                            std::uint64_t end, CopyWhat& what) {
  while (at_byte < end) {
    if (stopped()) return -ECANCELED;
    const std::uint64_t most = std::min(end - at_byte, kStep);
    const long result = calls_.copy_range(from, to, at_byte, most);
    if (result == 0) return 0;
    if (result < 0 && means_not_here(result)) {
      pair.range = false;
      return 0;
    }
    if (result < 0) {
      what = reading("copy", at_byte);
      return result;
    }
    const std::uint64_t begin = at_byte;
    at_byte += static_cast<std::uint64_t>(result);
    moved(to, begin, at_byte);
  }
  return 0;
}

long CopyJob::copy_by_buffer(int from, int to, CopyWorker& worker, std::uint64_t& at_byte,
                             std::uint64_t end, CopyWhat& what) {
  std::uint64_t told = at_byte;
  while (at_byte < end) {
    if (stopped()) return -ECANCELED;
    const auto most =
        static_cast<std::size_t>(std::min<std::uint64_t>(end - at_byte, CopyWorker::buffer_bytes));
    const long got = calls_.read(from, worker.buffer.get(), most, at_byte);
    if (got < 0) {
      what = reading("read", at_byte);
      return got;
    }
    if (got == 0) break;
    std::size_t written = 0;
    const auto bytes = static_cast<std::size_t>(got);
    const long put = calls_.write(to, worker.buffer.get(), bytes, at_byte, written);
    if (put < 0) {
      what = writing("write", at_byte + written);
      return put;
    }
    at_byte += bytes;
    if (at_byte - told >= kStep) moved(to, std::exchange(told, at_byte), at_byte);
  }
  if (at_byte > told) moved(to, told, at_byte);
  return 0;
}

// Up to `end`, or as far as there is something.
long CopyJob::copy_direct(int from, int to, CopyWorker& worker, CopyWorker::Pair& pair,
                          std::uint64_t& at_byte, std::uint64_t end, CopyWhat& what) {
  if (worker.direct.size() == 0) worker.direct = FileBuffer(CopyWorker::direct_bytes);
  const long reserved = calls_.reserve(to, end);
  if (reserved < 0 && !means_not_here(reserved)) {
    what = writing("write", 0);
    return reserved;
  }
  bool direct = calls_.go_direct(to, true) >= 0;
  pair.direct = direct;
  while (at_byte < end) {
    if (stopped()) return -ECANCELED;
    const auto most =
        static_cast<std::size_t>(std::min<std::uint64_t>(end - at_byte, worker.direct.size()));
    const long got = fill(from, worker.direct.data(), most, at_byte, what);
    if (got < 0) return got;
    if (got == 0) break;
    const auto bytes = static_cast<std::size_t>(got);
    const long put = write_direct(to, worker, pair, at_byte, bytes, direct, what);
    if (put < 0) return put;
    add_bytes(bytes);
    at_byte += bytes;
  }
  if (at_byte == end || reserved < 0) return 0;
  const long cut = calls_.truncate(to, at_byte);  // it has shrunk
  if (cut < 0) what = writing("set the length", at_byte);
  return cut;
}

// What the worker's large buffer holds. The last bytes of a file are no whole block: they go
// through the page cache, and so does all where the file system takes nothing else.
long CopyJob::write_direct(int to, CopyWorker& worker, CopyWorker::Pair& pair,
                           std::uint64_t at_byte, std::size_t bytes, bool& direct, CopyWhat& what) {
  const std::byte* const from = worker.direct.data();
  std::size_t done = 0;
  long put = 0;
  const std::size_t whole = bytes / kDirectBlock * kDirectBlock;
  if (direct && at_byte % kDirectBlock == 0) {
    put = calls_.write(to, from, whole, at_byte, done);
    if (put == -EINVAL) {
      put = 0;
      pair.direct = done > 0;  // else it was a write that ended inside of a block
    }
  }
  if (put >= 0 && done < bytes) {
    if (direct) put = calls_.go_direct(to, false);
    direct = direct && put < 0;
    std::size_t rest = 0;
    if (put >= 0) put = calls_.write(to, from + done, bytes - done, at_byte + done, rest);
    done += rest;
  }
  if (put < 0) what = writing("write", at_byte + done);
  return put;
}

// Reads `bytes`, or as many as there are. What is not in the page cache goes past it: no
// memory has to be found for what is needed once.
long CopyJob::fill(int from, std::byte* into, std::size_t bytes, std::uint64_t at_byte,
                   CopyWhat& what) {
  const std::size_t pages = (bytes + kDirectBlock - 1) / kDirectBlock;
  const long cached = calls_.cached(from, at_byte, bytes);
  bool direct = cached >= 0 && static_cast<std::size_t>(cached) < pages / 2 &&
                at_byte % kDirectBlock == 0 && calls_.go_direct(from, true) >= 0;
  std::size_t had = 0;
  long got = 1;
  while (had < bytes && got > 0) {
    const std::size_t most = direct ? pages * kDirectBlock - had : bytes - had;
    got = calls_.read(from, into + had, most, at_byte + had);
    if (got > 0) had += static_cast<std::size_t>(got);
    if (direct && (got == -EINVAL || had % kDirectBlock != 0)) {  // refused, or near the end
      direct = false;
      const long buffered = calls_.go_direct(from, false);
      got = buffered < 0 ? buffered : 1;
    }
  }
  if (direct) (void)calls_.go_direct(from, false);
  if (got < 0) {
    what = reading("read", at_byte + had);
    return got;
  }
  return static_cast<long>(std::min(had, bytes));  // it may have grown
}

void CopyJob::moved(int to, std::uint64_t begin, std::uint64_t end) {
  add_bytes(end - begin);
  // The device begins while the rest is copied, so that little is left for the sync.
  if (options_.durable && end - begin >= kStep) {
    (void)calls_.write_back(to, begin, end - begin, false);
  }
}

// All of a batch are on their way to the device before the first one is waited for.
void CopyJob::verify(CopyFolder& folder, std::vector<CopiedFile>& files,
                     CopyWorker& worker) noexcept {
  for (const CopiedFile& file : files) {
    const OwnFile to(calls_.tap(), open_written(folder, file));
    if (to.get() >= 0) (void)calls_.write_back(to.get(), 0, 0, false);  // else told when compared
  }
  std::erase_if(files, [&](CopiedFile& file) {
    if (verify_file(folder, file, worker)) return false;
    remove_half(folder, file.disk_name());
    withdraw(file.first_of, worker);
    return true;
  });
}

// To be read, also if its mode does not let its owner.
long CopyJob::open_written(CopyFolder& folder, const CopiedFile& file) noexcept {
  constexpr int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;
  const FileRef copy{folder.to, file.disk_name().c_str()};
  const long result = open(copy.file, copy.name, flags);
  struct statx made{};
  if (result != -EACCES || calls_.stat(copy.file, copy.name, made) < 0) return result;
  const unsigned mode = made.stx_mode & kModeBits;
  if (calls_.change_mode(copy, mode | S_IRUSR) < 0) return result;
  const long again = open(copy.file, copy.name, flags);
  const long back = calls_.change_mode(copy, mode);
  if (back < 0) problem(to_path(folder, *file.entry), {"set the mode"}, back);
  return again;
}

bool CopyJob::verify_file(CopyFolder& folder, CopiedFile& file, CopyWorker& worker) noexcept {
  const CopySpot source = from_path(folder, *file.entry);
  const CopySpot copy = to_path(folder, *file.entry);
  const OwnFile from(calls_.tap(), open_source(folder.from, file.entry->name.c_str(), O_RDONLY));
  if (from.get() < 0) return problem(source, {"open to verify"}, from.get()), false;
  struct statx now{};
  if (calls_.stat(from.get(), "", now) == 0 && has_changed(file.attributes, now)) {
    problem(source, {"changed before it was verified"}, 0);
    return true;
  }
  const OwnFile to(calls_.tap(), open_written(folder, file));
  if (to.get() < 0) return problem(copy, {"open to verify"}, to.get()), false;
  // What is on its way cannot be dropped; what was dropped is read from the device.
  const long written = calls_.write_back(to.get(), 0, 0, true);
  if (written < 0 && written != -EINVAL && written != -ENOSYS) {
    return problem(copy, {"write back"}, written), false;
  }
  (void)calls_.advise(to.get(), 0, 0, POSIX_FADV_DONTNEED);
  return same_contents(from.get(), to.get(), folder, file, worker);
}

bool CopyJob::same_contents(int from, int to, CopyFolder& folder, CopiedFile& file,
                            CopyWorker& worker) noexcept {
  const CopySpot source = from_path(folder, *file.entry);
  const CopySpot copy = to_path(folder, *file.entry);
  for (std::uint64_t offset = 0;;) {
    if (cut_off()) return false;
    const long a = calls_.read(from, worker.buffer.get(), CopyWorker::buffer_bytes, offset);
    const long b = calls_.read(to, worker.second.get(), CopyWorker::buffer_bytes, offset);
    if (a < 0 || b < 0) {
      problem(a < 0 ? source : copy, reading("read to verify", offset), a < 0 ? a : b);
      return false;
    }
    const auto both = static_cast<std::size_t>(std::min(a, b));
    const std::byte* const one = worker.buffer.get();
    const auto [differs, there] = std::mismatch(one, one + both, worker.second.get());
    const auto equal = static_cast<std::size_t>(differs - one);
    // A short read goes on at its end; an end of one alone is a difference.
    if (equal < both || (both == 0 && a != b)) {
      problem(copy, reading("differs", offset + equal), 0);
      return false;
    }
    if (both == 0) break;
    offset += both;
  }
  sync::SeenLock lock(mutex_);
  result_.verified_bytes += file.bytes;
  return true;
}

}}}  // namespace handoff::HANDOFF_ABI::detail

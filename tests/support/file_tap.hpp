// SPDX-License-Identifier: MIT
//
// Taps on the system calls of the room file: one that makes the k-th call fail, one that records,
// one that counts, one that ends the process.
//
//   FaultTap tap;
//   FileEngine files({.backend = FileBackend::pool, .tap = &tap});
//   tap.arm(FileCallKind::write, 2, Fault::half);   // the third write moves half of its bytes
//   ...
//   if (!tap.disarm()) ...                          // there were less than three
#pragma once

#include <handoff/file/detail/file_tap.hpp>

#include "support/test.hpp"

namespace handoff::test {

using handoff::detail::FileCallKind;
using handoff::detail::FileCallView;
using handoff::detail::FileTap;

inline constexpr std::size_t kFileCallKinds = static_cast<std::size_t>(FileCallKind::other) + 1;

// What becomes of the call.
enum class Fault : std::uint8_t {
  one_byte,  // moves one byte
  half,      // moves half of the bytes
  nothing,   // returns 0, without having been made
  interrupted,
  again,
  no_space,
  io_error,
  quota,
};
inline constexpr std::array kFaults{Fault::one_byte,    Fault::half,  Fault::nothing,
                                    Fault::interrupted, Fault::again, Fault::no_space,
                                    Fault::io_error,    Fault::quota};

inline const char* to_string(Fault fault) noexcept {
  constexpr std::array names{"one byte", "half", "0", "EINTR", "EAGAIN", "ENOSPC", "EIO", "EDQUOT"};
  return names[static_cast<std::size_t>(fault)];
}

// The errno of a fault; 0 of those that have none.
inline int error_of(Fault fault) noexcept {
  constexpr std::array errors{0, 0, 0, EINTR, EAGAIN, ENOSPC, EIO, EDQUOT};
  return errors[static_cast<std::size_t>(fault)];
}

// Whether it moves bytes, so that it can move less of them.
inline bool transfers(FileCallKind kind) noexcept {
  return kind == FileCallKind::read || kind == FileCallKind::write ||
         kind == FileCallKind::copy_range;
}

// Whether it returns a descriptor or a state that 0 would be a lie about, which nobody can notice.
inline bool can_happen(Fault fault, FileCallKind kind) noexcept {
  return error_of(fault) != 0 || transfers(kind);
}

// Those who let all through and look on.
class LookingTap : public FileTap {
 public:
  Verdict before(const FileCallView&) noexcept override { return {}; }
  void after(const FileCallView&, long) noexcept override {}

 protected:
  ~LookingTap() = default;
};

using Verdict = FileTap::Verdict;

// What a tap says of a call: that it is not made and returned this, or that it is made.
inline Verdict answer_if(bool is_answered, long value) noexcept {
  return is_answered ? Verdict{Verdict::answer, value} : Verdict{};
}

inline bool is_sync(const FileCallView& call) noexcept {
  const std::string_view name = call.name;
  return call.kind == FileCallKind::fsync || call.kind == FileCallKind::fdatasync ||
         name == "syncfs" || name == "sync_file_range";
}

// Two functions: one is asked before each call, one is told what it returned. Either may be
// missing.
class TapOf final : public FileTap {
 public:
  using Before = std::function<Verdict(const FileCallView&)>;
  using After = std::function<void(const FileCallView&, long)>;
  explicit TapOf(Before before, After after = {})
      : before_(std::move(before)), after_(std::move(after)) {}
  Verdict before(const FileCallView& call) noexcept override {
    return before_ ? before_(call) : Verdict{};
  }
  void after(const FileCallView& call, long result) noexcept override {
    if (after_) after_(call, result);
  }

 private:
  const Before before_;
  const After after_;
};

// Syncs are only said to be made, for tests that are not about a device.
inline TapOf unsynced() {
  return TapOf([](const FileCallView& call) { return answer_if(is_sync(call), 0); });
}

// As a kernel without openat2, which counts how often it is asked for that.
inline TapOf without_openat2(std::atomic<unsigned>& asked) {
  return TapOf([&asked](const FileCallView& call) {
    const bool is_it = std::string_view(call.name) == "openat2";
    if (is_it) ++asked;
    return answer_if(is_it, -ENOSYS);
  });
}

// Holds calls of one kind up until it is opened. Then they fail with `error`, unless that is 0.
class HoldingTap final : public LookingTap {
 public:
  explicit HoldingTap(FileCallKind kind, bool is_open = false) : kind_(kind), open_(is_open) {}
  Verdict before(const FileCallView& call) noexcept override {
    if (call.kind != kind_) return {};
    arrived_.fetch_add(1);
    arrived_.notify_all();
    open_.wait(false);
    return answer_if(error != 0, -error);
  }
  void wait_for(int calls) const {
    for (int now = arrived_.load(); now < calls; now = arrived_.load()) arrived_.wait(now);
  }
  int arrived() const { return arrived_.load(); }
  void open(bool is_open = true) {
    open_.store(is_open);
    open_.notify_all();
  }
  std::atomic<int> error{0};

 private:
  const FileCallKind kind_;
  std::atomic<int> arrived_{0};
  std::atomic<bool> open_;
};

// As some network file systems: a folder has no sync.
class FoldersCannotBeSynced final : public LookingTap {
 public:
  Verdict before(const FileCallView& call) noexcept override {
    struct stat facts{};
    const bool is_folder = call.kind == FileCallKind::fsync &&
                           ::fstat(call.descriptor, &facts) == 0 && S_ISDIR(facts.st_mode);
    if (is_folder) ++asked;
    return answer_if(is_folder, -EINVAL);
  }
  std::atomic<int> asked{0};
};

// How many calls there were of each kind.
class CountingTap final : public LookingTap {
 public:
  Verdict before(const FileCallView& call) noexcept override {
    counts_[static_cast<std::size_t>(call.kind)].fetch_add(1);
    return {};
  }
  std::size_t count(FileCallKind kind) const noexcept {
    return counts_[static_cast<std::size_t>(kind)].load();
  }
  std::size_t syncs() const noexcept {
    return count(FileCallKind::fsync) + count(FileCallKind::fdatasync);
  }

 private:
  std::array<std::atomic<std::size_t>, kFileCallKinds> counts_{};
};

// The calls and what they returned, in the order in which they ended.
class RecordingTap final : public LookingTap {
 public:
  struct Record {
    FileCallKind kind = FileCallKind::other;
    std::string name;
    std::string path;
    std::string to_path;
    int descriptor = -1;
    int flags = 0;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    long result = 0;
  };

  void after(const FileCallView& call, long result) noexcept override {
    const std::lock_guard lock(mutex_);
    records_.push_back({.kind = call.kind,
                        .name = call.name,
                        .path = call.path == nullptr ? "" : call.path,
                        .to_path = call.to_path == nullptr ? "" : call.to_path,
                        .descriptor = call.descriptor,
                        .flags = call.flags,
                        .offset = call.offset,
                        .bytes = call.bytes,
                        .result = result});
  }
  std::vector<Record> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(records_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<Record> records_;
};

// The k-th call, of a kind or of all, fails or moves less; or all from the k-th on.
class FaultTap final : public FileTap {
 public:
  enum class Lasts : std::uint8_t { once, from_then_on };
  struct Fired {
    FileCallKind kind = FileCallKind::other;
    std::string name = {};
    std::uint64_t offset = 0;
    std::string target = {};  // what its descriptor, or its path, names
    bool writable = false;    // its descriptor
  };

  // From here on; `kind` empty: of all.
  void arm(std::optional<FileCallKind> kind, int k, Fault fault, Lasts lasts = Lasts::once) {
    const std::lock_guard lock(mutex_);
    kind_ = kind;
    left_ = k;
    fault_ = fault;
    lasts_ = lasts;
    armed_ = true;
    fired_.reset();
    calls_ = 0;
  }
  // Lets all through again. The call that it happened to, if it was reached.
  std::optional<Fired> disarm() {
    const std::lock_guard lock(mutex_);
    armed_ = false;
    return std::exchange(fired_, std::nullopt);
  }
  // How many calls came while it was armed, of any kind.
  int calls() const {
    const std::lock_guard lock(mutex_);
    return calls_;
  }

  Verdict before(const FileCallView& call) noexcept override {
    const std::lock_guard lock(mutex_);
    if (!armed_) return {};
    ++calls_;
    if (kind_.has_value() && *kind_ != call.kind) return {};
    if (!can_happen(fault_, call.kind)) return {};
    if (left_-- > 0) return {};
    if (lasts_ == Lasts::once && fired_.has_value()) return {};
    if (!fired_.has_value()) {
      fired_ = Fired{.kind = call.kind, .name = call.name, .offset = call.offset};
      std::array<char, 512> target{};
      const std::string link = "/proc/self/fd/" + std::to_string(call.descriptor);
      if (::readlink(link.c_str(), target.data(), target.size() - 1) > 0) {
        fired_->target = target.data();
      }
      if (call.path != nullptr) fired_->target += std::string(" ") + call.path;
      const int flags = ::fcntl(call.descriptor, F_GETFL);
      fired_->writable = flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
    }
    return verdict(call);
  }
  void after(const FileCallView&, long) noexcept override {}

 private:
  Verdict verdict(const FileCallView& call) const noexcept {
    switch (fault_) {
      case Fault::one_byte: return {Verdict::shorten, 1};
      case Fault::half:
        return {Verdict::shorten, static_cast<long>(call.bytes < 2 ? 1 : call.bytes / 2)};
      case Fault::nothing: return {Verdict::answer, 0};
      default: break;
    }
    // The kernel closes a descriptor whatever it returns.
    if (call.kind == FileCallKind::close) ::close(call.descriptor);
    return {Verdict::answer, -error_of(fault_)};
  }

  mutable std::mutex mutex_;
  std::optional<FileCallKind> kind_;
  int left_ = 0;
  int calls_ = 0;
  Fault fault_ = Fault::io_error;
  Lasts lasts_ = Lasts::once;
  bool armed_ = false;
  std::optional<Fired> fired_;
};

// SIGKILL, to this process, before the k-th call or right after it.
class KillTap final : public FileTap {
 public:
  KillTap(int k, bool after) noexcept : left_(k), after_(after) {}

  Verdict before(const FileCallView&) noexcept override {
    if (!after_) step();
    return {};
  }
  void after(const FileCallView&, long) noexcept override {
    if (after_) step();
  }

 private:
  void step() noexcept {
    if (left_.fetch_sub(1) == 0) ::raise(SIGKILL);
  }

  std::atomic<int> left_;
  const bool after_;
};

}  // namespace handoff::test

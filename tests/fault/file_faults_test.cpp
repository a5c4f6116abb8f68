// SPDX-License-Identifier: MIT
//
// Faults at every system call: for each backend and operation the k-th call fails, moves less, or
// says 0, for every k. Then the file is exact or the result says what went wrong; no name is left
// behind, no descriptor, and nothing half under a final name.
#include "fault/fault_support.hpp"
#include "support/file_tap.hpp"
#include "support/test.hpp"

namespace file_faults_test { namespace {

using namespace handoff;
using namespace test;

using Contents = std::optional<std::string>;  // nothing: not there

const std::string kOld = filled(3000, 1);
const std::string kNew = filled(2600, 2);
const std::string kLarge = filled((std::size_t{1} << 20) + 777, 3);  // more than one piece

struct Case {
  const char* name;
  std::string target;  // the file that it is about
  Contents before;
  Contents after;
  // What it may be after a failure besides these: anything that begins with so much of `after` as
  // bytes_before_failure() says. False: one of the two.
  bool in_place = false;
  std::uint64_t base = 0;  // the offset of its first byte
  std::function<FileRequest(const Folder&)> request;
};

FileRequest asks(FileOperation operation, const Folder& folder, const std::string& target) {
  FileRequest request;
  request.operation = operation;
  request.path = folder.at(target);
  return request;
}
FileRequest writes(FileOperation operation, const Folder& folder, const std::string& target,
                   const std::string& bytes, bool durable) {
  FileRequest request = asks(operation, folder, target);
  request.from = bytes_of(bytes);
  request.durable = durable;
  return request;
}

std::string overwritten(std::string bytes, std::size_t offset, const std::string& with) {
  if (bytes.size() < offset + with.size()) bytes.resize(offset + with.size());
  return bytes.replace(offset, with.size(), with);
}

const std::string kNothing;

std::vector<Case> writing_cases() {
  using enum FileOperation;
  std::vector<Case> cases;
  for (const bool durable : {false, true}) {
    const auto with = [durable](FileOperation operation, const std::string& target,
                                const std::string& bytes, auto change) {
      return [=, &bytes](const Folder& folder) {
        FileRequest request = writes(operation, folder, target, bytes, durable);
        change(request);
        return request;
      };
    };
    const auto as_is = [](FileRequest&) {};
    cases.push_back({"write new", "new", {}, kNew, true, 0, with(write, "new", kNew, as_is)});
    cases.push_back({"write large, preallocated",
                     "new",
                     {},
                     kLarge,
                     true,
                     0,
                     with(write, "new", kLarge, [](FileRequest& r) { r.preallocate = true; })});
    cases.push_back({"write over", "old", kOld, kNew, true, 0,
                     with(write, "old", kNew, [](FileRequest& r) { r.truncate = true; })});
    cases.push_back({"write range", "old", kOld, overwritten(kOld, 700, kNew), true, 700,
                     with(write, "old", kNew, [](FileRequest& r) { r.offset = 700; })});
    cases.push_back(
        {"write pieces", "new", {}, kNew, true, 0, with(write, "new", kNew, [](FileRequest& r) {
           const auto all = bytes_of(kNew);
           r.from = {all.first(1), all.subspan(1, 999), {}, all.subspan(1000)};
         })});
    cases.push_back(
        {"append", "old", kOld, kOld + kNew, true, kOld.size(), with(append, "old", kNew, as_is)});
    cases.push_back({"append new", "new", {}, kNew, true, 0, with(append, "new", kNew, as_is)});
    cases.push_back({"replace", "old", kOld, kNew, false, 0, with(replace, "old", kNew, as_is)});
    cases.push_back({"replace new", "new", {}, kNew, false, 0, with(replace, "new", kNew, as_is)});
    cases.push_back(
        {"replace by large", "old", kOld, kLarge, false, 0, with(replace, "old", kLarge, as_is)});
    const auto to = [](const char* name) {
      return [name](FileRequest& r) {
        r.to = r.path.substr(0, r.path.rfind('/') + 1) + name;
        r.from = {};
      };
    };
    cases.push_back({"copy", "new", {}, kOld, false, 0, with(copy, "old", kOld, to("new"))});
    cases.push_back(
        {"copy over", "other", "other", kOld, false, 0, with(copy, "old", kOld, to("other"))});
    cases.push_back(
        {"copy large", "new", {}, kLarge, false, 0, with(copy, "large", kLarge, to("new"))});
    cases.push_back({"remove", "old", kOld, {}, false, 0, with(remove, "old", kNothing, as_is)});
    // What is large takes its time: durable only, as that has all calls that the other one has.
    if (durable || test::deep()) continue;
    std::erase_if(cases, [](const Case& c) {
      return std::string_view(c.name).find("large") != std::string_view::npos;
    });
  }
  cases.push_back({"sync", "old", kOld, kOld, false, 0,
                   [](const Folder& folder) { return asks(sync, folder, "old"); }});
  return cases;
}

std::vector<Case> reading_cases() {
  using enum FileOperation;
  return {
      {"read", "old", kOld, kOld, false, 0,
       [](const Folder& folder) { return asks(read, folder, "old"); }},
      {"read large", "large", kLarge, kLarge, false, 0,
       [](const Folder& folder) { return asks(read, folder, "large"); }},
      {"stat", "old", kOld, kOld, false, 0,
       [](const Folder& folder) { return asks(stat, folder, "old"); }},
  };
}

class Trial {
 public:
  explicit Trial(FileBackend backend)
      : files_({.width = 2, .backend = backend, .tap = &tap_}), backend_(backend) {
    descriptors_ = test::open_descriptors();
  }

  // False when there are less than k + 1 calls that this can happen to.
  bool run(const Case& c, int k, Fault fault, FaultTap::Lasts lasts) {
    SCOPED_TRACE(testing::Message() << to_string(backend_) << ", " << c.name << ", call " << k
                                    << ": " << test::to_string(fault)
                                    << (lasts == FaultTap::Lasts::once ? "" : " from then on"));
    prepare(c);
    FileRequest request = c.request(folder_);
    const FileOperation operation = request.operation;
    const std::string path = request.path;
    const std::string to = request.to;
    tap_.arm(std::nullopt, k, fault, lasts);
    const FileResult result = result_of(files_.submit(std::move(request)));
    EXPECT_EQ(files_.wait(test::kPatience), Status::ok);
    const auto fired = tap_.disarm();
    if (!fired.has_value()) {
      EXPECT_TRUE(result.ok()) << test::failure_of(result);
      check_target(c, result, fault);
      return false;
    }
    SCOPED_TRACE(testing::Message() << "it was " << fired->name << " of " << fired->target << " at "
                                    << fired->offset << "; " << test::failure_of(result));
    const bool once = lasts == FaultTap::Lasts::once;
    // A source that says that it ends, again and again, has ended there.
    const bool ends = fault == Fault::nothing && !once && operation == FileOperation::copy;
    if (!ends) check_target(c, result, fault);
    check_failure(result, operation, path, to);
    if (once) check_outcome(*fired, operation, result, fault);
    check_left(c, once && fired->kind != FileCallKind::unlink);
    // The ring that a first direct request gets stays.
    const bool may_grow = backend_ == FileBackend::automatic;
    const auto descriptors = test::open_descriptors();
    if (!may_grow) {
      EXPECT_EQ(descriptors, descriptors_) << "one is left or gone";
    }
    descriptors_ = descriptors;
    return true;
  }

  FileEngine& files() { return files_; }

 private:
  void prepare(const Case& c) {
    folder_.clear();
    folder_.put("old", kOld);
    folder_.put("other", "other");
    if (c.request(folder_).path.ends_with("large")) folder_.put("large", kLarge);
  }

  void check_target(const Case& c, const FileResult& result, Fault fault) const {
    const Contents now = folder_.get(c.target);
    if (result.ok()) {
      EXPECT_TRUE(now == c.after) << "silent damage";
      return check_read(c, result, fault);
    }
    const std::uint64_t moved = result.bytes_before_failure();
    if (!c.in_place) {
      EXPECT_TRUE(now == c.before || now == c.after) << "half a file under its final name";
      return;
    }
    // Where an append would have stood is not known before the file is.
    const bool unknown = result.failure().operation == FileOperation::append && moved == 0;
    if (!unknown || result.failure().offset != 0) {
      EXPECT_EQ(result.failure().offset, c.base + moved);
    }
    if (moved == 0) return;
    ASSERT_TRUE(now.has_value());
    ASSERT_GE(now->size(), c.base + moved);
    EXPECT_EQ(now->compare(c.base, moved, *c.after, c.base, moved), 0)
        << "what was moved is not there";
  }

  // What was read is what is there.
  static void check_read(const Case& c, const FileResult& result, Fault fault) {
    FileResult copy = result;
    const std::string name = c.name;
    if (name == "stat") {
      EXPECT_EQ(copy.attributes().bytes, c.after->size());
    }
    if (!name.starts_with("read")) return;
    const std::string data = text_of(copy.data());
    EXPECT_EQ(copy.bytes(), data.size());
    if (fault == Fault::nothing) {  // it looks like the end of the file
      EXPECT_TRUE(c.after->starts_with(data));
    } else {
      EXPECT_TRUE(data == *c.after);
    }
  }

  static void check_failure(const FileResult& result, FileOperation operation,
                            const std::string& path, const std::string& to) {
    if (result.ok()) return;
    const FileFailure& failure = result.failure();
    EXPECT_EQ(failure.operation, operation);
    EXPECT_TRUE(failure.file == path || (!to.empty() && failure.file == to)) << failure.file;
    EXPECT_STRNE(failure.call, "");
  }

  // What must be repaired, and what must not.
  static void check_outcome(const FaultTap::Fired& fired, FileOperation operation,
                            const FileResult& result, Fault fault) {
    const FileCallKind kind = fired.kind;
    const bool repaired = fault == Fault::one_byte || fault == Fault::half ||
                          (fault == Fault::interrupted && test::transfers(kind));
    if (repaired) {
      EXPECT_TRUE(result.ok());
    }
    if (!result.ok() && error_of(fault) != 0) {
      EXPECT_EQ(result.failure().error, error_of(fault));
    }
    const bool hard = fault == Fault::no_space || fault == Fault::io_error || fault == Fault::quota;
    const bool final = kind == FileCallKind::write || kind == FileCallKind::read ||
                       kind == FileCallKind::fsync || kind == FileCallKind::fdatasync ||
                       kind == FileCallKind::rename || kind == FileCallKind::truncate ||
                       (kind == FileCallKind::close && fired.writable) ||
                       (kind == FileCallKind::unlink && operation == FileOperation::remove);
    if (hard && final) {
      EXPECT_FALSE(result.ok()) << "a final error was made a success";
    }
  }

  // No other names than there were. What could not be removed may be left.
  void check_left(const Case& c, bool clean) const {
    std::set<std::string> allowed{"old", "other", "large", c.target};
    for (const std::string& name : folder_.names()) {
      if (clean) {
        EXPECT_TRUE(allowed.contains(name)) << name << " is left";
      }
    }
    if (c.target != "old") {
      EXPECT_TRUE(folder_.get("old") == kOld) << "another file was changed";
    }
    if (c.target != "other") {
      EXPECT_TRUE(folder_.get("other") == "other");
    }
  }

  FaultTap tap_;
  Folder folder_{test::fast_place()};
  FileEngine files_;
  FileBackend backend_;
  std::set<int> descriptors_;
};

class FileFaults : public test::EachBackend {};
HANDOFF_EACH_BACKEND(FileFaults);

constexpr int kCallsMost = 5000;

// All faults at each call; a sanitizer looks for other things, and sees each call fail by two of
// them.
int usual_step() { return test::slow && !test::deep() ? 4 : 1; }

void each_call(FileBackend backend, const std::vector<Case>& cases) {
  const auto descriptors = test::open_descriptors();
  std::size_t trials = 0;
  {
    Trial trial(backend);
    for (const Case& c : cases) {
      const int step = usual_step();
      for (std::size_t i = 0; i < test::kFaults.size(); ++i) {
        int k = static_cast<int>(i) % step;
        while (k < kCallsMost && trial.run(c, k, test::kFaults[i], FaultTap::Lasts::once)) {
          k += step;
          ++trials;
        }
        EXPECT_LT(k, kCallsMost);
      }
    }
  }
  EXPECT_EQ(test::open_descriptors(), descriptors);
  std::printf("%zu faults\n", trials);
}

TEST_P(FileFaults, WritesAtEachCall) { each_call(GetParam(), writing_cases()); }
TEST_P(FileFaults, ReadsAtEachCall) { each_call(GetParam(), reading_cases()); }

// All calls from the k-th on: what cleans up fails too. (A call that is interrupted for ever is
// none that a kernel has.) In a deep run by each of the faults, else by one after the other.
TEST_P(FileFaults, AllCallsFromThereOn) {
  Trial trial(GetParam());
  constexpr std::array faults{Fault::nothing, Fault::again, Fault::io_error, Fault::no_space};
  const int step = test::deep() ? 1 : static_cast<int>(faults.size());
  for (const Case& c : writing_cases()) {
    for (std::size_t i = 0; i < faults.size(); ++i) {
      int k = static_cast<int>(i) % step;
      while (k < kCallsMost && trial.run(c, k, faults[i], FaultTap::Lasts::from_then_on)) k += step;
    }
  }
}

// ---- What failed stays failed ----

class StickySync : public test::EachBackend {};
HANDOFF_EACH_BACKEND(StickySync);

TEST_P(StickySync, AFailedSyncFailsAllLaterOnes) {
  for (const Fault fault : {Fault::io_error, Fault::no_space, Fault::quota}) {
    for (const FileCallKind kind : {FileCallKind::fsync, FileCallKind::fdatasync}) {
      const Folder folder(test::fast_place());
      folder.put("old", kOld);
      FaultTap tap;
      FileEngine files({.width = 2, .backend = GetParam(), .tap = &tap});
      const OpenFile file = OpenFile::open(folder.at("old"), {.write = true, .tap = &tap});
      EXPECT_TRUE(result_of(files.write(file, bytes_of(kNew), 0, {.durable = true})).ok());
      tap.arm(kind, 0, fault);
      const FileResult first = result_of(files.write(file, bytes_of(kNew), 100, {.durable = true}));
      if (!tap.disarm().has_value()) continue;  // it syncs with the other one
      EXPECT_EQ(first.failure().error, error_of(fault));
      EXPECT_EQ(result_of(files.sync(file)).failure().error, error_of(fault));
      EXPECT_EQ(
          result_of(files.write(file, bytes_of(kNew), 200, {.durable = true})).failure().error,
          error_of(fault));
      EXPECT_EQ(result_of(files.sync(file)).failure().error, error_of(fault)) << "for good";
      std::string text(10, ' ');
      EXPECT_TRUE(result_of(files.read(file, std::as_writable_bytes(std::span(text)), 0)).ok())
          << "what is read is read";
      EXPECT_EQ(text, kNew.substr(0, 10));
    }
  }
}

// Many that wait for one sync, which fails: none of them is told that it is durable.
TEST_P(StickySync, NobodyInTheGroupIsAcknowledged) {
  const Folder folder(test::fast_place());
  folder.put("old", kOld);
  FaultTap tap;
  FileEngine files({.width = 4, .backend = GetParam(), .tap = &tap});
  const OpenFile file = OpenFile::open(folder.at("old"), {.write = true, .tap = &tap});
  for (const FileCallKind kind : {FileCallKind::fsync, FileCallKind::fdatasync}) {
    tap.arm(kind, 0, Fault::io_error, FaultTap::Lasts::from_then_on);
    std::vector<Future<FileResult>> all;
    for (std::size_t i = 0; i < 64; ++i) {
      all.push_back(files.write(file, bytes_of(kNew), i * 4096, {.durable = true}));
    }
    std::size_t ok = 0;
    for (auto& one : all) ok += result_of(std::move(one)).ok() ? 1 : 0;
    if (tap.disarm().has_value()) {
      EXPECT_EQ(ok, 0U);
    }
  }
}

// ---- Closing ----

// Closes, says that it failed, and gives the number to another file at once: a caller that closes
// again closes that one.
class RecyclingTap final : public test::FileTap {
 public:
  explicit RecyclingTap(int error) : error_(error), other_(::open("/dev/null", O_RDONLY)) {}
  ~RecyclingTap() { ::close(other_); }

  Verdict before(const test::FileCallView& call) noexcept override {
    const std::lock_guard lock(mutex_);
    if (call.kind != FileCallKind::close) return {};
    if (recycled_.contains(call.descriptor)) ++faults_;
    ::dup2(other_, call.descriptor);  // closes it, and takes its number
    recycled_.insert(call.descriptor);
    return {Verdict::answer, -error_};
  }
  void after(const test::FileCallView&, long) noexcept override {}

  // How often one was closed twice, or is gone. Closes them.
  std::size_t faults() {
    const std::lock_guard lock(mutex_);
    for (const int descriptor : recycled_) {
      if (::close(descriptor) != 0) ++faults_;
    }
    recycled_.clear();
    return std::exchange(faults_, 0);
  }

 private:
  std::mutex mutex_;
  const int error_;
  const int other_;
  std::set<int> recycled_;
  std::size_t faults_ = 0;
};

TEST(ClosingFiles, NothingIsClosedTwice) {
  for (const FileBackend backend : test::kFileBackends) {
    if (!test::possible(backend)) continue;
    for (const int error : {EINTR, EIO}) {
      const Folder folder(test::fast_place());
      RecyclingTap tap(error);
      FileEngine files({.width = 2, .backend = backend, .tap = &tap});
      for (std::size_t i = 0; i < test::rounds(60); ++i) {
        const FileResult result = result_of(files.write(folder.at("a"), bytes_of(kNew)));
        EXPECT_EQ(result.ok(), error == EINTR) << test::failure_of(result);
        EXPECT_EQ(result_of(files.read(folder.at("a"))).bytes_before_failure(), kNew.size());
        (void)result_of(files.replace(folder.at("a"), bytes_of(kNew), {.durable = true}));
        EXPECT_EQ(tap.faults(), 0U) << to_string(backend);
      }
      files.close();
      (void)tap.faults();
    }
  }
}

}}  // namespace file_faults_test

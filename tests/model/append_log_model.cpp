// SPDX-License-Identifier: MIT
//
// An append log against a vector: appends of each kind, waits, segments, trims, closes, a writer
// that is gone without a close, and a tail that is cut off what was not acknowledged. Files are
// real; their syncs are left out, since nothing loses power here.
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <handoff/file/append_log.hpp>
#include <handoff/file/append_log_reader.hpp>
#include <handoff/file/detail/file_tap.hpp>
#include <handoff/file/file_result.hpp>

#include "model/model.hpp"

namespace append_log_model { namespace {

using namespace handoff;
using namespace handoff::test;
using detail::FileCallKind;
using detail::FileCallView;
namespace fs = std::filesystem;

const std::vector<Word> words{{"append", 6}, {"later", 4}, {"long", 1}, {"flush", 2},
                              {"wait", 2},   {"read", 2},  {"trim", 1}, {"close", 1},
                              {"die", 1},    {"tear", 1},  {"fail", 1}};

// No sync is made. A program that dies makes no more calls that change something; a disk that
// fails fails each sync.
class Tap final : public detail::FileTap {
 public:
  Verdict before(const FileCallView& call) noexcept override {
    switch (call.kind) {
      case FileCallKind::fsync:
      case FileCallKind::fdatasync: return {Verdict::answer, fails ? -EIO : 0};
      case FileCallKind::write:
        return dead ? Verdict{Verdict::answer, static_cast<long>(call.bytes)} : Verdict{};
      case FileCallKind::rename:
      case FileCallKind::truncate: return dead ? Verdict{Verdict::answer, 0} : Verdict{};
      default: return {};
    }
  }
  void after(const FileCallView& /*call*/, long /*result*/) noexcept override {}

  bool dead = false;
  bool fails = false;
};

class LogModel : public Model {
 public:
  LogModel() {
    const char* const place = std::getenv("TMPDIR");
    folder_ = std::string(place == nullptr ? "/tmp" : place) +
              "/append_log_model_XX"
              "XXXX";
    agree(::mkdtemp(folder_.data()) != nullptr, "a temporary folder");
    open();
  }
  ~LogModel() override {
    log_.reset();
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  void step(const Step& step) override {
    switch (step.what) {
      case 0: append(step, true); break;
      case 1: append(step, false); break;
      case 2: refuse(); break;
      case 3: flush(); break;
      case 4: wait(step.a); break;
      case 5: read(step.a); break;
      case 6: trim(step.a); break;
      case 7: close(); break;
      case 8: die(); break;
      case 9: tear(step.a); break;
      case 10: fail(step.a); break;
      default: break;
    }
    agree_on("last", log_->last(), all_.size());
    agree_on("durable", log_->durable(), durable_);
    agree(log_->first() <= trimmed_ + 1, "nothing is trimmed that should be there");
  }
  void end() override {
    flush();
    read(0);
    close();
    read(3);
  }

 private:
  void open() {
    log_.emplace(folder_ + "/log", AppendLogOptions{.segment_bytes = 512,
                                                    .max_record_bytes = 2000,
                                                    .batch_bytes = 300,
                                                    .preallocate = all_.size() % 2 == 0,
                                                    .tap = &tap_});
  }
  void append(const Step& step, bool now) {
    const std::string text(step.a * step.b * 5U, static_cast<char>('a' + step.a));
    // A batch that is full is written by the append that finds it full.
    const std::size_t bytes = 16 + (text.size() + 7) / 8 * 8;
    const bool fits = batch_ == 0 || batch_ + bytes <= 300;
    const std::size_t before = all_.size();
    AppendResult result(0);
    if (!has_memory_for(step,
                        [&] { result = now ? log_->append(text) : log_->append_later(text); })) {
      // Nothing was appended; room may have been made.
      agree_on("after no memory", log_->last(), before);
      if (log_->durable() != durable_) settled(before);
      return;
    }
    all_.push_back(text);
    if (!result.ok() && step.fails != 0) {
      agree_on("without memory for a segment", result.failure().error, ENOMEM);
      open_again();
      return;
    }
    agree(result.ok(), "an append is accepted");
    agree_on("number", result.value(), all_.size());
    if (!fits) settled(before);
    batch_ += bytes;
    if (now) settled(all_.size());
  }
  void settled(std::size_t up_to) {
    durable_ = up_to;
    batch_ = 0;
  }
  void refuse() {
    agree_on("too long", log_->append(std::string(2001, 'x')).failure().error, EMSGSIZE);
  }
  void flush() {
    agree_on("flush", log_->flush().value(), all_.size());
    settled(all_.size());
  }
  void wait(unsigned back) {
    const std::uint64_t sequence = all_.size() + 3 - back;
    if (back > all_.size() + 3) return;
    const AppendResult result = log_->wait(sequence);
    if (sequence > all_.size()) {
      agree_on("unknown", result.failure().error, EINVAL);
    } else {
      agree_on("waited", result.value(), sequence);
      if (sequence > durable_) settled(all_.size());
    }
  }
  // Those that are written are there, in order.
  void read(unsigned skip) {
    const std::uint64_t first = log_->first();
    std::uint64_t next = first + skip;
    for (const AppendLogRecord& record :
         AppendLogReader(folder_ + "/log", {.from = next, .tap = &tap_})) {
      agree_on("read", record.sequence, next);
      agree(next <= all_.size() && record.text() == all_[next - 1], "what was appended");
      ++next;
    }
    agree(next > durable_, "all that is durable was read");
  }
  void trim(unsigned back) {
    const std::uint64_t sequence = all_.size() < back ? 1 : all_.size() - back;
    agree(log_->trim(sequence).ok(), "a trim");
    if (sequence > trimmed_ + 1) trimmed_ = sequence - 1;
  }
  void close() {
    const Tally tally = log_->close();
    agree(tally.balanced() && tally.failed == 0, "all is durable");
    settled(all_.size());
    log_.reset();
    open();
  }
  // What was not written is gone.
  void die() {
    tap_.dead = true;
    log_.reset();
    tap_.dead = false;
    all_.resize(durable_);
    batch_ = 0;
    open();
  }
  // Of what comes behind the last record that was acknowledged, some bytes were written.
  void tear(unsigned bytes) {
    die();
    tap_.dead = true;
    log_.reset();
    tap_.dead = false;
    std::string newest;
    for (const auto& entry : fs::directory_iterator(folder_ + "/log")) {
      const std::string path = entry.path().string();
      if (entry.path().extension() == ".log" && path > newest) newest = path;
    }
    // Where it goes on: behind the last byte that is not zero, and its padding.
    fs::resize_file(newest, fs::file_size(newest) + bytes);
    open();
  }
  // All that waits gets it; then it is opened anew.
  void fail(unsigned count) {
    tap_.fails = true;
    for (unsigned i = 0; i < count % 3; ++i) {
      if (batch_ != 0) break;
      (void)log_->append_later("later").ok();
      all_.emplace_back("later");
    }
    const AppendResult result = log_->append("fails");
    agree_on("failed", result.failure().error, EIO);
    agree_on("final", log_->append("x").failure().error, EIO);
    tap_.fails = false;
    open_again();
  }
  // After a failure: what was not acknowledged may be there.
  void open_again() {
    const auto appended = static_cast<std::size_t>(log_->last());
    log_.reset();
    while (all_.size() < appended) all_.emplace_back("fails");
    open();
    agree(log_->last() >= durable_ && log_->last() <= all_.size(), "what is there");
    all_.resize(static_cast<std::size_t>(log_->last()));
    settled(all_.size());
  }

  Tap tap_;
  std::string folder_;
  std::optional<AppendLog> log_;
  std::vector<std::string> all_;
  std::size_t durable_ = 0;
  std::uint64_t trimmed_ = 0;  // up to this one may be gone
  std::size_t batch_ = 0;      // bytes of records that were not written
};

const ModelTest log("append_log", model<LogModel>(words), 200);

}}  // namespace append_log_model

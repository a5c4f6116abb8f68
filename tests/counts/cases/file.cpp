// SPDX-License-Identifier: MIT
//
// Small files, and a log: which calls of the system they take.
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <handoff/file/append_log.hpp>
#include <handoff/file/append_log_reader.hpp>
#include <handoff/file/file_engine.hpp>
#include <handoff/file/open_file.hpp>
#include <string>

#include "counts/case.hpp"

namespace {

using namespace handoff::counts;
using handoff::FileBackend;
using handoff::FileEngine;

// The case works in it: names are the same in each run, as they are hashed.
class Folder {
 public:
  Folder() {
    if (::mkdtemp(path_.data()) == nullptr || ::chdir(path_.c_str()) != 0) std::abort();
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

 private:
  std::string path_ = "/tmp/handoff-counts-XXXXXX";
};

handoff::FileEngineOptions engine_of(FileBackend backend) {
  handoff::FileEngineOptions options;
  options.backend = backend;
  options.width = 1;
  return options;
}

}  // namespace

HANDOFF_COUNT_CASE(file_engine) {
  const Folder folder;
  const std::array<std::byte, 512> bytes{};
  std::array<std::byte, 512> into{};
  for (const auto& [name, backend] :
       {std::pair{"caller", FileBackend::caller}, std::pair{"io_thread", FileBackend::io_thread},
        std::pair{"pool", FileBackend::pool}}) {
    FileEngine engine(engine_of(backend));
    const std::string path = "small";
    const auto row = [&](const char* operation, bool counts, const auto& operate) {
      let_all_sleep();
      const CountedOfAll counted(std::string("FileEngine.") + operation + "/512 bytes, " + name,
                                 counts);
      if (!operate().get().ok()) std::abort();
      let_all_sleep();
    };
    rounds([&](bool counts) {
      row("write", counts, [&] { return engine.write(path, bytes); });
      row("read", counts, [&] { return engine.read(path, into); });
      row("replace", counts, [&] { return engine.replace(path, bytes, {.durable = true}); });
      row("append", counts, [&] { return engine.append(path, bytes); });
      row("stat", counts, [&] { return engine.stat(path); });
      row("copy", counts, [&] { return engine.copy(path, "copy"); });
      row("remove", counts, [&] { return engine.remove(path); });
    });
    const handoff::OpenFile file = handoff::OpenFile::open(path, {.write = true, .create = true});
    rounds([&](bool counts) {
      row("write of an open file", counts, [&] { return engine.write(file, bytes, 0); });
      row("read of an open file", counts, [&] { return engine.read(file, into, 0); });
    });
  }
}

HANDOFF_COUNT_CASE(open_file) {
  const Folder folder;
  const std::string path = "one";
  note_rounds("OpenFile.open + end/alone",
              [&] { (void)handoff::OpenFile::open(path, {.write = true, .create = true}); });
}

HANDOFF_COUNT_CASE(append_log) {
  const Folder folder;
  const std::string path = "log";
  handoff::AppendLog log(path);
  note_rounds("AppendLog.append/durable, alone",
              [&] { (void)log.append("a record of some length"); });
  rounds([&](bool counts) {
    for (int i = 0; i < 16; ++i) {
      const Counted counted("AppendLog.append_later/hot", counts);
      (void)log.append_later("a record of some length");
    }
    const Counted counted("AppendLog.flush/16 records", counts);
    (void)log.flush();
  });
  handoff::AppendLogReader reader(path);
  rounds([&](bool counts) {
    handoff::AppendLogRecord record;
    const Counted counted("AppendLogReader.next/hot", counts);
    keep(reader.next(record));
  });
}

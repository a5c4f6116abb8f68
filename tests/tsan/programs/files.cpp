// SPDX-License-Identifier: MIT
//
// Files: written and read by an engine, and a log that many threads append to.
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <handoff/file/append_log.hpp>
#include <handoff/file/append_log_reader.hpp>
#include <handoff/file/file_engine.hpp>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "plant.hpp"

int main() {
  std::string folder = (std::filesystem::temp_directory_path() / "handoff-tsan-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return 1;
  bool right = true;
  {
    handoff::FileEngine files;
    std::vector<std::vector<std::byte>> contents;
    std::vector<handoff::Future<handoff::FileResult>> results;
    for (std::size_t i = 0; i < 16; ++i) {
      contents.emplace_back(std::size_t{1} << (i + 3), std::byte(i));
      results.push_back(files.write(folder + "/" + std::to_string(i), contents.back()));
    }
    for (auto& result : results) result.get().check();
    results.clear();
    for (std::size_t i = 0; i < 16; ++i) {
      results.push_back(files.read(folder + "/" + std::to_string(i)));
    }
    for (std::size_t i = 0; i < 16; ++i) right &= results[i].get().data() == contents[i];
    std::size_t heard = 0;
    const auto hear = [&heard](handoff::FileResult&& result) {
      heard = result.data().size();
      inside();
    };
    (void)files.post({.operation = handoff::FileOperation::read, .path = folder + "/3"}, hear);
    outside();
    auto size = files.read(folder + "/3").then([](auto result) { return result.data().size(); });
    right &= size.get() == 64 && files.wait() == handoff::Status::ok && heard == 64;
    right &= files.read(folder + "/none").get().failure().error == ENOENT;
    right &= files.close().balanced();
  }
  {
    using handoff::FileBackend;
    for (const FileBackend backend :
         {FileBackend::caller, FileBackend::io_thread, FileBackend::pool,
          FileBackend::thread_per_request, FileBackend::io_uring}) {
      handoff::FileEngine files({.backend = backend});
      // A path and memory that this thread makes and that one reads.
      for (int i = 0; i < 20; ++i) {
        const std::string text(100, 'a');
        const std::string path = folder + "/" + std::to_string(i);
        files.replace(path, std::as_bytes(std::span(text))).get().check();
        right &= files.read(path).get().data().size() == text.size();
        auto copied = files.copy(path, path + "c");
        (void)copied.request_stop();
        copied.wait();
      }
    }
  }
  {
    handoff::AppendLog log(folder + "/log");
    std::thread other([&] {
      for (int i = 0; i < 50; ++i) log.append_later("later " + std::to_string(i)).check();
      log.flush().check();
    });
    for (int i = 0; i < 20; ++i) (void)log.append("now " + std::to_string(i)).value();
    for (int i = 0; i < 300; ++i) (void)log.append_async("async " + std::string(50, 'a')).get();
    other.join();
  }
  std::size_t records = 0;
  for (const handoff::AppendLogRecord& record : handoff::AppendLogReader(folder + "/log")) {
    records += record.bytes.empty() ? 0 : 1;
  }
  std::filesystem::remove_all(folder);
  return right && records == 370 ? 0 : 1;
}

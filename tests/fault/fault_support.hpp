// SPDX-License-Identifier: MIT
//
// What the hostile tests of files share: folders, contents, backends, and waits that end.
#pragma once

#include <dirent.h>

#include "support/fast_place.hpp"
#include "support/test.hpp"

namespace handoff::test {

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}
inline std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// So many bytes that depend on `number`, every sector another.
inline std::string filled(std::size_t count, std::uint64_t number) {
  std::string bytes(count, '\0');
  std::uint64_t x = number * 2 + 1;
  for (char& byte : bytes) {
    x = x * 6364136223846793005U + 1442695040888963407U;
    byte = static_cast<char>('a' + (x >> 33) % 26);
  }
  return bytes;
}

inline constexpr std::array kFileBackends{FileBackend::caller,   FileBackend::io_thread,
                                          FileBackend::pool,     FileBackend::thread_per_request,
                                          FileBackend::io_uring, FileBackend::automatic};

// io_uring may be forbidden here: then it is asked for in vain.
inline bool possible(FileBackend backend) {
  if (backend != FileBackend::io_uring) return true;
  static const bool there = FileEngine().choice().io_uring_possible;
  return there;
}

// The base of a suite that runs on each of them; HANDOFF_EACH_BACKEND(suite) has it run.
class EachBackend : public testing::TestWithParam<FileBackend> {
 protected:
  void SetUp() override {
    if (!possible(GetParam())) GTEST_SKIP() << "no io_uring here";
  }
};
#define HANDOFF_EACH_BACKEND(suite)                                                      \
  INSTANTIATE_TEST_SUITE_P(Each, suite, testing::ValuesIn(handoff::test::kFileBackends), \
                           [](const auto& of) { return std::string(to_string(of.param)); })

// A folder of a test's own, gone with the object.
class Folder {
 public:
  explicit Folder(const std::string& below = std::filesystem::temp_directory_path().string()) {
    path_ = below + "/handoff_fault_XXXXXX";
    if (::mkdtemp(path_.data()) == nullptr) {
      throw std::system_error(errno, std::generic_category(), "mkdtemp " + path_);
    }
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::string& path() const { return path_; }
  std::string at(std::string_view name) const { return path_ + "/" + std::string(name); }

  void put(std::string_view name, std::string_view bytes) const {
    std::ofstream(at(name), std::ios::binary).write(bytes.data(), std::ssize(bytes));
  }
  // Nothing if it is not there.
  std::optional<std::string> get(std::string_view name) const {
    std::ifstream file(at(name), std::ios::binary | std::ios::ate);
    if (!file) return std::nullopt;
    std::string bytes(static_cast<std::size_t>(file.tellg()), '\0');
    file.seekg(0).read(bytes.data(), std::ssize(bytes));
    bytes.resize(static_cast<std::size_t>(file.gcount()));
    return bytes;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }
  void clear() const {
    for (const std::string& name : names()) std::filesystem::remove_all(at(name));
  }

 private:
  std::string path_;
};

// How many descriptors this process has.
inline std::size_t open_descriptors() {
  std::size_t count = 0;
  DIR* const directory = ::opendir("/proc/self/fd");
  while (::readdir(directory) != nullptr) ++count;
  ::closedir(directory);
  return count;
}

// Every wait of these tests ends: what has no result by then hangs.
inline constexpr std::chrono::seconds kPatience{120};

inline FileResult result_of(Future<FileResult> future) {
  if (future.wait(kPatience) == Status::ok) return future.get();
  std::fprintf(stderr, "a request hangs\n");
  std::abort();
}

// "" if the result is ok, else what it says.
inline std::string failure_of(const FileResult& result) {
  return result.ok() ? "" : result.failure().text();
}

}  // namespace handoff::test

// SPDX-License-Identifier: MIT
//
// What the tests of the engine share.
#pragma once

#include "support/fast_place.hpp"
#include "support/test.hpp"

namespace handoff::test {

// A folder of a test's own, gone with the object.
class FileFolder {
 public:
  explicit FileFolder(const std::string& below = std::filesystem::temp_directory_path().string()) {
    path_ = below + "/handoff_file_XXXXXX";
    if (::mkdtemp(path_.data()) == nullptr) ADD_FAILURE() << "no temporary folder";
  }
  ~FileFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  FileFolder(const FileFolder&) = delete;
  FileFolder& operator=(const FileFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::string path_;
};

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}
inline std::span<std::byte> room_of(std::string& text) {
  return std::as_writable_bytes(std::span(text.data(), text.size()));
}
inline std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text;
  std::string part(1 << 16, 0);
  while (in.read(part.data(), 1 << 16) || in.gcount() > 0) {
    text.append(part, 0, static_cast<std::size_t>(in.gcount()));
  }
  return text;
}
inline void put(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

// How many this process has.
inline std::size_t open_descriptors() {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

// What it throws, or no error.
struct Told {
  int error = 0;
  std::string text = {};
};
template <class F>
Told failure_of(F&& function) {
  try {
    function();
  } catch (const std::system_error& error) {
    return {.error = error.code().value(), .text = error.what()};
  }
  return {};
}

// Bytes that say where they are.
inline std::string pattern(std::size_t count, unsigned seed = 1) {
  std::string text(count, '\0');
  std::uint64_t x = seed * 2 + 1;
  for (std::size_t i = 0; i < count; i += sizeof x) {
    x = x * 6364136223846793005U + 1442695040888963407U;
    std::memcpy(text.data() + i, &x, std::min(sizeof x, count - i));
  }
  return text;
}

inline constexpr std::array kBackends{FileBackend::caller,   FileBackend::io_thread,
                                      FileBackend::pool,     FileBackend::thread_per_request,
                                      FileBackend::io_uring, FileBackend::automatic};

// io_uring may be forbidden here.
inline bool possible(FileBackend backend) {
  if (backend != FileBackend::io_uring) return true;
  static const bool there = FileEngine({.backend = FileBackend::caller}).choice().io_uring_possible;
  return there;
}

// One that may exist here, for each backend.
class OnEachBackend : public testing::TestWithParam<FileBackend> {
 protected:
  void SetUp() override {
    if (!possible(GetParam())) GTEST_SKIP() << "io_uring is not to be had here";
  }
  FileEngineOptions options() const {
    FileEngineOptions told;
    told.backend = GetParam();
    return told;
  }
  FileFolder folder;
};

inline std::string backend_name(const testing::TestParamInfo<FileBackend>& info) {
  return to_string(info.param);
}

}  // namespace handoff::test

// SPDX-License-Identifier: MIT
//
// What tests of files share: folders, contents, backends, descriptors.
#pragma once

#include "support/fast_place.hpp"
#include "support/test.hpp"

namespace handoff::test {

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}
inline std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// All that is in a file, also in one of /proc; "" where it cannot be read, or its process is gone:
// no stream's iterator may throw that.
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

// A folder of a test's own, gone with the object.
class Folder {
 public:
  explicit Folder(const std::string& below = std::filesystem::temp_directory_path().string())
      : path_(below + "/handoff_test_XXXXXX") {
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
  std::string operator/(std::string_view name) const { return at(name); }

  void put(std::string_view name, std::string_view bytes) const { test::put(at(name), bytes); }
  // Nothing if it is not there.
  std::optional<std::string> get(std::string_view name) const {
    if (::access(at(name).c_str(), R_OK) != 0) return std::nullopt;
    return contents(at(name));
  }
  std::set<std::string> names() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      names.insert(entry.path().filename());
    }
    return names;
  }
  void clear() const {
    for (const std::string& name : names()) std::filesystem::remove_all(at(name));
  }

 private:
  std::string path_;
};

// Those that this process has; by asking for each, so that neither a filter of system calls nor a
// limit matters.
inline std::set<int> open_descriptors() {
  std::set<int> open;
  for (int each = 0; each < 1024; ++each) {
    if (::fcntl(each, F_GETFD) >= 0) open.insert(each);
  }
  return open;
}

inline constexpr std::array kFileBackends{FileBackend::caller,   FileBackend::io_thread,
                                          FileBackend::pool,     FileBackend::thread_per_request,
                                          FileBackend::io_uring, FileBackend::automatic};

// io_uring may be forbidden here: then it is asked for in vain.
inline bool possible(FileBackend backend) {
  if (backend != FileBackend::io_uring) return true;
  static const bool there = FileEngine({.backend = FileBackend::caller}).choice().io_uring_possible;
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

}  // namespace handoff::test

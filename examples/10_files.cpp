// SPDX-License-Identifier: MIT
//
// A small store of pictures on disk: many files written side by side, an index that is replaced
// whole, and errors that say what failed. The index is written while a reader looks at it again and
// again: it sees the old one or the new one, never half of one.
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <handoff/core/future.hpp>
#include <handoff/file/file_engine.hpp>

namespace {

constexpr std::size_t kPictures = 24;
constexpr std::size_t kPictureBytes = std::size_t{1} << 18;
constexpr int kIndexes = 20;

// A folder of its own, removed at the end.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "handoff-files-XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::vector<std::byte> picture(std::size_t number) {
  std::vector<std::byte> bytes(kPictureBytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>((i * (2 * number + 1)) >> 8);
  }
  return bytes;
}

// All lines of an index name the same generation.
std::string index_of(int generation) {
  std::string text;
  for (std::size_t i = 0; i < kPictures; ++i) {
    text += "generation " + std::to_string(generation) + " picture " + std::to_string(i) + "\n";
  }
  return text;
}
bool is_whole(const std::string& text) {
  for (int generation = 0; generation <= kIndexes; ++generation) {
    if (text == index_of(generation)) return true;
  }
  return false;
}
std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// All pictures, side by side; then read back.
bool pictures_are_kept(handoff::FileEngine& files, const Folder& folder) {
  std::vector<std::vector<std::byte>> pictures;
  for (std::size_t i = 0; i < kPictures; ++i) pictures.push_back(picture(i));
  const auto name = [&](std::size_t i) { return folder / ("picture" + std::to_string(i)); };

  std::vector<handoff::Future<handoff::FileResult>> written;
  for (std::size_t i = 0; i < kPictures; ++i) {
    written.push_back(files.write(name(i), pictures[i], {.durable = true}));
  }
  for (auto& future : written) future.get().check();  // throws what went wrong, and where

  std::vector<handoff::Future<handoff::FileResult>> read;
  for (std::size_t i = 0; i < kPictures; ++i) read.push_back(files.read(name(i)));
  for (std::size_t i = 0; i < kPictures; ++i) {
    handoff::FileResult result = read[i].get();
    if (result.data() != pictures[i]) return false;
  }
  return true;
}

// The index is replaced again and again while a reader looks.
bool index_is_old_or_new(handoff::FileEngine& files, const Folder& folder) {
  const std::string path = folder / "index";
  const auto replace = [&](int generation) {
    const std::string text = index_of(generation);
    files.replace(path, std::as_bytes(std::span(text)), {.durable = true}).get().check();
  };
  replace(0);
  std::atomic<bool> over{false};
  std::atomic<bool> torn{false};
  std::thread reader([&] {
    while (!over) {
      if (!is_whole(contents(path))) torn = true;
    }
  });
  for (int generation = 1; generation <= kIndexes; ++generation) replace(generation);
  over = true;
  reader.join();
  return !torn && contents(path) == index_of(kIndexes);
}

// What cannot be done is said in one line, which names the file and the reason.
bool errors_say_what_failed(handoff::FileEngine& files, const Folder& folder) {
  const handoff::FileResult missing = files.read(folder / "no such picture").get();
  const handoff::FileResult folder_read = files.read(folder.path()).get();
  std::printf("%s\n%s\n", missing.failure().text().c_str(), folder_read.failure().text().c_str());
  return missing.failure().error == ENOENT && folder_read.failure().error == EISDIR;
}

}  // namespace

int main() {
  const Folder folder;
  if (folder.path().empty()) return std::puts("no folder for temporary files"), 1;
  handoff::FileEngine files;
  const bool kept = pictures_are_kept(files, folder);
  const bool whole = index_is_old_or_new(files, folder);
  const bool told = errors_say_what_failed(files, folder);
  const handoff::Tally tally = files.close();
  std::printf("%llu requests, %llu failed; %s\n", static_cast<unsigned long long>(tally.accepted),
              static_cast<unsigned long long>(tally.failed), files.choice().why.c_str());
  return kept && whole && told && tally.failed == 2 && tally.balanced() ? 0 : 1;
}

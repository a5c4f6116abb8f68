// SPDX-License-Identifier: MIT
//
// A folder of pictures, and a decoder that some of them crash: it reads out of bounds, loops for
// ever, aborts, or runs out of stack. Worker processes decode all that can be decoded, and at the
// end there is a list of the files that killed it, and how.
//
//   example_14_crashproof           makes a folder of its own, and checks what comes out
//   example_14_crashproof FOLDER    the pictures of a folder
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <handoff/process/process_team.hpp>
#include <handoff/process/shared_memory.hpp>

// Somebody else's library, in C. It trusts what it reads in four places.
//
//   "PIX", version 1, the offset of a palette of 256 bytes (4 bytes, the lowest first), then:
//   R n c   n pixels of the palette's colour c
//   G c v   up to the next E: colour c of the palette is v
//   E       the end of a group, or of the picture
//   X n     an extension of n bytes, these two among them: left out
extern "C" {

struct Picture {
  const unsigned char* file;
  size_t size;
  size_t at;
  unsigned char* pixels;
  size_t room;
  size_t count;
};

static int decode_group(struct Picture* picture, const unsigned char* palette) {
  const unsigned char* const file = picture->file;
  while (picture->at < picture->size) {
    const unsigned char* const part = file + picture->at;
    const size_t left = picture->size - picture->at;
    if (part[0] == 'E') {
      picture->at += 1;
      return 0;
    }
    if (part[0] == 'X' && left >= 2) {
      picture->at += part[1];  // fault: 0 is for ever
    } else if (part[0] == 'R' && left >= 3) {
      for (unsigned char n = 0; n < part[1] && picture->count < picture->room; ++n) {
        picture->pixels[picture->count++] = palette[part[2]];
      }
      picture->at += 3;
    } else if (part[0] == 'G' && left >= 3) {
      unsigned char own[256];
      memcpy(own, palette, sizeof own);
      own[part[1]] = part[2];
      picture->at += 3;
      if (decode_group(picture, own) != 0) return -1;  // fault: as deep as the file says
    } else {
      return -1;
    }
  }
  return -1;  // the file ends before the picture does
}

// 0, and the number of pixels; -1: this is no picture.
static int decode(const unsigned char* file, size_t size, unsigned char* pixels, size_t room,
                  size_t* count) {
  struct Picture picture = {file, size, 8, pixels, room, 0};
  unsigned char palette[256];
  size_t offset = 0;
  int i;
  if (size < 8 || memcmp(file, "PIX", 3) != 0) return -1;
  if (file[3] != 1) abort();  // fault: "cannot happen"
  for (i = 7; i >= 4; --i) offset = offset * 256 + file[i];
  memcpy(palette, file + offset, sizeof palette);  // fault: wherever that is
  i = decode_group(&picture, palette);
  *count = picture.count;
  return i;
}

}  // extern "C"

namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using Kind = handoff::WorkerEnd::Kind;

constexpr std::int32_t kNoPicture = -1;
constexpr std::int32_t kUnread = -2;

// Workers are forks: they see the names, which were there before the team. What they write, others
// see in shared memory only.
struct Job {
  const fs::path* files;
  std::int32_t* pixels;  // of each file, or kNoPicture
};

void decode_files(handoff::IndexRange range, const Job& job) {
  std::vector<unsigned char> pixels(1 << 16);
  for (const std::size_t i : range) {
    std::ifstream in(job.files[i], std::ios::binary);
    const std::vector<unsigned char> file{std::istreambuf_iterator<char>(in), {}};
    std::size_t count = 0;
    const bool is_picture =
        decode(file.data(), file.size(), pixels.data(), pixels.size(), &count) == 0;
    job.pixels[i] = is_picture ? static_cast<std::int32_t>(count) : kNoPicture;
  }
}

// What became of the files: pixels for most, for the others how they ended their worker.
struct Outcome {
  std::map<std::string, std::int32_t> pixels;
  std::map<std::string, handoff::WorkerEnd> killers;
};

Outcome decode_folder(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  Outcome outcome;
  if (files.empty()) return outcome;
  const auto memory = handoff::SharedMemory::create({.bytes = files.size() * sizeof(std::int32_t)});
  const std::span pixels(reinterpret_cast<std::int32_t*>(memory.bytes().data()), files.size());
  std::fill(pixels.begin(), pixels.end(), kUnread);

  // A second try for each: a worker may also have been killed by somebody else.
  handoff::ProcessTeam team{{.width = 2, .tries = 2, .limit = 1s}};
  try {
    (void)team.run<decode_files>(files.size(), Job{files.data(), pixels.data()}, {.block = 1});
  } catch (const handoff::WorkFailed&) {
    // They are listed below.
  }
  for (const handoff::LostWork& lost : team.lost()) {
    outcome.killers.emplace(files[lost.indices.first].filename().string(), lost.end);
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (pixels[i] != kUnread) outcome.pixels.emplace(files[i].filename().string(), pixels[i]);
  }
  return outcome;
}

void print(const Outcome& outcome) {
  for (const auto& [name, pixels] : outcome.pixels) {
    if (pixels == kNoPicture) std::printf("%s: no picture\n", name.c_str());
    if (pixels >= 0) std::printf("%s: %d pixels\n", name.c_str(), static_cast<int>(pixels));
  }
  std::printf("\n%zu files killed the decoder:\n", outcome.killers.size());
  for (const auto& [name, end] : outcome.killers) {
    std::printf("%s: %s\n", name.c_str(), end.text().c_str());
  }
}

// --- A folder to try it on. ---

class OwnFolder {
 public:
  OwnFolder() {
    std::string pattern = (fs::temp_directory_path() / "crashproof-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = pattern;
  }
  ~OwnFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  OwnFolder(const OwnFolder&) = delete;
  OwnFolder& operator=(const OwnFolder&) = delete;

  const fs::path& path() const { return path_; }
  // A picture with this in it; its palette stands behind that, unless it is said where else.
  void add(const std::string& name, const std::string& body, std::size_t palette = 0,
           char version = 1) const {
    const std::size_t offset = palette != 0 ? palette : 8 + body.size();
    std::string file("PIX");
    file += version;
    for (int shift = 0; shift < 32; shift += 8) file += static_cast<char>(offset >> shift);
    file += body;
    file.resize(file.size() + 256, 'p');
    std::ofstream(path_ / name, std::ios::binary) << file;
  }

 private:
  fs::path path_;
};

bool decodes_all_that_can_be() {
  const OwnFolder folder;
  std::string nested;
  for (int i = 0; i < 100'000; ++i) nested += "GAB";
  for (int i = 0; i < 40; ++i) {
    folder.add("good_" + std::to_string(i),
               "G" + std::string(2, 'c') + "R" + std::string(1, static_cast<char>(i)) + "cEE");
  }
  folder.add("kills_1", "E", 0x8000'0000);
  folder.add("kills_2", std::string("X\0", 2));
  folder.add("kills_3", "E", 0, 2);
  folder.add("kills_4", nested);
  folder.add("no_picture", "?");

  const Outcome outcome = decode_folder(folder.path());
  print(outcome);
  bool right = outcome.pixels.size() == 41 && outcome.killers.size() == 4;
  for (int i = 0; right && i < 40; ++i) right = outcome.pixels.at("good_" + std::to_string(i)) == i;
  if (!right || outcome.pixels.at("no_picture") != kNoPicture) return false;
  // A sanitizer, if this was built with one, makes an exit of a fault.
  const auto crashed = [&](const char* name) {
    const handoff::WorkerEnd& end = outcome.killers.at(name);
    return end.kind == Kind::exited ? end.code != 0 : end.signal == SIGSEGV;
  };
  return crashed("kills_1") && outcome.killers.at("kills_2").kind == Kind::overdue &&
         outcome.killers.at("kills_3").signal == SIGABRT && crashed("kills_4");
}

}  // namespace

int main(int argc, char** argv) {
  // Workers inherit both: no files of dead processes, and a stack that has an end.
  const rlimit none{0, 0};
  rlimit stack{};
  (void)::setrlimit(RLIMIT_CORE, &none);
  (void)::getrlimit(RLIMIT_STACK, &stack);
  stack.rlim_cur = std::min<rlim_t>(stack.rlim_cur, 8 << 20);
  (void)::setrlimit(RLIMIT_STACK, &stack);
  try {
    if (argc == 1) return decodes_all_that_can_be() ? 0 : 1;
    print(decode_folder(argv[1]));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

// SPDX-License-Identifier: MIT
// Programs that compress from a file in memory into another one, on `width` threads. What they made
// is expanded by zlib after each run, member after member.
#include <filesystem>

#include <zlib.h>

#include "scenarios/files/child.hpp"
#include "scenarios/pipeline/measure.hpp"

namespace handoff::lab::pipeline {
namespace {

// A file in memory that a child finds by its descriptor's name.
class Memory : Pinned {
 public:
  Memory() : descriptor_(memfd_create("text", 0)) {
    if (descriptor_ < 0) throw std::runtime_error("no file in memory");
  }
  ~Memory() { close(descriptor_); }

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }
  void write(std::string_view bytes) const {
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t n =
          pwrite(descriptor_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
      if (n <= 0) throw std::runtime_error("no memory for a file");
      done += static_cast<std::size_t>(n);
    }
  }
  std::vector<unsigned char> read() const {
    std::vector<unsigned char> all(static_cast<std::size_t>(lseek(descriptor_, 0, SEEK_END)));
    if (pread(descriptor_, all.data(), all.size(), 0) != static_cast<ssize_t>(all.size())) {
      throw std::runtime_error("a file in memory is shorter than it is");
    }
    return all;
  }

 private:
  int descriptor_;
};

// Shorter than it should be where the bytes are none of gzip's.
std::string expanded(std::vector<unsigned char> bytes, std::size_t expected) {
  std::string all(expected + 1, '\0');
  z_stream stream{};
  stream.next_in = bytes.data();
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(all.data());
  stream.avail_out = static_cast<uInt>(all.size());
  constexpr int gzip = 16;
  if (inflateInit2(&stream, gzip + MAX_WBITS) != Z_OK) throw std::runtime_error("zlib fails");
  const auto next_member = [&] { return stream.avail_in > 0 && inflateReset(&stream) == Z_OK; };
  while (inflate(&stream, Z_FINISH) == Z_STREAM_END && next_member()) {
  }
  inflateEnd(&stream);
  all.resize(all.size() - stream.avail_out);
  return all;
}

Operation measure_program(const Task& task, const std::string& program) {
  struct Bench {
    Memory input;
    Memory output;
    files::Children children;
    std::vector<std::string> words;
  };
  auto bench = std::make_shared<Bench>();
  bench->input.write(text(task.mib << 20));
  bench->words = {"/bin/sh", "-c",
                  "exec " + program + " -" + std::to_string(task.level) + " -p " +
                      std::to_string(task.width) + " < " + bench->input.path() + " > " +
                      bench->output.path()};
  return [&task, bench](Burst& burst) {
    const auto bytes = static_cast<double>(task.mib << 20);
    burst.timed([&] { bench->children.run(bench->words); });
    std::vector<unsigned char> made = bench->output.read();
    burst.figure("size", 100 * static_cast<double>(made.size()) / bytes);
    burst.figure("cpu_ms", 1e3 * bench->children.cpu_seconds());
    const std::string again = expanded(std::move(made), task.mib << 20);
    *task.output = {{again.size(), 0}, digest_of(again), 0};
  };
}

// The example of this library, which lies beside this program.
Operation pgz(const Task& task) {
  const auto self = std::filesystem::read_symlink("/proc/self/exe");
  return measure_program(task, files::program(self.parent_path() / "pgz"));
}
Operation pigz(const Task& task) { return measure_program(task, files::program("pigz")); }

}  // namespace

Operation contender(const Task& task) {
  return chosen<Operation(const Task&)>({{"own.pgz", pgz}, {"peer.pigz", pigz}})(task);
}

}  // namespace handoff::lab::pipeline

// SPDX-License-Identifier: MIT
//
// A gzip that compresses on all CPUs: gunzip reads what it writes.
//
//   pgz access.log                        writes access.log.gz
//   tar c photos | pgz | ssh backup ...   streams
//
// A pipeline of two stages. Its source reads blocks of 128 KiB; a parallel stage compresses each of
// them, with the 32 KiB before it as dictionary, as pigz does; an ordered stage writes them.
// Between blocks the deflate stream is flushed to a whole byte, so the pieces make one stream. No
// more blocks are in memory than the pipeline has tokens.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <handoff/graph/pipeline.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/queue/spsc_ring.hpp>

namespace {

constexpr std::size_t kBlockBytes = std::size_t{128} << 10;
constexpr std::size_t kWindowBytes = std::size_t{32} << 10;  // as far back as deflate looks

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[noreturn]] void fail(const std::string& what, const std::string& where, const char* remedy) {
  throw Failure(what + ' ' + where + ": " + std::strerror(errno) + "; " + remedy);
}

// What is read and written: a file, or what the shell has put there.
class File {
 public:
  File(int descriptor, std::string name) : descriptor_(descriptor), name_(std::move(name)) {}
  ~File() {
    if (descriptor_ > STDERR_FILENO) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  // As much as there is, up to `bytes`; 0: the end.
  std::size_t read(unsigned char* into, std::size_t bytes) const {
    std::size_t count = 0;
    while (count < bytes) {
      const ssize_t got = ::read(descriptor_, into + count, bytes - count);
      if (got == 0) break;
      if (got > 0) {
        count += static_cast<std::size_t>(got);
      } else if (errno != EINTR) {
        fail("cannot read", name_, "name a file that can be read, or - for standard input");
      }
    }
    return count;
  }

  void write(const unsigned char* from, std::size_t bytes) const {
    while (bytes > 0) {
      const ssize_t put = ::write(descriptor_, from, bytes);
      if (put >= 0) {
        from += put;
        bytes -= static_cast<std::size_t>(put);
      } else if (errno != EINTR) {
        fail("cannot write", name_,
             errno == EPIPE ? "its reader has ended" : "free some room, or choose another place");
      }
    }
  }

  int descriptor() const { return descriptor_; }

 private:
  const int descriptor_;
  const std::string name_;
};

// The file that is being written has another name until it is whole; a signal removes it, too.
char unfinished[4096] = "";

void remove_unfinished() {
  if (unfinished[0] != '\0') ::unlink(unfinished);
  unfinished[0] = '\0';
}

extern "C" void remove_and_die(int signal) {
  remove_unfinished();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

struct Options {
  std::string input = "-";
  std::string output;  // "": INPUT.gz, or standard output
  int level = 6;
  std::size_t width = 0;  // as many as there are CPUs
};

class Output {
 public:
  explicit Output(const Options& options) : name_(options.output) {
    if (name_ == "-") {
      if (::isatty(STDOUT_FILENO) != 0) {
        throw Failure("standard output is a terminal; redirect it, or name a file with -o");
      }
      file_.emplace(STDOUT_FILENO, "standard output");
      return;
    }
    const std::string part = name_ + ".unfinished";
    if (part.size() >= sizeof unfinished) throw Failure("too long a name: " + name_);
    const int descriptor = ::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor < 0) fail("cannot create", part, "choose another place with -o");
    std::memcpy(unfinished, part.c_str(), part.size() + 1);
    file_.emplace(descriptor, name_);
  }
  ~Output() { remove_unfinished(); }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  const File& file() const { return *file_; }

  // It is whole, and gets its name.
  void finish() {
    if (unfinished[0] == '\0') return;
    if (::fsync(file_->descriptor()) != 0 && errno != EINVAL) {
      fail("cannot write", name_, "free some room, or choose another place");
    }
    if (::rename(unfinished, name_.c_str()) != 0) {
      fail("cannot rename to", name_, "choose another place with -o");
    }
    unfinished[0] = '\0';
  }

 private:
  const std::string name_;
  std::optional<File> file_;
};

// A thread's: what zlib knows of the last bytes, 260 KiB that had better be near.
class Deflater {
 public:
  explicit Deflater(int level) {
    // A negative size of the window: no header and no trailer, they are the stream's.
    if (deflateInit2(&stream_, level, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  ~Deflater() { deflateEnd(&stream_); }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  z_stream& fresh() {
    deflateReset(&stream_);
    return stream_;
  }

 private:
  z_stream stream_ = {};
};

// A piece of the input on its way.
class Block {
 public:
  Block() : in_(kWindowBytes + kBlockBytes), out_(compressBound(kBlockBytes) + 64) {}

  // False: that was the end. `window`: what was read last, before it and after it.
  bool read(const File& file, std::vector<unsigned char>& window) {
    window_bytes_ = window.size();
    std::memcpy(in_.data(), window.data(), window_bytes_);
    bytes_ = file.read(in_.data() + window_bytes_, kBlockBytes);
    const std::size_t all = window_bytes_ + bytes_;
    const std::size_t kept = all < kWindowBytes ? all : kWindowBytes;
    window.assign(in_.data() + all - kept, in_.data() + all);
    return bytes_ > 0;
  }

  void compress(int level) {
    thread_local Deflater deflater(level);
    z_stream& stream = deflater.fresh();
    unsigned char* const data = in_.data() + window_bytes_;
    crc_ = crc32(0, data, static_cast<uInt>(bytes_));
    if (window_bytes_ > 0) {
      deflateSetDictionary(&stream, in_.data(), static_cast<uInt>(window_bytes_));
    }
    stream.next_in = data;
    stream.avail_in = static_cast<uInt>(bytes_);
    stream.next_out = out_.data();
    stream.avail_out = static_cast<uInt>(out_.size());
    if (deflate(&stream, Z_SYNC_FLUSH) != Z_OK || stream.avail_out == 0) {
      throw Failure("zlib has failed; this is an error of pgz");
    }
    out_bytes_ = out_.size() - stream.avail_out;
  }

  void write(const File& file) const { file.write(out_.data(), out_bytes_); }

  std::size_t bytes() const { return bytes_; }
  uLong crc() const { return crc_; }

 private:
  std::vector<unsigned char> in_;  // the window, and the block
  std::vector<unsigned char> out_;
  std::size_t window_bytes_ = 0;
  std::size_t bytes_ = 0;
  std::size_t out_bytes_ = 0;
  uLong crc_ = 0;
};

void append_number(std::vector<unsigned char>& to, std::uint64_t number) {
  for (int i = 0; i < 4; ++i) to.push_back(static_cast<unsigned char>(number >> (8 * i) & 0xFF));
}

void compress(const File& input, const File& output, const Options& options) {
  handoff::ThreadPool pool({.width = options.width});
  const std::size_t tokens = 3 * pool.width();
  std::vector<std::unique_ptr<Block>> blocks;
  handoff::SpscRing<Block*> free_blocks(tokens);  // from the last stage to the source
  for (std::size_t i = 0; i < tokens; ++i) {
    blocks.push_back(std::make_unique<Block>());
    (void)free_blocks.try_push(blocks.back().get());
  }

  // The header, RFC 1952: deflate, no name, no time, on Unix.
  constexpr std::array<unsigned char, 10> header{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3};
  output.write(header.data(), header.size());

  std::vector<unsigned char> window;
  uLong crc = 0;
  std::uint64_t bytes = 0;
  handoff::Pipeline line(
      pool, {.name = "pgz", .tokens = tokens},
      [&]() -> std::optional<Block*> {
        Block* block = nullptr;
        (void)free_blocks.try_pop(block);  // where there is a token, there is a block
        return block->read(input, window) ? std::optional(block) : std::nullopt;
      },
      handoff::parallel_stage(
          [&](Block* block) {
            block->compress(options.level);
            return block;
          },
          "compress"),
      handoff::ordered_stage(
          [&](Block* block) {
            block->write(output);
            crc = crc32_combine(crc, block->crc(), static_cast<z_off_t>(block->bytes()));
            bytes += block->bytes();
            (void)free_blocks.try_push(block);
          },
          "write"));
  (void)line.run();

  std::vector<unsigned char> end{3, 0};  // the last block of the deflate stream, an empty one
  append_number(end, crc);
  append_number(end, bytes);
  output.write(end.data(), end.size());
}

int usage(const std::string& wrong) {
  std::fprintf(stderr,
               "pgz: %s; usage: pgz [-1 .. -9] [-p WIDTH] [-o OUTPUT] [INPUT]; - is standard "
               "input or output\n",
               wrong.c_str());
  return 2;
}

// What is wrong; "": nothing.
std::string parse(int count, char** arguments, Options& options) {
  bool has_input = false;
  for (int i = 1; i < count; ++i) {
    const std::string_view argument = arguments[i];
    const bool has_value = i + 1 < count;
    if (argument.size() == 2 && argument[0] == '-' && argument[1] >= '1' && argument[1] <= '9') {
      options.level = argument[1] - '0';
    } else if (argument == "-o" && has_value) {
      options.output = arguments[++i];
    } else if (argument == "-p" && has_value) {
      const std::string_view width = arguments[++i];
      const auto read = std::from_chars(width.data(), width.data() + width.size(), options.width);
      if (read.ec != std::errc() || read.ptr != width.data() + width.size() || options.width == 0 ||
          options.width > 1024) {
        return "-p takes a number of threads, not " + std::string(width);
      }
    } else if ((argument == "-" || argument[0] != '-') && !has_input) {
      options.input = argument;
      has_input = true;
    } else {
      return "cannot use " + std::string(argument);
    }
  }
  if (options.output.empty()) options.output = options.input == "-" ? "-" : options.input + ".gz";
  return "";
}

void run(const Options& options) {
  const bool is_standard = options.input == "-";
  const int descriptor =
      is_standard ? STDIN_FILENO : ::open(options.input.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    fail("cannot open", options.input, "name a file that can be read, or - for standard input");
  }
  const File input(descriptor, is_standard ? "standard input" : options.input);
  Output output(options);
  compress(input, output.file(), options);
  output.finish();
}

}  // namespace

int main(int count, char** arguments) {
  Options options;
  if (const std::string wrong = parse(count, arguments, options); !wrong.empty()) {
    return usage(wrong);
  }
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, &remove_and_die);
  try {
    try {
      run(options);
    } catch (const handoff::PipelineFailed& failed) {
      std::rethrow_exception(failed.cause());
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "pgz: %s\n", error.what());
    return 1;
  }
  return 0;
}

// SPDX-License-Identifier: MIT
// The file of a trace, read once from its beginning to its end in little memory, and the one line
// that says where it is wrong.
#pragma once

#include "harness/coordinator.hpp"

namespace handoff::lab::replay {

// Called between chunks with how many bytes were read; may throw, such as Interrupted.
using Tick = std::function<void(std::uint64_t)>;

class TraceFile {
 public:
  static constexpr std::size_t longest_line = 1 << 20;

  // Throws UserError if it cannot be read, or is compressed.
  TraceFile(const std::filesystem::path& path, Tick tick);

  // The next chunk; empty at the end.
  std::string_view chunk();
  // Puts the beginning of the last chunk back, to be read as a part of the next one.
  [[nodiscard]] std::string_view peek();

  // The next line without its end; false at the end. The line is valid until the next call.
  bool next_line(std::string_view& line);
  [[nodiscard]] std::size_t line() const { return line_; }  // the number of that line, from 1
  // Whether that line has its end: the last one of a file may be torn.
  [[nodiscard]] bool line_is_whole() const { return line_is_whole_; }

  // Throws UserError: "FILE, line 7: what is wrong".
  [[noreturn]] void fail(const std::string& what) const { fail_at(line_, what); }
  [[noreturn]] void fail_at(std::size_t line, const std::string& what) const;

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  void fill();
  void require_plain();

  std::filesystem::path path_;
  Tick tick_;
  std::unique_ptr<std::FILE, Close> file_;
  std::array<char, 1 << 16> buffer_;
  std::string_view rest_;  // of the buffer, not yet given out
  std::string joined_;     // a line that reaches over chunks
  std::uint64_t read_ = 0;
  std::size_t line_ = 0;
  bool line_is_whole_ = true;
};

// Without the blanks around it.
std::string_view trimmed(std::string_view text, std::string_view blanks);

// A time of a file in ns: a decimal number of units of so many ns each. Throws std::string: what is
// wrong with it.
std::uint64_t time_ns(std::string_view text, std::uint64_t unit_ns, const char* what);

// A whole number. Throws std::string as well.
std::uint64_t whole_number(std::string_view text, const char* what);

// What a file says, in short and in ASCII: nothing in it acts on a terminal.
std::string shown(std::string_view text);

}  // namespace handoff::lab::replay

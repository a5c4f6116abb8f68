// SPDX-License-Identifier: MIT
// Where a command's text goes: to a file as a whole, or to stdout.
#pragma once

#include "commands/options.hpp"
#include "harness/user_error.hpp"
#include "report/result.hpp"

namespace handoff::lab {

// Throws UserError unless `output` can be written and is none of the inputs: a slip of the shell's
// completion must not cost a measurement. An empty path is stdout.
void require_output(const std::filesystem::path& output,
                    const std::vector<std::filesystem::path>& inputs,
                    std::string_view option = "--output");

// Says on stderr that a result which was read is only a part of what was asked for, if it is.
void say_if_interrupted(const Result& result, const std::filesystem::path& path);

// Writes files with what was measured, and shows it on stdout, also if they cannot be written: that
// is thrown afterwards.
template <class Write, class Show>
void keep_and_show(const Write& write, const Show& show) {
  std::exception_ptr lost;
  try {
    write();
  } catch (const UserError&) {
    lost = std::current_exception();
  }
  show();
  if (lost != nullptr) std::rethrow_exception(lost);
}

void write_text(const std::filesystem::path& output, std::string_view text);
// To the file that was asked for, if one was.
void write_result(const MeasureOptions& options, const Result& result);

// A person at a terminal sees how much of a large file was read.
class ReadProgress {
 public:
  ReadProgress(const std::filesystem::path& path, Interrupt& interrupt);
  void show(std::uint64_t bytes);  // throws Interrupted

 private:
  static constexpr std::uint64_t kShownEach = 32 << 20;

  Progress progress_{1};
  std::string name_;
  Interrupt& interrupt_;
  std::uint64_t next_ = kShownEach;
};

// What `run` prints for people: of an overview the ladder, of all else the tables.
// For stdout as it is. `contenders` are those that the build knows: it says which were not built.
// `busy` says what others took of the CPUs, and who; without it the ladder says how much.
// `seconds`: that measuring took; 0: not known.
[[nodiscard]] std::string answer_text(const Result& result, const RunOptions& options,
                                      const std::vector<Contender>& contenders,
                                      const std::string& busy = {}, double seconds = 0);

}  // namespace handoff::lab

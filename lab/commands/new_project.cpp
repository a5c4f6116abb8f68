// SPDX-License-Identifier: MIT
// `handoff try --new DIR`: a project with a kernel, ready to be compiled.
#include "commands/commands.hpp"
#include "harness/atomic_file.hpp"
#include "harness/temporary_folder.hpp"
#include "harness/user_error.hpp"
#include "try_project.hpp"

namespace handoff::lab {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_project(const fs::path& path, const std::string& why) {
  throw UserError("{}: {}; nothing was written", path.string(), why);
}

void write_files(const fs::path& folder) {
  for (const ProjectFile& file : kTryProject) write_atomically(folder / file.name, file.text);
}

// Nothing that is there is replaced, whatever happens meanwhile: links do not replace.
void move_in(const fs::path& from, const fs::path& folder) {
  std::vector<fs::path> moved;
  for (const ProjectFile& file : kTryProject) {
    const fs::path target = folder / file.name;
    if (link((from / file.name).c_str(), target.c_str()) == 0) {
      moved.push_back(target);
      continue;
    }
    const int why = errno;
    std::error_code ignored;
    for (const fs::path& path : moved) fs::remove(path, ignored);
    if (why == EEXIST) refuse_project(target, "it is there already: choose another folder");
    refuse_project(target, std::string("cannot be written: ") + strerror(why));
  }
}

}  // namespace

void make_try_project(const fs::path& asked) {
  if (asked.empty()) throw UserError("--new takes the name of a folder, not ''");
  std::error_code error;
  fs::path folder = fs::absolute(asked).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();  // it ended with a slash
  const bool is_there = fs::is_directory(folder, error);
  if (!is_there && fs::exists(fs::symlink_status(folder, error))) {
    refuse_project(asked, "it is there, and it is no folder");
  }
  const fs::path within = is_there ? folder : folder.parent_path();
  if (!fs::is_directory(within, error)) refuse_project(within, "there is no such folder");
  const TemporaryFolder temporary(".handoff-try", within);
  const fs::path made = temporary.path() / "project";
  fs::create_directory(made);
  write_files(made);
  if (is_there) return move_in(made, folder);
  if (renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, folder.c_str(), RENAME_NOREPLACE) != 0) {
    refuse_project(asked, std::string("cannot be made: ") + strerror(errno));
  }
}

}  // namespace handoff::lab

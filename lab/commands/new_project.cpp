// SPDX-License-Identifier: MIT
// `handoff try --new DIR`: a project with a kernel, ready to be compiled.
#include "commands/commands.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "harness/atomic_file.hpp"
#include "harness/user_error.hpp"
#include "try_project.hpp"

namespace handoff::lab {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_project(const fs::path& path, const std::string& why) {
  throw UserError(fmt::format("{}: {}; nothing was written", path.string(), why));
}

// A folder that is gone with this object, with all that is still in it.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(fs::path path) : path_(std::move(path)) {
    std::error_code error;
    if (!fs::create_directory(path_, error)) {
      refuse_project(path_.parent_path(), "cannot be written to: " + error.message());
    }
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

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
  const fs::file_status status = fs::symlink_status(folder, error);
  const std::string temporary = fmt::format(".handoff-try.{}.tmp", getpid());
  if (fs::is_directory(fs::status(folder, error))) {
    const TemporaryFolder made(folder / temporary);
    write_files(made.path());
    move_in(made.path(), folder);
    return;
  }
  if (fs::exists(status)) refuse_project(asked, "it is there, and it is no folder");
  if (!fs::is_directory(folder.parent_path(), error)) {
    refuse_project(folder.parent_path(), "there is no such folder");
  }
  const TemporaryFolder made(folder.parent_path() / temporary);
  write_files(made.path());
  if (renameat2(AT_FDCWD, made.path().c_str(), AT_FDCWD, folder.c_str(), RENAME_NOREPLACE) != 0) {
    refuse_project(asked, std::string("cannot be made: ") + strerror(errno));
  }
}

}  // namespace handoff::lab

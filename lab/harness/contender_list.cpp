// SPDX-License-Identifier: MIT
#include "harness/contender_list.hpp"

#include <fnmatch.h>
#include <nlohmann/json.hpp>

#include "harness/build_tree.hpp"
#include "harness/foreign_json.hpp"
#include "harness/user_error.hpp"

namespace handoff::lab {
namespace {

namespace fs = std::filesystem;

// Beside the program in a build tree, one level up where it is installed.
fs::path list_of_the_build(const char* name) {
  const fs::path program = fs::read_symlink("/proc/self/exe").parent_path();
  for (const fs::path& base : {program, program.parent_path()}) {
    fs::path list = base / "libexec" / "handoff" / name;
    if (fs::exists(list)) return list;
  }
  throw UserError("{}: the contenders are missing; build or install the lab as a whole",
                  (program / "libexec").string());
}

// One for each layout. Lists of older revisions have a single one as a text, or an empty text.
std::vector<fs::path> executables_of(const nlohmann::json& entry, const fs::path& folder) {
  std::vector<fs::path> executables;
  for (const nlohmann::json& executable : entry.is_array() ? entry : nlohmann::json{entry}) {
    const std::string path = executable;
    if (!path.empty()) executables.push_back(folder / path);
  }
  return executables;
}

std::vector<Contender> of_the_build(const char* name) {
  std::vector<Contender> contenders = contenders_in(list_of_the_build(name));
  for (Contender& contender : contenders) {
    if (contender.is_there() || build_tree()) continue;
    contender.executables.clear();
    contender.package.clear();
  }
  return contenders;
}

}  // namespace

bool Contender::is_there() const {
  return std::ranges::all_of(executables,
                             [](const fs::path& program) { return fs::exists(program); });
}

std::string Contender::why_not_built() const {
  return package.empty() ? "not built" : "not built: needs " + package;
}

std::string Contender::kind() const { return name.substr(0, name.find('.')); }

bool Contender::applies(const Cell& cell) const {
  if (cell.find(kill_parameter) != nullptr && !survives_kills()) return false;
  return std::ranges::all_of(when, [&](const auto& condition) {
    const auto& values = condition.second;
    const std::string* value = cell.find(condition.first);
    return value == nullptr || std::ranges::any_of(values, [&](const auto& allowed) {
             return allowed == *value || allowed == "any";
           });
  });
}

std::vector<Contender> contenders_in(const fs::path& list) {
  std::ifstream file(list);
  if (!file) throw UserError("{}: cannot be read", list.string());
  std::vector<Contender> contenders;
  try {
    const auto parsed = parse_foreign(std::string(std::istreambuf_iterator<char>(file), {}));
    if (const std::string where = where_not_plain(parsed, ""); !where.empty()) {
      throw ForeignJsonError(where + " has control characters");
    }
    for (const auto& entry : parsed.at("contenders")) {
      contenders.push_back({entry.at("scenario"), entry.at("name"),
                            executables_of(entry.at("executable"), list.parent_path()),
                            entry.at("package"), entry.at("when"), entry.value("order", ""),
                            entry.value("version", ""), entry.value("argument", "")});
    }
  } catch (const std::exception& error) {
    throw UserError("{}: no list of contenders: {}", list.string(), error.what());
  }
  return contenders;
}

fs::path folder_of_the_build() { return list_of_the_build("contenders.json").parent_path(); }

std::vector<Contender> read_contenders(const std::vector<fs::path>& more) {
  std::vector<Contender> contenders = of_the_build("contenders.json");
  for (const fs::path& list : more) {
    const std::vector<Contender> added = contenders_in(fs::absolute(list));
    contenders.insert(contenders.end(), added.begin(), added.end());
  }
  return contenders;
}

std::vector<Contender> read_canaries() { return of_the_build("canaries.json"); }

std::vector<Contender> chosen(const std::vector<Contender>& contenders,
                              const std::vector<std::string>& patterns) {
  if (patterns.empty()) return contenders;
  const auto matches = [](const std::string& pattern, const Contender& contender) {
    return fnmatch(pattern.c_str(), contender.name.c_str(), 0) == 0;
  };
  for (const std::string& pattern : patterns) {
    if (std::ranges::none_of(contenders, [&](const Contender& c) { return matches(pattern, c); })) {
      throw UserError("no contender matches '{}'; {}", pattern,
                      nearest_name(pattern, contenders, &Contender::name));
    }
  }
  std::vector<Contender> some = contenders;
  std::erase_if(some, [&](const Contender& contender) {
    return std::ranges::none_of(
        patterns, [&](const std::string& pattern) { return matches(pattern, contender); });
  });
  return some;
}

}  // namespace handoff::lab

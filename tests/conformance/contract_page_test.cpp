// SPDX-License-Identifier: MIT
//
// docs/guide/contract.md says what the code does: its tables are made anew from calls and must be
// the same, and each public type has a row, or stands in its list of those that hand nothing over.
// With HANDOFF_RENEW_CONTRACT in the environment the tables are written into the page instead.
#include <regex>

#include "conformance/contract_page.hpp"
#include "support/test.hpp"

namespace handoff::test { namespace {

namespace fs = std::filesystem;

const fs::path house = HANDOFF_SOURCE_DIR;
const fs::path page_path = house / "docs/guide/contract.md";

std::string text_of(const fs::path& path) {
  std::ifstream in(path);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string line_of(const ContractRow& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) line += ' ' + cell + " |";
  return line + '\n';
}

std::string markdown(const ContractTable& table) {
  std::string text = line_of(table.columns) + '|';
  for (std::size_t i = 0; i < table.columns.size(); ++i) text += "---|";
  text += '\n';
  for (const ContractRow& row : table.rows) {
    EXPECT_EQ(row.size(), table.columns.size()) << table.tier << ": " << row.front();
    text += line_of(row);
  }
  return text;
}

// Where the page has the table of a tier: between two comments.
struct Span {
  std::size_t first = 0, length = 0;
};
Span table_in(const std::string& page, const std::string& tier) {
  const std::string begin = "<!-- " + tier + " -->\n";
  const std::size_t at = page.find(begin);
  const std::size_t first = at + begin.size();
  const std::size_t end = at == std::string::npos ? at : page.find("\n<!-- end -->", first);
  EXPECT_NE(end, std::string::npos) << "no table of the tier " << tier << " in the page";
  return end == std::string::npos ? Span{} : Span{first, end + 1 - first};
}

std::vector<ContractTable> all_tables() {
  return {transfer_table(), executor_table(), deferred_table(), bulk_table(), unheard_table()};
}

// The first cells of a table of the page: "`ThreadPool`".
std::set<std::string> types_of(const std::string& page, const std::string& tier) {
  const Span span = table_in(page, tier);
  static const std::regex first_cell(R"(\n\| (`\w+`))");
  std::set<std::string> types;
  const std::string table = page.substr(span.first, span.length);
  for (std::sregex_iterator it(table.begin(), table.end(), first_cell), end; it != end; ++it) {
    types.insert((*it)[1]);
  }
  EXPECT_GT(types.size(), 2U) << tier;
  return types;
}

TEST(ContractPage, ItsTablesAreWhatTheCallsDo) {
  const bool renews = std::getenv("HANDOFF_RENEW_CONTRACT") != nullptr;
  std::string page = text_of(page_path);
  for (const ContractTable& table : all_tables()) {
    const std::string made = markdown(table);
    const Span span = table_in(page, table.tier);
    if (renews) {
      page.replace(span.first, span.length, made);
    } else {
      EXPECT_EQ(page.substr(span.first, span.length), made) << "the tier " << table.tier;
    }
  }
  if (renews) std::ofstream(page_path) << page;
}

TEST(ContractPage, EachTypeThatCallsFunctionsSaysWhereTheirExceptionsGo) {
  const std::string page = text_of(page_path);
  const std::set<std::string> said = types_of(page, "unheard");
  for (const char* const tier : {"executor", "deferred", "bulk"}) {
    for (const std::string& type : types_of(page, tier)) {
      EXPECT_EQ(said.count(type), 1U) << type << " has no row in contract_unheard.cpp";
    }
  }
}

// A public header's types: classes and structs at the outermost level of the namespace.
std::set<std::string> public_types() {
  static const std::regex declared(
      R"((?:^|\n)(?:class|struct) (?:\[\[[^\]]*\]\] )?([A-Z]\w*)[^;{]*\{)");
  std::set<std::string> types;
  for (const auto& file : fs::recursive_directory_iterator(house / "include/handoff")) {
    const fs::path path = file.path();
    static const std::regex unpromised("/(detail|internal)/");
    if (path.extension() != ".hpp" || std::regex_search(path.string(), unpromised)) continue;
    std::string text = text_of(path);
    static const std::regex inner(R"(namespace detail \{[\s\S]*?\}  // namespace detail)");
    text = std::regex_replace(text, inner, "");
    for (std::sregex_iterator it(text.begin(), text.end(), declared), end; it != end; ++it) {
      types.insert((*it)[1]);
    }
  }
  EXPECT_GT(types.size(), 50U);
  return types;
}

TEST(ContractPage, EachPublicTypeStandsInIt) {
  const std::string page = text_of(page_path);
  static const std::regex described_with_its_type(".*(Options|Policies|Statistics)");
  std::string missing;
  for (const std::string& type : public_types()) {
    if (!std::regex_match(type, described_with_its_type) &&
        !std::regex_search(page, std::regex('`' + type + "\\b")))
      missing += ' ' + type;
  }
  EXPECT_EQ(missing, "") << "give each of them a row, or a place in the list of those that hand "
                            "nothing over";
}

}}  // namespace handoff::test

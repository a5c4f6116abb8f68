// SPDX-License-Identifier: MIT
// Text of others: what a terminal would obey, and how deep JSON may be.
#include <nlohmann/json.hpp>

#include "harness/foreign_json.hpp"
#include "harness/plain_text.hpp"
#include "support/test.hpp"

namespace handoff::lab { namespace {

using namespace std::string_view_literals;
using nlohmann::json;

TEST(PlainText, LettersStayAndWhatActsDoesNot) {
  const std::pair<std::string_view, std::string_view> texts[] = {
      {"", ""},
      {"own.pool <b>|`", "own.pool <b>|`"},
      {"\xe4\xbd\xa0 \xf0\x9f\xa6\x80 \xc2\xa0", "\xe4\xbd\xa0 \xf0\x9f\xa6\x80 \xc2\xa0"},
      {"a\x1b[31m\n\t\x7f\0b"sv, "a?[31m????b"},
      {"\xc2\x80\xc2\x9b\xc2\x9f", "??????"},
      {"\xe2\x80\xa7\xe2\x80\xa8\xe2\x80\xae\xe2\x80\xaf", "\xe2\x80\xa7??????\xe2\x80\xaf"},
      {"\xe2\x81\xa5\xe2\x81\xa6\xe2\x81\xa9\xe2\x81\xaa", "\xe2\x81\xa5??????\xe2\x81\xaa"},
      {"\x9b\xff\xc3(\xc0\x9b\xed\xa0\x80\xf4\x90\x80\x80\xe4\xbd", "\x3f\x3f\x3f(???????????"}};
  for (const auto& [text, shown] : texts) {
    EXPECT_EQ(plain(text), shown);
    EXPECT_EQ(is_plain(text), text == shown) << shown;
  }
}

TEST(ForeignJson, BracketsOfTextsAreNoDepth) {
  const std::string many(1000, '[');
  EXPECT_EQ(parse_foreign(json{{"a", many}, {many, "\"" + many + "\\"}}.dump())["a"], many);
  const auto nested = [](int depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_NO_THROW(static_cast<void>(parse_foreign(nested(64))));
  for (const int depth : {65, 100'000}) {
    EXPECT_THROW(static_cast<void>(parse_foreign(nested(depth))), ForeignJsonError);
    EXPECT_THROW(static_cast<void>(parse_foreign(std::string(depth, '{'))), ForeignJsonError);
  }
  for (const char* const text : {"", "[", "{\"a\":}", "]]]", "\"", "\"\\", "1e999", "\x80"}) {
    EXPECT_THROW(static_cast<void>(parse_foreign(text)), ForeignJsonError) << text;
  }
}

TEST(ForeignJson, SaysWhereATextActs) {
  const json value{{"rows", {1, {{"name", "a\x1b"}}}}, {"x", "fine"}};
  EXPECT_EQ(where_not_plain(value, ""), "rows[1].name");
  EXPECT_EQ(where_not_plain(json{{"x", {{"a\n", 1}}}}, ""), "x");
  EXPECT_EQ(where_not_plain(json{{"a\n", 1}}, ""), "it");
  EXPECT_EQ(where_not_plain(json{{"x", {"a", 1, nullptr}}}, ""), "");
  EXPECT_EQ(made_plain(value)["rows"][1]["name"], "a?");
  EXPECT_EQ(made_plain(json{{"a\n", {1.5, "b\r"}}}), (json{{"a?", {1.5, "b?"}}}));
}

}}  // namespace handoff::lab

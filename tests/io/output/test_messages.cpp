// SPDX-License-Identifier: Apache-2.0
// The text of messages, whatever bytes a file or its name holds.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "io/text.hpp"

namespace {

using kastor::io::detail::k_longest_message;
using kastor::io::detail::one_line;
using kastor::io::detail::shortened;

/// Whether another implementation takes it as UTF-8.
bool is_utf8(const std::string& text) {
  try {
    (void)nlohmann::json(text).dump();
    return true;
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

TEST(Messages, AreOneLineOfUtf8) {
  const std::string bad = "\xef\xbf\xbd";
  const std::pair<std::string, std::string> known[] = {
      {"Jy/beam", "Jy/beam"},
      {"caf\xc3\xa9 \xe6\x98\x9f \xf0\x9f\x94\xad", "caf\xc3\xa9 \xe6\x98\x9f \xf0\x9f\x94\xad"},
      {"a\tb\nc\x1b[31m\x7f", "a?b?c?[31m?"},
      {std::string("nul\0", 4), "nul?"},
      {"caf\xe9", "caf" + bad},              // Latin-1
      {"\xc2\x85|\xc2\x9b", "?|?"},          // C1
      {"\xe2\x80\xa8|\xe2\x80\xa9", "?|?"},  // U+2028, U+2029
      {"\xe2\x80\xae|\xe2\x81\xa6", "?|?"},  // U+202E, U+2066: order of writing
      {"\xe2\x80\x8f|\xd8\x9c", "?|?"},      // U+200F, U+061C
      {"\xe2\x80\x8c|\xe2\x80\x8d", "\xe2\x80\x8c|\xe2\x80\x8d"},  // joiners
      {"\xf3\xa0\x81\x81", "?"},                                   // U+E0041, a tag
      {"\xed\xa0\x80", bad + bad + bad},                           // a surrogate
      {"\xc0\x80|\xf8\x88", bad + bad + "|" + bad + bad},
  };
  for (const auto& [text, wanted] : known) EXPECT_EQ(one_line(text), wanted);
}

TEST(Messages, OfAnyBytesAreUtf8AndShort) {
  std::mt19937 bytes(1);
  for (std::size_t round = 0; round < 400; ++round) {
    std::string text(round * 7, ' ');
    // Half of the rounds have letters of several bytes, so that the cut may fall into one.
    for (char& c : text) c = static_cast<char>(bytes());
    if (round % 2 == 0) {
      for (std::size_t i = 0; i + 3 <= text.size(); i += 3) text.replace(i, 3, "\xe6\x98\x9f");
      text += std::string(round % 3, 'x');
    }
    const std::string line = shortened(one_line(text));
    EXPECT_TRUE(is_utf8(line)) << round;
    EXPECT_LE(line.size(), k_longest_message);
    EXPECT_EQ(one_line(line), line);
    EXPECT_EQ(line.find('\n'), std::string::npos);
  }
}

TEST(Messages, KeepBothEndsOfALongText) {
  const std::string longest(k_longest_message, 'x');
  EXPECT_EQ(shortened(longest), longest);
  const std::string cut = shortened("file.fits: " + longest + "; expected a number");
  EXPECT_EQ(cut.size(), k_longest_message);
  EXPECT_TRUE(cut.starts_with("file.fits: x"));
  EXPECT_TRUE(cut.ends_with("x; expected a number"));
  EXPECT_NE(cut.find("x...x"), std::string::npos);
}

}  // namespace

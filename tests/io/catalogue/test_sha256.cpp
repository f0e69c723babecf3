// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <kastor/io/sha256.hpp>
#include <string>

namespace {

std::string digest_of(const std::string& text, std::size_t piece) {
  kastor::io::Sha256 hash;
  for (std::size_t at = 0; at < text.size(); at += piece)
    hash.update(text.data() + at, std::min(piece, text.size() - at));
  return hash.hex_digest();
}

// The examples that NIST publishes with FIPS 180-4.
TEST(Sha256, GivesTheStandardDigests) {
  EXPECT_EQ(digest_of("", 1), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(digest_of("abc", 3),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  const std::string two_blocks = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
  EXPECT_EQ(digest_of(two_blocks, 56),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(digest_of(std::string(1000000, 'a'), 1000),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, DoesNotDependOnThePieces) {
  std::string text;
  for (int i = 0; i < 500; ++i) text += static_cast<char>(i * 7);
  for (const std::size_t piece : {1u, 55u, 56u, 63u, 64u, 65u, 499u})
    EXPECT_EQ(digest_of(text, piece), digest_of(text, 500));
}

}  // namespace

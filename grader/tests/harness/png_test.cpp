// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <zlib.h>

#include <cstdint>

#include "grader/harness/lab/lab_test.hpp"

namespace membound::harness {
namespace {

struct Chunk {
  std::string kind, data;
};

std::uint32_t number_at(std::string_view bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i)
    number = number << 8 | static_cast<unsigned char>(bytes[at + i]);
  return number;
}

/// All chunks of a PNG, each held against its check sum.
std::vector<Chunk> chunks_of(std::string_view png) {
  std::vector<Chunk> chunks;
  EXPECT_EQ(png.substr(0, 8), "\x89PNG\r\n\x1a\n");
  for (std::size_t at = 8; at + 12 <= png.size();) {
    const std::size_t length = number_at(png, at);
    const std::string body(png.substr(at + 4, length + 4));
    EXPECT_EQ(number_at(png, at + 8 + length),
              crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size())))
        << body.substr(0, 4);
    chunks.push_back({body.substr(0, 4), body.substr(4)});
    at += 12 + length;
  }
  return chunks;
}

TEST(Png, HoldsTheLevelsRowAfterRow) {
  const std::string levels("\x00\x80\xff\x01\x02\x03", 6);
  const std::vector<Chunk> chunks = chunks_of(png_of(3, 2, levels));
  ASSERT_EQ(chunks.size(), 3U);
  EXPECT_EQ(chunks[0].kind, "IHDR");
  EXPECT_EQ(chunks[0].data, std::string("\0\0\0\x03\0\0\0\x02\x08\0\0\0\0", 13));
  EXPECT_EQ(chunks[1].kind, "IDAT");
  std::string rows(64, '\0');
  uLongf bytes = rows.size();
  ASSERT_EQ(uncompress(reinterpret_cast<Bytef*>(rows.data()), &bytes,
                       reinterpret_cast<const Bytef*>(chunks[1].data.data()),
                       static_cast<uLong>(chunks[1].data.size())),
            Z_OK);
  EXPECT_EQ(rows.substr(0, bytes), std::string("\0\x00\x80\xff\0\x01\x02\x03", 8));
  EXPECT_EQ(chunks[2].kind, "IEND");
  EXPECT_EQ(chunks[2].data, "");
}

}  // namespace
}  // namespace membound::harness

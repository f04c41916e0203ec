// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the source shows of values at the wrong place: rows and columns that are exchanged, and
/// positions that are kept in too few bits.
#include <regex>
#include <string>

#include "grader/judge/findings.hpp"

namespace membound::judge {
namespace {

using compilers::SourceFunction;
using course::Finding;

/// Where a tile is stored and loaded, and whether threadIdx.x is the first of its two indices.
struct TileLines {
  int store = 0, load = 0;
  bool store_is_turned = false, load_is_turned = false;
};

TileLines tile_lines(const StagePlace& place) {
  static const std::regex kStore(R"((\w+)\[([^\]]*)\]\[[^\]]*\]\s*=[^=])");
  static const std::regex kLoad(R"(=[^=]*?(\w+)\[([^\]]*threadIdx[^\]]*)\]\[[^\]]*\])");
  TileLines lines;
  for (int line = place.first; line <= place.last; ++line) {
    const std::string code = place.code(line);
    std::smatch match;
    if (lines.store == 0 && std::regex_search(code, match, kStore) &&
        holds(match[2].str(), "threadIdx")) {
      lines.store = line;
      lines.store_is_turned = holds(match[2].str(), "threadIdx.x");
    } else if (lines.load == 0 && std::regex_search(code, match, kLoad)) {
      lines.load = line;
      lines.load_is_turned = holds(match[2].str(), "threadIdx.x");
    }
  }
  return lines;
}

}  // namespace

void advise_exchanged(const StagePlace& place, Finding& finding) {
  static const std::regex kPlaces(
      R"(first wrong: row (\d+), column (\d+)[\s\S]*belongs to row (\d+), column (\d+))");
  std::smatch match;
  if (!std::regex_search(finding.text, match, kPlaces)) return;
  const auto number = [&](std::size_t i) { return std::stoi(match[i]); };
  const int row = number(1), col = number(2);
  if (number(3) != col || number(4) != row) return;
  constexpr int kTile = 16;
  const bool of_blocks = row % kTile == 0 && col % kTile == 0;
  if (of_blocks) {
    finding.advice =
        "whole tiles lie in each other's place: exchange blockIdx.x and blockIdx.y where the place "
        "in `out` is computed";
    const int out = place.source.find_line("out_col", place.first, place.last);
    if (out > 0) finding.line = out, finding.file = place.file;
    return;
  }
  const TileLines tile = tile_lines(place);
  if (tile.load == 0) return;
  finding.file = place.file;
  finding.line = tile.load;
  if (tile.load_is_turned && tile.store_is_turned)
    finding.advice =
        "inside of a tile rows and columns lie in each other's place, because the tile is turned "
        "twice: line " +
        std::to_string(tile.store) + " stores it with the thread's indices exchanged, and line " +
        std::to_string(tile.load) + " reads it so. Exchange them in one of the two alone";
  else if (!tile.load_is_turned && !tile.store_is_turned)
    finding.advice =
        "inside of a tile rows and columns lie in each other's place: read the tile with the "
        "thread's indices exchanged, tile[threadIdx.x][threadIdx.y]";
  else
    finding.advice =
        "inside of a tile rows and columns lie in each other's place: is threadIdx.x the column of "
        "what is read from `in`, and of what is written to `out`?";
}

void name_exchanged_coordinates(const StagePlace& place, Finding& finding) {
  static const std::regex kRowFirst(
      R"(\btex2D\s*<\w+>\s*\(\s*\w+\s*,\s*(?:y|row)\b[^,]*,\s*(?:x|col|column)\b)");
  for (int line = place.first; line <= place.last; ++line) {
    if (!std::regex_search(place.code(line), kRowFirst)) continue;
    finding.file = place.file;
    finding.line = line;
    finding.advice =
        "tex2D takes the column first, then the row: tex2D<float>(picture, x + 0.5f, y + 0.5f)";
    return;
  }
}

void name_narrow_index(const StagePlace& place, Finding& finding) {
  static const std::regex kNarrow(
      R"(\b(?:int|unsigned|unsigned int|auto)\s+(\w+)\s*=[^;]*\bblockIdx\b)");
  static const std::regex kInt(R"(^\s*(?:const )?(?:int|unsigned)\s+(\w+)\s*=)");
  const std::regex* const kinds[] = {&kNarrow, &kInt};
  const SourceFunction* const kernel = place.source.function(place.stage.kernel);
  if (kernel == nullptr) return;
  const int end = place.source.line_of(kernel->end - 1);
  for (const std::regex* kind : kinds)
    for (int line = kernel->line + 1; line <= end; ++line) {
      const std::string code = place.code(line);
      std::smatch match;
      if (!std::regex_search(code, match, *kind)) continue;
      if (kind == &kInt && !holds(code, "first") && !holds(code, "start") && !holds(code, "+"))
        continue;
      finding.file = place.file;
      finding.line = line;
      finding.advice = "`" + match[1].str() +
                       "` has 32 bits, and wraps beyond 2,147,483,647: make it a long long, and "
                       "widen a factor before the product: static_cast<long long>(blockIdx.x) * "
                       "blockDim.x";
      return;
    }
}

}  // namespace membound::judge

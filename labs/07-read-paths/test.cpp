// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 07: the tests of every stage, easiest first, and the runs that are timed. All results are
/// whole numbers of less than 24 bits, so all comparisons are exact.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "grader/harness/lab/lab_test.hpp"
#include "labs/07-read-paths/kernel_constants.hpp"

namespace {

using namespace membound::harness;
using namespace membound::kernel_constants;

// What each stage computes; names are those of kernel.cuh.
namespace reference {

/// A picture; outside it, the nearest pixel.
struct Picture {
  const std::vector<float>& pixels;
  std::int64_t width, height;

  [[nodiscard]] float at(std::int64_t x, std::int64_t y) const {
    x = std::clamp<std::int64_t>(x, 0, width - 1);
    y = std::clamp<std::int64_t>(y, 0, height - 1);
    return pixels[static_cast<std::size_t>(y * width + x)];
  }
};

template <typename Pixel>
std::vector<float> each_pixel(const Picture& in, const Pixel& pixel) {
  std::vector<float> out;
  out.reserve(in.pixels.size());
  for (std::int64_t y = 0; y < in.height; ++y)
    for (std::int64_t x = 0; x < in.width; ++x) out.push_back(pixel(x, y));
  return out;
}

/// Stage 1, of one level: the polynomial of k coefficients at the curve's value.
float developed(const std::vector<float>& table, float level, std::int64_t k) {
  const float v = table[static_cast<std::size_t>(level)];
  float sum = 0;
  for (std::int64_t j = k - 1; j >= 0; --j)
    sum = sum * v + table[static_cast<std::size_t>(kLevels + j)];
  return sum;
}

/// All of a picture.
std::vector<float> developed(const Picture& in, const std::vector<float>& table, std::int64_t k) {
  return each_pixel(
      in, [&](std::int64_t x, std::int64_t y) { return developed(table, in.at(x, y), k); });
}

/// Stage 2: the sum of the 11 x 11 pixels around each one.
std::vector<float> blurred(const Picture& in) {
  return each_pixel(in, [&](std::int64_t x, std::int64_t y) {
    float sum = 0;
    for (std::int64_t dy = -kRadius; dy <= kRadius; ++dy)
      for (std::int64_t dx = -kRadius; dx <= kRadius; ++dx) sum += in.at(x + dx, y + dy);
    return sum;
  });
}

/// Stage 3: the longest run of bright pixels in each segment of k; by segments, then by rows.
std::vector<float> bright_runs(const Picture& in, std::int64_t k) {
  std::vector<float> out;
  for (std::int64_t begin = 0; begin < in.width; begin += k) {
    for (std::int64_t y = 0; y < in.height; ++y) {
      std::int64_t run = 0, longest = 0;
      for (std::int64_t x = begin; x < std::min(begin + k, in.width); ++x) {
        run = in.at(x, y) >= kBright ? run + 1 : 0;
        longest = std::max(longest, run);
      }
      out.push_back(static_cast<float>(longest));
    }
  }
  return out;
}

/// Stage 4: the pixel that is sample number `sample` of (x, y), perhaps outside.
struct Place {
  std::int64_t x, y;
};
Place sample_near(std::int64_t x, std::int64_t y, std::int64_t sample, std::int64_t k) {
  std::uint32_t mixed = static_cast<std::uint32_t>(x) * 73856093U ^
                        static_cast<std::uint32_t>(y) * 19349663U ^
                        static_cast<std::uint32_t>(sample) * 83492791U;
  mixed = (mixed ^ mixed >> 13) * 0x5bd1e995U;
  mixed ^= mixed >> 15;
  const std::uint32_t width = 2U * static_cast<std::uint32_t>(k) + 1U;
  return {x - k + ((mixed & 0xffffU) * width >> 16), y - k + ((mixed >> 16) * width >> 16)};
}

std::vector<float> sampled(const Picture& in, std::int64_t k) {
  return each_pixel(in, [&](std::int64_t x, std::int64_t y) {
    float sum = 0;
    for (std::int64_t s = 0; s < kSamples; ++s) {
      const Place place = sample_near(x, y, s, k);
      sum += in.at(place.x, place.y);
    }
    return sum;
  });
}

}  // namespace reference

enum Number { kDevelop = 1, kBoxFilter, kBrightRuns, kSampleNearby };

constexpr IntegerRange kPixels{0, 255}, kTableValues{-2, 2};
constexpr std::int64_t kTableSize = kLevels + kCoefficients;
constexpr const char* kConstants = "constants";  // the variable in kernel.cuh

std::vector<float> expected_of(int stage, const std::vector<float>& pixels,
                               const std::vector<float>& table, std::int64_t width,
                               std::int64_t height, std::int64_t k) {
  const reference::Picture in{pixels, width, height};
  if (stage == kDevelop) return reference::developed(in, table, k);
  if (stage == kBoxFilter) return reference::blurred(in);
  return stage == kBrightRuns ? reference::bright_runs(in, k) : reference::sampled(in, k);
}

/// The coordinates of `out`.
Shape shape_of(int stage, std::int64_t width, std::int64_t height, std::int64_t k) {
  if (stage == kBrightRuns) return {{(width + k - 1) / k, height}, {"segment", "row"}};
  return {{height, width}, {"row", "column"}};
}

/// The k that is timed.
std::int64_t timed_k(int stage) {
  if (stage == kDevelop) return kCoefficients;
  if (stage == kBoxFilter) return 0;
  return stage == kBrightRuns ? 32 : 16;
}

class ReadPaths : public LabTest {
 protected:
  void check_values(const std::vector<float>& pixels, std::int64_t width, std::int64_t height,
                    std::int64_t k) {
    const std::string about = "for width = " + std::to_string(width) +
                              ", height = " + std::to_string(height) + ", k = " + std::to_string(k);
    const auto table =
        generate_integers<float>(kTableSize, kTableValues.low, kTableValues.high, seed() + 1);
    const int number = stage().number;
    const std::vector<float> expected = expected_of(number, pixels, table, width, height, k);
    DeviceArray<float> d_in(pixels), d_table(table);
    auto d_out = DeviceArray<float>::poisoned(expected.size());
    DeviceTexture picture(static_cast<std::size_t>(width), static_cast<std::size_t>(height));
    picture.fill(d_in.data());
    set_constant(kConstants, table);
    const float *const input = d_in.data(), *const values = d_table.data();
    SCOPED_TRACE(about);
    ASSERT_TRUE(launch("", {width, height, k}, d_out.data(), input, values, picture.object(),
                       static_cast<int>(width), static_cast<int>(height), static_cast<int>(k)));
    const std::vector<float> out = d_out.to_host();
    if (is_shown_) show(pixels, width, height, out);
    ASSERT_TRUE(arrays_equal(out, expected, shape_of(number, width, height, k)));
  }

  /// As check_values(), for a person to look at, too.
  void check_and_show(const std::vector<float>& pixels, std::int64_t width, std::int64_t height,
                      std::int64_t k) {
    is_shown_ = true;
    check_values(pixels, width, height, k);
  }

  /// Random levels.
  void check(std::int64_t width, std::int64_t height, std::int64_t k) {
    check_values(generate_integers<float>(width * height, kPixels.low, kPixels.high,
                                          seed() + static_cast<std::uint64_t>(k)),
                 width, height, k);
  }

  void check_sizes(std::initializer_list<std::pair<std::int64_t, std::int64_t>> sizes) {
    for (const auto& [width, height] : sizes) {
      ASSERT_NO_FATAL_FAILURE(check(width, height, timed_k(stage().number)));
    }
  }

  /// The least and the largest k of the contract, and some between.
  [[nodiscard]] std::vector<std::int64_t> ks() const {
    if (stage().number == kDevelop) return {1, 2, 3, 7, 15, 16};
    if (stage().number == kBoxFilter) return {0};
    if (stage().number == kBrightRuns) return {1, 2, 7, 8, 9, 31, 33, 63, 64};
    return {1, 2, 3, 17, 63, 64};
  }

 private:
  /// What a filter made, as levels: the mean of what it added up.
  void show(const std::vector<float>& pixels, std::int64_t width, std::int64_t height,
            std::vector<float> out) const {
    const int number = stage().number;
    if (number != kBoxFilter && number != kSampleNearby) return;
    const auto summed = static_cast<float>(number == kBoxFilter ? kTaps * kTaps : kSamples);
    for (float& level : out) level /= summed;
    show_picture(width, height, pixels, out);
  }

  bool is_shown_ = false;
};

/// A zone plate: rings that lie closer the farther they are from the middle. A filter wipes out
/// those that are narrower than its box; below it is a white bar on black, whose edges it softens.
std::vector<float> zone_plate(std::int64_t width, std::int64_t height) {
  constexpr double kPerRing = 96;
  std::vector<float> pixels;
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x) {
      const std::int64_t dx = x - width / 2, dy = y - height / 2;
      const double ring = std::cos(static_cast<double>(dx * dx + dy * dy) / kPerRing);
      const bool is_bar = x >= width / 8 && x < width - width / 8 && y < height - 8;
      pixels.push_back(y < height - 24 ? static_cast<float>(std::lround(127.5 + 127.5 * ring))
                                       : static_cast<float>(is_bar && y >= height - 16 ? 255 : 0));
    }
  return pixels;
}

LAB_TEST_WITH_HINT(ReadPaths, OnePixel, "first-element") { check_sizes({{1, 1}}); }

LAB_TEST_WITH_HINT(ReadPaths, OneRow, "one-row") { check_sizes({{32, 1}, {256, 1}}); }

LAB_TEST_WITH_HINT(ReadPaths, OneColumn, "one-column") { check_sizes({{1, 32}, {1, 256}}); }

LAB_TEST_WITH_HINT(ReadPaths, OneBlock, "one-block") { check_sizes({{16, 16}, {32, 64}}); }

LAB_TEST_WITH_HINT(ReadPaths, SeveralBlocks, "blocks") { check_sizes({{256, 256}}); }

LAB_TEST_WITH_HINT(ReadPaths, LastBlockIsCutOff, "edge-guard") {
  check_sizes({{17, 15}, {33, 31}, {247, 67}, {257, 66}, {245, 130}});
}

LAB_TEST_WITH_HINT(ReadPaths, Primes, "edge-guard") { check_sizes({{3, 7}, {101, 13}, {7, 1021}}); }

LAB_TEST_WITH_HINT(ReadPaths, EveryKindOfK, "any-k") {
  for (const std::int64_t k : ks()) {
    ASSERT_NO_FATAL_FAILURE(check(75, 40, k));
  }
}

LAB_TEST_WITH_HINT(ReadPaths, NothingToDo, "empty") { check_sizes({{0, 5}, {5, 0}, {0, 0}}); }

LAB_TEST_WITH_HINT(ReadPaths, EveryLevel, "levels") {
  // All levels in rising order, so that lanes and rows differ everywhere.
  std::vector<float> pixels(64 * 64);
  for (std::size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = static_cast<float>((i * 37 + i / 64) % 256);
  check_values(pixels, 64, 64, timed_k(stage().number));
}

LAB_TEST_WITH_HINT(ReadPaths, RingsAndABar, "levels") {
  constexpr std::int64_t kWidth = 192, kHeight = 160;
  check_and_show(zone_plate(kWidth, kHeight), kWidth, kHeight, timed_k(stage().number));
}

LAB_TEST_WITH_HINT(ReadPaths, BrightAndDark, "levels") {
  // The threshold itself, and one below: long runs that end at edges of segments.
  std::vector<float> pixels(130 * 50);
  for (std::size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = i % 130 % 32 == 31 || i / 130 % 7 == 3 ? 127 : 128;
  check_values(pixels, 130, 50, timed_k(stage().number));
}

LAB_TEST_WITH_HINT(ReadPaths, SeveralWavesOfBlocks, "cover") { check_sizes({{701, 499}}); }

LAB_TEST_WITH_HINT(ReadPaths, SecondLaunchGivesTheSame, "second-launch") {
  ASSERT_NO_FATAL_FAILURE(check_sizes({{77, 45}}));
  {
    SCOPED_TRACE("in the second of two launches; the first was right");
    ASSERT_NO_FATAL_FAILURE(check_sizes({{77, 45}}));
  }
  draw_anew();
  SCOPED_TRACE("in a launch on another picture and another table in the same arrays");
  check_sizes({{77, 45}});
}

LAB_TEST_AFTER_TIMING(ReadPaths, PositionsBeyond24Bits, "far-position") {
  // As few as show it: a texture is made whole.
  constexpr std::int64_t kSize[] = {8'209, 8'219};
  EXPECT_TRUE(far_blocks(kSize, "width and height may be up to 32,768"));
}

/// Columns that are summed up at once where a place's box is computed.
constexpr std::int64_t kStrip = 256;

/// Sums of 11 pixels along row `y`, moved into the picture, at columns [strip * kStrip, …).
const HostArray& sums_along_row(const DrawnInputs& inputs, std::int64_t width, std::int64_t y,
                                std::int64_t strip) {
  return inputs.once(y * ((width + kStrip - 1) / kStrip) + strip, [&] {
    const std::int64_t begin = strip * kStrip, end = std::min(begin + kStrip, width);
    std::vector<float> pixels;
    for (std::int64_t x = begin - kRadius; x < end + kRadius; ++x) {
      const std::int64_t column = std::clamp<std::int64_t>(x, 0, width - 1);
      pixels.push_back(inputs.at<float>(0, static_cast<std::size_t>(y * width + column)));
    }
    std::vector<float> sums;
    for (std::int64_t x = begin; x < end; ++x) {
      float sum = 0;
      for (std::int64_t tap = 0; tap <= 2 * kRadius; ++tap)
        sum += pixels[static_cast<std::size_t>(x - begin + tap)];
      sums.push_back(sum);
    }
    return bytes_of(sums);
  });
}

/// Stage 2 at `count` places from `first` on: the sums of 11 rows, a stretch of a strip at a time.
void boxes_at(const DrawnInputs& inputs, std::int64_t width, std::int64_t height, std::size_t first,
              std::size_t count, HostArray& right) {
  std::vector<float> boxes(count, 0);
  for (std::size_t done = 0; done < count;) {
    const auto place = static_cast<std::int64_t>(first + done);
    const std::int64_t y = place / width, x = place % width, strip = x / kStrip;
    const std::int64_t end = std::min((strip + 1) * kStrip, width);
    const std::size_t stretch = std::min(count - done, static_cast<std::size_t>(end - x));
    for (std::int64_t dy = -kRadius; dy <= kRadius; ++dy) {
      const std::int64_t row = std::clamp<std::int64_t>(y + dy, 0, height - 1);
      const std::vector<float> sums = values_of<float>(sums_along_row(inputs, width, row, strip));
      for (std::size_t i = 0; i < stretch; ++i)
        boxes[done + i] += sums[static_cast<std::size_t>(x - strip * kStrip) + i];
    }
    done += stretch;
  }
  right = bytes_of(boxes);
}

float run_at(const DrawnInputs& inputs, std::int64_t width, std::int64_t height, std::int64_t k,
             std::size_t index) {
  const auto place = static_cast<std::int64_t>(index);
  const std::int64_t y = place % height, begin = place / height * k;
  std::int64_t run = 0, longest = 0;
  for (std::int64_t x = begin; x < std::min(begin + k, width); ++x) {
    run = inputs.at<float>(0, static_cast<std::size_t>(y * width + x)) >= 128 ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return static_cast<float>(longest);
}

float samples_at(const DrawnInputs& inputs, std::int64_t width, std::int64_t height, std::int64_t k,
                 std::size_t index) {
  const auto place = static_cast<std::int64_t>(index);
  float sum = 0;
  for (std::int64_t s = 0; s < kSamples; ++s) {
    const auto [x, y] = reference::sample_near(place % width, place / width, s, k);
    const std::int64_t at = std::clamp<std::int64_t>(y, 0, height - 1) * width +
                            std::clamp<std::int64_t>(x, 0, width - 1);
    sum += inputs.at<float>(0, static_cast<std::size_t>(at));
  }
  return sum;
}

/// The value of stage 1 for every level, one table for all places.
HostArray developed_levels(const DrawnInputs& inputs, std::int64_t k) {
  std::vector<float> table, levels;
  for (std::int64_t i = 0; i < kTableSize; ++i)
    table.push_back(inputs.at<float>(1, static_cast<std::size_t>(i)));
  for (std::int64_t level = 0; level < kLevels; ++level)
    levels.push_back(reference::developed(table, static_cast<float>(level), k));
  return bytes_of(levels);
}

ExpectedByPlace by_place_of(int stage, std::int64_t width, std::int64_t height, std::int64_t k) {
  if (stage == kBoxFilter)
    return [=](const DrawnInputs& inputs, std::size_t first, std::size_t count, HostArray& right) {
      boxes_at(inputs, width, height, first, count, right);
    };
  if (stage == kDevelop)
    return [=](const DrawnInputs& inputs, std::size_t first, std::size_t count, HostArray& right) {
      const std::vector<float> levels =
          values_of<float>(inputs.once(0, [&] { return developed_levels(inputs, k); }));
      std::vector<float> values;
      for (std::size_t i = first; i < first + count; ++i)
        values.push_back(levels[static_cast<std::size_t>(inputs.at<float>(0, i))]);
      right = bytes_of(values);
    };
  return by_place<float>([=](const DrawnInputs& inputs, std::size_t index) {
    return stage == kBrightRuns ? run_at(inputs, width, height, k, index)
                                : samples_at(inputs, width, height, k, index);
  });
}

std::vector<TimedCase> timed_cases(const membound::course::Stage& stage,
                                   std::span<const std::int64_t> size) {
  const std::int64_t width = size[0], height = size[1];
  const std::int64_t k = size.size() > 2 ? size[2] : timed_k(stage.number);
  const int number = stage.number;
  const auto pixels = static_cast<std::size_t>(width * height);
  const std::int64_t results =
      number == kBrightRuns ? (width + k - 1) / k * height : width * height;
  TimedCase timed;
  timed.label = std::to_string(width) + " x " + std::to_string(height) + " pixels";
  timed.sizes = {width, height, k};
  timed.useful_bytes = static_cast<double>(width * height + results) * sizeof(float);
  timed.inputs = {{.type = ElementType::kFloat, .count = pixels, .integers = kPixels},
                  {.type = ElementType::kFloat, .count = kTableSize, .integers = kTableValues}};
  timed.textures = {{.input = 0,
                     .width = static_cast<std::size_t>(width),
                     .height = static_cast<std::size_t>(height)}};
  timed.constants = {{.input = 1, .variable = kConstants}};
  timed.output = {.type = ElementType::kFloat, .count = static_cast<std::size_t>(results)};
  timed.arguments = [=](std::span<void* const> d_inputs, void* d_output) {
    return kernel_arguments(static_cast<float*>(d_output), static_cast<const float*>(d_inputs[0]),
                            static_cast<const float*>(d_inputs[1]), texture_handle(d_inputs[2]),
                            static_cast<int>(width), static_cast<int>(height), static_cast<int>(k));
  };
  timed.expected = [=](std::span<const HostArray> inputs) {
    return bytes_of(expected_of(number, values_of<float>(inputs[0]), values_of<float>(inputs[1]),
                                width, height, k));
  };
  timed.expected_by_place = by_place_of(number, width, height, k);
  return {timed};
}

LAB_PROGRAM({.lab_id = "07-read-paths",
             .signature = {.parameters = "(float*, float const*, float const*, unsigned long long, "
                                         "int, int, int)"},
             .timed_cases = timed_cases});

}  // namespace

// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 02: the tests of every stage, easiest first, and the runs that are timed. Every result is
/// rounded once, so all comparisons are exact.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "grader/harness/cases/data.hpp"
#include "grader/harness/lab/lab_test.hpp"

namespace {

using namespace membound::harness;

// What each stage makes of a picture: of the floats of `in` with their gaps, those of `out`
// without. Each result is rounded once, so any right kernel gives the same bits.

/// Sizes as kernel.cuh names them; pitch in floats.
struct Picture {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t pitch = 0;
};

/// 1 - grey: rows x cols floats.
std::vector<float> inverted(const std::vector<float>& in, const Picture& picture) {
  std::vector<float> out;
  out.reserve(static_cast<std::size_t>(picture.rows * picture.cols));
  for (std::int64_t row = 0; row < picture.rows; ++row)
    for (std::int64_t col = 0; col < picture.cols; ++col)
      out.push_back(1.0F - in[row * picture.pitch + col]);
  return out;
}

/// Each pixel less its left neighbour, the first of a row less 0: rows x cols floats.
std::vector<float> edges(const std::vector<float>& in, const Picture& picture) {
  std::vector<float> out;
  out.reserve(static_cast<std::size_t>(picture.rows * picture.cols));
  for (std::int64_t row = 0; row < picture.rows; ++row) {
    float left = 0;
    for (std::int64_t col = 0; col < picture.cols; ++col) {
      const float here = in[row * picture.pitch + col];
      out.push_back(here - left);
      left = here;
    }
  }
  return out;
}

/// Pixels r, g, b (pitch 3 * cols) as three planes of rows x cols floats.
std::vector<float> planes(const std::vector<float>& in, const Picture& picture) {
  const std::int64_t count = picture.rows * picture.cols;
  std::vector<float> out(in.size());
  for (std::int64_t pixel = 0; pixel < count; ++pixel)
    for (std::int64_t color = 0; color < 3; ++color)
      out[color * count + pixel] = in[3 * pixel + color];
  return out;
}

/// Pixels r, g, b, a (pitch 4 * cols) with r, g, b multiplied by a: rows x cols x 4 floats.
std::vector<float> premultiplied(const std::vector<float>& in, const Picture& picture) {
  const std::int64_t count = picture.rows * picture.cols;
  std::vector<float> out(in);
  for (std::int64_t pixel = 0; pixel < count; ++pixel)
    for (std::int64_t color = 0; color < 3; ++color) out[4 * pixel + color] *= in[4 * pixel + 3];
  return out;
}

enum Number { kInvert = 1, kEdges, kPlanes, kPremultiply };

/// Floats of a pixel.
std::int64_t channels_of(int stage) {
  if (stage == kPlanes) return 3;
  return stage == kPremultiply ? 4 : 1;
}

/// A picture without gaps.
Picture tight(int stage, std::int64_t rows, std::int64_t cols) {
  return {rows, cols, channels_of(stage) * cols};
}

std::vector<float> expected_pixels(int stage, const std::vector<float>& in,
                                   const Picture& picture) {
  if (stage == kInvert) return inverted(in, picture);
  if (stage == kEdges) return edges(in, picture);
  return stage == kPlanes ? planes(in, picture) : premultiplied(in, picture);
}

/// Whether `out` has floats after its rows that are none of the picture's.
bool has_gaps(int stage, const Picture& picture) {
  return picture.pitch > channels_of(stage) * picture.cols;
}

/// How the pixels of `out` are laid out once the gaps are taken out.
Shape shape_of(int stage, const Picture& picture) {
  if (stage == kPlanes) return {{3, picture.rows, picture.cols}, {"plane", "row", "column"}};
  if (stage == kPremultiply) return {{picture.rows, picture.cols, 4}, {"row", "column", "channel"}};
  return {{picture.rows, picture.cols}, {"row", "column"}};
}

/// "for a picture of 3 x 65 pixels, pitch 72"
std::string about(const Picture& picture) {
  std::ostringstream text;
  text << "for a picture of " << picture.rows << " x " << picture.cols << " pixels, pitch "
       << picture.pitch;
  return text.str();
}

class Coalescing : public LabTest {
 protected:
  /// Runs the stage on `in` and compares all pixels and all gaps of its output.
  void check_values(const std::vector<float>& in, const Picture& picture) {
    DeviceArray<float> d_in(in);
    auto d_out = DeviceArray<float>::poisoned(in.size());
    SCOPED_TRACE(about(picture));
    ASSERT_TRUE(launch_once(d_out, d_in, picture));
    const std::vector<float> out = d_out.to_host();
    ASSERT_TRUE(arrays_equal(without_gaps(out, picture),
                             expected_pixels(stage().number, in, picture),
                             shape_of(stage().number, picture)));
    if (has_gaps(stage().number, picture)) check_gaps(out, picture);
  }

  void check(std::int64_t rows, std::int64_t cols, Fill fill = Fill::kUniform) {
    const Picture picture = tight(stage().number, rows, cols);
    check_values(generate<float>(rows * picture.pitch, fill, seed()), picture);
  }

  /// Stages 1 and 2: a picture with gaps. The others have none; they get one as wide as the pitch.
  void check_pitch(std::int64_t rows, std::int64_t cols, std::int64_t pitch) {
    if (channels_of(stage().number) > 1) return check(rows, pitch);
    check_values(generate<float>(rows * pitch, Fill::kUniform, seed()), {rows, cols, pitch});
  }

  testing::AssertionResult launch_once(DeviceArray<float>& d_out, DeviceArray<float>& d_in,
                                       const Picture& picture) {
    const float* const in = d_in.data();
    return launch("", {picture.rows, picture.cols, picture.pitch}, d_out.data(), in,
                  static_cast<int>(picture.rows), static_cast<int>(picture.cols),
                  static_cast<int>(picture.pitch));
  }

  [[nodiscard]] std::vector<float> without_gaps(const std::vector<float>& out,
                                                const Picture& picture) const {
    if (!has_gaps(stage().number, picture)) return out;
    std::vector<float> pixels;
    for (std::int64_t row = 0; row < picture.rows; ++row)
      for (std::int64_t col = 0; col < picture.cols; ++col)
        pixels.push_back(out[row * picture.pitch + col]);
    return pixels;
  }

  static void check_gaps(const std::vector<float>& out, const Picture& picture) {
    for (std::int64_t row = 0; row < picture.rows; ++row)
      for (std::int64_t col = picture.cols; col < picture.pitch; ++col)
        ASSERT_TRUE(is_poison(out[row * picture.pitch + col]))
            << "\nthe kernel wrote into the gap after row " << row << " of `out`: at column " << col
            << ", the row has " << picture.cols;
  }
};

LAB_TEST_WITH_HINT(Coalescing, OnePixel, "first-pixel") { check(1, 1); }

LAB_TEST_WITH_HINT(Coalescing, OneLine, "one-line") { check(1, 32, Fill::kRamp); }

LAB_TEST_WITH_HINT(Coalescing, OneLongRow, "one-row") { check(1, 4096, Fill::kRamp); }

LAB_TEST_WITH_HINT(Coalescing, SeveralRowsInStep, "rows") { check(9, 64); }

LAB_TEST_WITH_HINT(Coalescing, SeveralRowsOutOfStep, "out-of-step") { check(35, 37); }

LAB_TEST_WITH_HINT(Coalescing, WidthsAroundABlock, "edge-guard") {
  for (const std::int64_t cols : {127, 128, 129, 511, 512, 513, 1023, 1025}) {
    ASSERT_NO_FATAL_FAILURE(check(3, cols));
  }
}

LAB_TEST_WITH_HINT(Coalescing, NarrowPictures, "edge-guard") {
  for (std::int64_t cols = 1; cols <= 40; ++cols) ASSERT_NO_FATAL_FAILURE(check(5, cols));
}

LAB_TEST_WITH_HINT(Coalescing, RowsWithGaps, "pitch") {
  ASSERT_NO_FATAL_FAILURE(check_pitch(7, 61, 64));
  ASSERT_NO_FATAL_FAILURE(check_pitch(6, 1021, 1027));
  ASSERT_NO_FATAL_FAILURE(check_pitch(40, 3, 33));
}

LAB_TEST_WITH_HINT(Coalescing, PrimesInBothDirections, "edge-guard") { check(113, 211); }

LAB_TEST_WITH_HINT(Coalescing, LeavesEmptyPicturesAlone, "empty") {
  ASSERT_NO_FATAL_FAILURE(check(0, 0));
  ASSERT_NO_FATAL_FAILURE(check(0, 5));
  ASSERT_NO_FATAL_FAILURE(check(5, 0));
}

LAB_TEST_WITH_HINT(Coalescing, GreyOfAllMagnitudes, "rounding") {
  // Denormals, the largest floats, zeros of both signs: one operation, rounded once.
  check(31, 67, Fill::kAdversarial);
}

LAB_TEST_WITH_HINT(Coalescing, TallPictures, "cover") { check(3001, 2); }

LAB_TEST_WITH_HINT(Coalescing, SeveralWavesOfBlocks, "cover") { check(601, 1201); }

LAB_TEST_WITH_HINT(Coalescing, SecondLaunchGivesTheSame, "second-launch") {
  const Picture picture = tight(stage().number, 50, 403);
  const std::vector<float> in =
      generate<float>(picture.rows * picture.pitch, Fill::kUniform, seed());
  ASSERT_NO_FATAL_FAILURE(check_values(in, picture));
  {
    SCOPED_TRACE("in the second of two launches; the first was right");
    ASSERT_NO_FATAL_FAILURE(check_values(in, picture));
  }
  draw_anew();
  SCOPED_TRACE("in a launch on other numbers in the same arrays");
  check_values(generate<float>(in.size(), Fill::kUniform, seed()), picture);
}

LAB_TEST_AFTER_TIMING(Coalescing, PositionsBeyond32Bits, "wide-index") {
  // A little more than 2^32 floats in each array.
  const std::int64_t size[] = {65'535, 65'603 / channels_of(stage().number)};
  EXPECT_TRUE(far_blocks(size, "rows * cols may pass 2^31"));
}

/// The floats of `out` where `pixels` are its picture and nobody has written the gaps.
std::vector<float> with_gaps(const std::vector<float>& pixels, const Picture& picture) {
  std::vector<float> out(picture.rows * picture.pitch, std::bit_cast<float>(kPoisonWord));
  for (std::int64_t row = 0; row < picture.rows; ++row)
    for (std::int64_t col = 0; col < picture.cols; ++col)
      out[row * picture.pitch + col] = pixels[row * picture.cols + col];
  return out;
}

/// Every float of the picture is read once and written once; gaps are not.
/// The float at place `at` of `out`; poison in a gap, which nobody writes.
float expected_float(int stage, const Picture& picture, const DrawnInputs& drawn, std::int64_t at) {
  const auto in = [&](std::int64_t place) {
    return drawn.at<float>(0, static_cast<std::size_t>(place));
  };
  const std::int64_t col = at % picture.pitch, count = picture.rows * picture.cols;
  switch (stage) {
    case kPlanes:
      return in(3 * (at % count) + at / count);
    case kPremultiply:
      return at % 4 == 3 ? in(at) : in(at)*in(at / 4 * 4 + 3);
    default:
      if (col >= picture.cols) return std::bit_cast<float>(kPoisonWord);
      return stage == kInvert ? 1.0F - in(at) : in(at) - (col == 0 ? 0.0F : in(at - 1));
  }
}

TimedCase timed_case(int stage, const Picture& picture) {
  const auto count = static_cast<std::size_t>(picture.rows * picture.pitch);
  TimedCase timed;
  timed.label = std::to_string(picture.rows) + " x " + std::to_string(picture.cols) +
                " pixels, pitch " + std::to_string(picture.pitch);
  timed.sizes = {picture.rows, picture.cols, picture.pitch};
  timed.useful_bytes = 2.0 * static_cast<double>(channels_of(stage)) *
                       static_cast<double>(picture.rows * picture.cols) * sizeof(float);
  timed.inputs = {{.type = ElementType::kFloat, .count = count}};
  timed.output = {.type = ElementType::kFloat, .count = count};
  if (has_gaps(stage, picture))
    timed.written = {static_cast<std::size_t>(picture.pitch),
                     static_cast<std::size_t>(channels_of(stage) * picture.cols)};
  timed.arguments = [picture](std::span<void* const> d_inputs, void* d_output) {
    return kernel_arguments(static_cast<float*>(d_output), static_cast<const float*>(d_inputs[0]),
                            static_cast<int>(picture.rows), static_cast<int>(picture.cols),
                            static_cast<int>(picture.pitch));
  };
  timed.expected = [stage, picture](std::span<const HostArray> inputs) {
    std::vector<float> out = expected_pixels(stage, values_of<float>(inputs[0]), picture);
    return bytes_of(has_gaps(stage, picture) ? with_gaps(out, picture) : out);
  };
  timed.expected_by_place =
      by_place<float>([stage, picture](const DrawnInputs& in, std::size_t at) {
        return expected_float(stage, picture, in, static_cast<std::int64_t>(at));
      });
  return timed;
}

/// Stage 2 twice: without gaps, nearly every row out of step; and each row at the start of a line.
std::vector<TimedCase> timed_cases(const membound::course::Stage& stage,
                                   std::span<const std::int64_t> size) {
  const Picture picture = tight(stage.number, size[0], size[1]);
  if (stage.number != kEdges) return {timed_case(stage.number, picture)};
  const std::int64_t in_step = (picture.cols + 31) / 32 * 32;
  return {timed_case(stage.number, picture),
          timed_case(stage.number, {picture.rows, picture.cols, in_step})};
}

LAB_PROGRAM({.lab_id = "02-coalescing",
             .signature = {.parameters = "(float*, float const*, int, int, int)"},
             .timed_cases = timed_cases});

}  // namespace

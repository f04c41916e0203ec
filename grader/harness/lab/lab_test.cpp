// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/lab/lab_test.hpp"

#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "grader/base/digest.hpp"
#include "grader/base/files.hpp"
#include "grader/base/result.hpp"
#include "grader/harness/device/runtime_extensions.hpp"
#include "grader/harness/lab/stage_run.hpp"

namespace membound::harness {
namespace {

std::string big_endian(std::uint32_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift & 0xff);
  return bytes;
}

/// One chunk of a PNG: length, kind and data, and a check sum of the last two.
std::string png_chunk(const std::string& kind, const std::string& data) {
  const std::string body = kind + data;
  const uLong sum =
      crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  return big_endian(static_cast<std::uint32_t>(data.size())) + body +
         big_endian(static_cast<std::uint32_t>(sum));
}

constexpr std::int64_t kGap = 8;  ///< white pixels between two pictures
constexpr char kWhite = '\xff';

/// A level that a kernel stored, which may be any float.
char level_of(float level) {
  return static_cast<char>(std::isnan(level) ? 0 : std::lround(std::clamp(level, 0.F, 255.F)));
}

}  // namespace

// Source of the form: ISO/IEC 15948, PNG. Each row is preceded by its filter, 0 for none.
std::string png_of(std::int64_t width, std::int64_t height, std::string_view levels) {
  std::string rows;
  for (std::int64_t y = 0; y < height; ++y)
    rows.append(1, '\0').append(
        levels.substr(static_cast<std::size_t>(y * width), static_cast<std::size_t>(width)));
  uLongf bytes = compressBound(static_cast<uLong>(rows.size()));
  std::string packed(bytes, '\0');
  const int code =
      compress(reinterpret_cast<Bytef*>(packed.data()), &bytes,
               reinterpret_cast<const Bytef*>(rows.data()), static_cast<uLong>(rows.size()));
  if (code != Z_OK) throw std::runtime_error("zlib: no memory for a picture");
  packed.resize(bytes);
  // 8 bits of grey; deflate, filters and order of the rows as the standard has them.
  const std::string form("\x08\0\0\0\0", 5);
  return "\x89PNG\r\n\x1a\n" +
         png_chunk("IHDR", big_endian(static_cast<std::uint32_t>(width)) +
                               big_endian(static_cast<std::uint32_t>(height)) + form) +
         png_chunk("IDAT", packed) + png_chunk("IEND", "");
}

void LabTest::show_picture(std::int64_t width, std::int64_t height,
                           const std::vector<float>& before,
                           const std::vector<float>& after) const {
  const std::filesystem::path& folder = run_->session().options().pictures;
  if (folder.empty()) return;
  std::string levels;
  for (std::int64_t y = 0; y < height; ++y) {
    const auto row = [&](const std::vector<float>& picture) {
      for (std::int64_t x = 0; x < width; ++x)
        levels += level_of(picture[static_cast<std::size_t>(y * width + x)]);
    };
    row(before);
    levels.append(kGap, kWhite);
    row(after);
  }
  const base::Status written = base::write_file(folder / (std::to_string(stage().number) + ".png"),
                                                png_of(2 * width + kGap, height, levels));
  if (!written) ADD_FAILURE() << base::to_string(written.error());
}

void LabTest::SetUp() {
  if (!run_->blocked().empty()) GTEST_SKIP() << "not run: " << run_->blocked();
}

void LabTest::skip_unless_all_passed() {
  if (device_checks()) GTEST_SKIP() << "not run where checkers look on";
  if (!IsSkipped() && !run_->all_passed())
    GTEST_SKIP() << "not run, because a test before it failed";
}

const course::Stage& LabTest::stage() const { return run_->stage(); }

std::uint64_t LabTest::seed() const {
  const testing::TestInfo& info = *testing::UnitTest::GetInstance()->current_test_info();
  return run_->session().seeds().derive(
      run_->session().options().seed,
      base::stable_hash(std::string(info.test_suite_name()) + "." + info.name()) + drawn_);
}

bool LabTest::on_virtual_gpu() const { return run_->session().device().computes_on_the_host(); }

int LabTest::multiprocessors() const { return run_->session().device().info().sm_count; }

testing::AssertionResult LabTest::far_blocks(std::span<const std::int64_t> size,
                                             const std::string& contract) {
  return run_->check_far_blocks(size, contract);
}

void LabTest::set_constant_bytes(const std::string& variable, std::span<const std::byte> bytes) {
  cuda_check(run_->session().student().fill_variable(variable, bytes), "filling constant memory");
}

testing::AssertionResult LabTest::launch_with(const std::string& instance,
                                              const std::vector<std::int64_t>& sizes,
                                              const KernelArguments& arguments) {
  return run_->launch(instance, sizes, arguments);
}

}  // namespace membound::harness

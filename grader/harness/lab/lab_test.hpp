// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The one header a lab's test.cpp includes: the fixture LabTest and the macros LAB_TEST,
/// LAB_TEST_WITH_HINT, LAB_TEST_AFTER_TIMING and LAB_PROGRAM. The harness brings main().
///
///   class Transpose : public LabTest { protected: void check(std::int64_t rows, …); };
///   LAB_TEST(Transpose, MovesOneElement) { check(1, 1); }
///   LAB_PROGRAM({.lab_id = "03-transpose", .signature = {…}, .timed_cases = timed_cases});
///
/// Every LAB_TEST is registered once per stage, in the order of the file; the suite is named after
/// the stage's kernel. Before them run HasTheRightSignature and LaunchesWithinLimits, after them
/// ReachesItsBar, which times the LabProgram's cases. They run in this order with any GoogleTest.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "grader/course/lab.hpp"
#include "grader/harness/cases/compare.hpp"
#include "grader/harness/cases/data.hpp"
#include "grader/harness/cases/timed_case.hpp"
#include "grader/harness/device/device_texture.hpp"
#include "grader/harness/device/guarded_memory.hpp"

namespace membound::harness {

class StageRun;  // stage_run.hpp: the stage under test with its loaded modules

/// Fixture of every lab test.
class LabTest : public testing::Test {
 public:
  /// Called by the harness before SetUp().
  void attach(StageRun& run) { run_ = &run; }

 protected:
  /// Skips the test when an earlier one showed that the stage cannot run at all.
  void SetUp() override;
  /// Skips the test when an earlier one failed.
  void skip_unless_all_passed();

  [[nodiscard]] const course::Stage& stage() const;
  /// Derived from --seed and the names of stage and test: the same for the same command line.
  [[nodiscard]] std::uint64_t seed() const;
  /// seed() is another one from here on. Arrays of a size that a test has used before come back at
  /// the same places: their numbers are then all that has changed.
  void draw_anew() { ++drawn_; }
  /// Whether the kernels run on the virtual GPU.
  [[nodiscard]] bool on_virtual_gpu() const;
  /// How many multiprocessors they run on: few on a slice of a virtual GPU.
  [[nodiscard]] int multiprocessors() const;

  /// Evaluates the student's LAUNCH_SHAPE or LAUNCH_PLAN for `sizes`, checks it against the
  /// device's limits, and launches the stage's kernels with `arguments…`, given exactly as the
  /// kernel declares them (an int for an int; the scratch pointer is added). Waits for the end,
  /// then checks all guard zones and inputs. `instance` is "" or the template arguments.
  template <typename... Arguments>
  [[nodiscard]] testing::AssertionResult launch(const std::string& instance,
                                                const std::vector<std::int64_t>& sizes,
                                                Arguments... arguments) {
    return launch_with(instance, sizes, kernel_arguments(arguments...));
  }

  /// As launch(), with a list made before.
  [[nodiscard]] testing::AssertionResult launch_with(const std::string& instance,
                                                     const std::vector<std::int64_t>& sizes,
                                                     const KernelArguments& arguments);

  /// Fills a variable of the student's kernel.cu, in constant memory for example, as
  /// ConstantInput says. Throws CudaError where it is too small.
  template <typename T>
  void set_constant(const std::string& variable, const std::vector<T>& values) {
    set_constant_bytes(variable, std::as_bytes(std::span(values)));
  }

  /// Shows whoever checks their own kernel what it made of a picture: both side by side, the
  /// picture on the left, as the PNG of the stage in the folder of --pictures; without one nothing
  /// is done. Both have `width` times `height` levels in rows, from 0 (black) to 255; levels beyond
  /// are cut.
  void show_picture(std::int64_t width, std::int64_t height, const std::vector<float>& before,
                    const std::vector<float>& after) const;

  /// Whether blocks of the stage's timed cases at a size that is far too large to run whole find
  /// their place; on a device that cannot run some blocks alone nothing is looked at. `contract`:
  /// what allows the size.
  [[nodiscard]] testing::AssertionResult far_blocks(std::span<const std::int64_t> size,
                                                    const std::string& contract);

  /// The stage under test, for the harness's own tests.
  [[nodiscard]] StageRun& run() const { return *run_; }

 private:
  void set_constant_bytes(const std::string& variable, std::span<const std::byte> bytes);

  StageRun* run_ = nullptr;
  std::uint64_t drawn_ = 0;  ///< how often anew
};

/// A PNG of 8-bit levels of grey in rows: `width` times `height` of them.
[[nodiscard]] std::string png_of(std::int64_t width, std::int64_t height, std::string_view levels);

namespace detail {

/// One LAB_TEST: what is needed to register it for a stage.
struct LabTestEntry {
  const char* name;
  const char* hint_tag;  ///< "" for none
  const char* file;      ///< "", and line 0, for a test that stands in no lab's file
  int line;
  LabTest* (*make)();
  bool after_timing = false;
};

/// Both are called while static objects are initialised, before main().
bool add_lab_test(const LabTestEntry& entry);
bool set_lab_program(LabProgram program);

}  // namespace detail
}  // namespace membound::harness

/// One test of the lab; the body that follows is a member function of a class derived from Fixture.
#define LAB_TEST(Fixture, Name) LAB_TEST_WITH_HINT(Fixture, Name, "")

/// As LAB_TEST; `tag` names the hints of lab.json that fit when this test fails.
#define LAB_TEST_WITH_HINT(Fixture, Name, tag) \
  MEMBOUND_LAB_TEST(Fixture, Name, tag, false, static_cast<void>(0))

/// As LAB_TEST_WITH_HINT, after the test that times the stage and only where all before it passed:
/// for sizes beyond those that are timed, whose failure should not be told instead of an easier
/// one.
#define LAB_TEST_AFTER_TIMING(Fixture, Name, tag) \
  MEMBOUND_LAB_TEST(Fixture, Name, tag, true, skip_unless_all_passed())

#define MEMBOUND_LAB_TEST(Fixture, Name, tag, after_timing, set_up)                          \
  class Fixture##_##Name##_LabTest : public Fixture {                                        \
    void SetUp() override {                                                                  \
      Fixture::SetUp();                                                                      \
      set_up;                                                                                \
    }                                                                                        \
    void TestBody() override;                                                                \
  };                                                                                         \
  [[maybe_unused]] static const bool Fixture##_##Name##_added =                              \
      ::membound::harness::detail::add_lab_test(                                             \
          {#Name, tag, __FILE__, __LINE__,                                                   \
           []() -> ::membound::harness::LabTest* { return new Fixture##_##Name##_LabTest; }, \
           after_timing});                                                                   \
  void Fixture##_##Name##_LabTest::TestBody()

/// LAB_PROGRAM({.lab_id = …, .signature = …, .timed_cases = …}), exactly once per test program.
#define LAB_PROGRAM(...)                                 \
  [[maybe_unused]] static const bool lab_program_added = \
      ::membound::harness::detail::set_lab_program(__VA_ARGS__)

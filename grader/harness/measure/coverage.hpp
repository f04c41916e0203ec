// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Whether all blocks of a launch that was timed by some of them write the whole output, found by
/// running a few blocks alone, for their results, on arrays that cost what is touched of them: each
/// place is known, not only how many there are. Of an output to which all blocks add, what they
/// read of the input takes the place of what they write.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "grader/harness/cases/tiling.hpp"
#include "grader/harness/measure/bench.hpp"
#include "grader/harness/measure/timed_run.hpp"

namespace membound::harness {

/// The student's launches of one case on a virtual GPU. The request is a sampled one.
class PartsRun : public TimedRun {
 public:
  PartsRun(const BenchParts& parts, const TimingRequest& request, ReadyLaunch student);

  /// Of the last launch; those before it always run whole.
  [[nodiscard]] dim3 grid() const;
  [[nodiscard]] std::uint64_t blocks() const { return blocks_of(launches() - 1); }
  [[nodiscard]] std::uint64_t blocks_of(std::size_t launch) const;
  [[nodiscard]] std::size_t launches() const { return student().launch.steps.size(); }

  struct Ran {
    std::string not_run;            ///< why it was not, or not to its end; empty: it was
    std::uint64_t drawn_bytes = 0;  ///< that arrays hold then
    std::uint64_t warp_instructions = 0;
    bool writes_variables = false;  ///< see SampleReport
    // Of slices:
    std::vector<std::uint64_t> kinds = {};  ///< a block of each kind
    /// Of each block: bytes that it would store, and the sum of their addresses.
    std::vector<std::array<std::uint64_t, 2>> stored = {};
  };
  /// Draws inputs and output anew, and runs these blocks.
  [[nodiscard]] Ran run_range(std::uint64_t seed, const BlockRange& blocks);
  /// The same on inputs that all hold one word, for whoever asks only which places are read: to
  /// draw them would take longer than to run.
  [[nodiscard]] Ran run_range_to_read(const BlockRange& blocks);
  /// The same of one launch alone, as if there were no others.
  [[nodiscard]] Ran run_range_of(std::size_t launch, std::uint64_t seed, const BlockRange& blocks);
  /// The same of several ranges, one after the other; launches before the last run once. Each is
  /// given up after its own number of instructions.
  [[nodiscard]] Ran run_ranges(std::uint64_t seed, std::span<const BlockRange> blocks);
  /// The same on the inputs that are there, and on what earlier launches have left.
  [[nodiscard]] Ran run_ranges_again(std::span<const BlockRange> blocks);

  /// Sets the scratch to 0: a block of a plan's last launch that runs alone finds nothing there
  /// that an earlier launch would have prepared.
  void clear_scratch();

  /// Whether what was touched of the inputs is as it was drawn.
  [[nodiscard]] bool inputs_are_as_drawn(std::uint64_t seed) const;
  /// The inputs of the run with this seed, at any place, and as arrays.
  [[nodiscard]] DrawnInputs inputs(std::uint64_t seed) const { return drawn_inputs(seed); }
  [[nodiscard]] std::vector<HostArray> drawn_whole(std::uint64_t seed) const;
  /// All of the output, as it is now.
  [[nodiscard]] HostArray output() const;
  /// The runs of elements of the output that were written, in order.
  void each_written_run(const SeeElements& see) const;
  [[nodiscard]] std::uint64_t output_address() const;
  /// What may have been read of the first input: runs of elements, in order.
  void each_read(const SeeElements& see) const;

  // Nothing is timed, and no reference has a part in it.
  [[nodiscard]] double run_reference(std::uint64_t) override { return 0; }
  [[nodiscard]] nlohmann::json take_reference_counters() override { return {}; }
  void keep_output() override {}

 private:
  [[nodiscard]] Difference compare() override { return {}; }
  [[nodiscard]] Ran launch(const ReadyLaunch& launch, std::span<const BlockRange> blocks);
  [[nodiscard]] ReadyLaunch last_launch() const;
};

/// What the timed sample showed.
struct SampledPlaces {
  /// Blocks of the last launch that ran, in order; empty: not known.
  std::vector<BlockRange> blocks;
  bool some_warps = false;  ///< of each of them
  Footprint touched;        ///< elements that they wrote, or read of the input
};

/// Empty where every element that the case declares is written by exactly one block, as far as a
/// rule says that holds for the blocks of the sample, and for blocks drawn from the seed. Else what
/// stands against it.
[[nodiscard]] std::string find_doubt(const BenchParts& parts, const TimingRequest& request,
                                     const ReadyLaunch& student, const SampledPlaces& sample);

}  // namespace membound::harness

// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/measure/coverage.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "grader/base/result.hpp"
#include "grader/harness/cases/element_sets.hpp"
#include "grader/harness/device/cuda_wrappers.hpp"

namespace membound::harness {

PartsRun::PartsRun(const BenchParts& parts, const TimingRequest& request, ReadyLaunch student)
    : TimedRun(parts, request, std::move(student)) {
  MEMBOUND_CHECK(request.sampled);
}

dim3 PartsRun::grid() const {
  if (student().launch.steps.empty()) return {0, 0, 0};
  const PlanExtent& grid = student().launch.steps.back().shape.grid;
  return {static_cast<unsigned>(grid.x), static_cast<unsigned>(grid.y),
          static_cast<unsigned>(grid.z)};
}

std::uint64_t PartsRun::blocks_of(std::size_t launch) const {
  if (launch >= launches()) return 0;
  const PlanExtent& all = student().launch.steps[launch].shape.grid;
  return static_cast<std::uint64_t>(all.x * all.y * all.z);
}

PartsRun::Ran PartsRun::run_range(std::uint64_t seed, const BlockRange& blocks) {
  return run_ranges(seed, std::span(&blocks, 1));
}

PartsRun::Ran PartsRun::run_ranges(std::uint64_t seed, std::span<const BlockRange> blocks) {
  const DeviceScope on(student_side().device.number());
  write_all_inputs(student(), student_side(), seed);
  student_side().kernels.prepare_when_touched(timed_case().output, student_side().output.data());
  return launch(student().launch, blocks);
}

PartsRun::Ran PartsRun::run_range_to_read(const BlockRange& blocks) {
  const Side& side = student_side();
  const DeviceScope on(side.device.number());
  for (std::size_t i = 0; i < side.inputs.size(); ++i)
    side.kernels.prepare_when_touched(timed_case().inputs[i], side.inputs[i].data());
  side.kernels.prepare_when_touched(timed_case().output, side.output.data());
  return launch(student().launch, std::span(&blocks, 1));
}

PartsRun::Ran PartsRun::run_range_of(std::size_t number, std::uint64_t seed,
                                     const BlockRange& blocks) {
  const DeviceScope on(student_side().device.number());
  write_all_inputs(student(), student_side(), seed);
  student_side().kernels.prepare_when_touched(timed_case().output, student_side().output.data());
  ReadyLaunch one = student().launch;
  one.steps = {student().launch.steps.at(number)};
  return launch(one, std::span(&blocks, 1));
}

PartsRun::Ran PartsRun::run_ranges_again(std::span<const BlockRange> blocks) {
  const DeviceScope on(student_side().device.number());
  student_side().kernels.prepare_when_touched(timed_case().output, student_side().output.data());
  return launch(last_launch(), blocks);
}

ReadyLaunch PartsRun::last_launch() const {
  ReadyLaunch last = student().launch;
  if (!last.steps.empty()) last.steps.erase(last.steps.begin(), last.steps.end() - 1);
  return last;
}

PartsRun::Ran PartsRun::launch(const ReadyLaunch& launch, std::span<const BlockRange> blocks) {
  Side& side = student_side();
  const KernelArguments arguments = arguments_on(side);
  side.device.forget_report();
  cudaError_t code = cudaSuccess;
  {
    // Its instructions are bounded; a clock says more of who else uses the host.
    constexpr double kPatience = 10;
    const auto watch = parts().watchdog.watch(kPatience * request().timeout_seconds,
                                              "a run of blocks of " + timed_case().label);
    const ReadyLaunch again = last_launch();
    for (std::size_t i = 0; i < blocks.size() && code == cudaSuccess; ++i)
      code = student().launcher.launch(i == 0 ? launch : again, arguments, student().scratch.data(),
                                       Sampling{.counts = false, .only = blocks[i]});
    if (code == cudaSuccess) code = cudaDeviceSynchronize();
  }
  if (code != cudaSuccess) student().on_fault(code);
  Ran ran;
  const nlohmann::json report = side.device.take_report();
  for (const nlohmann::json& kernel : report.value("kernels", nlohmann::json::array())) {
    if (ran.not_run.empty()) ran.not_run = kernel.value("not_sampled", "");
    ran.drawn_bytes = std::max(ran.drawn_bytes, kernel.value("drawn_bytes", std::uint64_t{0}));
    ran.warp_instructions += kernel.value("warp_instructions", std::uint64_t{0});
    ran.writes_variables |= kernel.contains("writes_variables");
    ran.kinds = kernel.value("kinds", ran.kinds);
    ran.stored = kernel.value("stored", ran.stored);
  }
  return ran;
}

void PartsRun::clear_scratch() {
  if (student().launch.scratch_bytes == 0) return;
  cuda_check(cudaMemset(student().scratch.data(), 0, student().launch.scratch_bytes),
             "clearing scratch memory");
}

bool PartsRun::inputs_are_as_drawn(std::uint64_t seed) const {
  const Side& side = student_side();
  for (std::size_t i = 0; i < side.inputs.size(); ++i)
    if (!side.kernels.is_as_drawn(timed_case().inputs[i], side.inputs[i].data(),
                                  parts().seeds.derive(seed, i)))
      return false;
  return true;
}

std::vector<HostArray> PartsRun::drawn_whole(std::uint64_t seed) const {
  std::vector<HostArray> arrays;
  for (std::size_t i = 0; i < timed_case().inputs.size(); ++i)
    arrays.push_back(drawn(timed_case().inputs[i], parts().seeds.derive(seed, i)));
  return arrays;
}

HostArray PartsRun::output() const {
  HostArray bytes(student_side().output.size_bytes());
  const DeviceScope on(student_side().device.number());
  if (!bytes.empty())
    cuda_check(cudaMemcpy(bytes.data(), student_side().output.data(), bytes.size(),
                          cudaMemcpyDeviceToHost),
               "reading an output");
  return bytes;
}

void PartsRun::each_written_run(const SeeElements& see) const {
  const TimedBuffer& form = timed_case().output;
  student_side().kernels.each_touched(student_side().output.data(), form.size_bytes(),
                                      [&](std::size_t offset, std::span<const std::byte> bytes) {
                                        each_written(
                                            form, bytes, [&](std::size_t from, std::size_t count) {
                                              see(offset / element_bytes(form.type) + from, count);
                                            });
                                      });
}

std::uint64_t PartsRun::output_address() const {
  return reinterpret_cast<std::uint64_t>(student_side().output.data());
}

void PartsRun::each_read(const SeeElements& see) const {
  const TimedBuffer& input = timed_case().inputs.front();
  const std::size_t each = element_bytes(input.type);
  student_side().kernels.each_touched(student_side().inputs.front().data(), input.size_bytes(),
                                      [&](std::size_t offset, std::span<const std::byte> bytes) {
                                        see(offset / each, bytes.size() / each);
                                      });
}

namespace {

// What a block costs, in steps of about 10 ns: a warp instruction, or an element that is drawn and
// compared.
constexpr std::uint64_t kMostSteps = std::uint64_t{1} << 26;  ///< of all that run alone
/// Blocks drawn at random: fewer where one takes long, and few where it takes so long.
constexpr std::uint64_t kMostTries = 32, kFewestTries = 8, kStepsOfTries = 500'000;
constexpr std::uint64_t kLong = 50'000;
/// Of those, where the sample has tried the rule on as many blocks as these.
constexpr int kTriesOfLong = 3, kTriesBesideSample = 1;
constexpr std::uint64_t kManyOfSample = 4;
/// Of those, where the sample has confirmed all of the rule: more where it has fewer blocks.
constexpr int kTriesOfExpected = 2, kTriesBesideFew = 6;
constexpr std::uint64_t kFewOfSample = 16;
/// Where a block takes long, the results of so many are compared.
constexpr std::size_t kComparedOfLong = 2;
/// Blocks that ran in the timed sample and of which the slice runs, at most: of 1 % that are left
/// out none is among so many once in 29,000 times.
constexpr std::uint64_t kManySlices = 1024;
/// As few as fewest_slices() says where all together would take more steps than this, and fewer
/// beyond the most. A store of a warp takes so many, because its addresses are added up.
constexpr std::uint64_t kStepsOfSlices = std::uint64_t{1} << 22;
constexpr std::uint64_t kMostOfSlices = std::uint64_t{1} << 26;
constexpr std::uint64_t kStepsOfStore = 8;
/// So much shorter than a block is its slice where slices show the rule.
constexpr std::uint64_t kMuchShorter = 4;
/// Kinds of blocks of which one is compared.
constexpr std::size_t kComparedKinds = 6;

/// Runs blocks of one case alone.
class Alone {
 public:
  Alone(const BenchParts& parts, const TimingRequest& request, const ReadyLaunch& student)
      : request_(request), run_(parts, request, student) {}

  [[nodiscard]] bool reads() const {
    return static_cast<bool>(request_.timed_case.expected_of_read);
  }
  [[nodiscard]] const PartsRun& run() const { return run_; }
  [[nodiscard]] std::uint64_t blocks() const { return run_.blocks(); }
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  [[nodiscard]] const std::string& doubt() const { return doubt_; }

  /// What the slices of some blocks show.
  struct Slices {
    Footprint written;                                 ///< of one block
    std::vector<std::uint64_t> kinds;                  ///< a block of each
    std::vector<std::array<std::uint64_t, 2>> stored;  ///< of several: see PartsRun::Ran
    std::uint64_t steps = 0;
  };
  /// After show(). Nothing: they cannot run.
  std::optional<Slices> show_slices(const BlockRange& blocks) {
    const PartsRun::Ran ran = run_.run_ranges_again(std::span(&blocks, 1));
    has_inputs_ = false;  // what slices store may be anything, and anywhere
    if (!ran.not_run.empty()) return std::nullopt;
    Slices slices{{}, ran.kinds, ran.stored, ran.warp_instructions};
    if (blocks.count > 1) return slices;
    run_.each_written_run([&](std::size_t first, std::size_t count) {
      append(slices.written, static_cast<std::int64_t>(first), static_cast<std::int64_t>(count));
    });
    return slices;
  }

  /// The same of these blocks, one by one.
  std::optional<Footprint> show_by_slices(std::span<const std::uint64_t> blocks) {
    std::vector<ElementRun> runs;
    for (const std::uint64_t block : blocks) {
      const auto slice = show_slices(slice_of(block));
      if (!slice) return std::nullopt;
      runs.insert(runs.end(), slice->written.begin(), slice->written.end());
    }
    return united(std::move(runs));
  }
  static BlockRange slice_of(std::uint64_t block) {
    return {.first = block, .count = 1, .most_instructions = kMostSteps, .slice_step = 1};
  }

  /// Whether these blocks of a sum leave the sum of what they read: else one may have kept its
  /// part. Nothing: they did not run to their end.
  std::optional<bool> leave_their_sum(std::span<const std::uint64_t> blocks) {
    std::vector<BlockRange> alone;
    for (const std::uint64_t block : blocks)
      alone.push_back({block, 1, kMostSteps / blocks.size()});
    if (!run_.run_ranges(request_.seed, alone).not_run.empty()) return std::nullopt;
    return run_.compare_sample(request_.seed).difference.wrong == 0;
  }

  /// The results of the next blocks are compared, however long they take.
  void compare_all() { compares_all_ = true; }

  std::optional<Footprint> show(std::span<const std::uint64_t> blocks) {
    if (steps_ > kMostSteps) return stop("its blocks take long");
    std::vector<BlockRange> alone;
    for (const std::uint64_t block : blocks)
      alone.push_back({block, 1, kMostSteps / blocks.size()});
    const bool fresh = reads() || !std::exchange(has_inputs_, true);
    const PartsRun::Ran ran =
        fresh ? run_.run_ranges(request_.seed, alone) : run_.run_ranges_again(alone);
    if (!ran.not_run.empty()) return stop(ran.not_run);
    steps_ += ran.warp_instructions;
    Footprint footprint;
    const auto see = [&](std::size_t first, std::size_t count) {
      append(footprint, static_cast<std::int64_t>(first), static_cast<std::int64_t>(count));
    };
    const std::size_t compared = takes_long_ && !compares_all_ ? compared_ + blocks.size() : 0;
    if (reads()) {
      run_.each_read(see);
    } else if (compared > kComparedOfLong) {
      run_.each_written_run(see);
    } else if (compared_ = compared;
               run_.compare_sample(request_.seed, see).difference.wrong != 0) {
      return stop("block " + std::to_string(blocks.front()) +
                  (blocks.size() == 1 ? " leaves wrong results"
                                      : " or one that ran beside it leaves wrong results"));
    }
    steps_ += static_cast<std::uint64_t>(elements_of(footprint));
    takes_long_ = takes_long_ || steps_ > kLong * (shown_ += blocks.size()) ||
                  request_.timed_case.useful_operations > 0;
    return footprint;
  }

 private:
  std::nullopt_t stop(std::string why) {
    if (doubt_.empty()) doubt_ = std::move(why);
    return std::nullopt;
  }

  const TimingRequest& request_;
  PartsRun run_;
  bool has_inputs_ = false, takes_long_ = false, compares_all_ = false;
  std::uint64_t steps_ = 0, shown_ = 0;
  std::size_t compared_ = 0;  ///< blocks
  std::string doubt_;
};

/// Whether all blocks ran in the timed sample.
bool ran_whole(const SampledPlaces& sample, std::uint64_t blocks) {
  std::uint64_t ran = 0;
  for (const BlockRange& range : sample.blocks) ran += range.count;
  return ran == blocks && !sample.some_warps;
}

bool is_all(const Footprint& touched, const WrittenRows& declared, std::size_t elements) {
  PlaceSet places(elements);
  for (const ElementRun& run : touched)
    places.add(static_cast<std::size_t>(run.first), static_cast<std::size_t>(run.count));
  const PlaceSet::Difference difference = places.difference_from(declared);
  return difference.missing == 0 && difference.beside == 0;
}

bool has(const SampledPlaces& sample, std::uint64_t block) {
  return std::ranges::any_of(sample.blocks, [block](const BlockRange& range) {
    return block - range.first < range.count;
  });
}

/// Of which all warps ran.
std::uint64_t blocks_that_ran(const SampledPlaces& sample) {
  std::uint64_t ran = 0;
  for (const BlockRange& range : sample.blocks) ran += sample.some_warps ? 0 : range.count;
  return ran;
}

/// Whether the blocks of the sample touched what the rule says.
bool agrees(const Tiling& tiling, const SampledPlaces& sample) {
  std::vector<ElementRun> runs;
  for (const BlockRange& range : sample.blocks)
    for (std::uint64_t i = 0; i < range.count; ++i)
      for (const ElementRun& run : tiling.of(range.first + i)) runs.push_back(run);
  const Footprint predicted = united(std::move(runs));
  if (!sample.some_warps) return predicted == sample.touched;
  std::vector<ElementRun> both = predicted;  // a part of it, then
  both.insert(both.end(), sample.touched.begin(), sample.touched.end());
  return united(std::move(both)) == predicted;
}

/// Whether some of these blocks would store to other places than the rule says, by their number and
/// sum. False, too, where most would: then some place is stored to twice, and sums tell nothing.
bool some_store_elsewhere(const Tiling& tiling, const BlockRange& range, const Alone& alone,
                          const std::vector<std::array<std::uint64_t, 2>>& stored,
                          std::uint64_t element_bytes) {
  const std::uint64_t blocks = std::max<std::uint64_t>(1, alone.blocks());
  std::uint64_t others = 0;
  for (std::uint64_t i = 0; i < stored.size(); ++i) {
    std::uint64_t bytes = 0, sum = 0;
    for (const ElementRun& run : tiling.of((range.first + i * range.slice_step) % blocks)) {
      const std::uint64_t count = static_cast<std::uint64_t>(run.count) * element_bytes;
      const std::uint64_t first = static_cast<std::uint64_t>(run.first) * element_bytes;
      bytes += count;
      sum += count * (alone.run().output_address() + first) + count * (count - 1) / 2;
    }
    others += stored[i] != std::array{bytes, sum};
  }
  return others > 0 && 2 * others < stored.size();
}

constexpr const char* kTooFew = "too few of its blocks can be looked at";

/// Of blocks of which 4 % leave out their part as many as have one of these among them but for once
/// in 2,500 times.
std::uint64_t fewest_slices(std::uint64_t blocks) {
  const auto all = static_cast<double>(blocks);
  return static_cast<std::uint64_t>(std::ceil(all * (1 - std::pow(2500, -25 / all))));
}

/// Whether a block reads its part of a sum and does not add it: no branch and no place shows that,
/// only the sum of many. Empty: of those that are drawn none does.
std::string find_lost_parts(Alone& alone, const TimingRequest& request, std::uint64_t of_block) {
  const std::uint64_t blocks = alone.run().blocks();
  const std::uint64_t count = std::min(fewest_slices(blocks), kMostSteps / of_block);
  if (count < 2) return {};
  // Drawn each from its own part of the grid, and so no two of them are one.
  std::vector<std::uint64_t> drawn;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t first = i * blocks / count, end = (i + 1) * blocks / count;
    drawn.push_back(first + random_bits(request.seed, i) % (end - first));
  }
  const auto all_there = alone.leave_their_sum(drawn);
  return all_there.value_or(true) ? "" : "some blocks do not add what they read";
}

/// What the rule cannot know: whether blocks that nobody has run go the ways of those that ran, and
/// store where it says. Their slices tell, of which many run in the time of one block; where there
/// are several kinds of blocks, one of each runs. Empty: they do. `one` is the slice of a block.
std::string find_unlike_blocks(Alone& alone, const Tiling& tiling, const TimingRequest& request,
                               const SampledPlaces& sample, const Alone::Slices& one) {
  const std::uint64_t blocks = alone.run().blocks(), ran = blocks_that_ran(sample);
  const std::uint64_t steps =
      one.steps + kStepsOfStore * static_cast<std::uint64_t>(elements_of(one.written)) / 32 + 1;
  const auto besides = [ran](std::uint64_t all) { return all - std::min(ran, all); };
  const std::uint64_t wanted = std::max(kStepsOfSlices / steps, besides(fewest_slices(blocks)));
  const std::uint64_t count =
      std::min({blocks, wanted, besides(kManySlices), kMostOfSlices / steps});
  if (!alone.reads() && count < std::min(blocks, besides(fewest_slices(blocks)))) return kTooFew;
  if (count < 2) return {};
  // About a third of the ring apart, so that no small period of the grid is met at one place alone.
  const std::uint64_t drawn = request.seed ^ request.seed >> 32;
  std::uint64_t apart = blocks / 3 + drawn % (blocks / 3 + 1) + 1;
  while (std::gcd(apart, blocks) != 1) ++apart;
  const BlockRange many{.first = (drawn >> 8) % blocks, .count = count, .slice_step = apart};
  const auto slices = alone.show_slices(many);
  if (!slices) return alone.reads() ? "" : kTooFew;
  if (!alone.reads() && some_store_elsewhere(tiling, many, alone, slices->stored,
                                             element_bytes(request.timed_case.output.type)))
    return "some blocks write other places than their neighbours";
  if (slices->kinds.size() < 2) return {};
  alone.compare_all();
  for (std::size_t i = 0; i < std::min(kComparedKinds, slices->kinds.size()); ++i) {
    const std::uint64_t block = slices->kinds[i];
    if (!sample.some_warps && has(sample, block)) continue;
    const auto written = alone.show(std::span(&block, 1));
    if (!written) return alone.doubt();
    if (*written != tiling.of(block)) return "some blocks touch other places than their neighbours";
  }
  return {};
}

}  // namespace

std::string find_doubt(const BenchParts& parts, const TimingRequest& request,
                       const ReadyLaunch& student, const SampledPlaces& sample) {
  const TimedCase& timed = request.timed_case;
  Alone alone(parts, request, student);
  const dim3 grid = alone.run().grid();
  const std::uint64_t blocks = alone.run().blocks();
  if (blocks == 0) return "nothing is launched";
  const WrittenRows declared = alone.reads() ? WrittenRows{} : timed.written;
  const std::size_t elements = alone.reads() ? timed.inputs.front().count : timed.output.count;
  if (ran_whole(sample, blocks))
    return is_all(sample.touched, declared, elements) ? "" : "its blocks leave places out";
  // One that is at no edge, as the rule begins with.
  const std::uint64_t row = grid.x, plane = row * grid.y;
  const std::uint64_t first_block = (grid.y == 1 && grid.z == 1 ? blocks > 1 : grid.x > 2) +
                                    (grid.y > 2 ? row : 0) + (grid.z > 2 ? plane : 0);
  const auto first = alone.show(std::span(&first_block, 1));
  if (!first) return alone.doubt();
  const std::uint64_t of_block = std::max<std::uint64_t>(1, alone.steps());
  const Tiling::Grid all{grid.x, grid.y, grid.z};
  const auto count = static_cast<std::int64_t>(elements);
  const std::uint64_t of_sample = blocks_that_ran(sample);
  const bool is_tried = of_sample >= kManyOfSample;
  Tiling::Effort effort{is_tried ? kTriesBesideSample : kTriesOfLong, of_block > kLong};
  // Nothing where its blocks learn from each other, or take too long.
  const bool has_slices = of_sample < kManySlices;
  const auto slice = has_slices ? alone.show_slices(Alone::slice_of(first_block)) : std::nullopt;
  if (slice && !alone.reads() && slice->written != *first)
    return "where a block writes does not depend on itself alone";
  const bool by_slices =
      effort.is_sparing && slice && !alone.reads() && slice->steps < of_block / kMuchShorter;
  const Tiling::Show show = [&](std::span<const std::uint64_t> some) {
    if (some.size() == 1 && some.front() == first_block) return first;
    return by_slices ? alone.show_by_slices(some) : alone.show(some);
  };
  const auto find_unlike = [&](const Tiling& tiling) -> std::string {
    if (slice) {
      std::string doubt = find_unlike_blocks(alone, tiling, request, sample, *slice);
      if (doubt.empty() && alone.reads()) doubt = find_lost_parts(alone, request, of_block);
      return doubt;
    }
    const std::uint64_t ran = of_sample + static_cast<std::uint64_t>(effort.tries);
    return alone.reads() || ran >= fewest_slices(blocks) ? "" : kTooFew;
  };
  if (!effort.is_sparing) {
    effort.tries = static_cast<int>(std::clamp(kStepsOfTries / of_block, kFewestTries, kMostTries));
  } else if (is_tried) {
    effort.tries = by_slices || of_sample >= kFewOfSample ? kTriesOfExpected : kTriesBesideFew;
    const auto expected =
        Tiling::expect(all, count, request.seed, effort, show, first_block,
                       {[&](std::uint64_t block) { return has(sample, block); },
                        [&](const Tiling& tiling) { return agrees(tiling, sample); }});
    effort.tries = kTriesBesideSample;
    if (expected && expected->has_each_once(declared, request.seed)) return find_unlike(*expected);
    if (!alone.doubt().empty()) return alone.doubt();
  }
  const auto tiling = Tiling::find(all, count, request.seed, effort, show);
  if (!tiling)
    return alone.doubt().empty() ? "its blocks do not lie side by side by one rule" : alone.doubt();
  if (!sample.blocks.empty() && !agrees(*tiling, sample))
    return "some blocks that were timed touch other places than their neighbours";
  if (!tiling->has_each_once(declared, request.seed))
    return "its blocks do not share out all places among each other";
  return find_unlike(*tiling);
}

}  // namespace membound::harness

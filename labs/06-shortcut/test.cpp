// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 06: the tests of every stage, easiest first, and the runs that are timed.
///
/// Every result is the least of n sums of two floats. Each of those sums is rounded once, whoever
/// computes it and when; taking the least rounds nothing and cares for no order. So any right
/// program gives the same bits, and nothing is compared with a tolerance.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include "grader/harness/lab/lab_test.hpp"
#include "labs/06-shortcut/kernel_constants.hpp"

namespace {

using namespace membound::harness;
using namespace membound::kernel_constants;

/// The n x n matrix whose element (from, to) is the least d(from, via) + d(via, to) over all via.
/// `d` is n x n, row after row; +infinity stands for "no road".
// [shortcuts]
std::vector<float> shortcuts(const std::vector<float>& d, std::int64_t n) {
  std::vector<float> r(d.size(), std::numeric_limits<float>::infinity());
  for (std::int64_t from = 0; from < n; ++from) {
    for (std::int64_t via = 0; via < n; ++via) {
      // The inner loop runs along rows, so that the CPU, too, reads neighbours after neighbours.
      for (std::int64_t to = 0; to < n; ++to) {
        r[from * n + to] = std::min(r[from * n + to], d[from * n + via] + d[via * n + to]);
      }
    }
  }
  return r;
}
// [/shortcuts]

class Shortcut : public LabTest {
 protected:
  /// Runs the stage on `d` and compares all results.
  void check_values(const std::vector<float>& d, std::int64_t n) {
    DeviceArray<float> d_roads(d);
    auto d_results = DeviceArray<float>::poisoned(d.size());
    const float* const roads = d_roads.data();
    SCOPED_TRACE(about(n));
    ASSERT_TRUE(launch("", {n}, d_results.data(), roads, static_cast<int>(n)));
    ASSERT_TRUE(arrays_equal(d_results.to_host(), shortcuts(d, n), {{n, n}, {"from", "to"}}));
  }

  /// Costs between 1 and 1000; the road back costs something else than the road there.
  void check_sizes(std::initializer_list<std::int64_t> sizes) {
    for (const std::int64_t n : sizes) {
      ASSERT_NO_FATAL_FAILURE(check_values(costs(n), n));
    }
  }

  [[nodiscard]] std::vector<float> costs(std::int64_t n) const {
    return generate_integers<float>(static_cast<std::size_t>(n * n), 1, 1000, seed());
  }

  static std::string about(std::int64_t n) {
    return "for " + std::to_string(n) + (n == 1 ? " place" : " places");
  }
};

LAB_TEST_WITH_HINT(Shortcut, RoadsThatGoBothWays, "first-tile") {
  // A symmetric matrix: rows and columns may be mixed up without harm. 128 fills every tile.
  const std::int64_t n = 128;
  std::vector<float> d = costs(n);
  for (std::int64_t from = 0; from < n; ++from)
    for (std::int64_t to = 0; to < from; ++to) d[from * n + to] = d[to * n + from];
  check_values(d, n);
}

LAB_TEST_WITH_HINT(Shortcut, TheRoadBackCostsMore, "rows-and-columns") { check_sizes({128}); }

LAB_TEST_WITH_HINT(Shortcut, OnePlace, "edge-guard") { check_sizes({1}); }

LAB_TEST_WITH_HINT(Shortcut, TwoPlaces, "edge-guard") {
  check_values({0, 8, 3, 0}, 2);  // the example of the handout, cut down to two places
}

LAB_TEST_WITH_HINT(Shortcut, NoPlaces, "empty") { check_values({}, 0); }

LAB_TEST_WITH_HINT(Shortcut, SizesAroundASmallTile, "edge-guard") {
  check_sizes({15, 16, 17, 31, 32, 33});
}

LAB_TEST_WITH_HINT(Shortcut, SizesAroundATile, "edge-guard") {
  check_sizes({63, 64, 65, 127, 129});
}

LAB_TEST_WITH_HINT(Shortcut, Primes, "edge-guard") { check_sizes({3, 5, 7, 61, 101, 211}); }

LAB_TEST_WITH_HINT(Shortcut, PlacesNobodyLeaves, "no-road") {
  // Nine of ten roads are missing, and the places of one in ten rows have no road at all.
  const std::int64_t n = 90;
  std::vector<float> d = costs(n);
  sprinkle(d, 0.9, kNoRoad, seed() + 1);
  for (std::int64_t from = 0; from < n; from += 10)
    for (std::int64_t to = 0; to < n; ++to) d[from * n + to] = kNoRoad;
  check_values(d, n);
}

LAB_TEST_WITH_HINT(Shortcut, NoRoadsAtAll, "no-road") {
  check_values(std::vector<float>(70 * 70, kNoRoad), 70);
}

LAB_TEST_WITH_HINT(Shortcut, RoadsForFree, "free-roads") {
  const std::int64_t n = 67;
  std::vector<float> d = costs(n);
  sprinkle(d, 0.3, 0.0F, seed() + 1);
  for (std::int64_t place = 0; place < n; ++place) d[place * n + place] = 0;
  check_values(d, n);
}

LAB_TEST_WITH_HINT(Shortcut, RoadsThatPayYou, "free-roads") {
  check_values(generate_integers<float>(66 * 66, -500, 500, seed()), 66);
}

LAB_TEST_WITH_HINT(Shortcut, CostsWithFractions, "rounding") {
  check_values(generate<float>(99 * 99, Fill::kUniform, seed()), 99);
}

LAB_TEST_WITH_HINT(Shortcut, CostsOfAllMagnitudes, "rounding") {
  // Denormals, the largest floats (whose sum is +infinity, never less), zeros of both signs.
  check_values(generate<float>(65 * 65, Fill::kAdversarial, seed()), 65);
}

LAB_TEST_WITH_HINT(Shortcut, SeveralTilesEachWay, "edge-guard") { check_sizes({300}); }

LAB_TEST_WITH_HINT(Shortcut, SecondLaunchGivesTheSame, "second-launch") {
  ASSERT_NO_FATAL_FAILURE(check_sizes({131}));
  {
    SCOPED_TRACE("in the second of two launches; the first was right");
    ASSERT_NO_FATAL_FAILURE(check_sizes({131}));
  }
  draw_anew();
  SCOPED_TRACE("in a launch on other numbers in the same arrays");
  check_sizes({131});
}

LAB_TEST_AFTER_TIMING(Shortcut, PositionsBeyond24Bits, "far-position") {
  // Of a plan nothing is looked at: its last kernel needs copies of all n * n costs.
  constexpr std::int64_t kSize[] = {39'989};
  EXPECT_TRUE(far_blocks(kSize, "n may be up to 40,000, and n * n more than 2^30"));
}

/// Results [first, first + count), those of some neighbouring places `to` together.
void expected_part(const DrawnInputs& in, std::int64_t n, std::size_t first, std::size_t count,
                   HostArray& right) {
  constexpr std::int64_t kTogether = 32;
  const auto roads = [](const HostArray& bytes) {
    return reinterpret_cast<const float*>(bytes.data());
  };
  const auto cost = [&](std::int64_t from, std::int64_t to) {
    return to < n ? in.at<float>(0, static_cast<std::size_t>(from * n + to)) : kNoRoad;
  };
  right.resize(count * sizeof(float));
  const auto end = static_cast<std::int64_t>(first + count);
  for (auto place = static_cast<std::int64_t>(first); place < end;) {
    const std::int64_t from = place / n, to = place % n, first_to = to / kTogether * kTogether;
    const float* const roads_in = roads(in.once(from, [&] {
      std::vector<float> row;
      for (std::int64_t via = 0; via < n; ++via) row.push_back(cost(from, via));
      return bytes_of(row);
    }));
    const float* roads_out = roads(in.once(n + first_to, [&] {
      std::vector<float> rows;
      for (std::int64_t via = 0; via < n; ++via)
        for (std::int64_t i = 0; i < kTogether; ++i) rows.push_back(cost(via, first_to + i));
      return bytes_of(rows);
    }));
    std::array<float, kTogether> best;
    best.fill(kNoRoad);
    for (std::int64_t via = 0; via < n; ++via, roads_out += kTogether)
      for (std::size_t i = 0; i < best.size(); ++i)
        best[i] = std::min(best[i], roads_in[via] + roads_out[i]);
    const std::int64_t run = std::min(end - place, std::min(n, first_to + kTogether) - to);
    std::memcpy(&right[static_cast<std::size_t>(place) * sizeof(float) - first * sizeof(float)],
                &best[static_cast<std::size_t>(to - first_to)],
                static_cast<std::size_t>(run) * sizeof(float));
    place += run;
  }
}

/// An addition and a minimum for each of the n x n x n triples: that is the work, however it is
/// arranged. One road in ten is missing. Costs have fractions: whole ones up to 1000 would come
/// through half of the precision unharmed.
std::vector<TimedCase> timed_cases(const membound::course::Stage&,
                                   std::span<const std::int64_t> size) {
  const std::int64_t n = size[0];
  const std::size_t count = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  TimedCase timed;
  timed.label = std::to_string(n) + " places";
  timed.sizes = {n};
  timed.useful_bytes = 2.0 * static_cast<double>(count) * sizeof(float);
  timed.useful_operations =
      2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
  timed.inputs = {{.count = count, .infinity_share = 0.1}};
  timed.output = {.count = count};
  timed.arguments = [n](std::span<void* const> d_inputs, void* d_output) {
    return kernel_arguments(static_cast<float*>(d_output), static_cast<const float*>(d_inputs[0]),
                            static_cast<int>(n));
  };
  timed.expected = [n](std::span<const HostArray> inputs) {
    return bytes_of(shortcuts(values_of<float>(inputs[0]), n));
  };
  timed.expected_by_place = [n](const DrawnInputs& inputs, std::size_t first, std::size_t results,
                                HostArray& right) {
    expected_part(inputs, n, first, results, right);
  };
  return {timed};
}

LAB_PROGRAM({.lab_id = "06-shortcut",
             .signature = {.parameters = "(float*, float const*, int)"},
             .timed_cases = timed_cases});

}  // namespace

// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/cases/host_arrays.hpp"

#include <algorithm>
#include <vector>

#include "grader/base/check.hpp"
#include "grader/harness/cases/data.hpp"

namespace membound::harness {
namespace {

/// Calls `body` with a value of the type that the elements have.
template <typename Body>
auto with_type(ElementType type, Body body) {
  switch (type) {
    case ElementType::kInt32:
      return body(int{});
    case ElementType::kInt64:
      return body(static_cast<long long>(0));
    case ElementType::kFloat:
      return body(float{});
    case ElementType::kDouble:
      break;
  }
  return body(double{});
}

}  // namespace

Draw draw_of(const TimedBuffer& buffer, std::uint64_t seed) {
  const IntegerRange range = buffer.integers.value_or(IntegerRange{});
  return {seed,
          range.low,
          range.high,
          buffer.infinity_share,
          static_cast<int>(buffer.fill),
          buffer.integers ? 1 : 0};
}

HostArray drawn(const TimedBuffer& buffer, std::uint64_t seed) {
  return with_type(buffer.type, [&]<typename T>(T) {
    return bytes_of(draw<T>(buffer.count, draw_of(buffer, seed)));
  });
}

Difference difference_of(const TimedBuffer& buffer, const HostArray& got, const HostArray& expected,
                         Tolerance tolerance) {
  MEMBOUND_CHECK(got.size() == buffer.size_bytes() && expected.size() == got.size());
  Difference difference;
  with_type(buffer.type, [&]<typename T>(T) {
    const std::vector<T> a = values_of<T>(got), b = values_of<T>(expected);
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (element_equal(a[i], b[i], tolerance)) continue;
      if (difference.wrong++ == 0) difference.first = i;
    }
  });
  return difference;
}

}  // namespace membound::harness

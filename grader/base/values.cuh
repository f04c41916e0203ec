// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which number stands at which place of a seeded array: pure functions of (seed, index), the
/// same on host and device.
#pragma once

// A macro, because only a macro can add a keyword that plain C++ compilers do not know.
#ifdef __CUDACC__
#define MEMBOUND_BOTH __host__ __device__
#else
#define MEMBOUND_BOTH
#endif

namespace membound::base {

/// Which numbers an array starts with. No fill ever gives a NaN or an infinity; a lab that wants
/// those puts them in with sprinkle().
enum class Fill {
  kUniform,     ///< floating: [-1, 1); integers: the whole range of the type
  kRamp,        ///< 0, 1, 2, … (floating: starting again after 2^24, so that each is exact)
  kConstant,    ///< one value other than 0, drawn from the seed, everywhere
  kAdversarial  ///< ±0, denormals, the smallest and the largest numbers, neighbours of 1
};

/// 64 well-mixed bits of (seed, index): the only source of randomness of the harness.
/// SplitMix64, the mixing function of java.util.SplittableRandom (Steele, Lea, Flood, 2014).
MEMBOUND_BOTH constexpr unsigned long long random_bits(unsigned long long seed,
                                                       unsigned long long index) {
  unsigned long long z = seed + (index + 1) * 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

/// What the two words of 32 bits of pair `index` count in a fingerprint, which is the sum over all
/// pairs modulo 2^64; the last may lack its second word, which is 0 then. For a key drawn after the
/// words were written, two different arrays have the same sum with a probability of at most 2^-32:
/// the function NH of UMAC (Black, Halevi, Krawczyk, Krovetz, Rogaway, 1999).
MEMBOUND_BOTH constexpr unsigned long long fingerprint_term(unsigned long long key,
                                                            unsigned long long index,
                                                            unsigned first, unsigned second) {
  const unsigned long long bits = random_bits(key, index);
  const unsigned low = first + static_cast<unsigned>(bits);
  const unsigned high = second + static_cast<unsigned>(bits >> 32);
  return static_cast<unsigned long long>(low) * high;
}

/// A number in [0, 1) with 53 random bits.
MEMBOUND_BOTH constexpr double unit_value(unsigned long long bits) {
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

/// A whole number from `low` to `high`, both included; high - low must be below 2^32.
MEMBOUND_BOTH constexpr long long integer_value(unsigned long long bits, long long low,
                                                long long high) {
  const auto span = static_cast<unsigned long long>(high - low) + 1;
  return low + static_cast<long long>(((bits >> 32) * span) >> 32);
}

/// The values of each type; the general case is integers.
template <typename T>
struct Values {
  MEMBOUND_BOTH static constexpr T uniform(unsigned long long bits) { return static_cast<T>(bits); }
  MEMBOUND_BOTH static constexpr T ramp(unsigned long long index) { return static_cast<T>(index); }
  MEMBOUND_BOTH static constexpr T adversarial(unsigned long long bits) {
    constexpr T kLowest = static_cast<T>(1) << (8 * sizeof(T) - 1);  // the sign bit alone
    switch (bits % 8) {
      case 0:
        return 0;
      case 1:
        return static_cast<T>(-1);
      case 2:
        return kLowest;
      case 3:
        return static_cast<T>(~kLowest);
      case 4:
        return 1;
      case 5:
        return static_cast<T>(0x5555555555555555ULL);
      case 6:
        return static_cast<T>(0xAAAAAAAAAAAAAAAAULL);
      default:
        return static_cast<T>(bits >> 3);
    }
  }
};

template <>
struct Values<float> {
  MEMBOUND_BOTH static constexpr float uniform(unsigned long long bits) {
    return static_cast<float>(bits >> 40) * 0x1p-23F - 1.0F;
  }
  MEMBOUND_BOTH static constexpr float ramp(unsigned long long index) {
    return static_cast<float>(index & 0xFFFFFF);
  }
  MEMBOUND_BOTH static constexpr float adversarial(unsigned long long bits) {
    switch (bits % 12) {
      case 0:
        return 0.0F;
      case 1:
        return -0.0F;
      case 2:
        return 0x1p-149F;  // the smallest denormal
      case 3:
        return -0x1.fffffcp-127F;  // the largest denormal
      case 4:
        return 0x1p-126F;  // the smallest normal number
      case 5:
        return 0x1.fffffep127F;  // the largest number
      case 6:
        return -0x1.fffffep127F;
      case 7:
        return 1.0F;
      case 8:
        return 0x1.000002p0F;  // the next after 1
      case 9:
        return 0x1.fffffep-1F;
      case 10:
        return -16777216.0F;
      default:
        return uniform(bits);
    }
  }
};

template <>
struct Values<double> {
  MEMBOUND_BOTH static constexpr double uniform(unsigned long long bits) {
    return unit_value(bits) * 2.0 - 1.0;
  }
  MEMBOUND_BOTH static constexpr double ramp(unsigned long long index) {
    return static_cast<double>(index & 0xFFFFFF);
  }
  MEMBOUND_BOTH static constexpr double adversarial(unsigned long long bits) {
    switch (bits % 12) {
      case 0:
        return 0.0;
      case 1:
        return -0.0;
      case 2:
        return 0x1p-1074;
      case 3:
        return -0x1.ffffffffffffep-1023;
      case 4:
        return 0x1p-1022;
      case 5:
        return 0x1.fffffffffffffp1023;
      case 6:
        return -0x1.fffffffffffffp1023;
      case 7:
        return 1.0;
      case 8:
        return 0x1.0000000000001p0;
      case 9:
        return 0x1.fffffffffffffp-1;
      case 10:
        return -9007199254740992.0;
      default:
        return uniform(bits);
    }
  }
};

/// The element at `index` of an array filled by `fill` with `seed`.
template <typename T>
MEMBOUND_BOTH constexpr T fill_value(Fill fill, unsigned long long seed, unsigned long long index) {
  switch (fill) {
    case Fill::kRamp:
      return Values<T>::ramp(index);
    case Fill::kConstant:
      return static_cast<T>(integer_value(random_bits(seed, 0), 1, 100));
    case Fill::kAdversarial:
      return Values<T>::adversarial(random_bits(seed, index));
    default:
      return Values<T>::uniform(random_bits(seed, index));
  }
}

/// The seed of a second, independent decision about the same elements.
MEMBOUND_BOTH constexpr unsigned long long second_seed(unsigned long long seed) {
  return random_bits(seed, 0x5EC0D5EEDULL);
}

/// The bits of an element of 8 bytes. Who sees 53 or 64 bits of a random_bits() can work out its
/// seed, and with it the whole array without reading it; the index is therefore mixed twice, the
/// second time by a seed that no element shows. Of an element of 4 bytes 32 bits and more are
/// missing, which no kernel finds by trying in the time that reading takes.
MEMBOUND_BOTH constexpr unsigned long long hidden_bits(unsigned long long seed,
                                                       unsigned long long share_seed,
                                                       unsigned long long index) {
  return random_bits(share_seed, random_bits(seed, index));
}

/// How an input of a timed run is drawn.
struct Draw {
  unsigned long long seed;
  long long low, high;
  double infinity_share;
  int fill;  ///< a Fill
  int whole_numbers;
};

/// The element at `index` of that input; `share_seed` is second_seed(draw.seed). `infinity` is for
/// the types that have one: the caller's, because only it knows where the constant comes from.
template <typename T>
MEMBOUND_BOTH constexpr T drawn_value(const Draw& draw, unsigned long long share_seed,
                                      unsigned long long index, T infinity) {
  if constexpr (static_cast<T>(0.5) != 0)  // integers have no infinity
    if (draw.infinity_share > 0 && unit_value(random_bits(share_seed, index)) < draw.infinity_share)
      return infinity;
  if (draw.whole_numbers != 0)
    return static_cast<T>(integer_value(random_bits(draw.seed, index), draw.low, draw.high));
  if constexpr (sizeof(T) == 8)
    if (static_cast<Fill>(draw.fill) == Fill::kUniform)
      return Values<T>::uniform(hidden_bits(draw.seed, share_seed, index));
  return fill_value<T>(static_cast<Fill>(draw.fill), draw.seed, index);
}

}  // namespace membound::base

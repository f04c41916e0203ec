// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/lanes/print.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <optional>

#include "grader/vgpu/exec/state/access.hpp"
#include "grader/vgpu/exec/state/local_window.hpp"

namespace membound::vgpu::exec {
namespace {

/// Copies `bytes` from a generic address; false when it leads nowhere.
bool read_bytes(const Warp& w, int lane, std::uint64_t address, void* to, std::size_t bytes) {
  const LocalWindows windows = local_windows(w);
  if (windows.has(lane, address)) {
    const std::uint64_t local = address - windows.of(lane);
    if (local > w.local_stride || bytes > w.local_stride - local) return false;
    std::memcpy(to, local_place(w, lane, local, bytes), bytes);
    return true;
  }
  const std::uint64_t shared = address - w.launch->shared_window;
  if (shared < memory::AddressSpace::kSharedWindowBytes) {
    if (shared + bytes > w.shared_bytes) return false;
    std::memcpy(to, shared_place(w, shared, bytes), bytes);
    return true;
  }
  return w.launch->request->memory->copy_out(to, address, bytes);
}

/// One "%…" of a format string.
struct Conversion {
  std::string text;  ///< flags, width and precision, without length and type
  bool star_width = false, star_precision = false;
  bool is_long = false;  ///< l, ll, z, j, t: 64 bits
  char type = 0;         ///< 0: not a conversion we know
};

/// The most characters of one conversion.
constexpr int kLongest = 511;

/// Widths and precisions beyond that as that: a library pads them for seconds, or refuses.
std::string limited(const std::string& flags) {
  std::string out;
  for (std::size_t at = 0; at < flags.size();) {
    std::size_t end = at;
    while (end < flags.size() && flags[end] >= '0' && flags[end] <= '9') ++end;
    if (end == at || flags[at] == '0') {
      out += flags[at++];
      continue;
    }
    const std::string number = flags.substr(at, end - at);
    out += number.size() > 3 || std::stoi(number) > kLongest ? std::to_string(kLongest) : number;
    at = end;
  }
  return out;
}

Conversion parse_conversion(const std::string& format, std::size_t& at) {
  Conversion conversion;
  conversion.text = "%";
  bool precision = false;
  for (++at; at < format.size(); ++at) {
    const char c = format[at];
    if (std::strchr("-+ #0123456789.", c) != nullptr) {
      precision = precision || c == '.';
      conversion.text += c;
    } else if (c == '*') {
      (precision ? conversion.star_precision : conversion.star_width) = true;
      conversion.text += c;
    } else if (std::strchr("lzjt", c) != nullptr) {
      conversion.is_long = true;
    } else if (c == 'h') {
      continue;  // promoted to int
    } else {
      conversion.type = c;
      ++at;
      break;
    }
  }
  conversion.text = limited(conversion.text);
  return conversion;
}

/// Walks the argument buffer.
class Arguments {
 public:
  Arguments(const Warp& warp, int lane, std::uint64_t address)
      : warp_(warp), lane_(lane), address_(address) {}

  template <typename T>
  T next() {
    offset_ = (offset_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    T value{};
    if (!read_bytes(warp_, lane_, address_ + offset_, &value, sizeof value)) value = T{};
    offset_ += sizeof(T);
    return value;
  }

 private:
  const Warp& warp_;
  int lane_;
  std::uint64_t address_;
  std::uint64_t offset_ = 0;
};

template <typename T>
std::string print_one(const Conversion& conversion, const std::string& format, const int* stars,
                      T value) {
  std::array<char, kLongest + 1> text{};
  const int stars_used = conversion.star_width + conversion.star_precision;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  if (stars_used == 2)
    std::snprintf(text.data(), text.size(), format.c_str(), stars[0], stars[1], value);
  else if (stars_used == 1)
    std::snprintf(text.data(), text.size(), format.c_str(), stars[0], value);
  else
    std::snprintf(text.data(), text.size(), format.c_str(), value);
#pragma GCC diagnostic pop
  return text.data();
}

std::string convert(const Warp& w, int lane, const Conversion& conversion, Arguments& arguments) {
  int stars[2] = {0, 0};
  for (int i = 0; i < conversion.star_width + conversion.star_precision; ++i)
    stars[i] = std::clamp(arguments.next<std::int32_t>(), -kLongest, kLongest);
  const std::string plain = conversion.text + conversion.type;
  switch (conversion.type) {
    case 'd':
    case 'i':
      if (!conversion.is_long) return print_one(conversion, plain, stars, arguments.next<int>());
      return print_one(conversion, conversion.text + "lld", stars, arguments.next<long long>());
    case 'u':
    case 'o':
    case 'x':
    case 'X':
      if (!conversion.is_long)
        return print_one(conversion, plain, stars, arguments.next<unsigned>());
      return print_one(conversion, conversion.text + "ll" + conversion.type, stars,
                       arguments.next<unsigned long long>());
    case 'c':
      return print_one(conversion, plain, stars, arguments.next<int>());
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
      return print_one(conversion, plain, stars, arguments.next<double>());
    case 'p':
      return print_one(conversion, plain, stars,
                       reinterpret_cast<void*>(arguments.next<std::uint64_t>()));
    case 's': {
      const std::uint64_t address = arguments.next<std::uint64_t>();
      const std::string text = address == 0 ? "(null)" : read_string(w, lane, address);
      return print_one(conversion, plain, stars, text.c_str());
    }
    case '%':
      return "%";
    default:
      return plain;
  }
}

}  // namespace

std::string read_string(const Warp& w, int lane, std::uint64_t address) {
  std::string text;
  constexpr std::size_t kMostBytes = 4096;
  for (char c = 0; text.size() < kMostBytes; text += c) {
    if (!read_bytes(w, lane, address + text.size(), &c, 1) || c == 0) break;
  }
  return text;
}

std::string format_print(const Warp& w, int lane, std::uint64_t format_address,
                         std::uint64_t arguments_address) {
  const std::string format = read_string(w, lane, format_address);
  Arguments arguments(w, lane, arguments_address);
  std::string out;
  for (std::size_t at = 0; at < format.size();) {
    if (format[at] != '%') {
      out += format[at++];
      continue;
    }
    const Conversion conversion = parse_conversion(format, at);
    out += convert(w, lane, conversion, arguments);
  }
  return out;
}

std::uint32_t count_conversions(const Warp& w, int lane, std::uint64_t format_address) {
  const std::string format = read_string(w, lane, format_address);
  std::uint32_t count = 0;
  for (std::size_t at = 0; at < format.size();) {
    if (format[at] != '%') {
      ++at;
      continue;
    }
    count += parse_conversion(format, at).type != '%';
  }
  return count;
}

}  // namespace membound::vgpu::exec

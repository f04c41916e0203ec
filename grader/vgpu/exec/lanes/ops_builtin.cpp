// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The functions that the device runtime provides: printf (the format string and its packed
/// arguments are read from device memory), malloc, free, a failed assertion.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>

#include "grader/vgpu/exec/lanes/ops_call.hpp"
#include "grader/vgpu/exec/state/access.hpp"
#include "grader/vgpu/exec/state/execution_state.hpp"

namespace membound::vgpu::exec {

namespace {

using generic::u64;
using program::ArgumentCopy;
using program::Builtin;
using program::Call;

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

/// The zero-terminated text at a generic address, as `lane` sees it; at most 4096 bytes, "" for an
/// illegal address.
std::string read_string(const Warp& w, int lane, std::uint64_t address) {
  std::string text;
  constexpr std::size_t kMostBytes = 4096;
  for (char c = 0; text.size() < kMostBytes; text += c) {
    if (!read_bytes(w, lane, address + text.size(), &c, 1) || c == 0) break;
  }
  return text;
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

/// What printf(format, …) prints; the arguments are each aligned to their size.
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

/// printf's return value: the number of arguments it converted.
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

/// The 64- or 32-bit argument `index` of one lane.
std::uint64_t argument(Warp& w, const Call& call, std::size_t index, int lane) {
  std::uint64_t value = 0;
  if (index >= call.arguments.size()) return 0;
  const ArgumentCopy& copy = call.arguments[index];
  std::memcpy(&value, bytes_of(w, *w.frame, copy, lane), std::min(copy.size_bytes, 8u));
  return value;
}

void give_result(Warp& w, const Call& call, int lane, std::uint64_t value) {
  if (call.results.empty()) return;
  const ArgumentCopy& copy = call.results.front();
  std::memcpy(bytes_of(w, *w.frame, copy, lane), &value, std::min(copy.size_bytes, 8u));
}

/// Of a function that is called and nowhere there.
std::string missing_function_text(const std::string& name) {
  // What nvcc makes of kernel<<<…>>> in device code.
  if (name.starts_with("__cuda_syscall") || name.starts_with("cudaLaunchDevice") ||
      name.starts_with("cudaGetParameterBuffer"))
    return "a kernel that launches kernels (dynamic parallelism; call of '" + name +
           "') is not supported by the virtual GPU. Launch from the host, or run it on a GPU";
  return "call of '" + name +
         "', which no module of the program defines and the virtual GPU does not provide";
}

std::string assertion_text(Warp& w, const Call& call, int lane) {
  const auto text = [&](std::size_t index) {
    return read_string(w, lane, argument(w, call, index, lane));
  };
  return text(1) + ":" + std::to_string(argument(w, call, 2, lane)) + ": " + text(3) +
         ": Assertion `" + text(0) + "` failed.";
}

/// Tells the checkers of a red zone; its address is generic.
void leave_a_red_zone(Warp& w, const Call& call) {
  if (w.observer == nullptr) return;
  const LocalWindows windows = local_windows(w);
  for (std::uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    const std::uint64_t offset = argument(w, call, 0, lane) - windows.of(lane);
    if (offset <= w.local_stride && program::kRedZoneBytes <= w.local_stride - offset)
      w.observer->red_zone(w, static_cast<std::uint32_t>(lane), offset);
  }
}

/// What a lane's printf, malloc or free takes, in plain instructions of a warp.
constexpr u64 kBuiltinToll = 50;

}  // namespace

const Step* call_builtin(Warp& w, const Step* s, const Call& call) {
  if (!grow_local(w, s,
                  std::uint64_t{w.frame->local_base} +
                      w.launch->code[w.frame->function].function->frame_bytes))
    return w.stop;
  if (call.builtin == Builtin::kRedZone) {
    leave_a_red_zone(w, call);
    return s + 1;
  }
  generic::charge(w, kBuiltinToll * lane_count(w.mask));
  DeviceCalls* device = w.launch->request->device_calls;
  for (std::uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    switch (call.builtin) {
      case Builtin::kPrintf: {
        const std::string text =
            format_print(w, lane, argument(w, call, 0, lane), argument(w, call, 1, lane));
        generic::charge(w, text.size());
        const bool kept = device != nullptr && device->print(text);
        give_result(w, call, lane,
                    kept ? count_conversions(w, lane, argument(w, call, 0, lane)) : 0xFFFFFFFFu);
        break;
      }
      case Builtin::kMalloc: {
        const std::uint64_t bytes = argument(w, call, 0, lane);
        std::optional<Place> where;
        if (w.launch->request->checks.leakcheck)
          where = place_of(w, s, static_cast<std::uint32_t>(lane));
        const std::uint64_t address =
            device != nullptr ? device->allocate(bytes, where ? &*where : nullptr) : 0;
        if (address != 0 && w.observer != nullptr) w.observer->allocated(address, bytes);
        give_result(w, call, lane, address);
        break;
      }
      case Builtin::kFree: {
        const std::uint64_t address = argument(w, call, 0, lane);
        if (address != 0 && device != nullptr && !device->release(address))
          return raise(w, s, FaultKind::kIllegalAddress, static_cast<std::uint32_t>(lane), address,
                       "free of an address that device malloc did not return, or that was freed");
        break;
      }
      case Builtin::kAssertFail:
        return raise(w, s, FaultKind::kAssert, static_cast<std::uint32_t>(lane), 0,
                     assertion_text(w, call, lane));
      default:
        return raise(w, s, FaultKind::kUnsupportedInstruction, static_cast<std::uint32_t>(lane), 0,
                     missing_function_text(call.callee));
    }
  }
  return s + 1;
}

}  // namespace membound::vgpu::exec

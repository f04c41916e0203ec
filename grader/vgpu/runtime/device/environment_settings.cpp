// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/runtime/device/environment_settings.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "grader/device_code/checkers/checkers.hpp"

namespace membound::vgpu::runtime {
namespace {

base::Error bad_value(const char* variable, std::string_view value, std::string expected) {
  return {base::ErrorKind::kUsage, variable, "\"" + std::string(value) + "\"", std::move(expected),
          "unset it for the default"};
}

base::Result<std::uint64_t> read_number(const char* variable, std::string_view value) {
  std::uint64_t number = 0;
  const auto [end, code] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (code != std::errc() || end != value.data() + value.size())
    return bad_value(variable, value, "a whole number");
  return number;
}

base::Result<exec::Checks> read_checks(std::string_view list) {
  exec::Checks checks;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string_view name = list.substr(0, comma);
    if (name != "none" && !checks.switch_on(name))
      return bad_value("MEMBOUND_CHECK", name,
                       "none, all, or some of " + checkers::checker_names(false));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return checks;
}

/// "42" or "42-50"
std::optional<exec::LineRange> read_lines(std::string_view text) {
  exec::LineRange lines;
  const char* const end = text.data() + text.size();
  auto read = std::from_chars(text.data(), end, lines.first);
  lines.last = lines.first;
  if (read.ec == std::errc() && read.ptr != end && *read.ptr == '-')
    read = std::from_chars(read.ptr + 1, end, lines.last);
  const bool makes_sense = read.ec == std::errc() && read.ptr == end && lines.first != 0;
  return makes_sense && lines.first <= lines.last ? std::optional(lines) : std::nullopt;
}

/// "all", "none", "lanes" or "warps", of which the latter two may name lines.
base::Result<DrawnOrders> read_orders(std::string_view text) {
  if (text.empty() || text == "all") return DrawnOrders{};
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string_view which = text.substr(0, colon);
  DrawnOrders orders{.lanes = which == "lanes", .warps = which == "warps"};
  if (text == "none") return orders;
  if (colon != text.size()) orders.at_lines = read_lines(text.substr(colon + 1));
  const bool makes_sense = colon == text.size() || orders.at_lines.has_value();
  if ((orders.lanes || orders.warps) && makes_sense) return orders;
  return bad_value("MEMBOUND_ORDERS", text,
                   "all, none, lanes or warps, or lines of these as in lanes:42 or warps:40-50");
}

/// "x,y,z:warp:occurrences"; what is left out at the end keeps its default.
base::Result<TraceSettings> read_trace(std::string_view text) {
  constexpr const char* kName = "MEMBOUND_TRACE";
  TraceSettings trace;
  if (text.empty() || text == "off") return trace;
  trace.on = true;
  if (text == "on") return trace;
  std::uint32_t* const fields[] = {&trace.block.x, &trace.block.y, &trace.block.z, &trace.warp,
                                   &trace.occurrences};
  constexpr std::string_view kSeparators = ",,::";
  std::string_view rest = text;
  for (std::size_t i = 0; i < std::size(fields); ++i) {
    const auto [end, code] = std::from_chars(rest.data(), rest.data() + rest.size(), *fields[i]);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    if (code == std::errc() && rest.empty()) return trace;
    if (code != std::errc() || i == kSeparators.size() || rest.front() != kSeparators[i]) break;
    rest.remove_prefix(1);
  }
  return bad_value(kName, text, "on, off, or BLOCK:WARP:OCCURRENCES as in 0,0,0:0:1");
}

/// Reads variables one after the other and remembers the first that has no sense.
class Reader {
 public:
  explicit Reader(const Environment& environment) : environment_(environment) {}

  /// The number in a variable, if it is set.
  std::optional<std::uint64_t> number(const char* variable) {
    const std::string value = environment_(variable);
    return value.empty() ? std::nullopt : accepted(read_number(variable, value));
  }
  /// Whether a variable that may be unset or `usual` is `word`.
  bool is(const char* variable, std::string_view word, std::string_view usual,
          const char* expected) {
    const std::string value = environment_(variable);
    if (!value.empty() && value != word && value != usual) refuse(variable, value, expected);
    return value == word;
  }
  /// What was read, if it has a sense.
  template <typename T>
  std::optional<T> accepted(base::Result<T> read) {
    if (read) return *std::move(read);
    if (!error_) error_ = read.error();
    return std::nullopt;
  }
  void refuse(const char* variable, std::string_view value, const char* expected) {
    if (!error_) error_ = bad_value(variable, value, expected);
  }
  [[nodiscard]] const std::optional<base::Error>& error() const { return error_; }

 private:
  const Environment& environment_;
  std::optional<base::Error> error_;
};

}  // namespace

base::Result<Settings> read_settings(const Environment& environment) {
  Settings settings;
  Reader read(environment);
  if (const std::string device = environment("MEMBOUND_DEVICE"); device.starts_with("vgpu:"))
    settings.machine_id = device.substr(5);
  else if (!device.empty())
    read.refuse("MEMBOUND_DEVICE", device, "vgpu: and a machine, as in vgpu:h200");
  settings.machine_text = environment("MEMBOUND_MACHINE");
  if (const auto count = read.number("MEMBOUND_SMS"))
    settings.sm_count = static_cast<std::uint32_t>(std::min<std::uint64_t>(*count, 1u << 20));
  settings.counters_file = environment("MEMBOUND_COUNTERS");
  if (auto checks = read.accepted(read_checks(environment("MEMBOUND_CHECK"))))
    settings.checks = *checks;
  if (const auto most = read.number("MEMBOUND_CHECK_BLOCKS")) settings.checks.most_blocks = *most;
  settings.checked_layout = read.is("MEMBOUND_LAYOUT", "checked", "usual", "usual or checked") ||
                            settings.checks.memcheck;
  if (read.is("MEMBOUND_SCHEDULING", "lockstep", "independent", "independent or lockstep"))
    settings.scheduling = exec::Scheduling::kLockstep;
  if (const auto seed = read.number("MEMBOUND_SHUFFLE")) settings.shuffle_seed = *seed;
  if (const auto orders = read.accepted(read_orders(environment("MEMBOUND_ORDERS"))))
    settings.orders = *orders;
  if (const auto limit = read.number("MEMBOUND_STEP_LIMIT")) settings.step_limit = *limit;
  if (const auto workers = read.number("MEMBOUND_WORKERS"))
    settings.workers = static_cast<std::uint32_t>(std::min<std::uint64_t>(*workers, 1024));
  if (read.is("MEMBOUND_CACHES", "off", "on", "on or off")) settings.model_caches = false;
  // Held against what there is here alone; exec/launch/prepare reads it.
  static_cast<void>(read.is("MEMBOUND_HANDLERS", "generic", "best", "best or generic"));
  if (read.is("MEMBOUND_SUMMARY", "on", "off", "on or off")) settings.summary = true;
  if (read.is("MEMBOUND_WORK", "on", "off", "on or off")) settings.tell_work = true;
  settings.opcodes_file = environment("MEMBOUND_OPCODES");
  if (auto trace = read.accepted(read_trace(environment("MEMBOUND_TRACE"))))
    settings.trace = *trace;
  if (read.error()) return *read.error();
  return settings;
}

}  // namespace membound::vgpu::runtime

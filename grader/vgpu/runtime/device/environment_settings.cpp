// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/runtime/device/environment_settings.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

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

}  // namespace

base::Result<Settings> read_settings(const Environment& environment) {
  Settings settings;
  if (std::string device = environment("MEMBOUND_DEVICE"); !device.empty()) {
    if (!device.starts_with("vgpu:"))
      return bad_value("MEMBOUND_DEVICE", device, "vgpu: and a machine, as in vgpu:h200");
    settings.machine_id = device.substr(5);
  }
  settings.machine_text = environment("MEMBOUND_MACHINE");
  if (std::string count = environment("MEMBOUND_SMS"); !count.empty()) {
    auto number = read_number("MEMBOUND_SMS", count);
    if (!number) return number.error();
    settings.sm_count = static_cast<std::uint32_t>(std::min<std::uint64_t>(*number, 1u << 20));
  }
  settings.counters_file = environment("MEMBOUND_COUNTERS");
  if (auto checks = read_checks(environment("MEMBOUND_CHECK")); checks)
    settings.checks = *checks;
  else
    return checks.error();
  if (std::string most = environment("MEMBOUND_CHECK_BLOCKS"); !most.empty()) {
    auto number = read_number("MEMBOUND_CHECK_BLOCKS", most);
    if (!number) return number.error();
    settings.checks.most_blocks = *number;
  }
  if (std::string mode = environment("MEMBOUND_SCHEDULING"); mode == "lockstep")
    settings.scheduling = exec::Scheduling::kLockstep;
  else if (!mode.empty() && mode != "independent")
    return bad_value("MEMBOUND_SCHEDULING", mode, "independent or lockstep");
  if (std::string seed = environment("MEMBOUND_SHUFFLE"); !seed.empty()) {
    auto number = read_number("MEMBOUND_SHUFFLE", seed);
    if (!number) return number.error();
    settings.shuffle_seed = *number;
  }
  if (std::string limit = environment("MEMBOUND_STEP_LIMIT"); !limit.empty()) {
    auto number = read_number("MEMBOUND_STEP_LIMIT", limit);
    if (!number) return number.error();
    settings.step_limit = *number;
  }
  if (std::string workers = environment("MEMBOUND_WORKERS"); !workers.empty()) {
    auto number = read_number("MEMBOUND_WORKERS", workers);
    if (!number) return number.error();
    settings.workers = static_cast<std::uint32_t>(std::min<std::uint64_t>(*number, 1024));
  }
  if (std::string caches = environment("MEMBOUND_CACHES"); caches == "off")
    settings.model_caches = false;
  else if (!caches.empty() && caches != "on")
    return bad_value("MEMBOUND_CACHES", caches, "on or off");
  if (std::string handlers = environment("MEMBOUND_HANDLERS");  // read by exec/launch/prepare
      !handlers.empty() && handlers != "best" && handlers != "generic")
    return bad_value("MEMBOUND_HANDLERS", handlers, "best or generic");
  if (std::string summary = environment("MEMBOUND_SUMMARY"); summary == "on")
    settings.summary = true;
  else if (!summary.empty() && summary != "off")
    return bad_value("MEMBOUND_SUMMARY", summary, "on or off");
  if (std::string work = environment("MEMBOUND_WORK"); work == "on")
    settings.tell_work = true;
  else if (!work.empty() && work != "off")
    return bad_value("MEMBOUND_WORK", work, "on or off");
  settings.opcodes_file = environment("MEMBOUND_OPCODES");
  if (auto trace = read_trace(environment("MEMBOUND_TRACE")); trace)
    settings.trace = *trace;
  else
    return trace.error();
  return settings;
}

}  // namespace membound::vgpu::runtime

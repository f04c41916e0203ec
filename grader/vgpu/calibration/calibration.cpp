// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/calibration/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>

#include "grader/base/strings.hpp"

namespace membound::vgpu::calibration {
namespace {

using Json = nlohmann::ordered_json;
using timing::Machine;

/// Three digits that count, as far as readings repeat.
double rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return std::atof(text);
}

/// Evaluates the rules. A reading that is missing makes what asked for it not a number.
class Rules {
 public:
  Rules(const Machine& machine, const Readings& readings) : m(machine), readings_(readings) {
    empty = us("dispatch,empty 1 256");
    // Of a warp's first chain; the others take an empty launch as long as the GPU has SMs.
    filled_empty_ = us("dispatch,empty " + std::to_string(m.sm_count) + " 1024");
  }

  [[nodiscard]] double us(const std::string& name) const {
    const auto found = readings_.of.find(name);
    return found == readings_.of.end() ? std::nan("") : found->second;
  }
  /// One link of a chain of 1,024, a warp alone.
  [[nodiscard]] double link_ns(const std::string& name) const {
    return (us("latency," + name) - filled_empty_) * 1000 / 1024;
  }
  /// Clocks of an SM for one link, with two blocks of 32 warps at chains of 512.
  [[nodiscard]] double busy_clocks(const std::string& name) const {
    return (us("throughput," + name) - filled_empty_) * 1000 * m.clock_ghz / (64 * 512);
  }
  /// How long a block of 32 warps holds its place; not a number where starting blocks takes longer.
  [[nodiscard]] double turnover_ns() const {
    const double wide = us("dispatch,empty 1000000 1024"),
                 narrow = us("dispatch,empty 1000000 256");
    if (!(wide > 1.05 * narrow)) return std::nan("");
    const double places = m.sm_count * std::max(1.0, std::floor(m.max_threads_per_sm / 1024.0));
    return wide * places / 1000;
  }
  /// GB/s of one GiB in a reading's time.
  [[nodiscard]] double gib_gbs(const std::string& name) const {
    return 1073741824 / (us(name) * 1000);
  }
  Machine m;
  double empty = 0;

 private:
  const Readings& readings_;
  double filled_empty_ = 0;
};

bool is_number(double value) { return std::isfinite(value) && value >= 0; }

/// Takes numbers into the file as they become known.
class Writer {
 public:
  Writer(Json& root, std::string label, std::vector<CalibratedNumber>& numbers)
      : root_(root), label_(std::move(label)), numbers_(numbers) {}

  void number(const char* field, double value, const std::string& words) {
    Json& entry = root_["numbers"][field];
    numbers_.push_back({field, entry[0].get<double>(), value});
    entry = Json::array({value, "[measured] " + label_ + ": " + words});
  }
  void cost(const std::string& name, double slots, double clocks, const std::string& reading) {
    Json& classes = root_["instructions"];
    const double before = classes.contains(name) ? classes[name][1].get<double>() : 0;
    numbers_.push_back({name, before, clocks});
    classes[name] = Json::array({slots, clocks, "[measured] " + label_ + ": " + reading});
  }

 private:
  Json& root_;
  std::string label_;
  std::vector<CalibratedNumber>& numbers_;
};

void take_all(Rules& rules, Writer& writer) {
  Machine& m = rules.m;
  const double empty = rules.empty;
  const auto us = [&](const std::string& name) { return rules.us(name); };
  const auto link_ns = [&](const std::string& name) { return rules.link_ns(name); };
  const auto turnover_ns = [&] { return rules.turnover_ns(); };
  const auto gib_gbs = [&](const std::string& name) { return rules.gib_gbs(name); };
#define DEVICE_FACT(field)                                           \
  if (const double value = us("device," #field); is_number(value)) { \
    writer.number(#field, value, "as the device reports it");        \
    m.field = static_cast<decltype(m.field)>(value);                 \
  }
#define MEASURED(field, formula, words)                          \
  if (const double value = rounded(formula); is_number(value)) { \
    writer.number(#field, value, words);                         \
    m.field = value;                                             \
  }
#define COST(name, reading, less, links, given)                                                    \
  {                                                                                                \
    const bool has_less = *less != '\0';                                                           \
    const double busy =                                                                            \
        4 * (rules.busy_clocks(reading) - (has_less ? rules.busy_clocks(less) : 0)) / links;       \
    const double wait = (link_ns(reading) - (has_less ? link_ns(less) : 0)) * m.clock_ghz / links; \
    if (is_number(busy) && is_number(wait))                                                        \
      writer.cost(name, given > 0 ? given : rounded(busy), rounded(wait), reading);                \
  }
#include "grader/vgpu/calibration/calibration_rules.def"
}

/// As the files that are built in are laid out: an entry a line.
std::string text_of(const Json& root) {
  const auto lines = [](const Json& object) {
    std::string text;
    for (const auto& [name, entry] : object.items()) {
      base::add_word(text, "    " + Json(name).dump() + ": [", ",\n");
      for (std::size_t i = 0; i < entry.size(); ++i) text += (i > 0 ? ", " : "") + entry[i].dump();
      text += "]";
    }
    return text;
  };
  std::string text = "{\n  \"id\": " + root["id"].dump() + ",\n  \"name\": " + root["name"].dump() +
                     ",\n  \"numbers\": {\n" + lines(root["numbers"]) + "\n  }";
  if (root.contains("instructions"))
    text += ",\n  \"instructions\": {\n" + lines(root["instructions"]) + "\n  }";
  return text + "\n}\n";
}

}  // namespace

base::Result<Readings> read_readings(std::string_view text, std::string_view where) {
  Readings readings;
  int number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (number == 1 && line.starts_with("# ")) {
      readings.label = line.substr(2, line.find(':', 2) - 2);
      readings.gpu = readings.label.substr(0, readings.label.find(','));
    }
    if (line.empty() || line[0] == '#') continue;
    const std::size_t comma = line.rfind(',');
    char* rest = nullptr;
    const double value = comma == std::string::npos || comma + 1 == line.size()
                             ? std::nan("")
                             : std::strtod(line.c_str() + comma + 1, &rest);
    if (!is_number(value) || *rest != '\0')
      return base::Error{base::ErrorKind::kInput, std::string(where) + ":" + std::to_string(number),
                         "\"" + line + "\"",
                         "group,name,number, as membound machine calibrate leaves it", ""};
    readings.of[line.substr(0, comma)] = value;
  }
  if (readings.gpu.empty() || readings.of.empty())
    return base::Error{base::ErrorKind::kInput, std::string(where), "no readings",
                       "\"# GPU, driver, date\" and lines group,name,number", ""};
  return readings;
}

base::Result<Calibration> calibrate(const timing::MachineFile& base, const std::string& id,
                                    const Readings& readings) {
  auto machine = timing::machine_of(base);
  if (!machine) return machine.error();
  Calibration result;
  const auto text = timing::written_out(base.json, base.where);
  if (!text) return text.error();
  Json root = Json::parse(*text);
  root["id"] = id;
  root["name"] = readings.gpu;
  if (machine->name != readings.gpu) {  // what is not measured now was measured on another GPU
    for (const char* part : {"numbers", "instructions"})
      for (auto& [name, entry] : root[part].items()) {
        const std::string source = entry.back().get<std::string>();
        if (source.starts_with("[measured]"))
          entry.back() = "[recalled] of " + base.id + ":" + source.substr(source.find(']') + 1);
      }
  }
  if (root["instructions"].is_null()) root.erase("instructions");
  if (const auto sms = readings.of.find("device,sm_count"); sms != readings.of.end())
    machine->sm_count = static_cast<std::uint32_t>(sms->second);
  Rules rules(*machine, readings);
  Writer writer(root, readings.label, result.numbers);
  take_all(rules, writer);
  result.json = text_of(root);
  auto checked = timing::read_machine(result.json, id + ".json");
  if (!checked) return checked.error();
  return result;
}

}  // namespace membound::vgpu::calibration

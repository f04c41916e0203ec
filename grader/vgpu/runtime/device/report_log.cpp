// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/runtime/device/report_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "grader/base/demangle.hpp"

namespace membound::vgpu::runtime {
namespace {

using Json = nlohmann::ordered_json;

std::string dump(const Json& json) {
  // Names from a program's symbol table need not be valid UTF-8.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json triple_json(const Dim3& d) { return Json::array({d.x, d.y, d.z}); }

std::string triple_text(const Dim3& d) {
  return "[" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + "]";
}

/// Writes the members of an object at the end of a text that ends with its opening brace.
class Members {
 public:
  explicit Members(std::string& text) : text_(text) {}
  void raw(std::string_view name, std::string_view value) {
    text_.append(text_.back() == '{' ? "\"" : ",\"").append(name).append("\":").append(value);
  }
  void string(std::string_view name, std::string_view value) {
    const bool plain = std::all_of(value.begin(), value.end(), [](unsigned char c) {
      return c >= ' ' && c < 0x7F && c != '"' && c != '\\';
    });
    raw(name, plain ? "\"" + std::string(value) + "\"" : dump(Json(value)));
  }
  /// JSON has no infinity: what is not finite is null.
  template <typename T>
  void number(std::string_view name, T value) {
    if constexpr (std::is_floating_point_v<T>) {
      if (!std::isfinite(value)) return raw(name, "null");
    }
    std::array<char, 32> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    raw(name, {digits.data(), end});
  }

 private:
  std::string& text_;
};

/// base::demangled() of the kernels seen so far; launches are recorded by one thread at a time.
const std::string& demangled_once(const std::string& name) {
  static auto& known = *new std::map<std::string, std::string>;
  const auto found = known.find(name);
  return found != known.end() ? found->second
                              : known.emplace(name, base::demangled(name)).first->second;
}

Json place_json(const exec::Place& place) {
  return {{"kernel", place.kernel},
          {"file", place.file},
          {"line", place.line},
          {"ptx_line", place.ptx_line},
          {"instruction", place.instruction},
          {"block", triple_json(place.block)},
          {"thread", triple_json(place.thread)}};
}

void add_advice(const std::vector<timing::Advice>& all, std::string& text) {
  if (all.empty()) return;
  Json rows = Json::array();
  for (const timing::Advice& advice : all)
    rows.push_back({{"rule", advice.rule->name},
                    {"fault", advice.rule->fault},
                    {"gain", advice.gain},
                    {"what", advice.what},
                    {"counter", advice.rule->counter},
                    {"value", advice.value},
                    {"file", advice.file},
                    {"line", advice.line},
                    {"remedy", advice.rule->remedy},
                    {"handout", advice.rule->handout},
                    {"section", advice.rule->section}});
  text += ",\"advice\":" + dump(rows);
}

/// All that the clock was given beside counters and shape.
void add_work(const counters::LaunchWork& work, std::uint64_t constant_bytes, std::string& text) {
  Json kinds = Json::array(), runs = Json::array();
  for (const counters::BlockWork& block : work.kinds) {
    Json fields = Json::array();
    for (const auto field : counters::kBlockWorkFields) fields.push_back(block.*field);
    kinds.push_back(std::move(fields));
  }
  for (const counters::BlockRun& run : work.runs) runs.push_back({run.kind, run.blocks});
  text += ",\"work\":" + dump({{"constant_bytes", constant_bytes},
                               {"kinds", kinds},
                               {"runs", runs},
                               {"instructions", work.instructions}});
}

/// Buffered write(2) that remembers failure.
class RawWriter {
 public:
  explicit RawWriter(int file) : file_(file) {}
  void put(const char* text, std::size_t size) {
    while (ok_ && size > 0) {
      const ssize_t done = write(file_, text, size);
      if (done <= 0) {
        ok_ = false;
        return;
      }
      text += done;
      size -= static_cast<std::size_t>(done);
    }
  }
  void put(const char* text) { put(text, std::strlen(text)); }
  [[nodiscard]] bool ok() const { return ok_; }

 private:
  int file_;
  bool ok_ = true;
};

}  // namespace

std::string to_json(const LaunchRecord& record) {
  // By hand: this is done for every launch, and a tree of values would cost more than the launch of
  // an empty kernel.
  const timing::Prediction& p = *record.prediction;
  std::string text = "{";
  Members out(text);
  out.string("name", record.name);
  out.string("display_name", demangled_once(record.name));
  out.raw("grid", triple_text(record.grid));
  out.raw("block", triple_text(record.block));
  out.number("stream", record.stream);
  out.string("outcome", record.outcome);
  out.number("registers_per_thread", record.registers_per_thread);
  out.number("shared_bytes", record.shared_bytes);
  text += ",\"occupancy\":{";
  Members occupancy(text);
  occupancy.number("blocks_per_sm", p.occupancy.blocks);
  occupancy.number("theoretical", p.occupancy.share);
  occupancy.string("limiter", timing::to_string(p.occupancy.limiter));
  text += "}";
  out.number("predicted_ns", p.ns);
  out.string("bound", timing::to_string(p.binding));
  text += ",\"bounds\":[";
  for (const timing::Bound& bound : p.bounds) {
    if (bound.ns <= 0) continue;
    text += text.back() == '[' ? "{" : ",{";
    Members each(text);
    each.string("name", timing::to_string(bound.kind));
    each.number("ns", bound.ns);
    text += "}";
  }
  text += "]";
  out.number("start_ns", record.span.start_ns);
  out.number("end_ns", record.span.end_ns);
  out.number("warp_instructions", record.warp_instructions);
  out.number("wall_seconds", record.wall_seconds);
  if (!record.not_sampled.empty()) out.string("not_sampled", record.not_sampled);
  if (record.drawn_bytes) out.number("drawn_bytes", *record.drawn_bytes);
  if (record.sample) {
    text += ",\"sample\":{";
    Members sample(text);
    sample.number("blocks", record.sample->blocks);
    sample.number("of", record.sample->of);
    sample.number("error", record.sample->error);
    sample.number("stored_bytes", record.sample->stored_bytes);
    sample.number("loaded_bytes", record.sample->loaded_bytes);
    if (record.sample->counts_arrivals) sample.number("arrivals", record.sample->of);
    if (record.sample->prepares) sample.number("prepares", 1);
    if (record.sample->warps < 1) sample.number("warps", record.sample->warps);
    if (!record.sample->ran.empty()) text += ",\"ran\":" + dump(Json(record.sample->ran));
    text += "}";
  }
  if (record.shared_accesses)
    out.string("shared_accesses", *record.shared_accesses == program::AccessesFrom::kMachineCode
                                      ? "machine code"
                                      : "PTX");
  text += ",\"counters\":" + counters::to_json(record.counters->totals, false) + ",\"lines\":[";
  bool first = true;
  for (const counters::LineCounters& line : record.counters->lines) {
    if (!std::exchange(first, false)) text += ",";
    text += "{\"file\":" + dump(Json(line.file)) + ",\"line\":" + std::to_string(line.line) +
            ",\"counters\":" + counters::to_json(line.counters, true) + "}";
  }
  text += "]";
  add_advice(record.advice, text);
  if (record.constant_bytes) add_work(record.counters->work, *record.constant_bytes, text);
  if (!record.accesses.empty())
    text += ",\"traced_block\":" + dump(triple_json(record.traced_block)) +
            ",\"traced_warp\":" + std::to_string(record.traced_warp) +
            ",\"accesses\":" + record.accesses;
  return text + "}";
}

std::string to_json(const exec::CheckReport& report) {
  Json json = {{"checker", report.checker}, {"kind", report.kind}};
  json.update(place_json(report.place));
  json.update({{"address", report.address},
               {"size_bytes", report.size_bytes},
               {"count", report.count},
               {"text", report.text},
               {"advice", report.advice}});
  if (report.is_remark) json["remark"] = true;
  if (report.other) {
    json["other"] = place_json(report.other->place);
    json["other"]["wrote"] = report.other->wrote;
  }
  return dump(json);
}

std::string to_json(const exec::Fault& fault) {
  Json json = {{"checker", "fault"}, {"kind", exec::to_string(fault.kind)}};
  json.update(place_json(fault.place));
  json.update({{"address", fault.address}, {"size_bytes", 0}, {"count", 1}, {"text", fault.text}});
  return dump(json);
}

ReportLog::~ReportLog() {
  // A loop: were each entry to free its next one, a long list would be a deep recursion.
  for (const Entry* entry = first_.next.load(); entry != nullptr;)
    delete std::exchange(entry, entry->next.load());
}

void ReportLog::set_device(const std::string& name, const std::string& machine_id) {
  header_ = "{\"device\":" + dump(Json(name)) + ",\"machine\":" + dump(Json(machine_id));
}

void ReportLog::add_kernel(std::string json) { append(std::move(json), true); }

void ReportLog::add_report(std::string json, bool is_remark) {
  if (!is_remark) ++report_count_;
  append(std::move(json), false);
}

void ReportLog::append(std::string json, bool is_kernel) {
  auto* entry = new Entry{std::move(json), is_kernel, nullptr};
  last_->next.store(entry, std::memory_order_release);
  last_ = entry;
}

std::string ReportLog::text_from(const Entry* before) const {
  std::string text = header_;
  for (const bool kernels : {true, false}) {
    text += kernels ? ",\"kernels\":[" : ",\"reports\":[";
    bool first = true;
    for (const Entry* e = before->next.load(); e != nullptr; e = e->next.load())
      if (e->is_kernel == kernels) text += (std::exchange(first, false) ? "" : ",") + e->json;
    text += "]";
  }
  return text + "}\n";
}

std::string ReportLog::file_text() const { return text_from(&first_); }

std::string ReportLog::text_since_taken() const { return text_from(taken_); }

void ReportLog::mark_taken() { taken_ = last_; }

bool ReportLog::write_file(const char* path) const {
  std::array<char, 4096> beside{};
  const std::size_t length = std::strlen(path);
  constexpr const char kEnding[] = ".part";
  if (length + sizeof kEnding > beside.size()) return false;
  std::memcpy(beside.data(), path, length);
  std::memcpy(beside.data() + length, kEnding, sizeof kEnding);
  const int file = open(beside.data(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return false;
  RawWriter out(file);
  out.put(header_.data(), header_.size());
  for (const bool kernels : {true, false}) {
    out.put(kernels ? ",\"kernels\":[" : ",\"reports\":[");
    bool first = true;
    for (const Entry* e = first_.next.load(); e != nullptr; e = e->next.load()) {
      if (e->is_kernel != kernels) continue;
      if (!first) out.put(",");
      first = false;
      out.put(e->json.data(), e->json.size());
    }
    out.put("]");
  }
  out.put("}\n");
  const bool written = out.ok() && fsync(file) == 0;
  close(file);
  return written && std::rename(beside.data(), path) == 0;
}

}  // namespace membound::vgpu::runtime

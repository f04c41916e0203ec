// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/runtime/report_log.hpp"

#include <cxxabi.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

namespace membound::vgpu::runtime {
namespace {

using Json = nlohmann::ordered_json;

std::string dump(const Json& json) {
  // Names from a program's symbol table need not be valid UTF-8.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json triple(const Dim3& d) { return Json::array({d.x, d.y, d.z}); }

Json place_json(const exec::Place& place) {
  return {{"kernel", place.kernel},
          {"file", place.file},
          {"line", place.line},
          {"ptx_line", place.ptx_line},
          {"instruction", place.instruction},
          {"block", triple(place.block)},
          {"thread", triple(place.thread)}};
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

std::string demangled(const std::string& name) {
  int status = 0;
  char* text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string result = status == 0 && text != nullptr ? text : name;
  std::free(text);
  return result;
}

std::string to_json(const LaunchRecord& record) {
  const timing::Prediction& p = *record.prediction;
  Json bounds = Json::array();
  for (const timing::Bound& bound : p.bounds)
    if (bound.ns > 0) bounds.push_back({{"name", timing::to_string(bound.kind)}, {"ns", bound.ns}});
  Json json = {{"name", record.name},
               {"display_name", demangled(record.name)},
               {"grid", triple(record.grid)},
               {"block", triple(record.block)},
               {"stream", record.stream},
               {"outcome", record.outcome},
               {"registers_per_thread", record.registers_per_thread},
               {"shared_bytes", record.shared_bytes},
               {"occupancy",
                {{"blocks_per_sm", p.occupancy.blocks},
                 {"theoretical", p.occupancy.share},
                 {"limiter", timing::to_string(p.occupancy.limiter)}}},
               {"predicted_ns", p.ns},
               {"bound", timing::to_string(p.binding)},
               {"bounds", bounds},
               {"start_ns", record.span.start_ns},
               {"end_ns", record.span.end_ns},
               {"warp_instructions", record.warp_instructions},
               {"wall_seconds", record.wall_seconds}};
  std::string text = dump(json);
  text.pop_back();  // the closing brace: counters are added as text already made
  text += ",\"counters\":" + counters::to_json(record.counters->totals, false) + ",\"lines\":[";
  bool first = true;
  for (const counters::LineCounters& line : record.counters->lines) {
    if (!std::exchange(first, false)) text += ",";
    text += "{\"file\":" + dump(Json(line.file)) + ",\"line\":" + std::to_string(line.line) +
            ",\"counters\":" + counters::to_json(line.counters, true) + "}";
  }
  return text + "]}";
}

std::string to_json(const exec::CheckReport& report) {
  Json json = {{"checker", report.checker}, {"kind", report.kind}};
  json.update(place_json(report.place));
  json.update({{"address", report.address},
               {"size_bytes", report.size_bytes},
               {"count", report.count},
               {"text", report.text}});
  return dump(json);
}

std::string to_json(const exec::Fault& fault) {
  Json json = {{"checker", "fault"}, {"kind", exec::to_string(fault.kind)}};
  json.update(place_json(fault.place));
  json.update({{"address", fault.address}, {"size_bytes", 0}, {"count", 1}, {"text", fault.text}});
  return dump(json);
}

void ReportLog::set_device(std::string name, std::string machine_id) {
  header_ = "{\"device\":" + dump(Json(name)) + ",\"machine\":" + dump(Json(machine_id));
}

void ReportLog::add_kernel(std::string json) { append(std::move(json), true); }

void ReportLog::add_report(std::string json) { append(std::move(json), false); }

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

// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/runtime/device/reports.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <charconv>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "grader/base/demangle.hpp"
#include "grader/base/strings.hpp"
#include "grader/vgpu/exec/state/fault_messages.hpp"

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

void add_advice(const std::vector<advice::Advice>& all, std::string& text) {
  if (all.empty()) return;
  Json rows = Json::array();
  for (const advice::Advice& advice : all)
    rows.push_back({{"rule", advice.rule->name},
                    {"fault", advice.rule->fault},
                    {"gain", advice.speedup},
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

/// What the clock made of it.
void add_prediction(const timing::Prediction& p, std::string& text) {
  text += ",\"occupancy\":{";
  Members occupancy(text);
  occupancy.number("blocks_per_sm", p.occupancy.blocks);
  occupancy.number("theoretical", p.occupancy.share);
  occupancy.string("limiter", timing::to_string(p.occupancy.limiter));
  text += "}";
  Members out(text);
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
}

/// Of a launch of which some blocks ran.
void add_sample(const exec::SampleFacts& part, std::string& text) {
  text += ",\"sample\":{";
  Members out(text);
  out.number("blocks", part.blocks);
  out.number("of", part.of);
  out.number("error", part.error);
  out.number("stored_bytes", part.stored_bytes);
  out.number("loaded_bytes", part.loaded_bytes);
  if (part.counts_arrivals) out.number("arrivals", part.of);
  if (part.prepares) out.number("prepares", 1);
  if (part.warps < 1) out.number("warps", part.warps);
  if (!part.ran.empty()) text += ",\"ran\":" + dump(Json(part.ran));
  text += "}";
}

void add_counters(const counters::LaunchCounters& counted, std::string& text) {
  text += ",\"counters\":" + counters::to_json(counted.totals, false) + ",\"lines\":[";
  bool first = true;
  for (const counters::LineCounters& line : counted.lines) {
    if (!std::exchange(first, false)) text += ",";
    text += "{\"file\":" + dump(Json(line.file)) + ",\"line\":" + std::to_string(line.line) +
            ",\"counters\":" + counters::to_json(line.counters, true) + "}";
  }
  text += "]";
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

constexpr std::size_t kMostKernels = 8;
constexpr std::size_t kNameWidth = 40;

std::string duration_text(double ns) {
  const auto [scale, unit] = ns < 1e3   ? std::pair{1.0, "ns"}
                             : ns < 1e6 ? std::pair{1e3, "us"}
                             : ns < 1e9 ? std::pair{1e6, "ms"}
                                        : std::pair{1e9, "s"};
  char text[48];
  std::snprintf(text, sizeof text, "%.3g %s", ns / scale, unit);
  return text;
}

struct ErrorRow {
  int code;
  const char* name;
  const char* text;
};

constexpr ErrorRow kErrors[] = {
#define CUDA_ERROR(name, number, text) {number, #name, text},
#include "grader/device_code/cuda_api/error_table.def"
#undef CUDA_ERROR
};

constexpr const char* kUnknownCode = "unrecognized error code";

const ErrorRow* find_error(int code) {
  const auto* row =
      std::find_if(std::begin(kErrors), std::end(kErrors), [&](auto& e) { return e.code == code; });
  return row == std::end(kErrors) ? nullptr : row;
}

/// "  in scale(float*, int), block (1, 0, 0), thread (5, 0, 0)\n  at scale.cu:12: ld.global…".
std::string place_text(const exec::Place& place) {
  if (place.kernel.empty() && place.file.empty() && place.ptx_line == 0) return {};
  std::string text = "\n  in " + base::demangled(place.kernel) + ", block " +
                     exec::triple(place.block) + ", thread " + exec::triple(place.thread);
  if (!place.file.empty()) text += "\n  at " + place.file + ":" + std::to_string(place.line);
  if (place.file.empty() && place.ptx_line > 0)
    text += "\n  at line " + std::to_string(place.ptx_line) +
            " of its PTX (compile with -lineinfo to see the source line)";
  if (!place.instruction.empty()) text += ": " + place.instruction;
  return text;
}

/// Of a launch of which nothing was counted.
std::string uncounted_json(const LaunchRecord& record) {
  std::string text = "{";
  Members out(text);
  out.string("name", record.name);
  out.string("outcome", record.outcome);
  out.number("warp_instructions", record.warp_instructions);
  if (!record.not_sampled.empty()) out.string("not_sampled", record.not_sampled);
  if (record.writes_variables) out.number("writes_variables", 1);
  if (record.drawn_bytes) out.number("drawn_bytes", *record.drawn_bytes);
  if (record.slice) {
    text += ",\"kinds\":" + dump(Json(record.slice->kinds));
    text += ",\"stored\":" + dump(Json(record.slice->stored));
  }
  return text + "}";
}

}  // namespace

std::string to_json(const LaunchRecord& record) {
  // By hand: this is done for every launch, and a tree of values would cost more than the launch of
  // an empty kernel.
  if (record.counters == nullptr) return uncounted_json(record);
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
  add_prediction(*record.prediction, text);
  out.number("start_ns", record.span.start_ns);
  out.number("end_ns", record.span.end_ns);
  out.number("warp_instructions", record.warp_instructions);
  out.number("wall_seconds", record.wall_seconds);
  if (!record.not_sampled.empty()) out.string("not_sampled", record.not_sampled);
  if (record.writes_variables) out.number("writes_variables", 1);
  if (record.drawn_bytes) out.number("drawn_bytes", *record.drawn_bytes);
  if (record.sample) add_sample(*record.sample, text);
  if (record.shared_accesses)
    out.string("shared_accesses", *record.shared_accesses == program::AccessesFrom::kMachineCode
                                      ? "machine code"
                                      : "PTX");
  add_counters(*record.counters, text);
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

void RunSummary::add(const std::string& kernel, double ns, timing::BoundKind binding) {
  Sum& sum = kernels_[kernel];
  ++sum.launches;
  sum.ns += ns;
  sum.bound_ns[binding] += ns;
}

std::string RunSummary::text(const std::string& device) const {
  std::vector<std::pair<std::string, Sum>> all(kernels_.begin(), kernels_.end());
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.second.ns > b.second.ns; });
  double ns = 0;
  std::uint64_t launches = 0;
  for (const auto& [name, sum] : all) ns += sum.ns, launches += sum.launches;
  if (all.empty()) return "no kernel was launched on the " + device;
  std::string text = base::counted(all.size(), "kernel") + " in " +
                     base::counted(launches, "launch") + ", predicted to take " +
                     duration_text(ns) + " on the " + device;
  for (std::size_t i = 0; i < std::min(all.size(), kMostKernels); ++i) {
    const auto& [mangled, sum] = all[i];
    const auto binding =
        std::max_element(sum.bound_ns.begin(), sum.bound_ns.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    std::string name = base::short_function_name(mangled);
    if (name.size() < kNameWidth) name.resize(kNameWidth, ' ');
    text += "\n  " + name + " " + duration_text(sum.ns) + " in " +
            base::counted(sum.launches, "launch") + ", bound by " +
            std::string(timing::to_string(binding->first));
  }
  if (all.size() > kMostKernels)
    text += "\n  and " + base::counted(all.size() - kMostKernels, "more kernel");
  return text;
}

std::string findings_line(bool looked, std::uint64_t findings) {
  if (looked) return findings == 0 ? "no findings" : base::counted(findings, "finding");
  return "no checker looked on; `membound run --check all -- PROGRAM` looks for accesses out of "
         "bounds, data races, reads of what nobody wrote, barriers that not all reach, and leaks";
}

}  // namespace membound::vgpu::runtime

namespace membound::vgpu::runtime::messages {

void print(const std::string& text) {
  const std::string line = "membound: " + text + "\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
}

std::string fault(const exec::Fault& f) {
  std::string text = std::string(exec::to_string(f.kind)) + place_text(f.place);
  if (!f.text.empty()) text += "\n  " + f.text;
  return text;
}

std::string finding(const exec::CheckReport& report) {
  std::string text = report.checker + ": " + (report.is_remark ? "remark: " : "") + report.kind +
                     place_text(report.place);
  if (!report.text.empty()) text += "\n  " + report.text;
  if (!report.advice.empty()) text += "\n  try: " + report.advice;
  if (report.count > 1) text += "\n  " + std::to_string(report.count) + " times in this launch";
  return text;
}

std::string unusable_code(const std::string& kernel, const base::Error& error) {
  std::string text = kernel.empty() ? "this program's device code cannot run here"
                                    : "kernel " + base::demangled(kernel) + " cannot run here";
  return text + "\n  " + base::to_string(error);
}

std::string missing_call(std::string_view entry_point) {
  return "the virtual GPU has no " + std::string(entry_point) +
         "; it answered cudaErrorNotSupported (said once)";
}

std::string leak(const memory::Allocation& allocation) {
  return "leakcheck: " + base::counted(allocation.size_bytes, "byte") + " of allocation " +
         std::to_string(allocation.serial) + (allocation.size_bytes == 1 ? " was" : " were") +
         " never freed" +
         (allocation.info.name.empty() ? "" : "\n  made by " + allocation.info.name);
}

std::string unchecked_launch(std::string_view kernel, cudaError_t code, std::string_view why) {
  return "a launch of " + base::demangled(std::string(kernel)) +
         " failed and nobody asked: " + error_name(code) + ", " + error_text(code) +
         (why.empty() ? "" : "\n  " + std::string(why)) +
         "\n  try: call cudaGetLastError() after each launch";
}

std::string refused_launch(std::string_view kernel, std::string_view why) {
  return "a launch of " + base::demangled(std::string(kernel)) + " was refused\n  " +
         std::string(why);
}

std::string lost_output(std::size_t bytes) {
  return base::counted(bytes, "byte") + " that kernels printed " + (bytes == 1 ? "was" : "were") +
         " not shown\n  try: call cudaDeviceSynchronize() before "
         "the program ends, as on a GPU";
}

std::string dropped_output(std::size_t lines, std::size_t buffer_bytes) {
  return base::counted(lines, "line") + " of printf did not fit into its buffer of " +
         std::to_string(buffer_bytes) + " bytes and " + (lines == 1 ? "is" : "are") +
         " lost (a GPU would lose the oldest instead)\n  try: print less between two "
         "synchronisations, or cudaDeviceSetLimit(cudaLimitPrintfFifoSize, …)";
}

const char* error_text(int code) {
  const ErrorRow* row = find_error(code);
  return row ? row->text : kUnknownCode;
}

const char* error_name(int code) {
  const ErrorRow* row = find_error(code);
  return row ? row->name : kUnknownCode;
}

}  // namespace membound::vgpu::runtime::messages

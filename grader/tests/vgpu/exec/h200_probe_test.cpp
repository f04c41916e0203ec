// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Repeats the probe launches whose counters were measured on an H200 with Nsight Compute
/// (grader/gpu_truth/data/h200_probe.csv, one row a launch) and compares the instruction-level
/// metrics, which are exact there. The kernels are small PTX programs made here from each row's
/// name:
///   lds, sts   fill shared memory, one access of the pattern, one store of a word
///   ldg, stg   one access of the pattern (and one store of a word)
///   red, atom  one atomic add of the pattern, its result unused or stored
#include <fstream>
#include <map>
#include <sstream>

#include "grader/tests/vgpu/exec/machine_fixture.hpp"

namespace membound::vgpu::exec {
namespace {

using ProbeRow = std::map<std::string, std::string>;

std::vector<std::string> split_csv(const std::string& line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      cells.emplace_back();
    else
      cells.back() += c;
  }
  return cells;
}

std::vector<ProbeRow> read_rows() {
  std::ifstream file(MEMBOUND_TEST_DATA "/h200_probe.csv");
  std::string line;
  std::getline(file, line);
  const auto names = split_csv(line);
  std::vector<ProbeRow> rows;
  while (std::getline(file, line)) {
    const auto cells = split_csv(line);
    ProbeRow row;
    for (std::size_t i = 0; i < names.size(); ++i) row[names[i]] = cells[i];
    rows.push_back(row);
  }
  return rows;
}

/// The probe's index patterns: element of lane l.
std::uint32_t pattern(int number, std::uint32_t l) {
  switch (number) {
    case 1:
      return 0;
    case 2:
      return l / 2;
    case 3:
      return l & ~2u;
    case 4:
      return l * 2;
    case 5:
      return l * 4;
    case 6:
      return l * 8;
    case 7:
      return l * 16;
    case 8:
      return l * 32;
    case 9:
      return l % 16;
    case 10:
      return l % 8;
    case 11:
      return l % 16 * 2;
    case 12:
      return l * 33;
    case 13:
      return l * 3;
    case 14:
      return (l & 1) * 32 + l / 2;
    case 15:
      return 31 - l;
    case 16:
      return l / 4;
    case 17:
      return l / 8;
    case 18:
      return l / 16 * 64 + l % 16;
    default:
      return l;
  }
}

struct Probe {
  std::string kind;  ///< lds, sts, ldg, stg, red, atom, reread, partial, fillk, copyk
  int words = 1;
  int pattern = 0;
};

Probe parse_name(const std::string& name) {
  Probe probe;
  std::istringstream text(name.starts_with("void ") ? name.substr(5) : name);
  std::getline(text, probe.kind, text.str().find('<') != std::string::npos ? '<' : '(');
  if (text.str().find('<') == std::string::npos) return probe;
  std::string inside;
  std::getline(text, inside, '>');
  if (inside.find("float2") != std::string::npos) probe.words = 2;
  if (inside.find("float4") != std::string::npos) probe.words = 4;
  const auto comma = inside.find(',');
  probe.pattern = std::stoi(comma == std::string::npos ? inside : inside.substr(comma + 1));
  return probe;
}

std::string vector_suffix(int words) { return words == 1 ? "" : ".v" + std::to_string(words); }
std::string vector_registers(int words) {
  if (words == 1) return "%f0";
  return words == 2 ? "{%f0, %f1}" : "{%f0, %f1, %f2, %f3}";
}

/// Every kernel begins alike: %rd1 data, %rd2 output, %rd3 byte offset of the lane's element,
/// %rd4 lane * 4. The pattern comes in a parameter, so that reading it costs no global access.
std::string program_of(const Probe& probe) {
  const std::string access = vector_suffix(probe.words) + ".f32";
  const std::string data = vector_registers(probe.words);
  std::string body;
  const std::string output = "st.global.f32 [%rd2], %f0;\n";
  if (probe.kind == "lds") {
    body =
        "mov.u32 %r2, 0;\nloop:\nshl.b32 %r3, %r2, 2;\nadd.u32 %r3, %r3, %r4;\n"
        "st.shared.f32 [%r3], %f0;\nadd.u32 %r2, %r2, 32;\nsetp.lt.u32 %p1, %r2, %r5;\n"
        "@%p1 bra loop;\n"
        "ld.shared" +
        access + " " + data + ", [%r6];\n" + output;
  } else if (probe.kind == "sts") {
    body = "st.shared" + access + " [%r6], " + data + ";\nld.shared.f32 %f0, [%r4];\n" + output;
  } else if (probe.kind == "ldg") {
    body = "add.u64 %rd5, %rd1, %rd3;\nld.global" + access + " " + data + ", [%rd5];\n" + output;
  } else if (probe.kind == "stg") {
    body = "add.u64 %rd5, %rd1, %rd3;\nst.global" + access + " [%rd5], " + data + ";\n";
  } else if (probe.kind == "red" || probe.kind == "atom") {
    // Pattern 1 is one word for all, and the compiler sees that it is.
    body =
        std::string(probe.pattern == 1 ? "mov.u64 %rd5, %rd1;\n" : "add.u64 %rd5, %rd1, %rd3;\n") +
        "atom.global.add.u32 %r3, [%rd5], 1;\n" +
        (probe.kind == "atom" ? "st.global.u32 [%rd2], %r3;\n" : "");
  } else {  // reread and partial: lanes below %r5 copy a word
    body =
        "setp.ge.u32 %p1, %r1, %r5;\n@%p1 bra done;\nadd.u64 %rd5, %rd1, %rd4;\n"
        "ld.global.f32 %f0, [%rd5];\n" +
        output + "done:\n";
  }
  return ".version 8.0\n.target sm_90\n.address_size 64\n.extern .shared .align 16 .b8 memory[];\n"
         ".visible .entry probe(.param .u64 data, .param .u64 output, .param .u32 number,\n"
         "  .param .align 4 .b8 index[128])\n{\n.reg .pred %p<2>;\n.reg .b32 %r<8>;\n"
         ".reg .f32 %f<4>;\n.reg .b64 %rd<8>;\n"
         "ld.param.u64 %rd1, [data];\nld.param.u64 %rd2, [output];\nld.param.u32 %r5, [number];\n"
         "mov.u32 %r1, %tid.x;\nshl.b32 %r4, %r1, 2;\ncvt.u64.u32 %rd4, %r4;\n"
         "add.u64 %rd2, %rd2, %rd4;\nmov.b64 %rd6, index;\nadd.u64 %rd6, %rd6, %rd4;\n"
         "ld.param.u32 %r6, [%rd6];\ncvt.u64.u32 %rd3, %r6;\nmov.f32 %f0, 0f00000000;\n"
         "mov.f32 %f1, %f0;\nmov.f32 %f2, %f0;\nmov.f32 %f3, %f0;\n" +
         body + "ret;\n}\n";
}

std::uint64_t number(const ProbeRow& row, const char* name) { return std::stoull(row.at(name)); }

counters::Counters run_probe(const ProbeRow& row, const Probe& probe) {
  Machine machine(program_of(probe));
  const bool shared = probe.kind == "lds" || probe.kind == "sts";
  const std::uint32_t bytes = 4 * static_cast<std::uint32_t>(probe.words);
  const auto data = machine.upload(std::vector<float>(1 << 16));
  const auto output = machine.upload(std::vector<float>(64));
  const std::uint32_t elements = 49152 / bytes;
  std::uint32_t limit = shared ? elements : 32;
  if (probe.kind == "partial") {  // the three rows differ in the number of lanes only
    const auto sectors = number(row, "memory_l2_theoretical_sectors_global");
    limit = sectors == 4 ? 9 : number(row, "launch") == 110 ? 1 : 8;
  }
  // Rows of misaligned accesses carry their offset of one element in the sectors they touch.
  const bool shifted = (probe.kind == "ldg" || probe.kind == "stg") && probe.pattern == 0 &&
                       number(row, "memory_l2_theoretical_sectors_global") % 2 == 1;
  machine.argument(data).argument(output).argument(limit);
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const std::uint32_t element = pattern(probe.pattern, lane) % (shared ? elements : ~0u);
    machine.argument((element + shifted) * bytes);
  }
  machine.request().dynamic_shared_bytes = shared ? 49152 : 0;
  const LaunchReport report = machine.run("probe", {1, 1, 1}, {32, 1, 1});
  EXPECT_FALSE(report.fault) << report.fault->text;
  return report.counters.totals;
}

TEST(H200Probe, EveryOneWarpRowIsEqual) {
  int compared = 0;
  for (const ProbeRow& row : read_rows()) {
    const Probe probe = parse_name(row.at("kernel"));
    if (probe.kind == "fillk" || probe.kind == "copyk") continue;
    const counters::Counters c = run_probe(row, probe);
    const std::string what = "row " + row.at("launch") + " " + row.at("kernel");
    EXPECT_EQ(c.global_tag_requests, number(row, "memory_l1_tag_requests_global")) << what;
    EXPECT_EQ(c.theoretical_global_sectors, number(row, "memory_l2_theoretical_sectors_global"))
        << what;
    EXPECT_EQ(c.ideal_global_sectors, number(row, "memory_l2_theoretical_sectors_global_ideal"))
        << what;
    EXPECT_EQ(c.shared_wavefronts, number(row, "memory_l1_wavefronts_shared")) << what;
    EXPECT_EQ(c.ideal_shared_wavefronts, number(row, "memory_l1_wavefronts_shared_ideal")) << what;
    EXPECT_EQ(c.shared_load_wavefronts,
              number(row, "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"))
        << what;
    EXPECT_EQ(c.shared_store_wavefronts,
              number(row, "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum"))
        << what;
    EXPECT_EQ(c.global_load_requests,
              number(row, "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"))
        << what;
    EXPECT_EQ(c.global_load_sectors, number(row, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"))
        << what;
    EXPECT_EQ(c.global_store_sectors, number(row, "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"))
        << what;
    EXPECT_EQ(c.reduction_sectors, number(row, "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum"))
        << what;
    EXPECT_EQ(c.atomic_sectors, number(row, "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum"))
        << what;
    ++compared;
  }
  EXPECT_EQ(compared, 113);
}

constexpr const char* kWholeGrid = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry fillk(.param .u64 a, .param .u64 b) {
  .reg .b32 %r<5>; .reg .f32 %f<2>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [a];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r3, %r1, 256, %r2;
  mul.wide.u32 %rd2, %r3, 4; add.u64 %rd1, %rd1, %rd2;
  cvt.rn.f32.u32 %f1, %r3; st.global.f32 [%rd1], %f1; ret;
}
.visible .entry copyk(.param .u64 a, .param .u64 b) {
  .reg .b32 %r<5>; .reg .f32 %f<2>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [a]; ld.param.u64 %rd3, [b];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r3, %r1, 256, %r2;
  mul.wide.u32 %rd2, %r3, 4; add.u64 %rd1, %rd1, %rd2; add.u64 %rd3, %rd3, %rd2;
  ld.global.f32 %f1, [%rd1]; st.global.f32 [%rd3], %f1; ret;
}
)";

TEST(H200Probe, WholeGridsAreEqualUpToAMillionElements) {
  Machine machine(kWholeGrid);
  constexpr std::uint32_t kMost = 1 << 20;
  const auto a = machine.upload(std::vector<float>(kMost));
  const auto b = machine.upload(std::vector<float>(kMost));
  for (const ProbeRow& row : read_rows()) {
    const Probe probe = parse_name(row.at("kernel"));
    if (probe.kind != "fillk" && probe.kind != "copyk") continue;
    const auto blocks = static_cast<std::uint32_t>(std::stoul(row.at("grid").substr(1)));
    if (blocks > kMost / 256) continue;
    machine.argument(a).argument(b);
    const auto c = machine.run(probe.kind, {blocks, 1, 1}, {256, 1, 1}).counters.totals;
    EXPECT_EQ(c.global_tag_requests, number(row, "memory_l1_tag_requests_global"));
    EXPECT_EQ(c.theoretical_global_sectors, number(row, "memory_l2_theoretical_sectors_global"));
    EXPECT_EQ(c.global_load_sectors, number(row, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"));
  }
}

}  // namespace
}  // namespace membound::vgpu::exec

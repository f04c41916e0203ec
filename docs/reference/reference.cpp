// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Writes the reference pages of the virtual GPU from the tables that its code is made of:
/// instructions, counters, machines, functions of the CUDA runtime.
/// Usage: membound_reference FOLDER
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "grader/vgpu/counters/counters.hpp"
#include "grader/vgpu/program/opcode_table.hpp"
#include "grader/vgpu/timing/machine.hpp"

namespace {

using namespace membound::vgpu;

/// Text for a cell of a table: Doxygen would take these for commands, tags and columns.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '|')
      out += "&#124;";
    else
      out += c;
  }
  return out;
}

std::string code(std::string_view text) {
  return text.empty() ? "" : "<code>" + cell(text) + "</code>";
}

std::string row(std::initializer_list<std::string> cells) {
  std::string text = "|";
  for (const std::string& one : cells) text += " " + one + " |";
  return text + "\n";
}

std::string head(std::initializer_list<std::string> cells) {
  std::string text = row(cells) + "|";
  for (std::size_t i = 0; i < cells.size(); ++i) text += " --- |";
  return text + "\n";
}

const char* word_for(program::Unit unit) {
  switch (unit) {
    case program::Unit::kInteger:
      return "integer";
    case program::Unit::kFloat32:
      return "float32";
    case program::Unit::kFloat64:
      return "float64";
    case program::Unit::kHalf:
      return "half";
    case program::Unit::kConvert:
      return "convert";
    case program::Unit::kSpecialFunction:
      return "special function";
    case program::Unit::kMove:
      return "move";
    case program::Unit::kMemory:
      return "memory";
    case program::Unit::kControl:
      return "control";
    case program::Unit::kBarrier:
      return "barrier";
    case program::Unit::kCollective:
      return "collective";
    case program::Unit::kAtomic:
      return "atomic";
    case program::Unit::kTexture:
      return "texture";
    case program::Unit::kAsync:
      return "asynchronous";
    case program::Unit::kTensor:
      return "tensor";
    case program::Unit::kByType:
      return "by its type";
  }
  return "";
}

std::string opcodes() {
  std::map<std::string, std::string> sections;
  int executed = 0, refused = 0;
  for (const program::OpcodeInfo& info : program::all_opcodes()) {
    if (info.name.starts_with("<")) continue;  // made by the decoder, never written
    const bool has = info.shape != program::Shape::kUnsupported;
    ++(has ? executed : refused);
    const char* what = info.shape == program::Shape::kIgnored ? "accepted, does nothing"
                       : has                                  ? "executed"
                                                              : "refused when it is reached";
    sections[std::string(info.section)] +=
        row({code(info.name), cell(info.doc), word_for(info.unit), what});
  }
  std::string text =
      "# PTX instructions of the virtual GPU {#reference_instructions}\n\n" +
      std::to_string(executed) + " base instructions are executed, " + std::to_string(refused) +
      " are known and refused: a kernel that holds one loads, and ends with *unsupported "
      "instruction* only when it gets there. The sections are those of the PTX ISA. The unit is "
      "what "
      "the counters and the timing model count an instruction under.\n";
  for (const auto& [section, rows] : sections)
    text +=
        "\n## " + section + "\n\n" + head({"instruction", "what it does", "unit", "here"}) + rows;
  return text;
}

std::string counters_page() {
  std::string text =
      "# Counters of the virtual GPU {#reference_counters}\n\n"
      "*exact*: equal to the profiler's instruction-level metric on the same kernel. *ptx*: counts "
      "PTX instructions; a GPU's own instructions differ somewhat. *modelled*: comes out of a "
      "model.\n\n" +
      head({"counter", "unit", "certainty", "meaning", "how it is formed", "nearest metric"});
  for (const counters::CounterInfo& info : counters::all_counters())
    text += row({code(info.name), cell(info.unit), cell(info.certainty), cell(info.meaning),
                 cell(info.formed), code(info.metric)});
  return text;
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.12g", value);
  return text;
}

std::string machines() {
  std::string text =
      "# Machines of the virtual GPU {#reference_machines}\n\n"
      "Each is one file below grader/vgpu/timing/machines; every number has its source there and "
      "here.\n\n## What the numbers mean\n\n" +
      head({"number", "meaning"});
#define MACHINE_FIELD(type, field, meaning) text += row({code(#field), cell(meaning)});
#include "grader/vgpu/timing/machine_fields.def"
#undef MACHINE_FIELD
  for (const timing::BuiltInMachine& built_in : timing::built_in_machines()) {
    const auto machine = timing::read_machine(built_in.json, built_in.id);
    if (!machine) continue;
    text += "\n## " + machine->name + ": vgpu:" + machine->id +
            "\n\n\\htmlonly[block]\n<details><summary>Its numbers, each with its "
            "source</summary>\n\\endhtmlonly\n\n" +
            head({"number", "value", "source"});
    for (const timing::NumberSource& source : timing::read_sources(built_in.json))
      text += row({code(source.field), number(source.value), cell(source.source)});
    text += "\n\\htmlonly[block]\n</details>\n\\endhtmlonly\n";
  }
  return text;
}

std::string entry_points() {
  int answered = 0, refused = 0;
  std::string rows;
#define WORDS_answered ++answered, "answered"
#define WORDS_refused ++refused, "refused: `cudaErrorNotSupported`"
#define ENTRY_POINT(name, what) rows += row({code(#name), (WORDS_##what)});
#include "grader/device_code/cuda_api/entry_points.def"
#undef ENTRY_POINT
  return "# Functions of the CUDA runtime {#reference_entry_points}\n\n"
         "Every function that the CUDA 13.0 runtime library exports is there, so that every "
         "program "
         "loads. " +
         std::to_string(answered) + " are answered; " + std::to_string(refused) +
         " are refused, and say so once on standard error: they are about other processes, "
         "graphics, "
         "external memory, block clusters and several devices, none of which a single virtual "
         "device has.\n\n" +
         head({"function", "here"}) + rows;
}

bool write(const std::filesystem::path& file, const std::string& text) {
  std::ofstream out(file);
  out << "<!-- Made by membound_reference from the tables in grader/vgpu. -->\n" << text;
  out.close();
  if (out) return true;
  std::fprintf(stderr, "membound_reference: %s cannot be written\n", file.c_str());
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: membound_reference FOLDER\n");
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  std::error_code ignored;  // write() tells what is wrong
  std::filesystem::create_directories(folder, ignored);
  const bool written = write(folder / "instructions.md", opcodes()) &&
                       write(folder / "counters.md", counters_page()) &&
                       write(folder / "machines.md", machines()) &&
                       write(folder / "entry_points.md", entry_points());
  return written ? 0 : 3;
}

// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/device_code/ptx/printer.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "grader/device_code/ptx/ast.hpp"

namespace membound::ptx {
namespace {

/// `prefix` and as many upper-case digits: "0f3F800000".
std::string hex(std::string_view prefix, int digits, std::uint64_t bits) {
  char text[32];
  std::snprintf(text, sizeof text, "%0*" PRIX64, digits, bits);
  return std::string(prefix) + text;
}

std::string integer(std::uint64_t bits, bool is_unsigned) {
  if (is_unsigned) return std::to_string(bits) + "U";
  const auto value = static_cast<std::int64_t>(bits);
  // The smallest number has no positive twin that could follow a minus sign.
  return value == INT64_MIN ? "(-9223372036854775807 - 1)" : std::to_string(value);
}

/// With its sign; nothing for 0.
std::string offset(std::uint64_t bits) {
  if (bits == 0) return "";
  const auto value = static_cast<std::int64_t>(bits);
  return value == INT64_MIN ? "+" + integer(bits, true)
                            : (value < 0 ? "" : "+") + integer(bits, false);
}

std::string_view spelling(Linkage linkage) {
  switch (linkage) {
    case Linkage::kVisible:
      return ".visible ";
    case Linkage::kExtern:
      return ".extern ";
    case Linkage::kWeak:
      return ".weak ";
    case Linkage::kCommon:
      return ".common ";
    case Linkage::kInternal:
      break;
  }
  return "";
}

/// " .v4"; nothing for one element.
std::string vector_word(std::uint8_t width) {
  return width > 1 ? " .v" + std::to_string(width) : "";
}

/// `.global .align 4 .v2 .f32 name[3]`, without linkage, value and ';'.
std::string declaration(const Variable& variable) {
  std::string text(to_string(variable.space));
  if (variable.is_managed) text += " .attribute(.managed)";
  if (variable.space != StateSpace::kReg) {
    text += " .align " + std::to_string(variable.alignment_bytes);
  }
  text += vector_word(variable.vector_width) + " " + std::string(to_string(variable.type));
  if (variable.is_pointer) {
    text += " .ptr " + std::string(to_string(variable.pointer_space));
    if (variable.pointer_alignment_bytes != 0) {
      text += " .align " + std::to_string(variable.pointer_alignment_bytes);
    }
  }
  text += " " + std::string(variable.name);
  for (std::uint64_t extent : variable.dimensions) {
    text += extent == 0 ? "[]" : "[" + std::to_string(extent) + "]";
  }
  return text;
}

std::string address(const Relocation& relocation) {
  std::string text(relocation.target.name);
  if (relocation.generic) text = "generic(" + text + ")";
  return text + offset(static_cast<std::uint64_t>(relocation.addend));
}

/// Element `index` of an initial value: an address, one byte of an address, or the stored bits.
std::string element(const Variable& variable, std::size_t index,
                    std::vector<Relocation>::const_iterator& relocation) {
  const std::size_t bytes = size_bytes(variable.type);
  if (relocation != variable.relocations.end() && relocation->offset_bytes == index * bytes) {
    const std::string text = address(*relocation);
    const bool whole = relocation->size_bytes == bytes && bytes > 1;
    const std::uint64_t mask = std::uint64_t{0xFF} << relocation->shift_bits;
    ++relocation;
    return whole ? text : hex("0x", 1, mask) + (mask >> 63 ? "U(" : "(") + text + ")";
  }
  std::uint64_t bits = 0;
  std::memcpy(&bits, variable.initial.data() + index * bytes, std::min(bytes, sizeof bits));
  if (variable.type == ScalarType::kF32) return hex("0f", 8, bits);
  if (variable.type == ScalarType::kF64) return hex("0d", 16, bits);
  return integer(bits, bits > std::uint64_t{INT64_MAX});
}

std::string initial_value(const Variable& variable) {
  const std::size_t bytes = size_bytes(variable.type);
  if (!variable.has_initial || variable.initial.empty()) return "";
  auto relocation = variable.relocations.begin();
  if (variable.dimensions.empty() && variable.vector_width == 1) {
    return " = " + element(variable, 0, relocation);
  }
  std::string text = " = {";
  for (std::size_t i = 0; i < variable.initial.size() / bytes; ++i) {
    if (i != 0) text += ", ";
    text += element(variable, i, relocation);
  }
  return text + "}";
}

/// "(.param .u64 a, .param .u32 n)".
std::string parameters(const std::vector<Variable>& variables) {
  std::string text = "(";
  for (const Variable& variable : variables) {
    if (text.size() > 1) text += ", ";
    text += declaration(variable);
  }
  return text + ")";
}

/// The whole declaration: linkage, initial value, ';'.
std::string variable_text(const Variable& variable) {
  return std::string(spelling(variable.linkage)) + declaration(variable) + initial_value(variable) +
         ";\n";
}

std::string joined(std::span<const Operand> operands) {
  std::string text;
  for (const Operand& operand : operands) {
    if (!text.empty()) text += ", ";
    text += to_text(operand);
  }
  return text;
}

std::string directive_text(const Directive& directive) {
  std::string text(directive.name);
  const char* separator = " ";
  for (std::uint64_t value : directive.values) {
    text += separator + std::to_string(value);
    separator = ", ";
  }
  for (std::string_view each : directive.texts) {
    text += separator + ("\"" + std::string(each) + "\"");
    separator = ", ";
  }
  return text;
}

/// Prints one function; where the text of a label's inlined name is not kept, it is left out.
class FunctionPrinter {
 public:
  FunctionPrinter(const Function& function, std::string& out) : function_(function), out_(out) {}

  void print() {
    out_ += spelling(function_.linkage);
    out_ += function_.is_entry ? ".entry " : ".func ";
    if (!function_.returns.empty()) out_ += parameters(function_.returns) + " ";
    out_ += std::string(function_.name) + parameters(function_.parameters) + "\n";
    for (const Directive& directive : function_.directives) {
      out_ += directive_text(directive) + (directive.name == ".pragma" ? ";\n" : "\n");
    }
    if (!function_.has_body) {
      out_ += ";\n";
      return;
    }
    out_ += "{\n";
    for (const Statement& statement : function_.body) print(statement);
    out_ += "}\n";
  }

 private:
  void print(const Statement& statement) {
    const std::uint32_t i = statement.index;
    switch (statement.kind) {
      case StatementKind::kInstruction:
        out_ += "  " + to_text(function_.instructions[i], function_) + ";\n";
        return;
      case StatementKind::kLabel:
        out_ += std::string(function_.labels[i].name) + ":\n";
        return;
      case StatementKind::kRegisters:
        print(function_.registers[i]);
        return;
      case StatementKind::kVariable:
        out_ += variable_text(function_.variables[i]);
        return;
      case StatementKind::kLocation:
        print(function_.locations[i]);
        return;
      case StatementKind::kPragma:
        out_ += directive_text(function_.pragmas[i]) + ";\n";
        return;
      case StatementKind::kPrototype:
        print(function_.prototypes[i]);
        return;
      case StatementKind::kTargets:
        print(function_.targets[i]);
        return;
      case StatementKind::kScopeBegin:
        out_ += "{\n";
        return;
      case StatementKind::kScopeEnd:
        out_ += "}\n";
        return;
    }
  }

  void print(const RegisterGroup& group) {
    out_ += ".reg" + vector_word(group.vector_width) + " " + std::string(to_string(group.type)) +
            " " + std::string(group.name);
    if (group.numbered) out_ += "<" + std::to_string(group.count) + ">";
    out_ += ";\n";
  }

  void print(const SourceLocation& location) {
    const auto place = [](std::uint32_t file, std::uint32_t line, std::uint32_t column) {
      return " " + std::to_string(file) + " " + std::to_string(line) + " " + std::to_string(column);
    };
    out_ += ".loc" + place(location.file, location.line, location.column);
    if (location.inlined_at_file != 0) {
      out_ += ", inlined_at" +
              place(location.inlined_at_file, location.inlined_at_line, location.inlined_at_column);
    }
    out_ += "\n";
  }

  void print(const Prototype& prototype) {
    out_ += std::string(prototype.name) + ": .callprototype ";
    if (!prototype.returns.empty()) out_ += parameters(prototype.returns) + " ";
    out_ += "_ " + parameters(prototype.parameters);
    out_ += prototype.is_noreturn ? " .noreturn;\n" : ";\n";
  }

  void print(const Targets& targets) {
    out_ += std::string(targets.name) + (targets.are_calls ? ": .calltargets" : ": .branchtargets");
    const char* separator = " ";
    for (const Reference& reference : targets.references) {
      out_ += separator + std::string(reference.name);
      separator = ", ";
    }
    out_ += ";\n";
  }

  const Function& function_;
  std::string& out_;
};

}  // namespace

std::string register_name(const Function& function, std::uint32_t number) {
  const RegisterGroup& group = function.group_of(number);
  std::string name(group.name);
  return group.numbered ? name + std::to_string(number - group.first) : name;
}

std::string to_text(const Operand& operand) {
  switch (operand.kind) {
    case OperandKind::kRegister:
      return (operand.negated ? "!" : "") + std::string(operand.reference.name) +
             std::string(operand.component);
    case OperandKind::kInteger:
      return integer(operand.bits, operand.is_unsigned);
    case OperandKind::kFloat32:
      return hex("0f", 8, operand.bits);
    case OperandKind::kFloat64:
      return hex("0d", 16, operand.bits);
    case OperandKind::kSymbol:
      return (operand.negated ? "!" : "") + std::string(operand.reference.name) +
             offset(operand.bits);
    case OperandKind::kAddress:
      if (operand.reference.name.empty()) return "[" + integer(operand.bits, true) + "]";
      return "[" + std::string(operand.reference.name) + std::string(operand.component) +
             offset(operand.bits) + "]";
    case OperandKind::kVector:
      return "{" + joined(operand.children) + "}";
    case OperandKind::kPair:
      return to_text(operand.children[0]) + "|" + to_text(operand.children[1]);
    case OperandKind::kList:
      return "(" + joined(operand.children) + ")";
    case OperandKind::kTuple:
      return "[" + joined(operand.children) + "]";
    case OperandKind::kSink:
      break;
  }
  return "_";
}

std::string to_text(const Instruction& instruction, const Function& function) {
  std::string text;
  if (instruction.guard != kNoIndex) {
    text = "@" + std::string(instruction.guard_negated ? "!" : "") +
           register_name(function, instruction.guard) + " ";
  }
  text += instruction.opcode;
  for (std::string_view suffix : instruction.suffixes) text += suffix;
  const std::string operands = joined(instruction.operands);
  return operands.empty() ? text : text + " " + operands;
}

std::string to_text(const Module& module) {
  std::string out = ".version " + std::to_string(module.version_major) + "." +
                    std::to_string(module.version_minor) + "\n";
  if (!module.target.empty()) {
    out += ".target " + std::string(module.target);
    for (std::string_view option : module.target_options) out += ", " + std::string(option);
    out += "\n";
  }
  out += ".address_size " + std::to_string(module.address_size_bits) + "\n";
  for (const Directive& pragma : module.pragmas) out += directive_text(pragma) + ";\n";
  // Prototypes go first: initial values and other functions may name what is defined later.
  for (const Function& function : module.functions) {
    if (!function.has_body) FunctionPrinter(function, out).print();
  }
  for (const Variable& variable : module.globals) out += variable_text(variable);
  for (const Function& function : module.functions) {
    if (function.has_body) FunctionPrinter(function, out).print();
  }
  for (const Alias& alias : module.aliases) {
    out += ".alias " + std::string(alias.name) + ", " + std::string(alias.target) + ";\n";
  }
  for (const File& file : module.files) {
    out += ".file " + std::to_string(file.index) + " \"" + std::string(file.name) + "\"\n";
  }
  return out;
}

}  // namespace membound::ptx

// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Statements of a body that are no instructions: labels, declarations, source lines, lists of
/// targets, prototypes.
#include "grader/device_code/ptx/functions.hpp"
#include "grader/device_code/ptx/ptx_errors.hpp"

namespace membound::ptx {

/// name ':' [ .callprototype … | .branchtargets … | .calltargets … ]
bool FunctionParser::parse_label_or_list() {
  const Token name = cursor_.take();
  cursor_.take();
  if (cursor_.at_word(".callprototype")) return parse_prototype(name);
  if (cursor_.at_word(".branchtargets") || cursor_.at_word(".calltargets")) {
    return parse_targets(name);
  }
  if (!declare(name.text, ReferenceKind::kLabel, function_->labels.size(), name.position)) {
    return true;  // said already; what follows the label is fine
  }
  const auto statement = static_cast<std::uint32_t>(function_->body.size());
  const auto instruction = static_cast<std::uint32_t>(function_->instructions.size());
  add_statement(StatementKind::kLabel, function_->labels.size());
  function_->labels.push_back({name.text, statement, instruction, name.position});
  return true;
}

bool FunctionParser::parse_directive_statement() {
  const std::string_view word = cursor_.token().text;
  if (word == ".loc") return parse_location();
  if (word == ".reg") return parse_register_statement();
  if (word == ".pragma") return parse_pragma();
  if (word == ".local" || word == ".shared" || word == ".param" || word == ".global" ||
      word == ".const" || word == ".align") {
    return parse_variable_statement();
  }
  return cursor_.fail(errors::unknown_directive(word, cursor_.token().position));
}

bool FunctionParser::parse_register_statement() {
  const Position position = cursor_.token().position;
  std::vector<RegisterGroup> groups;
  if (!declarations_.parse_registers(function_->register_count, groups)) return false;
  for (const RegisterGroup& group : groups) {
    if (!names_.declare(group)) {
      cursor_.fail(errors::declared_twice(group.name, position));
    }
    function_->register_count = group.first + group.count;
    add_statement(StatementKind::kRegisters, function_->registers.size());
    function_->registers.push_back(group);
  }
  return true;
}

bool FunctionParser::parse_variable_statement() {
  std::vector<Variable> variables;
  if (!declarations_.parse_variables(Linkage::kInternal, variables)) return false;
  for (Variable& variable : variables) {
    declare(variable.name, ReferenceKind::kVariable, function_->variables.size(),
            variable.position);
    add_statement(StatementKind::kVariable, function_->variables.size());
    function_->variables.push_back(std::move(variable));
  }
  return true;
}

/// '.loc' file line column [ ',' 'function_name' label ['+' n] ] [ ',' 'inlined_at' file line
/// column ]
bool FunctionParser::parse_location() {
  cursor_.take();
  const auto read = [&](std::uint32_t& value) {
    std::uint64_t number = 0;
    if (!cursor_.expect_integer(number, "a file, line or column number")) return false;
    value = static_cast<std::uint32_t>(number);
    return true;
  };
  SourceLocation location;
  if (!read(location.file) || !read(location.line) || !read(location.column)) return false;
  const auto index = static_cast<std::uint32_t>(function_->locations.size());
  while (cursor_.accept(',')) {
    if (cursor_.accept_name("function_name")) {
      PendingName pending{static_cast<std::uint32_t>(module_.functions.size() - 1), index, {}, 0};
      if (!cursor_.expect_name(pending.label, "the label of a name")) return false;
      if (cursor_.accept('+') && !cursor_.expect_integer(pending.offset, "an offset")) return false;
      pending_names_.push_back(pending);
    } else if (cursor_.accept_name("inlined_at")) {
      if (!read(location.inlined_at_file) || !read(location.inlined_at_line) ||
          !read(location.inlined_at_column)) {
        return false;
      }
    } else {
      return cursor_.fail_expected("function_name or inlined_at");
    }
  }
  location_ = index;
  add_statement(StatementKind::kLocation, index);
  function_->locations.push_back(location);
  return true;
}

/// name ':' '.callprototype' [ '(' returns ')' ] '_' '(' parameters ')' ['.noreturn'] ';'
bool FunctionParser::parse_prototype(const Token& name) {
  cursor_.take();
  Prototype prototype;
  prototype.name = name.text;
  prototype.position = name.position;
  if (cursor_.at('(') && !declarations_.parse_parameters(prototype.returns)) return false;
  std::string_view placeholder;
  if (!cursor_.expect_name(placeholder, "'_'")) return false;
  if (cursor_.at('(') && !declarations_.parse_parameters(prototype.parameters)) return false;
  while (cursor_.at(TokenKind::kDotWord)) {
    Directive directive;
    if (!parse_directive(cursor_, directive)) return false;
    prototype.is_noreturn |= directive.name == ".noreturn";
  }
  if (!cursor_.expect(';')) return false;
  const std::size_t index = function_->prototypes.size();
  declare(name.text, ReferenceKind::kPrototype, index, name.position);
  add_statement(StatementKind::kPrototype, index);
  function_->prototypes.push_back(std::move(prototype));
  return true;
}

/// name ':' ('.branchtargets' | '.calltargets') name { ',' name } ';'
bool FunctionParser::parse_targets(const Token& name) {
  Targets targets;
  targets.name = name.text;
  targets.position = name.position;
  targets.are_calls = cursor_.take().text == ".calltargets";
  const auto index = static_cast<std::uint32_t>(function_->targets.size());
  std::vector<PendingLabel> pending;
  do {
    const Position position = cursor_.token().position;
    Reference reference;
    if (!cursor_.expect_name(reference.name, "a label")) return false;
    const auto place = static_cast<std::uint32_t>(targets.references.size());
    pending.push_back({reference.name, position, kNoIndex, index, place, names_.depth()});
    targets.references.push_back(reference);
  } while (cursor_.accept(','));
  if (!cursor_.expect(';')) return false;
  // Only now: a list that is not kept must not wait for its labels either.
  pending_labels_.insert(pending_labels_.end(), pending.begin(), pending.end());
  declare(name.text, ReferenceKind::kTargets, index, name.position);
  add_statement(StatementKind::kTargets, index);
  function_->targets.push_back(std::move(targets));
  return true;
}

bool FunctionParser::parse_pragma() {
  Directive pragma;
  if (!parse_directive(cursor_, pragma)) return false;
  add_statement(StatementKind::kPragma, function_->pragmas.size());
  function_->pragmas.push_back(std::move(pragma));
  return cursor_.expect(';');
}

}  // namespace membound::ptx

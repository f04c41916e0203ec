// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/device_code/ptx/parser_parts.hpp"

#include <algorithm>
#include <array>

#include "grader/device_code/ptx/lexer.hpp"

namespace membound::ptx {
namespace {

constexpr std::array<std::string_view, 16> kFunctionDirectives{
    ".maxntid",           ".reqntid",        ".minnctapersm", ".maxnctapersm",
    ".maxnreg",           ".noreturn",       ".pragma",       ".explicitcluster",
    ".reqnctapercluster", ".maxclusterrank", ".abi_preserve", ".abi_preserve_control",
    ".blocksareclusters", ".local_maxnreg",  ".attribute",    ".unified"};

bool is_function_directive(std::string_view name) {
  return std::find(kFunctionDirectives.begin(), kFunctionDirectives.end(), name) !=
         kFunctionDirectives.end();
}

/// '(' … ')' after .attribute; its contents say nothing the virtual GPU uses.
bool skip_brackets(Cursor& cursor) {
  int depth = 0;
  do {
    if (cursor.at(TokenKind::kEnd) || cursor.at(';')) return cursor.fail_expected("')'");
    if (cursor.at('(')) ++depth;
    if (cursor.at(')')) --depth;
    cursor.take();
  } while (depth > 0);
  return true;
}

}  // namespace

bool parse_directive(Cursor& cursor, Directive& directive) {
  directive.name = cursor.take().text;
  if (cursor.at('(')) return skip_brackets(cursor);
  if (!cursor.at(TokenKind::kInteger) && !cursor.at(TokenKind::kString)) return true;
  do {
    if (cursor.at(TokenKind::kInteger)) {
      directive.values.push_back(cursor.take().bits);
    } else if (cursor.at(TokenKind::kString)) {
      directive.texts.push_back(cursor.take().text);
    } else {
      return cursor.fail_expected("a number or a string");
    }
  } while (cursor.accept(','));
  return true;
}

bool FunctionParser::declare(std::string_view name, ReferenceKind kind, std::size_t index,
                             Position position) {
  if (name == "_") return true;
  if (names_.declare(name, {kind, static_cast<std::uint32_t>(index), name})) return true;
  return cursor_.fail(errors::declared_twice(name, position));
}

void FunctionParser::add_statement(StatementKind kind, std::size_t index) {
  function_->body.push_back({kind, static_cast<std::uint32_t>(index)});
}

/// function := ('.entry' | '.func') [ '(' returns ')' ] name [ '(' parameters ')' ] { directive }
///             ( ';' | body )
bool FunctionParser::parse(Linkage linkage) {
  const std::uint32_t index = static_cast<std::uint32_t>(module_.functions.size());
  function_ = &module_.functions.emplace_back();
  function_->linkage = linkage;
  function_->is_entry = cursor_.take().text == ".entry";
  names_.enter_scope();
  const std::size_t depth = names_.depth();
  bool good = parse_header(*function_);
  if (good && !names_.declare_in_module(function_->name,
                                        {ReferenceKind::kFunction, index, function_->name})) {
    const Function* const earlier = module_.find_function(function_->name);
    const bool clash =
        earlier == nullptr || earlier == function_ || (earlier->has_body && cursor_.at('{'));
    if (clash) {
      good = cursor_.fail(errors::declared_twice(function_->name, function_->position));
    }
  }
  if (good && cursor_.at('{')) {
    parse_body();
  } else if (good) {
    good = cursor_.accept(';') || cursor_.fail_expected("'{' or ';'");
  }
  while (names_.depth() >= depth) names_.leave_scope();
  if (!good) module_.functions.pop_back();
  return good;
}

bool FunctionParser::parse_header(Function& function) {
  while (cursor_.at_word(".attribute")) {
    cursor_.take();
    if (!skip_brackets(cursor_)) return false;
  }
  if (cursor_.at('(') && !declarations_.parse_parameters(function.returns)) return false;
  function.position = cursor_.token().position;
  if (!cursor_.expect_name(function.name, "the name of a function")) return false;
  if (cursor_.at('(') && !declarations_.parse_parameters(function.parameters)) return false;
  return declare_parameters(function.returns, ReferenceKind::kReturn) &&
         declare_parameters(function.parameters, ReferenceKind::kParameter) &&
         parse_directives(function);
}

/// Enters parameters into the function's scope; those in `.reg` become registers.
bool FunctionParser::declare_parameters(std::vector<Variable>& variables, ReferenceKind kind) {
  for (std::size_t i = 0; i < variables.size(); ++i) {
    Variable& variable = variables[i];
    if (variable.space != StateSpace::kReg) {
      if (!declare(variable.name, kind, i, variable.position)) return false;
      continue;
    }
    const RegisterGroup group{variable.type, variable.vector_width,     variable.name,
                              false,         function_->register_count, 1};
    if (!names_.declare(group)) {
      return cursor_.fail(errors::declared_twice(variable.name, variable.position));
    }
    variable.register_number = group.first;
    function_->registers.push_back(group);
    ++function_->register_count;
  }
  return true;
}

bool FunctionParser::parse_directives(Function& function) {
  while (cursor_.at(TokenKind::kDotWord)) {
    if (!is_function_directive(cursor_.token().text)) {
      return cursor_.fail(
          errors::unknown_directive(cursor_.token().text, cursor_.token().position));
    }
    Directive directive;
    const bool is_pragma = cursor_.at_word(".pragma");
    if (!parse_directive(cursor_, directive)) return false;
    if (is_pragma) cursor_.accept(';');
    function.directives.push_back(std::move(directive));
  }
  return true;
}

/// body := '{' { statement } '}'; scopes inside are statements too.
void FunctionParser::parse_body() {
  cursor_.take();
  function_->has_body = true;
  location_ = kNoIndex;
  pending_labels_.clear();
  const std::size_t outermost = names_.depth();
  while (!cursor_.stopped()) {
    if (cursor_.at(TokenKind::kEnd)) {
      cursor_.fail(errors::unclosed_body(function_->name, cursor_.token().position));
      return;
    }
    if (cursor_.at('}') && names_.depth() == outermost) break;
    if (!parse_statement()) cursor_.skip_statement();
  }
  resolve_pending(true);
  cursor_.accept('}');
}

bool FunctionParser::parse_statement() {
  switch (cursor_.token().kind) {
    case TokenKind::kIdentifier:
      return cursor_.after() == ':' ? parse_label_or_list() : parse_instruction();
    case TokenKind::kDotWord:
      return parse_directive_statement();
    case TokenKind::kPunctuation:
      if (cursor_.at('@')) return parse_instruction();
      if (cursor_.at('{')) return begin_scope();
      if (cursor_.at('}')) return end_scope();
      if (cursor_.accept(';')) return true;
      break;
    default:
      break;
  }
  const bool failed = cursor_.fail_expected("an instruction, a label or a directive");
  cursor_.take();
  return failed;
}

bool FunctionParser::begin_scope() {
  constexpr std::size_t kMaxScopes = 64;
  const Token brace = cursor_.take();
  if (names_.depth() > kMaxScopes) {
    cursor_.fail(errors::too_deep(brace.position));
    return true;
  }
  names_.enter_scope();
  add_statement(StatementKind::kScopeBegin, kNoIndex);
  return true;
}

bool FunctionParser::end_scope() {
  cursor_.take();
  resolve_pending(false);
  names_.leave_scope();
  add_statement(StatementKind::kScopeEnd, kNoIndex);
  return true;
}

/// Gives the names that wait in the innermost scope their meaning, or hands them to the one around.
void FunctionParser::resolve_pending(bool at_the_end) {
  const std::size_t depth = names_.depth();
  std::erase_if(pending_labels_, [&](PendingLabel& pending) {
    if (pending.depth < depth && !at_the_end) return false;
    const Reference reference =
        at_the_end ? names_.find(pending.name) : names_.find_innermost(pending.name);
    if (reference.kind == ReferenceKind::kNone) {
      pending.depth = depth - 1;
      if (at_the_end) cursor_.fail(errors::unknown_name(pending.name, pending.position));
      return at_the_end;
    }
    if (pending.instruction != kNoIndex) {
      InstructionParser::resolve(function_->instructions[pending.instruction], pending.name,
                                 reference);
    } else {
      function_->targets[pending.targets].references[pending.reference] = reference;
    }
    return true;
  });
}

bool FunctionParser::parse_instruction() {
  Instruction instruction;
  if (!instructions_.parse(instruction)) return false;
  instruction.location = location_;
  const std::uint32_t index = static_cast<std::uint32_t>(function_->instructions.size());
  for (const auto& name : instructions_.unresolved()) {
    pending_labels_.push_back({name.name, name.position, index, kNoIndex, 0, names_.depth()});
  }
  function_->instructions.push_back(instruction);
  add_statement(StatementKind::kInstruction, index);
  return true;
}

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

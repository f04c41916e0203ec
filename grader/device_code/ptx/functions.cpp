// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/device_code/ptx/functions.hpp"

#include <algorithm>
#include <array>

#include "grader/device_code/ptx/ptx_errors.hpp"

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

/// '(' … ')' behind .attribute; its contents say nothing the virtual GPU uses.
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

}  // namespace membound::ptx

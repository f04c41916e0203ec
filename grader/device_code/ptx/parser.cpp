// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/device_code/ptx/parser.hpp"

#include <charconv>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "grader/device_code/ptx/lexer.hpp"
#include "grader/device_code/ptx/parser_parts.hpp"

namespace membound::ptx {
namespace {

/// Reads a whole module, directive by directive.
class ModuleParser {
 public:
  explicit ModuleParser(std::shared_ptr<Storage> storage)
      : storage_(std::move(storage)),
        cursor_(storage_->text()),
        declarations_(cursor_),
        functions_(cursor_, names_, *storage_, declarations_, module_) {}

  Parsed parse();

 private:
  bool parse_directive_at_top();
  bool parse_version();
  bool parse_target();
  bool parse_linked();
  bool parse_globals(Linkage linkage);
  bool parse_file();
  bool parse_section();
  bool parse_debug_strings();
  bool parse_alias();
  void resolve_addresses();
  void resolve_addresses(std::vector<Variable>& variables);
  void resolve_names();

  std::shared_ptr<Storage> storage_;
  Module module_;
  Names names_;
  Cursor cursor_;
  DeclarationParser declarations_;
  FunctionParser functions_;
  std::string debug_strings_;
  std::unordered_map<std::string_view, std::size_t> debug_labels_;
};

/// module := '.version' … { directive }
Parsed ModuleParser::parse() {
  if (!cursor_.at_word(".version")) {
    cursor_.fail(errors::not_ptx(cursor_.token().position));
  } else {
    while (!cursor_.at(TokenKind::kEnd) && !cursor_.stopped()) {
      if (!parse_directive_at_top()) cursor_.skip_declaration();
    }
    resolve_addresses();
    resolve_names();
  }
  module_.storage = storage_;
  return {std::move(module_), std::move(cursor_.diagnostics())};
}

bool ModuleParser::parse_directive_at_top() {
  if (cursor_.at('@')) {  // @@DWARF lines of old compilers
    cursor_.skip_line();
    return true;
  }
  if (cursor_.accept(';')) return true;
  if (!cursor_.at(TokenKind::kDotWord)) return cursor_.fail_expected("a directive");
  const std::string_view word = cursor_.token().text;
  if (word == ".version") return parse_version();
  if (word == ".target") return parse_target();
  if (word == ".file") return parse_file();
  if (word == ".section") return parse_section();
  if (word == ".alias") return parse_alias();
  if (word == ".address_size") {
    cursor_.take();
    std::uint64_t bits = 0;
    if (!cursor_.expect_integer(bits, "32 or 64")) return false;
    module_.address_size_bits = static_cast<std::uint32_t>(bits);
    return true;
  }
  if (word == ".pragma") {
    return parse_directive(cursor_, module_.pragmas.emplace_back()) && cursor_.expect(';');
  }
  return parse_linked();
}

/// '.version' major '.' minor: the lexer reads it as one floating constant.
bool ModuleParser::parse_version() {
  cursor_.take();
  const Token token = cursor_.token();
  const char* const end = token.text.data() + token.text.size();
  const auto major = std::from_chars(token.text.data(), end, module_.version_major);
  if (token.kind != TokenKind::kFloat64 || major.ptr == end || *major.ptr != '.') {
    return cursor_.fail_expected("a version like 9.0");
  }
  std::from_chars(major.ptr + 1, end, module_.version_minor);
  cursor_.take();
  return true;
}

/// '.target' name { ',' name }
bool ModuleParser::parse_target() {
  cursor_.take();
  if (!cursor_.expect_name(module_.target, "a target like sm_90")) return false;
  while (cursor_.accept(',')) {
    if (!cursor_.expect_name(module_.target_options.emplace_back(), "a target option")) {
      return false;
    }
  }
  return true;
}

/// [ linkage ] ( function | variable )
bool ModuleParser::parse_linked() {
  static constexpr std::pair<std::string_view, Linkage> kLinkages[] = {
      {".visible", Linkage::kVisible},
      {".extern", Linkage::kExtern},
      {".weak", Linkage::kWeak},
      {".common", Linkage::kCommon}};
  Linkage linkage = Linkage::kInternal;
  for (const auto& [word, value] : kLinkages) {
    if (cursor_.accept_word(word)) linkage = value;
  }
  if (cursor_.at_word(".entry") || cursor_.at_word(".func")) return functions_.parse(linkage);
  if (cursor_.at(TokenKind::kDotWord)) {
    const std::string_view word = cursor_.token().text;
    if (state_space_of(word) || word == ".tex") return parse_globals(linkage);
    return cursor_.fail(errors::unknown_directive(word, cursor_.token().position));
  }
  return cursor_.fail_expected(".entry, .func or a variable");
}

bool ModuleParser::parse_globals(Linkage linkage) {
  const std::size_t first = module_.globals.size();
  const bool good = declarations_.parse_variables(linkage, module_.globals);
  for (std::size_t i = first; i < module_.globals.size(); ++i) {
    const Variable& variable = module_.globals[i];
    const Reference reference{ReferenceKind::kGlobal, static_cast<std::uint32_t>(i), variable.name};
    if (names_.declare_in_module(variable.name, reference)) continue;
    const Reference earlier = names_.find(variable.name);
    const bool declaration_again = earlier.kind == ReferenceKind::kGlobal &&
                                   (linkage == Linkage::kExtern || linkage == Linkage::kCommon ||
                                    module_.globals[earlier.index].linkage == Linkage::kExtern);
    if (!declaration_again) {
      cursor_.fail(errors::declared_twice(variable.name, variable.position));
    }
  }
  return good;
}

/// '.file' index name [ ',' time ',' size ]
bool ModuleParser::parse_file() {
  cursor_.take();
  std::uint64_t index = 0;
  if (!cursor_.expect_integer(index, "the number of a file")) return false;
  if (!cursor_.at(TokenKind::kString)) return cursor_.fail_expected("the name of a file");
  module_.files.push_back({static_cast<std::uint32_t>(index), cursor_.take().text});
  while (cursor_.accept(',')) {
    std::uint64_t ignored = 0;
    if (!cursor_.expect_integer(ignored, "a time or a size")) return false;
  }
  return true;
}

/// '.alias' name ',' function ';'
bool ModuleParser::parse_alias() {
  cursor_.take();
  Alias alias;
  const Position position = cursor_.token().position;
  if (!cursor_.expect_name(alias.name, "a name") || !cursor_.expect(',') ||
      !cursor_.expect_name(alias.target, "the name of a function") || !cursor_.expect(';')) {
    return false;
  }
  if (names_.find(alias.target).kind != ReferenceKind::kFunction) {
    return cursor_.fail(errors::unknown_name(alias.target, position)), true;
  }
  module_.aliases.push_back(alias);
  return true;
}

/// '.section' name '{' … '}': DWARF for a debugger. Only .debug_str is read, for inlined names.
bool ModuleParser::parse_section() {
  cursor_.take();
  if (!cursor_.at(TokenKind::kDotWord) && !cursor_.at(TokenKind::kIdentifier)) {
    return cursor_.fail_expected("the name of a section");
  }
  const std::string_view name = cursor_.take().text;
  if (!cursor_.at('{')) return cursor_.fail_expected("'{'");
  if (name == ".debug_str") return parse_debug_strings();
  if (cursor_.skip_braces()) return true;
  return cursor_.fail(errors::unclosed_body(name, cursor_.token().position));
}

/// { label ':' | '.b8' byte { ',' byte } [';'] }
bool ModuleParser::parse_debug_strings() {
  cursor_.take();
  while (!cursor_.accept('}')) {
    if (cursor_.at(TokenKind::kIdentifier)) {
      debug_labels_.emplace(cursor_.take().text, debug_strings_.size());
      if (!cursor_.expect(':')) return false;
    } else if (cursor_.accept_word(".b8")) {
      do {
        std::uint64_t byte = 0;
        if (!cursor_.expect_integer(byte, "a byte")) return false;
        debug_strings_.push_back(static_cast<char>(byte));
      } while (cursor_.accept(','));
      cursor_.accept(';');
    } else {
      return cursor_.fail_expected("a label or .b8");
    }
  }
  return true;
}

void ModuleParser::resolve_addresses(std::vector<Variable>& variables) {
  for (Variable& variable : variables) {
    for (Relocation& relocation : variable.relocations) {
      const Reference reference = names_.find(relocation.target.name);
      if (reference.kind != ReferenceKind::kGlobal && reference.kind != ReferenceKind::kFunction) {
        cursor_.fail(errors::unknown_name(relocation.target.name, variable.position));
      }
      relocation.target.kind = reference.kind;
      relocation.target.index = reference.index;
    }
  }
}

void ModuleParser::resolve_addresses() {
  resolve_addresses(module_.globals);
  for (Function& function : module_.functions) resolve_addresses(function.variables);
}

/// Names of inlined functions; one that is not there stays empty: it only serves messages.
void ModuleParser::resolve_names() {
  const std::string_view strings = storage_->keep_string(std::move(debug_strings_));
  for (const PendingName& pending : functions_.pending_names()) {
    const auto label = debug_labels_.find(pending.label);
    if (label == debug_labels_.end() || pending.function >= module_.functions.size()) continue;
    Function& function = module_.functions[pending.function];
    const std::uint64_t start = label->second + pending.offset;
    if (start >= strings.size() || pending.location >= function.locations.size()) continue;
    const std::string_view rest = strings.substr(start);
    function.locations[pending.location].function_name = rest.substr(0, rest.find('\0'));
  }
}

}  // namespace

Parsed parse_collecting(std::string_view text, std::string_view file_name) {
  while (text.ends_with('\0')) text.remove_suffix(1);
  ModuleParser parser(std::make_shared<Storage>(std::string(text), std::string(file_name)));
  return parser.parse();
}

base::Result<Module> parse(std::string_view text, std::string_view file_name) {
  Parsed parsed = parse_collecting(text, file_name);
  if (parsed.diagnostics.empty()) return std::move(parsed.module);
  return errors::as_error(parsed.diagnostics, text, file_name);
}

std::string_view text_of(const Module& module) { return module.storage->text(); }

std::string_view file_name_of(const Module& module) { return module.storage->file_name(); }

}  // namespace membound::ptx

// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/course/json_io.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <sstream>

#include "grader/base/strings.hpp"

namespace membound::course {
namespace {

/// A key as JSON pointers (RFC 6901) write it.
std::string escaped(const std::string& key) {
  std::string text;
  for (const char letter : key)
    text += letter == '~' ? "~0" : letter == '/' ? "~1" : std::string(1, letter);
  return text;
}

using nlohmann::json;

/// How far the parser has read.
struct Progress {
  int line = 1;
  bool after_break = false;  // the last character read was a line break
};

/// Notes the lines while the parser walks over the text: an input iterator that shares its
/// progress.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, Progress* progress) : at_(at), progress_(progress) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    progress_->after_break = *at_ == '\n';
    if (progress_->after_break) ++progress_->line;
    ++at_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator old = *this;
    ++*this;
    return old;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  Progress* progress_;
};

/// Follows the parser's events and notes on which line each value starts.
class LineRecorder : public nlohmann::json_sax<json> {
 public:
  explicit LineRecorder(const Progress* progress) : progress_(progress) {}
  [[nodiscard]] const std::map<std::string, int>& lines() const { return lines_; }

  bool null() override { return value(); }
  bool boolean(bool) override { return value(); }
  bool number_integer(std::int64_t) override { return number(); }
  bool number_unsigned(std::uint64_t) override { return number(); }
  bool number_float(double, const std::string&) override { return number(); }
  bool string(std::string&) override { return value(); }
  bool binary(json::binary_t&) override { return value(); }
  bool start_object(std::size_t) override { return open(-1); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(0); }
  bool end_array() override { return close(); }
  bool key(std::string& name) override {
    frames_.back().key = name;
    key_line_ = progress_->line;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const json::exception&) override {
    return false;
  }

 private:
  struct Frame {
    std::string pointer;
    std::string key;
    int index;  // -1 in an object
  };

  std::string here() const {
    if (frames_.empty()) return "";
    const Frame& frame = frames_.back();
    if (frame.index >= 0) return frame.pointer + "/" + std::to_string(frame.index);
    return frame.pointer + "/" + escaped(frame.key);
  }
  void note(int line) {
    const bool in_object = !frames_.empty() && frames_.back().index < 0;
    lines_.emplace(here(), in_object ? key_line_ : line);
  }
  void advance() {
    if (!frames_.empty() && frames_.back().index >= 0) ++frames_.back().index;
  }
  bool value() {
    note(progress_->line);
    advance();
    return true;
  }
  // The parser ends a number at the character after it, which may be a line break.
  bool number() {
    note(progress_->line - (progress_->after_break ? 1 : 0));
    advance();
    return true;
  }
  bool open(int index) {
    note(progress_->line);
    frames_.push_back({here(), "", index});
    return true;
  }
  bool close() {
    frames_.pop_back();
    advance();
    return true;
  }

  const Progress* progress_;
  int key_line_ = 1;
  std::vector<Frame> frames_;
  std::map<std::string, int> lines_;
};

std::string in_words(const json& value) {
  std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

std::string plain(double number) {
  std::ostringstream text;
  text << number;
  return text.str();
}

}  // namespace

std::optional<int> line_of(std::string_view text, const std::string& pointer) {
  Progress progress;
  LineRecorder recorder(&progress);
  json::sax_parse(CountingIterator(text.data(), &progress),
                  CountingIterator(text.data() + text.size(), &progress), &recorder,
                  json::input_format_t::json, true, true);
  const auto found = recorder.lines().find(pointer);
  if (found == recorder.lines().end()) return std::nullopt;
  return found->second;
}

base::Result<JsonDocument> JsonDocument::parse(std::string text, std::string file_name) {
  JsonDocument document;
  document.text_ = std::move(text);
  document.file_name_ = std::move(file_name);
  try {
    document.value_ = json::parse(document.text_, nullptr, true, true);
  } catch (const json::parse_error& error) {
    const auto end = document.text_.begin() +
                     static_cast<std::ptrdiff_t>(std::min(error.byte, document.text_.size()));
    const auto line = 1 + std::count(document.text_.begin(), end, '\n');
    std::string reason = error.what();
    if (const auto colon = reason.rfind(": "); colon != std::string::npos)
      reason = reason.substr(colon + 2);
    return base::Error{base::ErrorKind::kInput, document.file_name_ + ":" + std::to_string(line),
                       "not valid JSON: " + reason, "JSON text", ""};
  } catch (const json::out_of_range& error) {  // a number no double can hold
    std::string reason = error.what();
    if (const auto bracket = reason.find("] "); bracket != std::string::npos)
      reason = reason.substr(bracket + 2);
    return base::Error{base::ErrorKind::kInput, document.file_name_, reason,
                       "numbers below 1.8e308", ""};
  }
  return document;
}

void JsonDocument::report(const std::string& pointer, std::string found, std::string expected,
                          std::string advice) {
  if (problem_) return;
  std::string where = file_name_;
  if (const auto line = line_of(text_, pointer)) where += ":" + std::to_string(*line);
  problem_ = base::Error{base::ErrorKind::kInput, where,
                         (pointer.empty() ? "the file" : pointer) + " " + std::move(found),
                         std::move(expected), std::move(advice)};
}

namespace {
const json kNull;
}

JsonValue JsonValue::member(const std::string& key) const {
  if (auto found = optional_member(key)) return *found;
  if (value_->is_object()) {
    document_->report(pointer_, "has no \"" + key + "\"", "an object with \"" + key + "\"");
  } else {
    report("an object with \"" + key + "\"");
  }
  return {document_, &kNull, pointer_ + "/" + escaped(key)};
}

bool JsonValue::is_object() const { return value_->is_object(); }

std::optional<JsonValue> JsonValue::optional_member(const std::string& key) const {
  if (!value_->is_object()) return std::nullopt;
  const auto found = value_->find(key);
  if (found == value_->end()) return std::nullopt;
  return JsonValue(document_, &*found, pointer_ + "/" + escaped(key));
}

std::vector<JsonValue> JsonValue::elements(std::size_t least) const {
  std::vector<JsonValue> all;
  if (!value_->is_array() || value_->size() < least) {
    report(least == 0 ? "an array"
                      : "an array with at least " + std::to_string(least) +
                            (least == 1 ? " element" : " elements"));
    return all;
  }
  for (std::size_t i = 0; i < value_->size(); ++i)
    all.emplace_back(document_, &(*value_)[i], pointer_ + "/" + std::to_string(i));
  return all;
}

std::vector<std::string> JsonValue::keys() const {
  std::vector<std::string> all;
  if (!value_->is_object()) {
    report("an object");
    return all;
  }
  for (const auto& [key, value] : value_->items()) all.push_back(key);
  return all;
}

void JsonValue::only_keys(const std::vector<std::string>& known) const {
  for (const std::string& key : keys()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    const std::string list = base::joined(known);
    const auto suggestion = base::nearest(key, known);
    document_->report(pointer_ + "/" + escaped(key), "is not a known key", "one of " + list,
                      suggestion ? "did you mean \"" + *suggestion + "\"?" : "");
  }
}

std::string JsonValue::text() const {
  if (value_->is_string() && !value_->get_ref<const std::string&>().empty())
    return value_->get<std::string>();
  report("a string that is not empty");
  return "";
}

bool JsonValue::boolean() const {
  if (value_->is_boolean()) return value_->get<bool>();
  report("true or false");
  return false;
}

double JsonValue::number(NumberRange range) const {
  if (value_->is_number()) {
    const auto number = value_->get<double>();
    if (number >= range.low && number <= range.high) return number;
  }
  report("a number from " + plain(range.low) + " to " + plain(range.high));
  return range.low;
}

std::int64_t JsonValue::integer(std::int64_t low, std::int64_t high) const {
  if (value_->is_number_integer()) {
    const bool too_big = value_->is_number_unsigned() &&
                         value_->get<std::uint64_t>() > static_cast<std::uint64_t>(high);
    const auto number = value_->get<std::int64_t>();
    if (!too_big && number >= low && number <= high) return number;
  }
  report("a whole number from " + std::to_string(low) + " to " + std::to_string(high));
  return low;
}

void JsonValue::report(std::string expected, std::string advice) const {
  document_->report(pointer_, "is " + in_words(*value_), std::move(expected), std::move(advice));
}

}  // namespace membound::course

// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A handout as a page, as text for a terminal and as a notebook: figures, folded answers,
/// contents, the glossary's words explained where they are used. What would spoil a stage, its
/// complete solution, is left out until the stage has passed.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/course/lab.hpp"
#include "grader/report/markdown_html.hpp"
#include "grader/report/text.hpp"

namespace membound::report {

// A handout is a row of sections: text to read, and what `<details>` folds away.

/// Text, or something folded away below one line.
struct Section {
  std::string text;      ///< Markdown
  std::string summary;   ///< Markdown of one line; empty where nothing is folded
  int line = 0;          ///< of `text` in the handout, from 1
  int solved_stage = 0;  ///< whose complete solution this shows; 0 = none

  [[nodiscard]] bool folded() const { return !summary.empty(); }
};

/// The sections of `markdown` in their order. `file` is for the error that a fold without a summary
/// or without an end is.
[[nodiscard]] base::Result<std::vector<Section>> sections_of(std::string_view markdown,
                                                             const std::string& file);

// The glossary's words inside a page: where one is used, it unfolds what it means.

/// A word and what it means.
struct Term {
  std::vector<std::string> words;  ///< "SM", "multiprocessor": the first is its name
  std::string meaning;             ///< Markdown
};

/// What the glossary has below its heading "## Of the GPU".
[[nodiscard]] std::vector<Term> gpu_terms(std::string_view glossary);

/// Where a text has a term: the index of its first byte and how many there are.
struct TermPlace {
  std::size_t begin = 0, size = 0;
};

/// Where `text` has one of the term's words or its plural, also at the beginning of a sentence and
/// with a line's end inside.
[[nodiscard]] std::vector<TermPlace> places_of(std::string_view text, const Term& term);

/// `html` with buttons: under each heading of level 2 the first place of each term in running text.
/// What they unfold stands at the end, as a list where a browser knows no popovers.
[[nodiscard]] std::string with_terms(std::string_view html, const std::vector<Term>& terms);

/// What becomes of the answers to a handout's questions.
enum class Answers {
  kFolded,   ///< each below its question, closed
  kAtTheEnd  ///< numbered, behind everything else: for paper, which folds nothing away
};

/// For whom a handout is shown.
struct HandoutView {
  std::string lab;  ///< the lab's id: "03-transpose"
  Answers answers = Answers::kFolded;
  PageAddresses addresses;
  /// Whether the complete solution of a stage may be shown; none may where this is empty.
  std::function<bool(int stage)> unlocked;
  /// For the terminal: a picture's small drawing in letters; empty where there is none.
  std::function<std::string(std::string_view target)> drawing = {};
  std::vector<Term> terms = {};  ///< words that unfold what they mean
};

/// The text of a page, without its frame.
struct HandoutBody {
  std::string title;  ///< HTML
  std::string html;
  std::vector<Heading> headings;
};

/// `markdown` as a page's text. `file` is for errors.
[[nodiscard]] base::Result<HandoutBody> handout_body(std::string_view markdown,
                                                     const std::string& file,
                                                     const HandoutView& view);

/// A list of the headings of level 2 and 3, for people who jump.
[[nodiscard]] std::string contents_html(const std::vector<Heading>& headings);

/// A page that needs nothing beside it but its figures, if their addresses are those of files.
[[nodiscard]] std::string standalone_page(const HandoutBody& body);

/// The sentence that stands in a solution's place: "Our answer to stage 2 …", Markdown.
[[nodiscard]] std::string locked_note(const std::string& lab, int stage);

/// The size and the description that an SVG picture has of itself; `address` is taken as it is.
[[nodiscard]] FigureSource figure_source(std::string_view svg, std::string address);

/// An SVG picture as an address that holds it: "data:image/svg+xml,…".
[[nodiscard]] std::string inlined_address(std::string_view svg);

/// `markdown` as text. A folded answer is one line, unless `with_answers`. Of `view`, the lab, what
/// is unlocked and the drawings count. `file` is for errors.
[[nodiscard]] base::Result<std::string> handout_text(std::string_view markdown,
                                                     const std::string& file,
                                                     const HandoutView& view, bool with_answers,
                                                     const Style& style);

/// Of what a notebook is made besides the handout.
struct NotebookSource {
  std::string kernel;                         ///< the untouched skeleton
  std::map<std::string, std::string> beside;  ///< what is handed in with it, by name: answers.md
  /// The SVG text of a picture; empty where there is none.
  std::function<std::string(std::string_view target)> figure;
};

/// So that a repository can hold them and a notebook opens quickly.
inline constexpr std::size_t kMostNotebookBytes = 150'000;

/// `markdown` up to "After you are done" as a notebook of Jupyter, Colab and Kaggle, without
/// outputs: JSON. An error where a stage has no section or no part of the skeleton, a picture is
/// missing, or the notebook is larger than kMostNotebookBytes.
[[nodiscard]] base::Result<std::string> handout_notebook(std::string_view markdown,
                                                         const std::string& file,
                                                         const course::Lab& lab,
                                                         const NotebookSource& source);

}  // namespace membound::report

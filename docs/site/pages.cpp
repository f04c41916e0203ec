// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <optional>
#include <regex>

#include "docs/site/site.hpp"
#include "grader/base/files.hpp"
#include "grader/base/result.hpp"
#include "grader/report/handout.hpp"
#include "grader/report/svg.hpp"

namespace membound::site {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHelp = "grader/cli/help";

bool is_elsewhere(std::string_view target) {
  return target.find("://") != std::string_view::npos || target.starts_with("mailto:");
}

/// What a page has besides its text.
struct Around {
  std::string before, behind;  ///< HTML
  bool with_contents = false;
  std::function<std::string(std::string)> change;  ///< of the text's HTML, if anything
};

/// Writes one kind of page after the other, and collects what is wrong with them.
class PageWriter {
 public:
  PageWriter(const course::Course& course, fs::path pages, fs::path html)
      : course_(course), addresses_(course), pages_(std::move(pages)), html_(std::move(html)) {}

  void write(const fs::path& file, const report::HandoutView& view, const std::string& name,
             const Around& around) {
    const auto body = body_of(file, view);
    if (!body) return;
    std::string html = body->html;
    // Doxygen writes the title.
    constexpr std::string_view kTitleEnd = "</h1>\n";
    if (const auto end = html.find(kTitleEnd); end != std::string::npos)
      html.erase(0, end + kTitleEnd.size());
    std::string contents;
    if (around.with_contents)
      contents =
          "<nav class=\"contents\" aria-label=\"On this page\"><details open><summary>On this "
          "page</summary>\n" +
          report::contents_html(body->headings) + "</details></nav>\n";
    write_text(name, body->title,
               "<div class=\"columns\">\n" + contents + "<div class=\"reading\">\n" +
                   around.before + (around.change ? around.change(html) : html) + around.behind +
                   "</div>\n</div>\n");
  }

  std::optional<report::HandoutBody> body_of(const fs::path& file, report::HandoutView view) {
    const auto text = base::read_file(placed(file));
    if (!text) return fail(base::to_string(text.error()));
    view.addresses = addresses_on(file);
    auto body = report::handout_body(*text, file.generic_string(), view);
    if (!body) return fail(base::to_string(body.error()));
    for (const report::Heading& heading : body->headings)
      if (html_words(heading.html).empty()) fail(file.generic_string() + ": an empty heading");
    check_places(file, *body);
    return *std::move(body);
  }

  void write_text(const std::string& name, const std::string& title, const std::string& html) {
    const std::string text = "# " + html_words(title) + " {#" + name + "}\n\n\\htmlonly[block]\n" +
                             html + "\\endhtmlonly\n";
    if (const auto written = base::write_file(pages_ / (name + ".md"), text); !written)
      fail(base::to_string(written.error()));
  }

  Problems problems;

 private:
  std::nullopt_t fail(std::string problem) {
    // A handout is written twice: for the screen and for paper.
    if (std::ranges::find(problems, problem) == problems.end())
      problems.push_back(std::move(problem));
    return std::nullopt;
  }

  static std::string html_words(const std::string& html) {
    return std::regex_replace(html, std::regex("<[^>]*>"), "");
  }

  /// "#stage-1" in a text must be one of its headings.
  void check_places(const fs::path& file, const report::HandoutBody& body) {
    static const std::regex kPlace("href=\"#([^\"]+)\"");
    for (std::sregex_iterator it(body.html.begin(), body.html.end(), kPlace), end; it != end; ++it)
      if (body.html.find("id=\"" + (*it)[1].str() + "\"") == std::string::npos)
        fail(file.generic_string() + ": no heading for the link #" + (*it)[1].str());
  }

  /// Where a file of the course is: in the course, or in the tree of its lab.
  fs::path placed(const fs::path& file) const {
    std::error_code ignored;
    for (const course::Lab& lab : course_.labs)
      if (!lab.tree.empty() && fs::exists(lab.tree / file, ignored)) return lab.tree / file;
    return course_.root / file;
  }

  report::PageAddresses addresses_on(const fs::path& file) {
    report::PageAddresses on_page;
    on_page.link = [this, file](std::string_view target) -> std::string {
      if (target.starts_with("#") || is_elsewhere(target)) return std::string(target);
      const auto mark = std::min(target.find('#'), target.size());
      const fs::path meant = (file.parent_path() / target.substr(0, mark)).lexically_normal();
      if (!fs::exists(placed(meant)))
        fail(file.generic_string() + ": the link to " + std::string(target) + " leads nowhere");
      const std::string page = addresses_.page_of(meant);
      return page.empty() ? "" : page + std::string(target.substr(mark));
    };
    on_page.figure = [this, file](std::string_view target) -> report::FigureSource {
      const fs::path from = placed(file.parent_path() / target);
      const auto svg = base::read_file(from);
      const std::string address =
          "figures/" + file.parent_path().filename().string() + "/" + from.filename().string();
      const auto written = svg ? base::write_file(html_ / address, *svg) : svg.error();
      if (!written) fail(file.generic_string() + ": no figure " + std::string(target));
      return svg ? report::figure_source(*svg, address) : report::FigureSource{address};
    };
    return on_page;
  }

  const course::Course& course_;
  Addresses addresses_;
  fs::path pages_, html_;
};

std::string link(const std::string& page, const std::string& words, const std::string& look) {
  return "<a class=\"" + look + "\" href=\"" + page + ".html\">" + words + "</a>";
}

/// Where to go from a lab's pages.
std::string turn_html(const course::Course& course, std::size_t here, const std::string& between) {
  std::string html = "<nav class=\"turn\" aria-label=\"Handouts in order\">";
  const auto handout = [&](std::size_t at, const std::string& words, const std::string& look) {
    const course::Lab& lab = course.labs[at];
    return link(page_name("handout", lab.id),
                words + "<br>" + lab.id.substr(0, 2) + " " + report::escaped(lab.title), look);
  };
  html +=
      here > 0 ? handout(here - 1, "← Before", "before") : link("index", "← The course", "before");
  html += between;
  html += here + 1 < course.labs.size() ? handout(here + 1, "Next →", "next")
                                        : link("index", "The course →", "next");
  return html + "</nav>\n";
}

/// The last part of a handout explains the answers: folded, for whoever has not passed yet.
std::string with_explanation_folded(std::string html) {
  const auto begin = html.find("<h2 id=\"after-you-are-done\"");
  if (begin == html.npos) return html;
  // Meanings of words stand at the end, outside of what is read.
  const auto end = std::min(html.find("<div class=\"meaning\"", begin), html.size());
  html.insert(end, "</details>\n");
  html.insert(begin,
              "<details class=\"after\"><summary>What our answers do, and why: open it when the "
              "lab has passed"
              "</summary>\n");
  return html;
}

std::string paper_of(const course::Lab& lab) { return page_name("paper", lab.id); }

void write_labs(const course::Course& course, const fs::path& html, PageWriter& writer) {
  const auto glossary = base::read_file(course.root / "docs/glossary.md");
  if (!glossary) writer.problems.push_back(base::to_string(glossary.error()));
  const std::vector<report::Term> terms =
      glossary ? report::gpu_terms(*glossary) : std::vector<report::Term>();
  for (std::size_t i = 0; i < course.labs.size(); ++i) {
    const course::Lab& lab = course.labs[i];
    const std::string handout = page_name("handout", lab.id), task = page_name("lab", lab.id);
    writer.write(lab.handout, {.lab = lab.id, .terms = terms}, handout,
                 {.behind = "<p class=\"paper\">" +
                            link(paper_of(lab), "To print, answers at the end", "up") + "</p>\n" +
                            turn_html(course, i, link(task, "The task<br>of this lab", "task")),
                  .with_contents = true,
                  .change = with_explanation_folded});
    const std::string turn =
        turn_html(course, i, link(handout, "The handout<br>of this lab", "task"));
    // A draft may have no task page yet.
    if (std::error_code none; lab.draft && !fs::exists(lab.folder / "README.md", none))
      writer.write_text(task, report::escaped(lab.title),
                        "<p>" + report::escaped(lab.summary) + "</p>\n" + turn);
    else
      writer.write(fs::path("labs") / lab.id / "README.md", {.lab = lab.id}, task,
                   {.behind = turn});
    const auto paper =
        writer.body_of(lab.handout, {.lab = lab.id, .answers = report::Answers::kAtTheEnd});
    if (!paper) continue;
    if (const auto written =
            base::write_file(html / (paper_of(lab) + ".html"), report::standalone_page(*paper));
        !written)
      writer.problems.push_back(base::to_string(written.error()));
  }
}

void write_commands(const course::Course& course, PageWriter& writer) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(course.root / kHelp))
    if (entry.path().extension() == ".md") files.push_back(entry.path());
  std::ranges::sort(files);
  // The list of all commands leads to the page of each: "<td>dev check</td>" to that of
  // dev-check.md.
  const auto with_links = [&](std::string html) {
    for (const fs::path& file : files) {
      std::string words = file.stem().string();
      if (words.starts_with("dev-")) words[3] = ' ';
      const std::string cell = "<td>" + words + "</td>";
      if (const auto at = html.find(cell); at != std::string::npos)
        html.replace(
            at, cell.size(),
            "<td>" + link(page_name("command", file.stem().string()), words, "el") + "</td>");
    }
    return html;
  };
  for (const fs::path& file : files) {
    const std::string name = file.stem().string();
    const bool is_list = name == "membound";
    writer.write(
        fs::path(kHelp) / file.filename(), {}, page_name("command", name),
        {.before = is_list ? "" : "<p>" + link("command_membound", "All commands", "up") + "</p>\n",
         .change = is_list ? with_links : std::function<std::string(std::string)>()});
  }
}

}  // namespace

std::string page_name(const std::string& kind, const std::string& of) {
  std::string name = kind + "_" + of;
  std::ranges::replace(name, '-', '_');
  return name;
}

Addresses::Addresses(const course::Course& course) : root_(course.root) {
  for (const course::Lab& lab : course.labs) {
    pages_.emplace_back(lab.handout.generic_string(), page_name("handout", lab.id));
    pages_.emplace_back("labs/" + lab.id + "/README.md", page_name("lab", lab.id));
  }
  pages_.emplace_back("README.md", "index");
}

std::string Addresses::page_of(const fs::path& file) const {
  for (const auto& [path, name] : pages_)
    if (path == file.generic_string()) return name + ".html";
  if (file.parent_path() == kHelp) return page_name("command", file.stem().string()) + ".html";
  if (file.parent_path() != "docs" || file.extension() != ".md") return "";
  // Doxygen calls a page by the mark in its heading.
  const auto text = base::read_file(root_ / file);
  static const std::regex kMark("\\{#([a-z_]+)\\}");
  std::smatch mark;
  return text && std::regex_search(*text, mark, kMark) ? mark[1].str() + ".html" : "";
}

Problems write_pages(const course::Course& course, const fs::path& pages, const fs::path& html) {
  PageWriter writer(course, pages, html);
  write_labs(course, html, writer);
  write_commands(course, writer);
  const auto page = course_page(course);
  const auto written =
      page ? base::write_file(pages / "index.md", "\\mainpage Membound\n\n\\htmlonly[block]\n" +
                                                      *page + "\\endhtmlonly\n")
           : page.error();
  if (!written) writer.problems.push_back(base::to_string(written.error()));
  for (std::string& problem : write_rooms(course.root, pages))
    writer.problems.push_back(std::move(problem));
  return std::move(writer.problems);
}

}  // namespace membound::site

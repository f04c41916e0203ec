// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/cli/page.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "grader/base/process.hpp"
#include "grader/base/text_files.hpp"
#include "grader/report/html.hpp"

namespace membound::cli {
namespace {

constexpr double kOpenSeconds = 5;

}  // namespace

bool open_in_browser(const std::filesystem::path& file) {
  if (std::getenv("DISPLAY") == nullptr && std::getenv("WAYLAND_DISPLAY") == nullptr) return false;
  const char* const path = std::getenv("PATH");
  const auto opener = base::find_in_path("xdg-open", path == nullptr ? "" : path);
  if (opener.empty()) return false;
  const auto run = base::run_process(
      {.arguments = {opener.string(), file.string()}, .timeout_seconds = kOpenSeconds});
  return run && run->exit_code == 0;
}

void add_page_options(CLI::App& command, PageOptions& options) {
  command.add_option("--html", options.html);
  command.add_flag("--open", options.open);
}

report::SourceText read_source(const std::filesystem::path& file) {
  report::SourceText lines;
  const auto text = base::read_file(file);
  if (!text) return lines;
  std::istringstream stream(*text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

base::Status put_page(const Context& context, const PageOptions& options, const std::string& name,
                      const std::string& html) {
  std::filesystem::path file = options.html;
  if (file.empty()) file = context.place.state / "pages" / (name + ".html");
  const auto written = base::write_file(file, html);
  if (!written) return written.error();
  const bool shown = options.open && open_in_browser(file);
  std::fprintf(stderr, "%s %s\n", shown ? "opened" : "the page is", file.c_str());
  return base::Done{};
}

base::Status make_page(const Context& context, const PageOptions& options,
                       const course::Result& result, const std::filesystem::path& source) {
  return put_page(context, options, result.lab, report::render_html(result, read_source(source)));
}

}  // namespace membound::cli

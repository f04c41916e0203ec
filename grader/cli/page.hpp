// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A result as an HTML page: written, and shown in the browser where there is one.
/// Place in the chain: check, profile -> [page] -> report/html.
#pragma once

#include <filesystem>
#include <string>

#include "grader/cli/command_context.hpp"
#include "grader/report/profile_text.hpp"

namespace CLI {
class App;
}

namespace membound::cli {

/// What is asked for; nothing by default.
struct PageOptions {
  std::string html;   ///< the file to write; empty: one below .membound, if `open`
  bool open = false;  ///< show it
  [[nodiscard]] bool wanted() const { return open || !html.empty(); }
};

/// Adds --html and --open.
void add_page_options(CLI::App& command, PageOptions& options);

/// Hands a page to the desktop's browser; false where there is none.
[[nodiscard]] bool open_in_browser(const std::filesystem::path& file);

/// The lines of a file; none where it cannot be read.
[[nodiscard]] report::SourceText read_source(const std::filesystem::path& file);

/// Writes a page, to a file called `name` below .membound where no other was asked for, says where
/// it is, and opens it if that was asked for.
[[nodiscard]] base::Status put_page(const Context& context, const PageOptions& options,
                                    const std::string& name, const std::string& html);

/// Writes the page of `result`, whose kernels stand in `source`, as above.
[[nodiscard]] base::Status make_page(const Context& context, const PageOptions& options,
                                     const course::Result& result,
                                     const std::filesystem::path& source);

}  // namespace membound::cli

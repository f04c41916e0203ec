// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Holds pages against the rules of docs/accessibility.md.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "docs/site/site.hpp"

namespace membound::site {

/// What is on a page that some people cannot read or use. `whole` pages have one heading of level
/// 1, their first; Doxygen's have a title in its place.
[[nodiscard]] Problems page_problems(std::string_view html, const std::string& page, bool whole);

/// Contrast of two colours "#rrggbb", 1 to 21 (WCAG 2.1, relative luminance).
[[nodiscard]] double contrast(std::string_view one, std::string_view other);

/// Every pair of text and ground of the style sheets of site, handouts and check pages, and of
/// pictures, that is below 4.5 : 1 in the light or in the dark look.
[[nodiscard]] Problems contrast_problems(const std::filesystem::path& root);

/// What headless Chromium finds on these pages, 360 pixels wide, light and dark, with folds closed
/// and open (docs/site/look.js). Where there is no Chromium it says so, and finds nothing.
[[nodiscard]] Problems browser_problems(const std::filesystem::path& root,
                                        const std::vector<std::filesystem::path>& pages);

/// browser_problems() of every page of text of the site; the reference of the code is left out.
[[nodiscard]] Problems site_problems(const std::filesystem::path& root,
                                     const std::filesystem::path& html);

/// All of this for each handout as a page of its own, and for pages of a check, a profile and an
/// experiment.
[[nodiscard]] Problems check_rules(const course::Course& course);

}  // namespace membound::site

// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Holds pages against the rules of docs/accessibility.md.
/// Place in the chain: HTML, style sheets -> [page_rules] -> `membound_site`.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

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

/// Pages, by name, that are wider than a phone of 360 pixels; nothing where there is no Chromium.
[[nodiscard]] std::optional<Problems> overflow_problems(
    const std::map<std::string, std::string>& pages);

/// All of this for each handout as a page of its own, and for pages of a check and an experiment.
[[nodiscard]] Problems check_rules(const course::Course& course);

}  // namespace membound::site

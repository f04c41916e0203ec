# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# embed_help(<output.cpp> <page…>)
#   Writes a source file that defines help_text() (grader/cli/help.hpp) for help/<page>.md.
function(embed_help output)
  set(entries "")
  foreach(page ${ARGN})
    set(file ${CMAKE_CURRENT_SOURCE_DIR}/help/${page}.md)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} text)
    string(APPEND entries "  if (name == \"${page}\")\n    return R\"help(${text})help\";\n")
  endforeach()
  file(CONFIGURE OUTPUT ${output} @ONLY CONTENT
"// Made by CMake from grader/cli/help/*.md.
#include \"grader/base/check.hpp\"
#include \"grader/cli/help.hpp\"

namespace membound::cli {

std::string_view help_text(const std::string& name) {
@entries@  MEMBOUND_CHECK(!\"a help page for every command\");
  return {};
}

}  // namespace membound::cli
")
endfunction()

# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# embed_templates(<output.cpp> <file…>)
#   Writes a source file that defines template_text() (grader/classroom/gradebook/templates.hpp).
function(embed_templates output)
  set(entries "")
  foreach(name ${ARGN})
    set(file ${CMAKE_CURRENT_SOURCE_DIR}/templates/${name})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} text)
    string(APPEND entries "  if (name == \"${name}\")\n    return R\"page(${text})page\";\n")
  endforeach()
  file(CONFIGURE OUTPUT ${output} @ONLY CONTENT
"// Made by CMake from grader/classroom/gradebook/templates.
#include \"grader/base/check.hpp\"
#include \"grader/classroom/gradebook/templates.hpp\"

namespace membound::gradebook {

std::string_view template_text(std::string_view name) {
@entries@  MEMBOUND_CHECK(!\"a template of that name\");
  return {};
}

}  // namespace membound::gradebook
")
endfunction()

# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# embed_texts(<header> <function> <file…>)
#   Puts files into the program. <header>, in this folder, declares in the namespace of its room, which
#   is the folder's name: `std::string_view <function>(std::string_view name)`, the text of the file
#   whose name without its ending is `name`. Defines it in a source file that EMBEDDED_TEXTS names.
function(embed_texts header function)
  set(entries "")
  foreach(file IN LISTS ARGN)
    get_filename_component(name ${file} NAME_WE)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} text)
    string(APPEND entries "  if (name == \"${name}\")\n    return R\"text(${text})text\";\n")
  endforeach()
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  get_filename_component(room ${folder} NAME)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${function}.cpp)
  file(CONFIGURE OUTPUT ${output} @ONLY CONTENT
"// Made by CMake from files of @folder@.
#line 3 \"@folder@/@function@.cpp\"  // the same in every build folder
#include \"@folder@/@header@\"

#include \"grader/base/result.hpp\"

namespace membound::@room@ {

std::string_view @function@(std::string_view name) {
@entries@  MEMBOUND_CHECK(!\"a text of that name\");
  return {};
}

}  // namespace membound::@room@
")
  set(EMBEDDED_TEXTS ${output} PARENT_SCOPE)
endfunction()

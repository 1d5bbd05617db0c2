# Joins the page's style and modules into one HTML text and writes it as a C++ string, so that
# tools/viewer needs no bundler and no node.
#   cmake -DFOLDER=tools/viewer -DSOURCE=viewer_page.cpp -P join.cmake
# Each module becomes a function that returns what it exports; imports become lookups. Modules are
# joined in the order of MODULES, in which each stands behind those that it imports.
cmake_minimum_required(VERSION 3.25)
set(MODULES columns format palette background trace_model segments pyramid series viewport bursts raster row_levels canvas_area rows search follow
  profile messages tracks charts timeline overlays legend details panel selecting telling link saving sibling controls main)

set(script "const modules = {};\n")
foreach(module IN LISTS MODULES)
  file(READ ${FOLDER}/${module}.js text)
  string(REGEX MATCHALL "export (function|class|const) [A-Za-z0-9_]+" exports "${text}")
  string(REGEX REPLACE "export (function|class|const) " "" exports "${exports}")
  list(JOIN exports ", " exports)
  string(REGEX REPLACE "import \\* as ([A-Za-z]+) from \"./([a-z0-9_]+).js\"" "const \\1 = modules.\\2" text "${text}")
  string(REGEX REPLACE "import ({[^}]*}) from \"./([a-z0-9_]+).js\"" "const \\1 = modules.\\2" text "${text}")
  string(REGEX REPLACE "export (function|class|const) " "\\1 " text "${text}")
  if(text MATCHES "(^|\n)(import|export) ")
    message(FATAL_ERROR "${module}.js: an import or export that join.cmake does not know")
  endif()
  string(APPEND script "modules.${module} = (() => {\n${text}return { ${exports} };\n})();\n")
endforeach()

file(READ ${FOLDER}/page.css style)
file(READ ${FOLDER}/page.html page)
string(REPLACE "@style@" "${style}" page "${page}")
string(REPLACE "@script@" "${script}" page "${page}")
file(WRITE ${SOURCE} "// Made of tools/viewer by join.cmake.\n#include \"viewer_page.hpp\"\n\nnamespace stria::tool {\n"
  "const char kViewerPage[] = R\"page(${page})page\";\n}  // namespace stria::tool\n")

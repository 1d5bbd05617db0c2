# Joins the page's style and modules into one HTML text and writes it as a C++ string, so that
# tools/viewer needs no bundler and no node.
#   cmake -DFOLDER=tools/viewer/page -DSOURCE=viewer_page.cpp -P join.cmake
# Each module becomes a function that returns what it exports; imports become lookups. Modules are
# joined in this order, in which each stands behind those that it imports: what is known of the run,
# its picture, what stands beside that, and what the user does.
cmake_minimum_required(VERSION 3.25)
set(MODULES format
  run/columns run/background run/trace_model run/segments run/pyramid run/series run/bursts run/rows run/search run/follow run/profile run/messages
  picture/palette picture/viewport picture/raster picture/row_levels picture/canvas_area picture/tracks picture/charts picture/arrows
  picture/timeline picture/overlays
  beside/legend beside/details beside/matrix beside/panel
  handling/selecting handling/telling handling/link handling/saving handling/sibling handling/controls
  main)

set(script "const modules = {};\n")
set(joined "")
foreach(path IN LISTS MODULES)
  get_filename_component(module ${path} NAME)
  file(READ ${FOLDER}/${path}.js text)
  string(REGEX MATCHALL "from \"[./]+[a-z0-9_/]*\\.js\"" imports "${text}")
  foreach(import IN LISTS imports)
    string(REGEX REPLACE ".*[./]([a-z0-9_]+)\\.js\"" "\\1" name "${import}")
    if(NOT name IN_LIST joined)
      message(FATAL_ERROR "${path}.js imports ${name}.js, which isn't before it in the list of join.cmake")
    endif()
  endforeach()
  list(APPEND joined ${module})
  string(REGEX MATCHALL "export (function|class|const) [A-Za-z0-9_]+" exports "${text}")
  string(REGEX REPLACE "export (function|class|const) " "" exports "${exports}")
  list(JOIN exports ", " exports)
  string(REGEX REPLACE "import \\* as ([A-Za-z]+) from \"[./]+([a-z]+/)?([a-z0-9_]+)\\.js\"" "const \\1 = modules.\\3" text "${text}")
  string(REGEX REPLACE "import ({[^}]*}) from \"[./]+([a-z]+/)?([a-z0-9_]+)\\.js\"" "const \\1 = modules.\\3" text "${text}")
  string(REGEX REPLACE "export (function|class|const) " "\\1 " text "${text}")
  if(text MATCHES "(^|\n)(import|export) ")
    message(FATAL_ERROR "${path}.js: an import or export that join.cmake does not know")
  endif()
  string(APPEND script "modules.${module} = (() => {\n${text}return { ${exports} };\n})();\n")
endforeach()

file(READ ${FOLDER}/style.css style)
file(READ ${FOLDER}/page.html page)
string(REPLACE "@style@" "${style}" page "${page}")
string(REPLACE "@script@" "${script}" page "${page}")
file(WRITE ${SOURCE} "// Made of tools/viewer/page by join.cmake.\n#include \"viewer_page.hpp\"\n\nnamespace stria::tool {\n"
  "const char kViewerPage[] = R\"page(${page})page\";\n}  // namespace stria::tool\n")

# A target per layer of src/, which sees its own folder and those of the layers that it stands on.
#
# Problem: every include names its file below src/ ("comm/comm.hpp"), so that one include path
# reaches all layers, and links alone keep no layer from another.
# Method: before src/ a layer searches a folder that has, for each layer that it doesn't see, a
# symbolic link to itself. A compiler that looks there for file/file.hpp is told "Too many levels of
# symbolic links", and ends. That include goes up, sideways, or where the layer has no business,
# perhaps by way of another header. What a layer sees isn't in that folder. It is found in src/,
# under the one path by which messages, failed checks, debuggers, editors and ccache know it.
# Folders of links to what may be seen would give each header another path in every layer.
# Cost: no command more, and a look-up that fails for each header. The folder is named after what
# the layer sees, so that ccache forgets what it knew when that changes.
#
# These folders are for who works on Stria, as errors for warnings are (STRIA_WERROR).

# stria_layer(NAME [FOLDER folder] [ON layers…] [LIBRARIES targets…])
#   The object library layer_NAME, for files of src/NAME or of another folder of src/, whose
#   CMakeLists.txt adds them.
function(stria_layer name)
  cmake_parse_arguments(L "" "FOLDER" "ON;LIBRARIES" ${ARGN})
  if(NOT L_FOLDER)
    set(L_FOLDER ${name})
  endif()
  add_library(layer_${name} OBJECT)
  target_include_directories(layer_${name} PRIVATE ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(layer_${name} PRIVATE stria_options ${L_LIBRARIES})
  # A small layer is one file of a build that compiles files together.
  set_target_properties(layer_${name} PROPERTIES UNITY_BUILD_BATCH_SIZE 20)
  stria_stands_on(layer_${name} ${L_FOLDER} ${L_ON})
endfunction()

# stria_stands_on(TARGET FOLDER [LAYERS…]): the target's sources lie in a folder of src/, and see
# that one and those of the layers.
function(stria_stands_on target folder)
  foreach(layer IN LISTS ARGN)
    if(NOT TARGET layer_${layer})
      message(FATAL_ERROR "${target} can't stand on '${layer}': no layer of that name comes before it")
    endif()
  endforeach()
  if(NOT STRIA_WERROR)
    return()
  endif()
  set(seen ${folder} ${ARGN})
  list(JOIN seen "+" name_of_seen)
  set(others ${CMAKE_BINARY_DIR}/not_seen_by/${name_of_seen})
  file(REMOVE_RECURSE ${others})
  file(MAKE_DIRECTORY ${others})
  file(GLOB names RELATIVE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/src/*)
  list(REMOVE_ITEM names ${seen})
  foreach(name IN LISTS names)
    if(IS_DIRECTORY ${CMAKE_SOURCE_DIR}/src/${name})
      file(CREATE_LINK ${name} ${others}/${name} SYMBOLIC)
    endif()
  endforeach()
  target_include_directories(${target} BEFORE PRIVATE ${others})
endfunction()

# stria_objects(NAME LAYERS…): who links NAME contains the objects of these layers.
function(stria_objects name)
  add_library(${name} INTERFACE)
  foreach(layer IN LISTS ARGN)
    target_sources(${name} INTERFACE $<TARGET_OBJECTS:layer_${layer}>)
  endforeach()
endfunction()

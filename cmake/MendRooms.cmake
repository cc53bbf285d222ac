# The rooms of the house. cmake/rooms.txt names them, their public headers, and what each may use; the layering test reads
# the same table.
#
# A room is an OBJECT library mend_<room> made of <room>/*.c. It sees its own headers, those of the rooms it may use
# (transitively), the public ones, and nothing else: its include path is a folder of links to just these rooms.

# What a name in the table's last column that is no room stands for.
set(MEND_LIBRARY_xxhash PkgConfig::XXHASH)
set(MEND_LIBRARY_libevent PkgConfig::LIBEVENT)
set(MEND_LIBRARY_libcurl PkgConfig::LIBCURL)

# mend_read_rooms() reads the table: MEND_ROOMS; MEND_CORE_ROOMS, those that need neither libevent nor libcurl; and for each
# room MEND_<room>_SEES (itself and every room it may use) and MEND_<room>_LIBRARIES (those of all rooms it sees).
function(mend_read_rooms)
  set(table ${PROJECT_SOURCE_DIR}/cmake/rooms.txt)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${table})
  file(STRINGS ${table} rows REGEX "^[a-z_]+ *\\|")
  set(rooms)
  set(core_rooms)
  foreach(row IN LISTS rows)
    string(REGEX REPLACE "^([a-z_]+) *\\|.*$" "\\1" room "${row}")
    string(REGEX REPLACE "^.*\\|" "" uses "${row}")
    string(REGEX MATCHALL "[a-z_]+" uses "${uses}")
    set(sees ${room})
    set(libraries)
    foreach(used IN LISTS uses)
      if(used IN_LIST rooms)
        list(APPEND sees ${MEND_${used}_SEES})
        list(APPEND libraries ${MEND_${used}_LIBRARIES})
      elseif(DEFINED MEND_LIBRARY_${used})
        list(APPEND libraries ${used})
      else()
        message(FATAL_ERROR "${table}: ${room} uses ${used}, which is neither a room above it nor a known library")
      endif()
    endforeach()
    list(REMOVE_DUPLICATES sees)
    list(REMOVE_DUPLICATES libraries)
    list(APPEND rooms ${room})
    if(NOT "libevent" IN_LIST libraries AND NOT "libcurl" IN_LIST libraries)
      list(APPEND core_rooms ${room})
    endif()
    set(MEND_${room}_SEES ${sees})
    set(MEND_${room}_SEES ${sees} PARENT_SCOPE)
    set(MEND_${room}_LIBRARIES ${libraries})
    set(MEND_${room}_LIBRARIES ${libraries} PARENT_SCOPE)
  endforeach()
  set(MEND_ROOMS ${rooms} PARENT_SCOPE)
  set(MEND_CORE_ROOMS ${core_rooms} PARENT_SCOPE)
endfunction()

# mend_link_libraries(<target> <visibility> <name>...) links libraries by their names in the table.
function(mend_link_libraries target visibility)
  foreach(name IN LISTS ARGN)
    target_link_libraries(${target} ${visibility} ${MEND_LIBRARY_${name}})
  endforeach()
endfunction()

# mend_embed_bytes(<symbol> <hexadecimal digits> <variable>): the bytes become a C text, const char <symbol>[], which ends with a
# NUL. The source that defines it is appended to the variable.
function(mend_embed_bytes symbol bytes variable)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  set(source ${PROJECT_BINARY_DIR}/texts/${symbol}.c)
  file(CONFIGURE OUTPUT ${source} CONTENT "extern const char ${symbol}[];\nconst char ${symbol}[] = {\n${bytes}0};\n" @ONLY)
  set(${variable} ${${variable}} ${source} PARENT_SCOPE)
endfunction()

# mend_embed_texts(<room> <variable>): each <room>/<name>.json becomes mend__<room>_<name>_json.
function(mend_embed_texts room variable)
  file(GLOB texts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${room}/*.json)
  foreach(text IN LISTS texts)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${text})
    cmake_path(GET text STEM name)
    file(READ ${text} bytes HEX)
    mend_embed_bytes(mend__${room}_${name}_json "${bytes}" ${variable})
  endforeach()
  set(${variable} ${${variable}} PARENT_SCOPE)
endfunction()

# mend_add_room(<room>) makes the OBJECT library.
function(mend_add_room room)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${room}/*.c)
  mend_embed_texts(${room} sources)
  add_library(mend_${room} OBJECT ${sources})
  set_target_properties(mend_${room} PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
  set(house ${PROJECT_BINARY_DIR}/house/${room})
  file(REMOVE_RECURSE ${house})
  file(MAKE_DIRECTORY ${house})
  foreach(seen IN LISTS MEND_${room}_SEES)
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${seen} ${house}/${seen} SYMBOLIC)
  endforeach()
  target_include_directories(mend_${room} PRIVATE ${PROJECT_SOURCE_DIR}/include ${house})
  target_link_libraries(mend_${room} PRIVATE mend_warnings Threads::Threads)
  mend_link_libraries(mend_${room} PRIVATE ${MEND_${room}_LIBRARIES})
endfunction()

# mend_add_library(<target> <SHARED|STATIC> <output name> <export name> <room>...) makes a library of the objects of these
# rooms, mend::<export name> for those who use it.
function(mend_add_library target kind output export)
  set(libraries)
  add_library(${target} ${kind})
  add_library(mend::${export} ALIAS ${target})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${output} EXPORT_NAME ${export})
  foreach(room IN LISTS ARGN)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:mend_${room}>)
    list(APPEND libraries ${MEND_${room}_LIBRARIES})
  endforeach()
  list(REMOVE_DUPLICATES libraries)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                              $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${target} PRIVATE Threads::Threads m)
  mend_link_libraries(${target} PRIVATE ${libraries})
endfunction()

# mend_add_executable(<target> <sources>...) makes a program that may see the whole house.
function(mend_add_executable target)
  add_executable(${target} ${ARGN})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${target} PRIVATE mend_warnings libmend_static Threads::Threads)
endfunction()

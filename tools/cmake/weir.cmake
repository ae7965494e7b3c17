# Functions that every folder's CMakeLists.txt uses, the warnings, and the libraries that the project stands on.
#
#   weir_library(NAME DEPS a b)     a static library weir_NAME of every .cc below the folder (header-only folders too)
#   weir_test(NAME DEPS a b)        one test binary of every *_test.cc in the folder, each test case known to ctest
#
# Sources are globbed with CONFIGURE_DEPENDS: adding an operator or a test touches no CMake file.

find_program(CCACHE ccache)
if(CCACHE)
  # The settings let ccache work with precompiled headers and share objects between build folders.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_NOHASHDIR=1 CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} ${CCACHE})
  add_compile_options(-fpch-preprocess)
endif()
find_program(MOLD mold)
if(MOLD AND NOT WEIR_NO_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(simdjson REQUIRED)
find_package(yaml-cpp REQUIRED)
pkg_check_modules(rdkafka REQUIRED IMPORTED_TARGET rdkafka)
pkg_check_modules(lz4 REQUIRED IMPORTED_TARGET liblz4)
pkg_check_modules(re2 REQUIRED IMPORTED_TARGET re2)
find_library(PG_QUERY pg_query REQUIRED)
find_library(DATE_TZ date-tz REQUIRED)
find_library(XXHASH xxhash REQUIRED)
find_library(ROCKSDB rocksdb REQUIRED)

add_compile_options(-Wall -Wextra -Wconversion -Wno-sign-conversion -Werror)
if(NOT MSVC)
  add_compile_options(-fno-omit-frame-pointer)
endif()
# Boost.Asio as headers, without its deprecated parts.
add_compile_definitions(BOOST_ASIO_NO_DEPRECATED FMT_HEADER_ONLY=0)

function(weir_library NAME)
  cmake_parse_arguments(ARG "" "" "DEPS" ${ARGN})
  file(GLOB_RECURSE SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  list(FILTER SOURCES EXCLUDE REGEX "/main\\.cc$")
  if(SOURCES)
    add_library(weir_${NAME} STATIC ${SOURCES})
    set(SCOPE PUBLIC)
  else()
    add_library(weir_${NAME} INTERFACE)
    set(SCOPE INTERFACE)
  endif()
  target_include_directories(weir_${NAME} ${SCOPE} ${CMAKE_SOURCE_DIR})
  target_link_libraries(weir_${NAME} ${SCOPE} ${ARG_DEPS})
  if(SOURCES)
    target_precompile_headers(weir_${NAME} PRIVATE ${CMAKE_SOURCE_DIR}/tools/cmake/precompiled.h)
  endif()
endfunction()

function(weir_test NAME)
  cmake_parse_arguments(ARG "" "" "DEPS" ${ARGN})
  file(GLOB SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*_test.cc)
  if(NOT SOURCES)
    return()
  endif()
  find_package(GTest REQUIRED)
  include(GoogleTest)
  add_executable(${NAME}_test ${SOURCES})
  target_include_directories(${NAME}_test PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(${NAME}_test PRIVATE ${ARG_DEPS} GTest::gmock GTest::gtest_main)
  target_precompile_headers(${NAME}_test PRIVATE ${CMAKE_SOURCE_DIR}/tools/cmake/precompiled.h <gmock/gmock.h>)
  gtest_discover_tests(${NAME}_test DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 900
                       WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
endfunction()

# Build rules shared by every folder.

add_library(plumbline_warnings INTERFACE)
target_compile_options(plumbline_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow $<$<BOOL:${PLUMBLINE_WERROR}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  if(PLUMBLINE_UNITY)
    # A type private to a source counts as one of a header when several sources are one unit.
    target_compile_options(plumbline_warnings INTERFACE -Wno-subobject-linkage)
  endif()
  if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # g++ 12 takes std::string's inlined copies for overlapping and out of bounds as soon as it optimises (GCC bugs
    # 105329 and 105651, fixed in 13), and an empty std::optional for one that is read (80635). What these look for, the
    # sanitizers find in the asan build, and clang's own analysis of uninitialised values runs there.
    target_compile_options(plumbline_warnings INTERFACE
      "$<$<NOT:$<CONFIG:Debug>>:-Wno-array-bounds;-Wno-restrict;-Wno-stringop-overflow;-Wno-stringop-overread;-Wno-maybe-uninitialized>")
  endif()
endif()

# The same doubles from every compiler: no fused multiply-add, no machine-specific instructions.
add_compile_options(-ffp-contract=off)
# Released builds: hardened (the tool is not position-independent: cli/CMakeLists.txt says why), and without the folder
# they were built in.
if(CMAKE_BUILD_TYPE STREQUAL Release)
  add_compile_options(-fstack-protector-strong -fstack-clash-protection -fcf-protection -U_FORTIFY_SOURCE
                      -D_FORTIFY_SOURCE=2 -ffile-prefix-map=${PROJECT_SOURCE_DIR}=.
                      -ffile-prefix-map=${PROJECT_BINARY_DIR}=build)
  add_link_options(-Wl,-z,relro,-z,now)
endif()
if(PLUMBLINE_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()
if(PLUMBLINE_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# Sources of a stage, relative to its folder. Under the sanitizers the stages that only check and format are compiled
# without optimisation, in half the time; those that fit, search and read big files keep -O1.
function(plumbline_sources)
  set(target plumbline)
  get_filename_component(stage ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  if(TARGET plumbline_unoptimised AND stage MATCHES "^(bench|contract|cards|pricing|evidence|ledger|report|html)$")
    set(target plumbline_unoptimised)
  endif()
  target_sources(${target} PRIVATE ${ARGN})
  plumbline_unity(${target} ${ARGN})
endfunction()

# plumbline_unity(TARGET sources...): with PLUMBLINE_UNITY, up to ten sources of this folder are one unit.
function(plumbline_unity target)
  if(NOT PLUMBLINE_UNITY)
    return()
  endif()
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  string(MAKE_C_IDENTIFIER ${folder} folder)
  execute_process(COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/unity_groups.py 10 ${ARGN}
                  WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE groups COMMAND_ERROR_IS_FATAL ANY)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  string(REGEX MATCHALL "[^\n]+" groups "${groups}")
  foreach(line ${groups})
    string(REGEX MATCH "^(.*) ([0-9]+)$" line ${line})
    set_source_files_properties(${CMAKE_MATCH_1} TARGET_DIRECTORY ${target} PROPERTIES
                                UNITY_GROUP ${folder}_${CMAKE_MATCH_2})
  endforeach()
endfunction()

# Headers that are installed; each is also compiled alone when all_verify_interface_header_sets is built.
function(plumbline_public_headers)
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  target_sources(plumbline PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/src FILES ${ARGN})
endfunction()

# plumbline_unit_tests(NAME folders...): one GoogleTest executable of every *_test.cpp and helper in tests/unit/FOLDER,
# registered as unit.NAME. A new file in one of the folders needs no line anywhere.
function(plumbline_unit_tests name)
  set(sources)
  foreach(folder ${ARGN})
    file(GLOB found CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp)
    list(APPEND sources ${found})
  endforeach()
  list(APPEND PLUMBLINE_UNIT_FOLDERS ${ARGN})
  set(PLUMBLINE_UNIT_FOLDERS ${PLUMBLINE_UNIT_FOLDERS} PARENT_SCOPE)
  add_executable(${name}_test ${sources})
  target_link_libraries(${name}_test PRIVATE plumbline::plumbline plumbline_warnings plumbline_fmt GTest::gmock
                                             GTest::gtest_main)
  target_include_directories(${name}_test PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${name}_test PRIVATE PLUMBLINE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_precompile_headers(${name}_test PRIVATE ${PROJECT_SOURCE_DIR}/tests/unit/precompiled.h)
  if(PLUMBLINE_SANITIZE)
    target_compile_options(${name}_test PRIVATE -O0)  # the library's own work dominates; compiling takes half the time
  endif()
  add_test(NAME unit.${name} COMMAND ${name}_test)
  set_tests_properties(unit.${name} PROPERTIES LABELS unit)
endfunction()

# plumbline_fuzzer(NAME fuzz.cpp): a libFuzzer target named fuzz_NAME.
function(plumbline_fuzzer name)
  if(PLUMBLINE_FUZZ)
    add_executable(fuzz_${name} ${ARGN})
    target_link_libraries(fuzz_${name} PRIVATE plumbline::plumbline plumbline_warnings plumbline_fmt)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  endif()
endfunction()

# plumbline_benchmark(NAME bench.cpp): a Google Benchmark executable named bench_NAME.
function(plumbline_benchmark name)
  add_executable(bench_${name} ${ARGN})
  target_link_libraries(bench_${name} PRIVATE plumbline::plumbline plumbline_warnings plumbline_fmt
                                              benchmark::benchmark)
  target_compile_definitions(bench_${name} PRIVATE PLUMBLINE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
endfunction()

# Sources that include RapidJSON 1.1.0: its empty stack adds an offset to a null pointer, in its own headers.
function(plumbline_uses_rapidjson)
  if(PLUMBLINE_SANITIZE)
    set_source_files_properties(${ARGN} TARGET_DIRECTORY plumbline PROPERTIES COMPILE_OPTIONS
                                -fno-sanitize=pointer-overflow)
  endif()
endfunction()

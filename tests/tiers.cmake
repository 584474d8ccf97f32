# The tier of each test file, as tests/tiers.txt says: a CTest label, and a cost by which the longest tests begin first.
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/tiers.txt lines REGEX "^[^#]")
set_property(DIRECTORY ${CMAKE_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/tiers.txt)
foreach(line ${lines})
  if(NOT line MATCHES "^(gate|all) +([0-9]+) +([^ ]+)$")
    message(FATAL_ERROR "tests/tiers.txt: \"${line}\" is no line of the form: gate|all SECONDS FILE")
  endif()
  set_property(GLOBAL PROPERTY "tier of ${CMAKE_MATCH_3}" ${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
endforeach()

# Sets `tier` and `seconds` of a file, which is named from the top of the repository.
function(simgrad_tier file)
  get_property(found GLOBAL PROPERTY "tier of ${file}")
  if(NOT found)
    set(found quick 0)
  endif()
  list(GET found 0 tier)
  list(GET found 1 seconds)
  return(PROPAGATE tier seconds)
endfunction()

# A test that is no case of Catch2: its labels are its file's tier and its file.
function(simgrad_test_of file name)
  simgrad_tier(${file})
  set_tests_properties("${name}" PROPERTIES LABELS "${tier};${file}" COST ${seconds})
endfunction()

# Sets `spec` to the arguments by which a test program of Catch2 picks cases by the tags that it makes of files' names.
# The scripts of Catch2 3 keep the first argument alone. There both are one, a list whose separator has a backslash for
# each time that CMake takes it for one on the way.
function(simgrad_spec cases)
  set(spec -\# "${cases}")
  if(NOT Catch2_VERSION VERSION_LESS 3)
    string(REPEAT "\\" 6 kept)
    set(spec "-#${kept};${cases}")
  endif()
  return(PROPAGATE spec)
endfunction()

# Makes each case of these files of a folder a test of its own.
function(simgrad_discover folder)
  set(properties TIMEOUT 600 FAIL_REGULAR_EXPRESSION "No test cases matched|No tests ran"
                 # A case that says why it makes no assertion.
                 SKIP_REGULAR_EXPRESSION "skipped: .*assertions: - none -")
  set(groups "")
  set(listed "")
  foreach(source ${ARGN})
    get_filename_component(name ${source} NAME_WE)
    simgrad_tier(tests/${folder}/${name}.cpp)
    if(NOT tier STREQUAL quick)
      list(APPEND groups ${tier}_${seconds})
      # Cases that are hidden from an ordinary run stay hidden.
      string(APPEND files_of_${tier}_${seconds} ",[#${name}]~[.]")
      string(APPEND listed "~[#${name}]")
    endif()
  endforeach()
  list(LENGTH groups later)
  list(LENGTH ARGN all)
  if(later LESS all)
    simgrad_spec("~[.]${listed}")
    catch_discover_tests(${folder}_test TEST_PREFIX "${folder}: " TEST_SPEC ${spec}
                         PROPERTIES ${properties} LABELS quick)
  endif()
  list(REMOVE_DUPLICATES groups)
  foreach(group ${groups})
    string(REGEX MATCH "^([a-z]+)_([0-9]+)$" matched ${group})
    string(SUBSTRING "${files_of_${group}}" 1 -1 files)
    simgrad_spec("${files}")
    catch_discover_tests(${folder}_test TEST_PREFIX "${folder}: " TEST_SPEC ${spec}
                         PROPERTIES ${properties} LABELS ${CMAKE_MATCH_1} COST ${CMAKE_MATCH_2})
  endforeach()
endfunction()

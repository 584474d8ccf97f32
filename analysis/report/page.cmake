# cmake -DFROM=<this directory> -DTO=<build directory> -P page.cmake: TO/page.html and TO/page.cpp.
cmake_minimum_required(VERSION 3.25)
include(${FROM}/embed.cmake)

function(without_page)
  file(REMOVE ${TO}/page.html ${TO}/page.stamp)
  embed("" ${TO}/page.cpp)
endfunction()

function(without why)
  message("The report's page is left out: ${why}. `simgrad report` will say how to get it; everything else works.")
  without_page()
endfunction()

# script/demo shows its table first, and builds again for the page.
if("$ENV{SIMGRAD_PAGE}" STREQUAL "later")
  without_page()
  return()
endif()

find_program(node NAMES node nodejs)
find_program(npm npm)
if(NOT node OR NOT npm)
  without("there is no Node here (script/bootstrap installs it)")
  return()
endif()

# Packages are installed beside what is built, never in the source tree, and again only when the lock file changes.
file(SHA256 ${FROM}/package-lock.json lock)
set(installed "")
if(EXISTS ${TO}/node_modules/lock)
  file(READ ${TO}/node_modules/lock installed)
endif()
if(NOT installed STREQUAL lock)
  file(COPY ${FROM}/package.json ${FROM}/package-lock.json DESTINATION ${TO})
  execute_process(COMMAND ${npm} ci --omit=dev --ignore-scripts --no-audit --no-fund --fetch-retries=1 --fetch-retry-mintimeout=1000 --loglevel=error
                  WORKING_DIRECTORY ${TO} RESULT_VARIABLE failed OUTPUT_QUIET ERROR_FILE ${TO}/npm.log TIMEOUT 300)
  if(failed)
    without("`npm ci` could not install its packages (${TO}/npm.log)")
    return()
  endif()
  file(WRITE ${TO}/node_modules/lock ${lock})
endif()

execute_process(COMMAND ${node} ${FROM}/build.mjs --modules ${TO}/node_modules --out ${TO}/page.html
                RESULT_VARIABLE failed ERROR_VARIABLE errors)
if(failed)
  message(FATAL_ERROR "The report's page cannot be bundled:\n${errors}")
endif()
embed(${TO}/page.html ${TO}/page.cpp)
file(TOUCH ${TO}/page.stamp)

# embed(file cpp): writes cpp, which defines simgrad::outputs::page() as the text of file; without a file it is empty.
# Raw string literals: as fast to compile as an assembler's .incbin, and every compiler takes them.
function(embed file cpp)
  set(text "")
  if(file)
    file(READ ${file} text)
  endif()
  string(FIND "${text}" ")page\"" ends_early)
  if(NOT ends_early EQUAL -1)
    message(FATAL_ERROR "${file} holds )page\", which ends the raw string that it is embedded as")
  endif()
  file(WRITE ${cpp}.new "// Written by analysis/report/embed.cmake.\n#include \"outputs/report/page.h\"\n\n"
       "namespace {\n\nconstexpr char text[] = R\"page(${text})page\";\n\n}  // namespace\n\n"
       "std::string_view simgrad::outputs::page() { return {text, sizeof text - 1}; }\n")
  file(COPY_FILE ${cpp}.new ${cpp} ONLY_IF_DIFFERENT)
  file(REMOVE ${cpp}.new)
endfunction()

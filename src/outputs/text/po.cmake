# cmake -DPO=zh.po -DCPP=zh.cpp -P po.cmake: writes the texts of a file in gettext's format as translations().
# The strings of that format are string literals of C++ already, and so are those of several lines.
file(READ ${PO} text)
if("\n${text}" MATCHES "\n#,[^\n]*fuzzy")
  message(FATAL_ERROR "${PO} has a fuzzy translation, which an editor has guessed: look at it, and take the mark away")
endif()
string(REGEX REPLACE "\n#[^\n]*" "" text "\n${text}\n")
string(REGEX REPLACE "\n\n+" "\n\n" text "${text}")
string(REGEX REPLACE "\nmsgctxt (\"[^\n]*\")\nmsgid " "\n{\\1,\n" text "${text}")
string(REGEX REPLACE "\nmsgid " "\n{\"\",\n" text "${text}")
string(REGEX REPLACE "\nmsgstr " ",\n" text "${text}")
string(REGEX REPLACE "\n\n{" "},\n\n{" text "${text}")
string(REGEX REPLACE "^},\n" "" text "${text}")
string(CONCAT cpp "// Written by src/outputs/text/po.cmake.\n#include \"outputs/text/language.h\"\n\n"
       "namespace simgrad::outputs {\nnamespace {\n\nconstexpr Translation entries[] = {${text}}};\n\n}  // namespace\n\n"
       "// The first entry is the file's head.\n"
       "std::span<const Translation> translations() { return std::span(entries).subspan(1); }\n\n"
       "}  // namespace simgrad::outputs\n")
file(WRITE ${CPP} "${cpp}")

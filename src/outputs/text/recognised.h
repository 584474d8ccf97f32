/// Texts that were put together in English, in the language of the process.
///
/// Notes are recorded and errors are thrown in English, by the parts of the simulator that know them, so that result
/// files are the same for everybody. Where they are shown in another language, they are recognised and translated.
#pragma once

#include <string>
#include <string_view>

namespace simgrad::outputs {

/// Returns the text in the language of the process: by the entry of the catalogue with a context ("note", "error",
/// "option", ...) that knows the most of its letters, or of what stands behind a ": ". Texts in the places of that
/// entry are translated alike, but for names, which stand in quotes or before the first ": ". Else the clauses between
/// "; " are translated by themselves. What the catalogue lacks stays English, as does a text of more than 2,000 bytes.
std::string translated(std::string_view english);

}  // namespace simgrad::outputs

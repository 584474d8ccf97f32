/// The notes of runs in the language of the process.
///
/// Notes are recorded in English, by the parts of the simulator that know them, so that result files are the same for
/// everybody. Where they are shown in another language, their texts are recognised and translated.
#pragma once

#include <string>

namespace simgrad::outputs {

/// Returns a recorded note in the language of the process; a note that the catalogue lacks stays English.
std::string note_text(const std::string& recorded);

}  // namespace simgrad::outputs

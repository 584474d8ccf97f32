/// The option --language of the commands that write tables and reports.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace simgrad::cli {

/// Adds --language en|zh. The default is what the environment says.
void add_language(CLI::App& command, std::string& language);

/// Makes the tables and reports of this process speak the language.
void speak(const std::string& language);

/// Returns "zh" if the first of LC_ALL, LC_MESSAGES and LANG that is set and not empty begins with it, else "en".
std::string language_of_environment();

}  // namespace simgrad::cli

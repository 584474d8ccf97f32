/// The option --language, and the help of commands in the language of the process.
#pragma once

#include <span>
#include <string>

namespace CLI {
class App;
}

namespace simgrad::cli {

/// Adds --language en|zh. The default is what the environment says.
void add_language(CLI::App& command);

/// Makes this process speak the language that the words of a command line ask for, or else the environment: tables,
/// reports, messages and helps. It is called before the words are parsed, whose errors are in that language, too.
void speak_as_asked(std::span<char* const> words);

/// Returns "zh" if the first of LC_ALL, LC_MESSAGES and LANG that is set and not empty begins with it, else "en".
std::string language_of_environment();

/// Translates what --help prints of a command and of all commands below it.
void translate_help(CLI::App& command);

}  // namespace simgrad::cli

#include "cli/language.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <string_view>

#include "outputs/text/language.h"

namespace simgrad::cli {

std::string language_of_environment() {
  for (const char* const variable : {"LC_ALL", "LC_MESSAGES", "LANG"})
    if (const char* const value = std::getenv(variable); value && *value != '\0')
      return std::string_view(value).starts_with("zh") ? "zh" : "en";
  return "en";
}

void add_language(CLI::App& command, std::string& language) {
  command
      .add_option(
          "--language", language,
          "The language of the table and of the report: en or zh (default: as LC_ALL, LC_MESSAGES or LANG says)")
      ->check(CLI::IsMember({"en", "zh"}))
      ->type_name("en|zh");
}

void speak(const std::string& language) {
  const auto chosen = outputs::language_called(language.empty() ? language_of_environment() : language);
  outputs::speak(chosen.value_or(outputs::Language::english));
}

}  // namespace simgrad::cli

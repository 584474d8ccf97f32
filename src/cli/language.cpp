#include "cli/language.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <string_view>

#include "base/say.h"
#include "outputs/text/language.h"
#include "outputs/text/recognised.h"

namespace simgrad::cli {

namespace {

using outputs::tr;
using outputs::translatable;

/// A description that is a text of the catalogue, or that was put together.
std::string translated(const std::string& description) {
  const std::string text = tr(description);
  return text == description ? outputs::translated(description) : text;
}

}  // namespace

std::string language_of_environment() {
  for (const char* const variable : {"LC_ALL", "LC_MESSAGES", "LANG"})
    if (const char* const value = std::getenv(variable); value && *value != '\0')
      return std::string_view(value).starts_with("zh") ? "zh" : "en";
  return "en";
}

void add_language(CLI::App& command) {
  command
      .add_option_function<std::string>(
          "--language", [](const std::string& /*language*/) {},  // speak_as_asked has read it
          "The language of tables, reports and messages: en or zh (default: as LC_ALL, LC_MESSAGES or LANG says)")
      ->check(CLI::IsMember({"en", "zh"}))
      ->type_name("en|zh");
}

void speak_as_asked(std::span<char* const> words) {
  constexpr std::string_view option = "--language";
  std::string language = language_of_environment();
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "--") break;  // names of files follow
    if (word == option && i + 1 < words.size()) language = words[i + 1];
    if (word.starts_with(option) && word.substr(option.size()).starts_with('='))
      language = word.substr(option.size() + 1);
  }
  const auto asked = outputs::language_called(language), usual = outputs::language_called(language_of_environment());
  outputs::speak(asked ? *asked : usual.value_or(outputs::Language::english));
  base::say_in(&outputs::translated);
}

void translate_help(CLI::App& command) {
  if (outputs::language() == outputs::Language::english) return;
  for (const std::string_view word :
       {translatable("Usage"), translatable("OPTIONS"), translatable("SUBCOMMAND"), translatable("Positionals"),
        translatable("REQUIRED"), translatable("Excludes"), translatable("Needs")})
    command.get_formatter()->label(std::string(word), tr(word));
  command.description(translated(command.get_description()));
  command.group(tr("Subcommands"));
  for (CLI::Option* option : command.get_options())
    option->description(translated(option->get_description()))->group(tr("Options"));
  for (CLI::App* each : command.get_subcommands([](CLI::App* /*command*/) { return true; })) translate_help(*each);
}

}  // namespace simgrad::cli

#include "cli/cli.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <new>

#include "base/errors.h"
#include "base/say.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/language.h"

namespace simgrad::cli {

namespace {

/// The error for unknown words, with the command that was probably meant; CLI11 says only that a word was not expected.
std::string hint(const CLI::App& app, const std::vector<std::string>& words) {
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands({})) commands.push_back(command->get_name());
  if (words.empty()) return fmt::format("a command is missing; known: {}", base::joined(commands));
  std::error_code unknown;
  if (words.front().ends_with(".toml") && std::filesystem::exists(words.front(), unknown))
    return fmt::format("{} is a scenario; did you mean \"simgrad run {}\"?", words.front(),
                       base::shell_word(words.front()));
  if (std::find(commands.begin(), commands.end(), words.front()) == commands.end() && words.front()[0] != '-')
    return fmt::format("unknown command \"{}\"{}", words.front(), base::suggestion(words.front(), commands));
  return {};
}

/// The long options of the called subcommand, for suggestions.
std::string option_hint(const CLI::App& app, const std::vector<std::string>& words) {
  if (words.empty()) return {};
  const auto commands = app.get_subcommands([&](const CLI::App* each) { return each->get_name() == words.front(); });
  if (commands.empty()) return {};
  const CLI::App* command = commands.front();
  std::vector<std::string> known;
  for (const CLI::Option* option : command->get_options())
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  for (const std::string& word : words) {
    const std::string name = word.substr(0, word.find('='));
    if (name.starts_with("--") && std::find(known.begin(), known.end(), name) == known.end())
      return fmt::format("unknown option \"{}\"{}", name, base::suggestion(name, known));
  }
  return {};
}

int usage_error(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
  const std::vector<std::string> words(argv + 1, argv + argc);
  std::string text = hint(app, words);
  if (text.empty()) text = option_hint(app, words);
  if (text.empty()) text = error.what();
  base::say("simgrad: " + text);
  base::say("Run \"simgrad --help\" for the commands.");
  return Exit::usage;
}

/// Refuses empty texts for options that take one: a variable of the shell that is not set would else have the default's
/// effect in silence.
void refuse_empty_texts(CLI::App& app) {
  for (CLI::App* command : app.get_subcommands([](CLI::App* /*command*/) { return true; }))
    for (CLI::Option* option : command->get_options())
      if (option->get_items_expected_max() > 0)
        option->check([expected = option->get_type_name()](const std::string& text) {
          return text.empty() ? fmt::format("found an empty text, expected {}", expected) : std::string();
        });
}

/// Parses the command line and calls the subcommand.
int call(int argc, char** argv, const PlanCommands& plan_commands) {
  speak_as_asked({argv, static_cast<std::size_t>(argc)});
  CLI::App app{
      "simgrad: real gradients on a simulated cluster.\n"
      "Compares ways of training in parallel by time, speed-up and shares of computing, communicating and waiting.",
      "simgrad"};
  app.set_version_flag("--version", std::string("simgrad ") + version);
  app.require_subcommand(1);
  add_language(app);
  int exit_code = Exit::ok;
  const auto add_if_here = [&](Add add, const char* name, const char* about) {
    if (add != nullptr) return add(app, exit_code);
    CLI::App* command = app.add_subcommand(name, about);
    command->set_help_flag();  // --help is for the program that has the command, as all words are
    command->prefix_command();
    command->callback([argv] { hand_over(argv); });
  };
  add_init(app, exit_code);
  add_run(app, exit_code);
  add_validate(app, exit_code, plan_commands, argv);
  add_if_here(plan_commands.plan, "plan", plan_summary);
  add_check(app, exit_code);
  add_merge(app, exit_code);
  add_report(app, exit_code);
  add_predict(app, exit_code);
  add_list(app, exit_code);
  add_explain(app, exit_code);
  add_calibrate(app, exit_code);
  add_if_here(plan_commands.capacity, "capacity", capacity_summary);
  refuse_empty_texts(app);
  translate_help(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return usage_error(app, error, argc, argv);
  }
  return exit_code;
}

}  // namespace

void hand_over(char** argv) {
  namespace fs = std::filesystem;
  std::error_code unread, unfound;
  const fs::path self = fs::read_symlink("/proc/self/exe", unread);
  if (unread)
    throw base::EnvironmentError(fmt::format(
        "simgrad {}: where this program lies is not known, for /proc cannot be read; call simgrad-plan itself",
        argv[1]));
  const fs::path program = self.parent_path() / "simgrad-plan";
  execv(program.c_str(), argv);
  const int error = errno;
  const std::string shown = base::printable(program.string());
  if (error != ENOENT)
    throw base::EnvironmentError(fmt::format("simgrad {}: cannot start {}: {}", argv[1], shown, std::strerror(error)));
  const char* const has = argv[1] == std::string_view("validate") ? "checks [plan] and [capacity]" : "has this command";
  const std::string directory = base::printable(base::shell_word(self.parent_path().string()));
  throw base::EnvironmentError(
      fs::exists(self.parent_path() / "CMakeCache.txt", unfound)
          ? fmt::format("simgrad {}: the program {}, which {}, is not built yet; to build it, type: "
                        "cmake --build {} --target simgrad-plan",
                        argv[1], shown, has, directory)
          : fmt::format("simgrad {}: there is no {}, which {}; copy it from the build directory to there, "
                        "or make simgrad a symbolic link to the one that is built",
                        argv[1], shown, has));
}

void flush_output() {
  errno = 0;
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throw base::EnvironmentError(fmt::format("simgrad: cannot write to the standard output{}{}", errno == 0 ? "" : ": ",
                                             errno == 0 ? "" : std::strerror(errno)));
}

int run(int argc, char** argv, const PlanCommands& plan_commands) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file that grows beyond a limit is an error of its writing
  try {
    const int exit_code = call(argc, argv, plan_commands);
    flush_output();
    return exit_code;
  } catch (const base::ScenarioError& error) {
    for (const std::string& fault : error.faults()) base::say(fault);
    return Exit::usage;
  } catch (const base::EnvironmentError& error) {
    base::say(error.what());
    return Exit::environment;
  } catch (const std::bad_alloc&) {
    base::say("simgrad: not enough memory; smaller data, or fewer runs at a time (--jobs), need less");
    return Exit::environment;
  } catch (const std::exception& error) {
    base::say(fmt::format("simgrad: {}", error.what()));
    return Exit::environment;
  }
}

}  // namespace simgrad::cli

#include "fuzz/targets.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <stdexcept>

#include "base/errors.h"
#include "base/say.h"

namespace simgrad::fuzz {

namespace {

constexpr std::array all{Target{"arguments", read_arguments},
                         Target{"baseline", read_baseline},
                         Target{"config", read_config},
                         Target{"csv", read_csv},
                         Target{"edges", read_edges},
                         Target{"experiment", read_experiment},
                         Target{"failures", read_failures},
                         Target{"gzip", read_gzip},
                         Target{"idx", read_idx},
                         Target{"libsvm", read_libsvm},
                         Target{"matrix", read_matrix},
                         Target{"measured", read_measured},
                         Target{"measured_runs", read_measured_runs},
                         Target{"model", read_model},
                         Target{"npy", read_npy},
                         Target{"operators", read_operators},
                         Target{"plan_answer", read_plan_answer},
                         Target{"platform", read_platform},
                         Target{"profile", read_profile},
                         Target{"record", read_record},
                         Target{"requests", read_requests},
                         Target{"results", read_results},
                         Target{"scenario", read_scenario},
                         Target{"speeds", read_speeds},
                         Target{"state", read_state},
                         Target{"timeline", read_timeline},
                         Target{"trajectory", read_trajectory},
                         Target{"transfers", read_transfers},
                         Target{"trials", read_trials}};

/// Words of libraries and of the program's inside. A user can do nothing with them.
constexpr std::array<std::string_view, 21> inside{
    "std::",     "vector::",       "basic_string", "stoi",         "stod",           "stoul",       "bad_alloc",
    "map::at",   "json.exception", "invariant",    "Sanitizer",    "runtime error:", "terminate",   "Backtrace",
    "Assertion", "bad_variant",    "bad_optional", "bad_function", "Segmentation",   "core dumped", "died of signal"};

/// The fault in the words of a refusal, or "". Words that the input itself holds are the user's.
std::string fault_of_words(const std::string& words, const std::string& bytes) {
  if (words.find_first_not_of(" \n") == std::string::npos) return "a refusal without a word";
  for (const std::string_view word : inside)
    if (words.find(word) != std::string::npos && bytes.find(word) == std::string::npos)
      return fmt::format("a refusal with \"{}\" in it: {}", word, base::printable_lines(words));
  return {};
}

}  // namespace

std::span<const Target> targets() { return all; }

const Target* target(std::string_view name) {
  const auto found = std::ranges::find(all, name, &Target::name);
  return found == all.end() ? nullptr : &*found;
}

std::string fault_of(const Target& target, const std::string& bytes) {
  try {
    target.read(bytes);
  } catch (const base::ScenarioError& refusal) {
    return fault_of_words(refusal.what(), bytes);
  } catch (const base::EnvironmentError& refusal) {
    return fault_of_words(refusal.what(), bytes);
  } catch (const Fault& fault) {
    return fault.text;
  } catch (const std::exception& error) {
    return fmt::format("an exception that is no refusal: {}", error.what());
  }
  return {};
}

void expect(bool holds, std::string_view what) {
  if (!holds) throw Fault{std::string(what)};
}

Files::Files() {
  const std::filesystem::path memory = "/dev/shm";
  const bool has = access(memory.c_str(), W_OK) == 0;
  directory_ = ((has ? memory : std::filesystem::temp_directory_path()) / "simgrad-fuzz-XXXXXX").string();
  if (!mkdtemp(directory_.data())) throw std::runtime_error("no directory for the inputs' files");
}

Files::~Files() {
  std::error_code none;
  std::filesystem::remove_all(directory_, none);
}

std::string Files::write(std::string_view name, std::string_view bytes) const {
  const std::string path = fmt::format("{}/{}", directory_, name);
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (!file) throw std::runtime_error("cannot write " + path);
  const bool whole = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  if (std::fclose(file) != 0 || !whole) throw std::runtime_error("cannot write " + path);
  return path;
}

const Files& files() {
  static const Files own;
  return own;
}

}  // namespace simgrad::fuzz

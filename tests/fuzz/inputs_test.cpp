// The committed inputs of fuzzing: the corpus, from which mutations begin, and one case for each fault that was mended.
#include <fmt/format.h>

#include <filesystem>
#include <set>
#include <string>

#include "catch.h"
#include "fuzz/targets.h"
#include "scratch.h"

namespace inputs_test {

using namespace simgrad;

std::set<std::filesystem::path> inputs(const std::string& kind, std::string_view target) {
  std::set<std::filesystem::path> all;
  const std::filesystem::path directory = fmt::format("{}/tests/fuzz/{}/{}", SIMGRAD_SOURCE_DIR, kind, target);
  if (std::filesystem::exists(directory))
    for (const auto& entry : std::filesystem::directory_iterator(directory)) all.insert(entry.path());
  return all;
}

void check_all(const std::string& kind, const fuzz::Target& target) {
  for (const auto& file : inputs(kind, target.name)) {
    INFO(file.string());
    CHECK(fuzz::fault_of(target, tests::contents(file.string())) == "");
  }
}

TEST_CASE("inputs of the corpus are read, or refused in a sentence") {
  for (const fuzz::Target& target : fuzz::targets()) {
    INFO(target.name);
    CHECK_FALSE(inputs("corpus", target.name).empty());
    check_all("corpus", target);
  }
}

TEST_CASE("inputs that once had a fault are read, or refused in a sentence") {
  for (const fuzz::Target& target : fuzz::targets()) check_all("cases", target);
  // A key of 100,000 parts, a list in 100,000 lists: files of that size are made here.
  std::string parts = "a", lists;
  for (int i = 1; i < 100'000; ++i) parts += ".a";
  for (int i = 0; i < 100'000; ++i) lists += '[';
  for (const std::string& text : {parts + " = 1\n", "[" + parts + "]\n", "a = { " + parts + " = 1 }\n"})
    CHECK(fuzz::fault_of(*fuzz::target("scenario"), text) == "");
  CHECK(fuzz::fault_of(*fuzz::target("arguments"), "1\ncluster.workers={" + parts + "=1}\n") == "");
  CHECK(fuzz::fault_of(*fuzz::target("results"), lists) == "");
  CHECK(fuzz::fault_of(*fuzz::target("timeline"), lists) == "");
}

TEST_CASE("a refusal with a library's words in it is a fault, unless the input has them") {
  const fuzz::Target target{"words", [](const std::string&) { throw std::out_of_range("map::at"); }};
  CHECK(fuzz::fault_of(target, "") == "an exception that is no refusal: map::at");
  const fuzz::Target wrong{"wrong", [](const std::string&) { fuzz::expect(false, "the sum is 2"); }};
  CHECK(fuzz::fault_of(wrong, "") == "the sum is 2");
}

}  // namespace inputs_test

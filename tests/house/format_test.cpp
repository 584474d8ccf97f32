// How the source is laid out: the length of its lines and of its functions.
#include <cctype>
#include <regex>

#include "catch.h"
#include "house/repository.h"

namespace format_test {

using namespace simgrad::tests;
namespace fs = std::filesystem;

namespace {

constexpr std::size_t columns_max = 120;
constexpr std::size_t function_lines_max = 60;
constexpr std::size_t strategy_lines_max = 150;
constexpr std::size_t program_lines_max = 40;
constexpr int virtuals_max = 8;

bool is_source(const fs::path& path) {
  const bool ours = *path.begin() == "src" || *path.begin() == "tests";
  return ours && (path.extension() == ".h" || path.extension() == ".cpp");
}

/// Characters, not bytes: UTF-8 continues a character with 10xxxxxx.
std::size_t columns(std::string_view line) {
  return static_cast<std::size_t>(std::ranges::count_if(line, [](char c) { return (c & 0xC0) != 0x80; }));
}

/// A function's first line and how many lines it has.
struct Function {
  std::string head;
  std::size_t lines = 0;
};

std::size_t indentation(std::string_view line) { return std::min(line.find_first_not_of(' '), line.size()); }

/// Whether the text before a block's brace is a function's head: it has parameters, and is no type and no namespace.
bool is_function(const std::string& head) {
  static const std::regex other(
      R"(^\s*(namespace|struct|class|union|enum|extern|if|for|while|switch|else|do|catch)\b.*)");
  const bool table = head.starts_with("constexpr auto ");
  return head.find('(') != std::string::npos && !table && !std::regex_match(head, other);
}

/// The functions of formatted source, wherever they stand: a block begins with a line that ends in a brace, and ends
/// with the first brace at the indentation of its head. Functions within functions count as lines of the outer one.
std::vector<Function> functions(const std::vector<std::string>& text) {
  std::vector<Function> all;
  std::string head;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::string& line = text[at];
    const std::size_t depth = indentation(line);
    // A head that is broken over several lines goes on with lines that are indented by four or more.
    const bool goes_on = !head.empty() && depth >= indentation(head) + 4;
    if (!goes_on) head = line;
    if (line.empty() || line[depth] == '/' || line[depth] == '#' || line[depth] == '}') head.clear();
    if (head.empty() || !line.ends_with('{') || !is_function(head)) continue;
    const std::string end = std::string(indentation(head), ' ') + "}";
    std::size_t last = at + 1;
    while (last < text.size() && !text[last].starts_with(end)) ++last;
    all.push_back({head, last - at + 1});
    head.clear();
    at = last;
  }
  return all;
}

}  // namespace

TEST_CASE("no line of the source is longer than 120 columns") {
  std::string faults;
  for (const fs::path& path : repository_files()) {
    if (!is_source(path)) continue;
    std::size_t number = 0;
    for (const std::string& line : lines(text_of(path)))
      if (++number; columns(line) > columns_max) faults += path.string() + ":" + std::to_string(number) + "\n";
  }
  INFO(faults);
  CHECK(faults.empty());
}

TEST_CASE("Catch2 is named by tests/catch.h alone, for both of its versions") {
  std::string faults;
  for (const fs::path& path : repository_files())
    if (is_source(path) && path != "tests/catch.h" && path != "tests/house/format_test.cpp")
      for (const char* name : {"<catch2/", "Catch::Matchers::"})
        if (text_of(path).find(name) != std::string::npos) faults += path.string() + ": " + name + "\n";
  INFO(faults);
  CHECK(faults.empty());
}

TEST_CASE("no function of src is longer than 60 lines") {
  std::string faults;
  std::size_t seen = 0;
  for (const fs::path& path : repository_files()) {
    if (!is_source(path) || *path.begin() != "src") continue;
    for (const Function& each : functions(lines(text_of(path)))) {
      ++seen;
      if (each.lines > function_lines_max)
        faults += path.string() + ": " + std::to_string(each.lines) + " lines: " + each.head + "\n";
    }
  }
  INFO(faults);
  CHECK(faults.empty());
  CHECK(seen > 1000);
}

TEST_CASE("a strategy's file has at most 150 lines, and its programs at most 40") {
  std::string faults;
  std::size_t programs = 0;
  for (const fs::path& path : repository_files()) {
    if (!path.string().starts_with("src/strategies/") || !is_source(path)) continue;
    const std::vector<std::string> text = lines(text_of(path));
    if (text.size() > strategy_lines_max) faults += path.string() + ": " + std::to_string(text.size()) + " lines\n";
    for (const Function& each : functions(text)) {
      if (each.head.find("operator()") == std::string::npos) continue;
      ++programs;
      if (each.lines > program_lines_max)
        faults += path.string() + ": " + std::to_string(each.lines) + " lines: " + each.head + "\n";
    }
  }
  INFO(faults);
  CHECK(faults.empty());
  CHECK(programs >= 20);
}

TEST_CASE("a strategy has at most eight virtual functions") {
  const std::string text = text_of("src/strategies/strategy.h");
  const std::regex declared(R"(\bvirtual\b|\boverride\b)");
  const auto count = std::distance(std::sregex_iterator(text.begin(), text.end(), declared), std::sregex_iterator());
  CHECK(count > 4);
  CHECK(count <= virtuals_max);
}

TEST_CASE("functions are found, and their lines counted") {
  const std::vector<Function> found =
      functions(lines("namespace a {\n"
                      "class B {\n"
                      "  int one() const {\n"
                      "    return 1;\n"
                      "  }\n"
                      "};\n"
                      "int two(int first,\n"
                      "        int second) {\n"
                      "  if (first) {\n"
                      "    return 2;\n"
                      "  }\n"
                      "  return second;\n"
                      "}\n"
                      "}  // namespace a\n"));
  REQUIRE(found.size() == 2);
  CHECK(found[0].head == "  int one() const {");
  CHECK(found[0].lines == 3);
  CHECK(found[1].head == "int two(int first,");
  CHECK(found[1].lines == 6);
}

}  // namespace format_test

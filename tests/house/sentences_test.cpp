// The words with which comments begin, words that no text for users has, and a name that no variable has.
#include <array>
#include <cctype>
#include <optional>

#include "catch.h"
#include "house/repository.h"

namespace sentences_test {

using namespace simgrad::tests;
namespace fs = std::filesystem;

namespace {

/// A comment that begins with one of these lacks its noun or its verb.
constexpr std::array<std::string_view, 6> beginnings{"Of", "What", "The same", "That", "Those", "Likewise"};

/// Words that only the authors would understand in this sense, or that are not English so.
constexpr std::array<std::string_view, 15> private_words{
    "gone on with", "left out:", "of at least so many",
    "besides",      "beside ",   " deal ",
    " deals ",      " dealt ",   " binds",
    "binds ",       " told",     "likewise",
    "in fact",      "a rank a ", "a link a ",
};

/// A line of C++: its string literals without their quotes, the text of its // comment, and the rest.
struct Line {
  std::vector<std::string> literals;
  std::string code;
  std::string comment;
};

Line read(std::string_view line) {
  Line parsed;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line.substr(i).starts_with("//")) {
      i = line.find_first_not_of("/< ", i);
      if (i != std::string_view::npos) parsed.comment = line.substr(i);
      return parsed;
    }
    const char quote = line[i];
    const bool separates_digits = quote == '\'' && i > 0 && std::isalnum(static_cast<unsigned char>(line[i - 1]));
    if ((quote != '"' && quote != '\'') || separates_digits) {
      parsed.code += quote;
      continue;
    }
    const std::size_t first = ++i;
    while (i < line.size() && line[i] != quote) i += line[i] == '\\' ? 2 : 1;
    if (quote == '"') parsed.literals.emplace_back(line.substr(first, i - first));
  }
  return parsed;
}

/// The forbidden beginning of a comment, or "".
std::string_view beginning_of(std::string_view comment) {
  for (const std::string_view word : beginnings)
    if (comment.starts_with(word) &&
        (comment.size() == word.size() || !std::isalnum(static_cast<unsigned char>(comment[word.size()]))))
      return word;
  return "";
}

/// The private word of a text, or "". A literal without a space is a key or a name, and no text.
std::string_view private_word_of(std::string_view literal) {
  if (literal.find(' ') == std::string_view::npos) return "";
  for (const std::string_view word : private_words)
    if (literal.find(word) != std::string_view::npos) return word;
  return "";
}

/// The texts of a file: literals that follow each other, from one line to the next, are one text.
std::vector<std::string> texts_of(const std::vector<std::string>& lines) {
  std::vector<std::string> texts;
  for (const std::string& line : lines) {
    std::vector<std::string> literals = read(line).literals;
    const std::size_t first = line.find_first_not_of(' ');
    if (!texts.empty() && !literals.empty() && line[first] == '"') {
      texts.back() += literals.front();
      literals.erase(literals.begin());
    }
    texts.insert(texts.end(), literals.begin(), literals.end());
  }
  return texts;
}

/// Whether the line has a variable whose name is a possessive pronoun, which does not say what it holds.
bool has_pronoun(const std::string& line) {
  const std::string code = read(line).code;
  constexpr std::string_view pronoun = "its";
  const auto in_a_name = [&](std::size_t at) {
    return at < code.size() && (std::isalnum(static_cast<unsigned char>(code[at])) || code[at] == '_');
  };
  for (std::size_t at = 0; (at = code.find(pronoun, at)) != std::string::npos; at += pronoun.size())
    // A word behind it makes it a sentence's, in a text of several lines.
    if ((at == 0 || !in_a_name(at - 1)) && !in_a_name(at + pronoun.size()) &&
        !in_a_name(code.find_first_not_of(' ', at + pronoun.size())))
      return true;
  return false;
}

bool is_code(const fs::path& path) { return path.extension() == ".h" || path.extension() == ".cpp"; }

}  // namespace

TEST_CASE("no comment begins with Of, What, The same, That, Those or Likewise") {
  for (const fs::path& path : repository_files()) {
    if (!is_code(path) || (*path.begin() != "src" && *path.begin() != "tests")) continue;
    std::vector<std::string> faults;
    for (const std::string& line : lines(text_of(path)))
      if (!beginning_of(read(line).comment).empty()) faults.push_back(line);
    INFO(path);
    CHECK(faults == std::vector<std::string>{});
  }
}

TEST_CASE("no variable is called its") {
  CHECK(has_pronoun("  const Segment& its = segments[i];  // its layers"));
  CHECK_FALSE(has_pronoun("  bits = digits_(\"its\");  // its layers"));
  for (const fs::path& path : repository_files()) {
    if (!is_code(path) || (*path.begin() != "src" && *path.begin() != "tests")) continue;
    std::vector<std::string> faults;
    for (const std::string& line : lines(text_of(path)))
      if (has_pronoun(line)) faults.push_back(line);
    INFO(path);
    CHECK(faults == std::vector<std::string>{});
  }
}

TEST_CASE("no text for users has a private word") {
  for (const fs::path& path : repository_files()) {
    if (!is_code(path) || *path.begin() != "src") continue;
    std::vector<std::string> faults;
    for (const std::string& text : texts_of(lines(text_of(path))))
      if (!private_word_of(text).empty()) faults.push_back(text);
    INFO(path);
    CHECK(faults == std::vector<std::string>{});
  }
}

TEST_CASE("beginnings are found in every kind of comment, and nowhere else") {
  CHECK(beginning_of(read("/// Of each rank.").comment) == "Of");
  CHECK(beginning_of(read("  int a = 1'000;  ///< Those of rank 0").comment) == "Those");
  CHECK(beginning_of(read("  // The same again").comment) == "The same");
  CHECK(beginning_of(read("// Whatever comes, Offers, Thatched and The sameness").comment).empty());
  CHECK(beginning_of(read("url = \"http://That.example\"; c = '\"';").comment).empty());
}

TEST_CASE("private words are found in sentences, and not in keys or comments") {
  const auto found = [](const std::string& file) {
    for (const std::string& text : texts_of(lines(file)))
      if (!private_word_of(text).empty()) return true;
    return false;
  };
  CHECK(found("d.number(\"a\", a, \"the bytes; left out: all\");"));
  CHECK(found("d.number(\"a\", a,\n         \"the bytes; left \"\n         \"out: all\");"));
  CHECK(found("text += \"the \\\"nic\\\" binds most\";"));
  CHECK_FALSE(found("json[\"binds\"] = that;  // \"nobody is told\""));
  CHECK_FALSE(found("text = \"the ideals of besiders\";"));
}

}  // namespace sentences_test

// The catalogue of Chinese texts, and what is read in Chinese.
#include "outputs/text/language.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "catch.h"
#include "outputs/report/report.h"
#include "outputs/terminal/plot.h"
#include "outputs/text/chinese.h"
#include "outputs/text/notes.h"
#include "outputs/text/text_layout.h"
#include "report_sample.h"

namespace language_test {

using namespace simgrad;
using namespace simgrad::outputs;

namespace {

/// Chinese for the time of a test.
struct InChinese {
  InChinese() { speak(Language::chinese); }
  ~InChinese() { speak(Language::english); }
};

std::string unescaped(std::string text) {
  for (const auto& [written, meant] : {std::pair("\\\"", "\""), std::pair("\\n", "\n")})
    for (std::size_t at = 0; (at = text.find(written, at)) != std::string::npos; ++at) text.replace(at, 2, meant);
  return text;
}

/// The texts that the sources give to tr, translatable or counted.
std::set<std::string> texts_of_sources() {
  std::set<std::string> found;
  const std::string literal = R"re("((?:[^"\\]|\\.)*)")re";
  const std::regex call(R"re(\b(?:tr|translatable)\(\s*)re" + literal);
  const std::regex count(R"re(\bcounted\([^;"]*)re" + literal + R"re(\s*,\s*)re" + literal);
  for (const char* const folder : {"outputs", "planner", "capacity", "cli", "plan_cli"})
    for (const auto& file :
         std::filesystem::recursive_directory_iterator(SIMGRAD_SOURCE_DIR "/src/" + std::string(folder))) {
      if (!file.is_regular_file()) continue;
      std::ostringstream text;
      text << std::ifstream(file.path()).rdbuf();
      const std::string source = text.str();
      for (const std::regex& each : {call, count})
        for (std::sregex_iterator at(source.begin(), source.end(), each), end; at != end; ++at)
          for (std::size_t k = 1; k < at->size(); ++k) found.insert(unescaped((*at)[k]));
    }
  return found;
}

/// The arguments of a call, up to its closing parenthesis.
std::string arguments_of_call(const std::string& source, std::size_t begin) {
  int depth = 1;
  bool quoted = false;
  std::size_t at = begin;
  for (; at < source.size() && depth > 0; ++at) {
    if (source[at] == '\\') {
      ++at;
    } else if (source[at] == '"') {
      quoted = !quoted;
    } else if (!quoted) {
      depth += source[at] == '(' ? 1 : source[at] == ')' ? -1 : 0;
    }
  }
  return source.substr(begin, at - begin);
}

/// The texts of the notes that the sources outside this folder record, without the formats of their arguments.
std::set<std::string> notes_of_sources() {
  std::set<std::string> found;
  const std::regex call(R"re((?:\bnote|\bnote_failure|\bnotes\.push_back)\()re");
  const std::regex text(R"re((^|fmt::format\()\s*((?:"(?:[^"\\]|\\.)*"\s*)+))re");
  for (const char* const folder : {"training", "strategies", "experiment", "serving"})
    for (const auto& file :
         std::filesystem::recursive_directory_iterator(SIMGRAD_SOURCE_DIR "/src/" + std::string(folder))) {
      if (!file.is_regular_file()) continue;
      std::ostringstream stream;
      stream << std::ifstream(file.path()).rdbuf();
      const std::string source = stream.str();
      for (std::sregex_iterator at(source.begin(), source.end(), call), end; at != end; ++at) {
        const std::string given = arguments_of_call(source, static_cast<std::size_t>(at->position() + at->length()));
        for (std::sregex_iterator each(given.begin(), given.end(), text); each != end; ++each) {
          const std::string joined = std::regex_replace((*each)[2].str(), std::regex(R"re("\s*"|^"|"\s*$)re"), "");
          const std::string unescaped = std::regex_replace(joined, std::regex(R"re(\\")re"), "\"");
          found.insert(std::regex_replace(unescaped, std::regex(R"re(\{:[^}]*\})re"), "{}"));
        }
      }
    }
  return found;
}

/// The arguments of a text, by number, with their formats.
std::multimap<int, std::string> arguments(std::string_view text) {
  std::multimap<int, std::string> found;
  const std::string all(text);
  const std::regex place(R"re(\{(\d*)(:[^}]*)?\})re");
  int next = 0;
  for (std::sregex_iterator at(all.begin(), all.end(), place), end; at != end; ++at, ++next)
    found.emplace((*at)[1].length() > 0 ? std::stoi((*at)[1]) : next, (*at)[2]);
  return found;
}

}  // namespace

TEST_CASE("language: each text of the sources has a translation, and no translation is without a text") {
  const std::set<std::string> wanted = texts_of_sources();
  REQUIRE(wanted.size() > 200);
  std::set<std::string> translated;
  for (const Translation& each : translations()) {
    INFO(each.english);
    CHECK(translated.insert(std::string(each.english)).second);
    CHECK(wanted.contains(std::string(each.english)));
  }
  for (const std::string& text : wanted) {
    INFO(text);
    CHECK(translated.contains(text));
  }
}

TEST_CASE("language: a translation takes the arguments of its text, in the same formats") {
  for (const Translation& each : translations()) {
    INFO(each.english);
    CHECK(arguments(each.english) == arguments(each.chinese));
  }
}

TEST_CASE("language: each note that a run records has a translation") {
  const std::set<std::string> recorded = notes_of_sources();
  REQUIRE(recorded.size() > 10);
  std::set<std::string> translated;
  for (const Translation& each : notes_in_chinese()) translated.insert(std::string(each.english));
  for (const std::string& text : recorded) {
    INFO(text);
    CHECK(translated.contains(text));
  }
}

TEST_CASE("language: notes are recognised, with their numbers and the notes within them") {
  CHECK(note_text("rank 3 crashed at 0.03 s") == "rank 3 crashed at 0.03 s");
  const InChinese chinese;
  CHECK(note_text("rank 3 crashed at 0.03 s") == "rank 3 在 0.03 s 时崩溃");
  CHECK(note_text("resumed at 2 s from step 28 with 1 worker") == "2 s 时从第 28 步起由 1 个工作节点继续");
  CHECK(note_text("diverged at step 12: the loss has grown from 0.5 to 1e+09 at the end") ==
        "第 12 步起发散：损失从 0.5 增长到最后的 1e+09");
  CHECK(note_text("stop.steps = 9: a step is one exchange of one worker with the centre, after period = 4 gradients of "
                  "that worker") == "stop.steps = 9：一步是一个工作节点与中心变量交换一次，此前它算 period = 4 个梯度");
  CHECK(note_text("a note of a later release") == "a note of a later release");
}

TEST_CASE("language: an argument that brings a space to a full-width sign loses the space") {
  const InChinese chinese;
  CHECK(closed_up("ring （8） 最快 ，2 s") == "ring（8）最快，2 s");
  CHECK(closed_up("1.05 倍 至 1.4 倍，另外 8 个 的") == "1.05 倍至 1.4 倍，另外 8 个的");
  CHECK(listed({"a", "b", "c"}) == "a、b 和 c");
}

TEST_CASE("language: the table keeps its width in Chinese, and no line begins with a sign that ends a clause") {
  const InChinese chinese;
  for (const int width : {60, 72, 80, 100, 132}) {
    const TableStyle style{.colour = false, .width = width};
    std::istringstream lines(table(six_runs(), style) + plot(six_runs(), style));
    for (std::string line; std::getline(lines, line);) {
      INFO(width << ": " << line);
      CHECK(display_width(line) <= static_cast<std::size_t>(width));
      const std::size_t first = line.find_first_not_of(' ');
      for (const char* const sign : {"，", "。", "：", "；", "、", "）"})
        CHECK((first == std::string::npos || line.compare(first, 3, sign) != 0));
    }
  }
}

TEST_CASE("language: the table and the report have no English words beside labels, keys, units and recorded texts") {
  const InChinese chinese;
  const Results results = six_runs();
  const report::Foot foot;
  const auto page = nlohmann::json::parse(report::data(
      results, [](const std::string&) { return std::nullopt; }, foot));
  CHECK(page["language"] == "zh");
  std::string text = table(results, {.colour = false, .width = 100});
  text = text.substr(text.find("\n\n"));  // the title is the scenario's
  for (const char* const chart : {"curves", "speedup", "time", "points_table"}) {
    REQUIRE(page[chart].is_object());
    text += "\n" + page[chart]["sentence"].get<std::string>();
  }
  text += "\n" + page["summary"]["headline"].get<std::string>() + "\n" +
          page["summary"]["bottleneck"]["text"].get<std::string>();
  for (const auto& winner : page["summary"]["winners"]) text += "\n" + winner["text"].get<std::string>();
  for (const auto& note : page["summary"]["notes"]) text += "\n" + note.get<std::string>();
  for (const char* const own : {"gossip(graph=ring)", "allreduce", "async PS", "results.json", "workers=8", "workers=2",
                                "rank 3 was lost and no recovery is configured",
                                "recovered once, at 0.9 s, from the checkpoint of step 60", "r2"})
    for (std::size_t at = 0; (at = text.find(own, at)) != std::string::npos;) text.erase(at, std::string(own).size());
  text = std::regex_replace(text, std::regex("recovered once,\\s+at 0.9 s, from the\\s+checkpoint of\\s+step 60"), "");
  text = std::regex_replace(text, std::regex("rank 3 was lost and\\s+no\\s+recovery\\s+is\\s+configured"), "");
  INFO(text);
  std::smatch word;
  CHECK_FALSE(std::regex_search(text, word, std::regex("[A-Za-z]{3,}")));
}

}  // namespace language_test

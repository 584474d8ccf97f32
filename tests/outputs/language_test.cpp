// The catalogue of Chinese texts, and what is read in Chinese.
#include "outputs/text/language.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <span>
#include <sstream>

#include "catch.h"
#include "outputs/report/report.h"
#include "outputs/terminal/plot.h"
#include "outputs/text/recognised.h"
#include "outputs/text/text_layout.h"
#include "report_sample.h"

namespace language_test {

using namespace simgrad;
using namespace simgrad::outputs;

namespace {

bool contains_text(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Chinese for the time of a test.
struct InChinese {
  InChinese() { speak(Language::chinese); }
  ~InChinese() { speak(Language::english); }
};

std::string unescaped(std::string text) {
  for (const auto& [written, meant] : {std::pair("\\\"", "\""), std::pair("\\n", "\n"), std::pair("\\\\", "\\")})
    for (std::size_t at = 0; (at = text.find(written, at)) != std::string::npos; ++at) text.replace(at, 2, meant);
  return text;
}

/// The text of literals that follow each other.
std::string joined_literals(const std::string& literals) {
  const std::regex one(R"re("((?:[^"\\]|\\.)*)")re");
  std::string text;
  for (std::sregex_iterator at(literals.begin(), literals.end(), one), end; at != end; ++at) text += (*at)[1];
  return text;
}

/// The texts that the sources give to tr, translatable or counted.
std::set<std::string> texts_of_sources() {
  std::set<std::string> found;
  const std::string literal = R"re(((?:"(?:[^"\\]|\\.)*"\s*)+))re";  // or several, which are one text
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
          for (std::size_t k = 1; k < at->size(); ++k) found.insert(unescaped(joined_literals((*at)[k])));
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

/// A text as the entries with a context have it: without the formats of its arguments.
std::string without_formats(const std::string& text) {
  std::string plain = std::regex_replace(text, std::regex(R"re(\{\d*(:[^{}]*(\{\})?[^{}]*)?\})re"), "{}");
  plain = std::regex_replace(plain, std::regex(R"re(\{\{)re"), "{");
  return std::regex_replace(plain, std::regex(R"re(\}\})re"), "}");
}

/// The texts that the sources in these folders give to the functions, without the formats of their arguments.
std::set<std::string> texts_given_to(const std::regex& call, std::span<const char* const> folders) {
  std::set<std::string> found;
  const std::regex text(R"re((^|, |fmt::format\()\s*((?:"(?:[^"\\]|\\.)*"\s*)+))re");
  for (const char* const folder : folders)
    for (const auto& file :
         std::filesystem::recursive_directory_iterator(SIMGRAD_SOURCE_DIR "/src/" + std::string(folder))) {
      if (!file.is_regular_file() || file.path().extension() == ".po") continue;
      std::ostringstream stream;
      stream << std::ifstream(file.path()).rdbuf();
      const std::string source = stream.str();
      for (std::sregex_iterator at(source.begin(), source.end(), call), end; at != end; ++at) {
        const std::string given = arguments_of_call(source, static_cast<std::size_t>(at->position() + at->length()));
        for (std::sregex_iterator each(given.begin(), given.end(), text); each != end; ++each)
          found.insert(without_formats(unescaped(joined_literals((*each)[2]))));
      }
    }
  return found;
}

/// Whether a text says something by itself: it is no name, and no end of a plural.
bool is_sentence(const std::string& text) {
  return std::regex_search(text, std::regex("[a-z]{2,} [a-z]{2,}")) && text.front() != ' ' && text.back() != ' ';
}

/// All string literals of the sources in lines, those that follow each other as one; and the same without formats.
std::string literals_of_sources() {
  std::string found;
  for (const auto& file : std::filesystem::recursive_directory_iterator(SIMGRAD_SOURCE_DIR "/src")) {
    if (!file.is_regular_file() || file.path().extension() == ".po") continue;
    std::ostringstream stream;
    stream << std::ifstream(file.path()).rdbuf();
    const std::string source = std::regex_replace(stream.str(), std::regex(R"re('"'|'\\"')re"), "' '");
    const std::regex literals(R"re(//[^\n]*|((?:"(?:[^"\\\n]|\\.)*"\s*)+))re");
    for (std::sregex_iterator at(source.begin(), source.end(), literals), end; at != end; ++at) {
      const std::string text = unescaped(joined_literals((*at)[1]));
      found += text + "\n" + without_formats(text) + "\n";
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
  const std::string literals = literals_of_sources();
  std::set<std::string> translated, recognised;
  for (const Translation& each : translations()) {
    INFO(each.english);
    // Notes lack the ends of plurals, and a summary of a collective begins with its operation.
    const std::size_t colon = each.english.find(": ");
    const bool composed = each.context == "note" || each.context == "library" || each.context == "phrase";
    CHECK((composed || literals.find(each.english) != std::string::npos ||
           (colon != std::string_view::npos && literals.find(each.english.substr(colon + 2)) != std::string::npos)));
    CHECK((each.context.empty() ? translated : recognised).insert(std::string(each.english)).second);
  }
  for (const std::string& text : wanted) {
    INFO(text);
    CHECK(translated.contains(text));
  }
}

TEST_CASE("language: a translation takes the arguments of its text, in the same formats") {
  for (const Translation& each : translations()) {
    INFO(each.english);
    CHECK_FALSE(each.chinese.empty());
    const auto english = arguments(each.english), chinese = arguments(each.chinese);
    if (!each.context.empty())  // whose ends of plurals are left out
      CHECK(std::ranges::includes(english, chinese));
    else
      CHECK(english == chinese);
  }
}

TEST_CASE("language: each note that a run records, and each error, has a translation") {
  const std::regex notes(R"re((?:\bnote|\bnote_failure|\bnotes\.push_back)\()re");
  const std::regex errors(R"re(\b(?:ScenarioError|EnvironmentError|refuse)\()re");
  constexpr auto noting = std::to_array({"training", "strategies", "experiment", "serving"});
  constexpr auto all = std::to_array({""});
  std::set<std::string> made = texts_given_to(notes, noting);
  REQUIRE(made.size() > 10);
  for (const std::string& text : texts_given_to(errors, all))
    if (is_sentence(text)) made.insert(text.starts_with("; ") ? text.substr(2) : text);
  REQUIRE(made.size() > 600);
  std::set<std::string> translated;
  for (const Translation& each : translations())
    if (!each.context.empty()) translated.insert(std::string(each.english));
  for (const std::string& text : made) {
    INFO(text);
    CHECK(translated.contains(text));
  }
}

TEST_CASE("language: notes are recognised, with their numbers and the notes within them") {
  CHECK(translated("rank 3 crashed at 0.03 s") == "rank 3 crashed at 0.03 s");
  const InChinese chinese;
  CHECK(translated("rank 3 crashed at 0.03 s") == "rank 3 在 0.03 s 时崩溃");
  CHECK(translated("resumed at 2 s from step 28 with 1 worker") == "2 s 时从第 28 步起由 1 个工作节点继续");
  CHECK(translated("diverged at step 12: the loss has grown from 0.5 to 1e+09 at the end") ==
        "第 12 步起发散：损失从 0.5 增长到最后的 1e+09");
  CHECK(
      translated("stop.steps = 9: a step is one exchange of one worker with the centre, after period = 4 gradients of "
                 "that worker") == "stop.steps = 9：一步是一个工作节点与中心变量交换一次，此前它算 period = 4 个梯度");
  CHECK(translated("stop.steps = 9: a step is one update by the gradient of one worker, and not of all") ==
        "stop.steps = 9：一步是用一个工作节点（而不是所有工作节点）的梯度更新一次");
  CHECK(translated("stop.steps = 9: a step is one update by 3 gradients, from any workers") ==
        "stop.steps = 9：一步是用任意工作节点的 3 个梯度更新一次");
  CHECK(translated("a batch of 1 row for 4 workers leaves 3 of them without rows in every step") ==
        "一批 1 行分给 4 个工作节点，使其中 3 个在每一步都没有行");
  CHECK(
      translated(
          "data.csv:1: column \"date\" has 28 different texts, which become 28 of the 30 features; it looks like "
          "a date; to leave it out: [data] ignore = [\"date\"]") ==
      "data.csv:1：列 \"date\" 有 28 种不同的文本，成为 30 个特征中的 28 个；看起来是日期；要略去该列：[data] ignore = "
      "[\"date\"]");
  CHECK(translated(
            "d.csv:1: column \"id\" has a different integer in every row; it looks like an identifier; to leave it "
            "out: [data] ignore = [\"id\"]") ==
        "d.csv:1：列 \"id\" 在每一行中都是不同的整数；看起来是标识符；要略去该列：[data] ignore = [\"id\"]");
  CHECK(translated("found 1.5 (3 / 2); one seed cannot show whether this is chance") ==
        "得到 1.5（3 / 2）；只有一个种子，看不出这是否出于偶然");
  CHECK(translated("found 1.5 (3 / 2) ± 0.1 over 5 seeds") == "得到 1.5（3 / 2）± 0.1，5 个种子");
  CHECK(translated("at least 1.5 x that of gossip") == "是 gossip 的至少 1.5 倍");
  CHECK(translated("between 2 and 3 x that of gossip") == "是 gossip 的 2 至 3 倍");
  CHECK(translated("1.5 x that of gossip") == "是 gossip 的 1.5 倍");
  CHECK(translated("1.5 x that of gossip, within 10 %") == "是 gossip 的 1.5 倍，相对误差不超过 10 %");
  CHECK(translated("a note of a later release") == "a note of a later release");
}

TEST_CASE("language: an argument loses no space of its own, and brings none to a full-width sign") {
  const auto joined = [](std::initializer_list<std::string_view> parts) {
    std::string text;
    for (const std::string_view part : parts) add_part(text, part);
    return text;
  };
  CHECK(joined({"的 ", "，"}) == "的 ，");
  const InChinese chinese;
  CHECK(joined({"ring ", "（8）", " 最快 ", "，2 s"}) == "ring（8）最快，2 s");
  CHECK(joined({"1.05 倍 ", "至 1.4 倍", "，另外 ", "8 个", " 的"}) == "1.05 倍至 1.4 倍，另外 8 个的");
  CHECK(joined({"列 \"", "慢 节点， x", "\""}) == "列 \"慢 节点， x\"");
  CHECK(listed({"a", "b", "c"}) == "a、b 和 c");
  CHECK(listed({"a（1）", "b（2）"}) == "a（1）和 b（2）");
  CHECK(listed({"a（1）", "b", "c"}, 1) == "a（1）以及另外 2 个");
  CHECK(contains_text(tr("Wrote {}. To run it: simgrad run {}", "场景 一.toml", "'场景 一.toml'"), "'场景 一.toml'"));
}

TEST_CASE("language: errors are recognised with their places, the clauses behind them, and names as they are") {
  const InChinese chinese;
  CHECK(translated("nowhere.toml: cannot be opened: No such file or directory") ==
        "nowhere.toml: 无法打开：没有这个文件或目录");
  CHECK(translated("x.toml:3:1: unknown key \"latencie\" in [cluster]; did you mean \"latency\"?") ==
        "x.toml:3:1: [cluster] 中没有键 \"latencie\"；是否指 \"latency\"？");
  CHECK(translated("x.toml:2:11: workers must be from 1 to 131072, found 0") ==
        "x.toml:2:11: workers 应在 1 到 131072 之间，实为 0");
  CHECK(translated("simgrad: unknown command \"read\"; known: run, list") ==
        "simgrad: 没有命令 \"read\"；可用的有：run, list");
  CHECK(translated("read: is a link; expected a regular file") == "read: 是链接；应为普通文件");
  // An entry that begins with a place, or ends with one, does not take the clauses before and behind it.
  CHECK(translated("1 scenario: 0 expectations ok, 0 failed; 1 scenario without [[expect]], so not tested") ==
        "1 个场景：0 项期望成立，0 项不成立；1 个场景没有 [[expect]]，因此没有检验");
  CHECK(translated("c.csv:2:3: 2 cells, expected 1 as in line 1; cells seem to be separated by \";\": set [data] "
                   "separator = \";\"") ==
        "c.csv:2:3: 2 个单元格，应与第 1 行一样为 1 个；单元格似乎以 \";\" 分隔：请设 [data] separator = \";\"");
}

TEST_CASE("language: a space stands where Chinese meets Latin letters or digits, and none beside Chinese signs") {
  const auto joined = [](std::string before, std::string_view after) {
    add_part(before, after);
    return before;
  };
  CHECK(joined("是", "allreduce") == "是allreduce");
  const InChinese chinese;
  CHECK(joined("是", "allreduce") == "是 allreduce");
  CHECK(joined("8", "个") == "8 个");
  CHECK(joined("是", "（8）") == "是（8）");
  CHECK(joined("：", "8") == "：8");
  CHECK(joined("8 ", "个") == "8 个");
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

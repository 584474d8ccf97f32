// --language: the table and the report in Chinese, from the option or from the environment.
#include "outputs/text/language.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>

#include "catch.h"
#include "cli/catalogue.h"
#include "cli/planning.h"
#include "cli/program.h"
#include "cli/result_fields.h"
#include "cli/scenario.h"
#include "scenario/aliases.h"
#include "scenario/document.h"

namespace language_cli_test {

using namespace simgrad;
using namespace simgrad::tests;

namespace {

const std::string run =
    "simgrad run " SIMGRAD_SOURCE_DIR "/scenarios/house_prices.toml --set stop.steps=3 --strategy allreduce --no-why";

std::string contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The first words of English sentences in a text that should be Chinese: four in a row. Sources, which are titles,
/// names in quotes and values of an option may have as many.
std::string english_words(std::string text) {
  for (const char* const known :
       {"来源：[^\n]*", "\"[^\"\n]*\"", "`[^`\n]*`", "\\([^()\n]*之一", "（[^（）\n]*之一", "（[^（）\n]*[0-9]{4}）"})
    text = std::regex_replace(text, std::regex(known), "");
  std::smatch match;
  const bool found =
      std::regex_search(text, match, std::regex("[^\n]*\\b[a-z]{2,} [a-z]{2,} [a-z]{2,} [a-z]{2,}[^\n]*"));
  return found ? match.str() : "";
}

bool chinese(const std::string& text) { return text.find("策略") != std::string::npos; }

/// The first words of three Latin letters or more in the text of a plan, beside names: words in quotes, assignments,
/// keys and files, names of strategies and layouts, and the words that both languages have.
std::string latin_words(std::string text) {
  text = std::regex_replace(text, std::regex("\\s+"), " ");  // of wrapped lines
  for (const char* const name :
       {"可用的有：[a-z_0-9, ]*", "\\[\\{.*\\}\\]", "\"[^\"]*\"", "[a-z_0-9.]+ = [^ ,；，。：（）]+",
        "[a-z_0-9]+(/[a-z_0-9]+)*\\.[a-z_.:0-9]+", "\\[[a-z.]+\\]",
        "\\b(allreduce|parameter_server|zero|tensor|pipeline|rank|host|a100|h100)\\b",
        "consistency=asp|simgrad run|simgrad: "
        "|--[a-z-]+|strategy|refresh_every|checkpoint_every|checkpoint_time|storage_bandwidth|failures|repair|restart"})
    text = std::regex_replace(text, std::regex(name), " ");
  std::smatch match;
  return std::regex_search(text, match, std::regex("[A-Za-z]{3,}.{0,80}")) ? match.str() : "";
}

/// Sixteen ways to train, of which one can be run.
const std::string refusing =
    with(with(with(meshes, "1GB", "3.5MB"), "samples = 800\n\n[plan.space]",
              "samples = 800\ndeadline = \"1h\"\n\n[plan.space]"),
         "[1, 2, 3, 4]\n",
         "[1, 2, 3, 4]\n\"parallel.refresh_every\" = [1, 2]\n\"strategy.0.kind\" = [\"allreduce\", \"ring\"]\n");

}  // namespace

TEST_CASE("language: the option, else the first of LC_ALL, LC_MESSAGES and LANG that is not empty, decides") {
  const Scratch scratch;
  const auto table = [&](const std::string& before, const std::string& after) {
    const Called called = call(before + " " + run + " " + after, scratch.path());
    CHECK(called.exit_code == 0);
    return called.out;
  };
  CHECK_FALSE(chinese(table("", "")));
  CHECK(chinese(table("", "--language zh")));
  CHECK(chinese(table("LC_ALL=zh_CN.UTF-8", "")));
  CHECK(chinese(table("LC_ALL= LC_MESSAGES=zh_TW LANG=en_GB", "")));
  CHECK_FALSE(chinese(table("LC_ALL= LC_MESSAGES=C LANG=zh_CN", "")));
  CHECK_FALSE(chinese(table("LC_ALL=zh_CN.UTF-8", "--language en")));
}

TEST_CASE("language: an unknown language is refused") {
  const Scratch scratch;
  const Called called = call(run + " --language fr", scratch.path());
  CHECK(called.exit_code == 2);
  CHECK(called.err.find("--language") != std::string::npos);
}

TEST_CASE("language: files are the same in each language but for the page, which report writes in either") {
  const Scratch scratch;
  for (const std::string language : {"en", "zh"})
    CHECK(call(run + " --language " + language + " --out " + language, scratch.path()).exit_code == 0);
  const auto file = [&](const std::string& name) { return contents(scratch.path() + "/" + name); };
  for (const std::string name : {"curves.csv", "ranks.csv", "links.csv"})
    CHECK(file("en/" + name) == file("zh/" + name));
  if (file("en/report.html").empty()) return;  // built without Node
  CHECK(file("en/report.html").find("\"language\":\"en\"") != std::string::npos);
  CHECK(file("zh/report.html").find("\"language\":\"zh\"") != std::string::npos);
  CHECK(call("simgrad report zh --language en", scratch.path()).exit_code == 0);
  CHECK(file("zh/report.html").find("\"language\":\"en\"") != std::string::npos);
}

TEST_CASE("language: every text of an option, a component, a field and an alias has a translation") {
  std::set<std::string_view> translated;
  for (const outputs::Translation& each : outputs::translations())
    if (each.context.empty()) translated.insert(each.english);
  std::size_t texts = 0;
  const auto check = [&](std::string_view text) {
    if (text.empty() || !std::regex_search(std::string(text), std::regex("[a-z]{2,} [a-z]{2,}"))) return;
    ++texts;
    INFO(text);
    CHECK(translated.contains(text));
  };
  for (const cli::Kind& kind : cli::catalogue())
    for (const cli::Item& item : kind.items) {
      check(item.about.summary);
      check(item.about.cost);
      if (!item.make) continue;
      for (const scenario::OptionText& option : scenario::options(*item.make())) {
        check(option.meaning);
        for (const auto& [name, meaning] : option.choices) check(meaning);
      }
    }
  for (const cli::ResultField& field : cli::result_fields()) {
    check(field.meaning);
    check(field.place);
  }
  for (const scenario::Alias& alias : scenario::aliases()) check(alias.meaning);
  CHECK(texts > 1000);
}

TEST_CASE("language: list and explain have no English sentences in Chinese") {
  const Scratch scratch;
  const Called list = program("list --language zh", scratch);
  CHECK(list.exit_code == 0);
  CHECK(english_words(list.out) == "");
  const std::string kinds = program("list", scratch).out;
  std::set<std::string> names{"metrics", "scenario"};
  std::istringstream lines(kinds);
  for (std::string line; std::getline(lines, line);)
    if (std::smatch match; std::regex_search(line, match, std::regex("^([a-z_]+) \\("))) names.insert(match[1]);
  REQUIRE(names.size() > 20);
  for (const std::string& name : names) {
    const Called explained = program("explain " + name + " --language zh", scratch);
    INFO(name);
    CHECK(explained.exit_code == 0);
    CHECK(english_words(explained.out) == "");
  }
  CHECK(contains(program("explain cluster.latency --language zh", scratch).out, "延迟"));
  for (const char* const of_scenario :
       {"layers plan_with_failures", "layouts plan_with_failures", "origins plan_with_failures",
        "balance unlike_replicas", "network_model plan_with_failures"}) {
    const std::string words(of_scenario);
    const std::string name = words.substr(words.find(' ') + 1);
    const Called explained = program("explain " + words.substr(0, words.find(' ')) +
                                         " " SIMGRAD_SOURCE_DIR "/scenarios/" + name + ".toml --language zh",
                                     scratch);
    INFO(words);
    CHECK(explained.exit_code == 0);
    CHECK(english_words(explained.out) == "");
  }
}

TEST_CASE("language: helps are Chinese, whatever stands before or behind --help") {
  const Scratch scratch;
  const Called all = program("--help --language zh", scratch);
  CHECK(all.exit_code == 0);
  CHECK(english_words(all.out) == "");
  for (const char* const command : {"init", "run", "validate", "plan", "check", "merge", "report", "predict", "list",
                                    "explain", "calibrate", "capacity"}) {
    const Called help = program(command + std::string(" --help --language=zh"), scratch);
    INFO(command);
    CHECK(help.exit_code == 0);
    CHECK(english_words(help.out) == "");
    CHECK(contains(help.out, "--language en|zh"));
    CHECK_FALSE(contains(program(command + std::string(" --help"), scratch).out, "选项"));
  }
}

TEST_CASE("language: errors are Chinese, with their places, keys and values") {
  const Scratch scratch;
  const auto refused = [&](const std::string& words, int exit_code) {
    const Called called = program(words + " --language zh", scratch);
    INFO(words << ": " << called.err);
    CHECK(called.exit_code == exit_code);
    CHECK(english_words(called.err) == "");
    return called.err;
  };
  scratch.write("x.toml", "[cluster]\nworkers = 0\nlatencie = \"1ms\"\n[[strategy]]\nkind = \"ring\"\n");
  const std::string faults = refused("validate x.toml", 2);
  CHECK(contains(faults, "x.toml:2:11: "));
  CHECK(contains(faults, "latencie"));
  refused("validate nowhere.toml", 5);
  refused("run", 2);
  refused("rum x.toml", 2);
  refused("validate x.toml --alldata", 2);
  refused("check x.toml --jobs many", 2);
  refused("explain nothing_like_it", 2);
  refused("explain layers", 2);
  refused("merge nowhere --out m", 2);
  refused("report nowhere", 5);
}

TEST_CASE("language: findings of check, the ends of commands and names of users are as they should be in Chinese") {
  const Scratch scratch;
  scratch.write("x.toml", small + "label = \"慢 节点\"\n[[expect]]\nmetric = \"simulated_s\"\nat_most = 1e-9\n");
  const Called checked = program("check x.toml --language zh --quiet", scratch);
  CHECK(checked.exit_code == 3);
  CHECK(contains(checked.out, "  不成立    慢 节点: simulated_s 至多 1e-09: 得到 "));
  CHECK(contains(checked.out, "1 个场景：0 项期望成立，1 项不成立"));
  const Called run = program("run x.toml --no-why --language zh", scratch);
  CHECK(contains(run.out, "结果：out/x/results.json"));
  CHECK(contains(program("run x.toml --strategy 慢节点 --language zh", scratch).err, "\"慢 节点\""));
  CHECK(contains(program("init '场景 一.toml' --language zh", scratch).out, "simgrad run '场景 一.toml'"));
  CHECK(contains(contents(scratch.path() + "/场景 一.toml"), "title = \"分担工作的三种方法\"\n"));
  CHECK(contains(program("--language zh validate x.toml", scratch).out, "ok：1 次运行"));
  CHECK(contains(program("validate -- x.toml --language zh", scratch).err, "cannot be opened"));
}

TEST_CASE(
    "language: the answer of a plan says in Chinese why candidates cannot be run, and results keep it in English") {
  const Scratch scratch;
  scratch.write("x.toml", refusing);
  const Called planned = program("plan x.toml --language zh", scratch);
  INFO(planned.err);
  REQUIRE(planned.exit_code == 0);
  CHECK(latin_words(planned.out) == "");
  CHECK(latin_words(planned.err) == "");
  CHECK(contains(planned.out, "参数 867 kB + 梯度 266 kB + 激活值 2.23 MB + 梯度桶 867 kB，而"));
  const Json plan = Json::parse(contents(scratch.path() + "/out/x/plan.json"));
  CHECK(latin_words(plan["sentence"]) == "");
  CHECK(plan["texts"]["refused"].size() == 4);
  for (const auto& [name, text] : plan["texts"].items())
    for (const Json& each : text.is_array() ? text : Json::array({text})) CHECK(latin_words(each) == "");
  const std::string page = contents(scratch.path() + "/out/x/report.html");
  for (const Json& each : plan["refused"]) {
    CHECK(latin_words(each["nearest"]["text"]) == "");
    CHECK(std::ranges::all_of(each["nearest"]["fault"].get<std::string>(), [](char c) { return c > 0; }));
    if (!page.empty()) CHECK_FALSE(contains(page, Json(each["nearest"]["fault"]).dump()));
    if (!page.empty()) CHECK_FALSE(contains(page, Json(each["reason"]).dump()));
  }
  CHECK_FALSE(contains(page, "ranks that share"));
  if (!page.empty()) CHECK(contains(page, "tensor x pipeline = N x N"));
  CHECK(contains(contents(scratch.path() + "/out/x/winner.toml"), "# 模拟一直进行到目标"));
}

TEST_CASE("language: candidates that do not come to the goal, assumptions and limits of a plan are told in Chinese") {
  const Scratch scratch;
  const auto said = [&](const std::string& text, int exit_code) {
    scratch.write("x.toml", text);
    const Called called = program("plan x.toml --no-confirm --force --language zh", scratch);
    INFO(called.out << called.err);
    CHECK(called.exit_code == exit_code);
    CHECK(latin_words(called.out) == "");
    CHECK(latin_words(called.err) == "");
    return called.out + called.err;
  };
  const std::string lost = with(twelve, "loss = 0.05\nepochs = 200", "loss = 1e-9\nepochs = 2");
  CHECK(contains(said(lost, 0), "在达到目标损失之前就结束了"));
  CHECK(contains(said(with(lost, "[0.02, 0.05]", "[1e3, 1e4]"), 0), "发散"));
  const std::string unmet = with(twelve, "seeds = 1\n\n", "seeds = 1\ndeadline = \"1us\"\nbudget = \"1e-9$\"\n\n");
  CHECK(contains(said(unmet, 2), "没有候选方案满足 plan.budget"));
  const std::string none = "hosts = [{ class = \"host\", most = 0 }]\n";
  CHECK(contains(said(with(twelve, "seeds = 1\n\n", "seeds = 1\n" + none + "\n"), 2), "1 台类别为 host 的主机"));
  const std::string classes =
      with(with(with(refusing, "memory = \"3.5MB\"\n", ""), "\"fastest\"", "\"cheapest\""),
           refusing.substr(refusing.find("\"parallel.pipeline\""),
                           refusing.find("[[strategy]]") - refusing.find("\"parallel.pipeline\"")),
           R"("cluster.hosts" = [
  [{ class = "h100", count = 8, device = "h100", price = "4$/h" }],
  [{ class = "a100", count = 8, device = "a100_80gb", price = "2$/h" }]
]

)");
  CHECK(contains(said(with(classes, "speed = \"1TF\"\n", ""), 0), "a100 的价格为"));
}

TEST_CASE("language: results keep errors in English, whatever the language in which they are shown") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  const Called shown = program("run x.toml --no-why --run-time 1us --language zh", scratch);
  CHECK(shown.exit_code == 1);
  CHECK(english_words(shown.err) == "");
  const Json results = results_in(scratch);
  CHECK(contains(results["runs"][0]["error"], "the limit of a run"));
}

}  // namespace language_cli_test

/// Results and plans that `simgrad report` reads, and stored baselines.
#include <filesystem>
#include <optional>
#include <string>

#include "experiment/run/stored_baseline.h"
#include "fuzz/targets.h"
#include "outputs/report/charts/plan.h"
#include "outputs/report/files.h"
#include "outputs/results.h"
#include "outputs/terminal/plot.h"
#include "outputs/timelines/timeline.h"
#include "scenario/document.h"

namespace simgrad::fuzz {

void read_results(const std::string& bytes) {
  files().write("results.json", bytes);
  const outputs::Results results = outputs::report::read_results(files().directory());
  const outputs::report::Foot foot{.scenario_toml = scenario::toml(results.scenario), .command = results.command};
  const std::string data = outputs::report::data(results, outputs::report::timelines_in(files().directory()), foot);
  expect(data.find('<') == std::string::npos, "the page's data could end their element");
  expect(data.find("nan") == std::string::npos || bytes.find("nan") != std::string::npos, "the page's data have a nan");
  outputs::table(results, {});
  outputs::plot(results, {});
  outputs::runs_csv(results);
  outputs::curves_csv(results);
  // Written and read again, results are the same text.
  const std::string text = outputs::results_json(results);
  expect(outputs::results_json(outputs::results_from_json(outputs::parse_json(text))) == text,
         "results that are read back differ");
}

void read_plan_answer(const std::string& bytes) {
  const std::string directory = files().directory() + "/plan";
  std::filesystem::create_directories(directory);
  outputs::Results planned;
  planned.command = "simgrad plan a.toml";
  files().write("plan/results.json", outputs::results_json(planned));
  files().write("plan/plan.json", bytes);
  const outputs::Results results = outputs::report::read_results(directory);
  expect(!results.plan.is_null(), "a plan that is not read");
  const std::string data = outputs::report::plan_data(results.plan);
  expect(data.find('<') == std::string::npos, "the plan could end the element of the page's data");
  const auto shown = outputs::parse_json(data);
  const std::size_t count = results.plan.at("candidates").size();
  expect(shown.at("candidates").at("number").size() == count && shown.at("candidates").at("time_s").size() == count,
         "a candidate is lost");
  expect(shown.at("sentence") == results.plan.at("sentence"), "another sentence");
  outputs::report::data(results, outputs::report::timelines_in(directory), {.scenario_toml = "", .command = ""});
}

void read_baseline(const std::string& bytes) {
  const auto read = [](const std::string& text) {
    return experiment::text(experiment::read_stored_baseline(files().write("baseline.toml", text)));
  };
  const std::string text = read(bytes);
  expect(read(text) == text, "a stored baseline that is read back differs");
}

void read_timeline(const std::string& bytes) {
  const std::string run = "0123456789abcdef";
  const auto timeline = outputs::timeline_from_json(outputs::parse_json(bytes), run);
  const std::string text = outputs::timeline_json(timeline, run);
  expect(outputs::timeline_json(outputs::timeline_from_json(outputs::parse_json(text), run), run) == text,
         "a timeline that is read back differs");
}

}  // namespace simgrad::fuzz

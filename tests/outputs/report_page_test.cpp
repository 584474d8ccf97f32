// The whole data object, timelines as bars, and the page around them.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "base/errors.h"
#include "catch.h"
#include "outputs/files/run_stem.h"
#include "outputs/report/files.h"
#include "report_sample.h"
#include "scratch.h"

namespace report_page_test {

using namespace simgrad;
using namespace simgrad::outputs;
using namespace simgrad::outputs::report;

namespace {

std::optional<record::Timeline> no_timeline(const std::string&) { return std::nullopt; }

Json data_of(const Results& results) { return Json::parse(data(results, no_timeline, {})); }

/// Two ranks, of which the second waits for the first; rank 0 has a side stream.
record::Timeline two_ranks() {
  using enum record::Activity;
  record::Timeline timeline;
  timeline.names = {"gradient", "push"};
  timeline.ranks = {0, 1};
  timeline.rank_names = {"rank 0 (host-0)", "rank 1 (host-1)"};
  const auto add = [&](int rank, int lane, record::Activity kind, int name, double from_s, double to_s, int peer = -1,
                       std::int64_t bytes = 0) {
    record::Span& span = timeline.spans.emplace_back();
    span.rank = rank;
    span.lane = lane;
    span.kind = kind;
    span.name = name;
    span.step = 0;
    span.peer = peer;
    span.bytes = bytes;
    span.from_s = from_s;
    span.to_s = to_s;
  };
  add(0, 0, compute, 0, 0.0, 3.0);
  add(0, 0, communicate, 1, 3.0, 4.0, 1, 800);
  add(0, 1, communicate, 1, 1.0, 2.0);
  add(1, 0, compute, 0, 0.0, 1.0);
  add(1, 0, wait, 1, 1.0, 4.0);
  timeline.to_s = 4.0;
  return timeline;
}

std::string fault_of(const std::string& directory) {
  try {
    read_results(directory);
  } catch (const base::ScenarioError& fault) {
    return fault.what();
  } catch (const base::EnvironmentError& fault) {
    return std::string("environment: ") + fault.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("the data of six runs have every member, and rows refer to strategies and points by number") {
  const Json json = data_of(six_runs());
  CHECK(json["schema"] == 1);
  CHECK(json["title"] == "Three ways over a slow network");
  CHECK(json["strategies"].size() == 3);
  CHECK(json["strategies"][1]["label"] == "async PS");
  CHECK(json["points"].size() == 2);
  CHECK(json["points"][1]["text"] == "8 workers");
  CHECK(json["points"][1]["workers"] == 8);
  CHECK(json["points"][1]["parameters"] == Json{{"cluster.workers", 8}});
  CHECK(json["target"] == 0.02);
  CHECK(json["metric_name"] == "r2");
  CHECK(json["has_cost"] == false);
  CHECK(json["foot"]["seeds"] == Json{1});
  CHECK(json["pareto"].is_null());
  CHECK(json["gantt"].is_null());
  CHECK(json["missing_timelines"]["command"] == "simgrad run SCENARIO --timelines all");
  CHECK(json["staleness"].is_null());
  // A failed run has no row; the five others do.
  CHECK(json["time"]["rows"].size() == 5);
  CHECK(json["time"]["rows"][4]["strategy"] == 1);
  CHECK(json["time"]["rows"][4]["point"] == 1);
  for (const char* chart : {"curves", "speedup", "time"}) {
    INFO(chart);
    CHECK_FALSE(json[chart]["sentence"].get<std::string>().empty());
    const Json& table = json[chart]["table"];
    for (const Json& row : table["rows"]) CHECK(row.size() == table["columns"].size());
  }
}

TEST_CASE("nothing, failures only and timing only make data too") {
  const Json nothing = data_of(results_of({}));
  CHECK(nothing["summary"]["headline"] == "No run has finished.");
  for (const char* chart : {"curves", "consensus", "speedup", "time", "pareto", "staleness", "links", "gantt",
                            "missing_timelines", "collectives"})
    CHECK(nothing[chart].is_null());
  CHECK(data_of(results_of({failed(sample_run("a", 2, {}), "lost")}))["time"].is_null());
  const Json timing = data_of(results_of({with_losses(sample_run("a", 2, {1, 1, 0, 0}), {{}, {}})}));
  CHECK(timing["curves"].is_null());
  CHECK(timing["time"]["rows"].size() == 1);
}

TEST_CASE("a label that is a script stays text, wherever it stands") {
  const std::string label = "</script><script>alert(1)</script>";
  Results results = results_of({with_losses(over(sample_run(label, 2, {1, 1, 0, 0}), label, 0.9), {1.0, 0.5})});
  results.runs[0].parameters[label] = label;
  results.title = label;
  const std::string text = data(results, no_timeline, {.scenario_toml = label, .command = label});
  CHECK(text.find('<') == std::string::npos);
  const Json json = Json::parse(text);
  CHECK(json["title"] == label);
  CHECK(json["strategies"][0]["label"] == label);
  CHECK(json["points"][0]["parameters"][label] == label);
  CHECK(json["foot"]["command"] == label);
}

TEST_CASE("numbers that are not finite are null, and seeds are listed once") {
  Run run = with_losses(sample_run("a", 2, {1, 1, 0, 0}), {1.0, 1e308 * 10, std::nan("")});
  const Json json =
      data_of(results_of({with_seed(run, 3), with_seed(run, 1), with_seed(sample_run("b", 2, {1, 0, 0, 0}), 1)}));
  CHECK(json["curves"]["series"][0]["loss"] == Json{1.0, nullptr, nullptr});
  CHECK(json["foot"]["seeds"] == Json{1, 3});
}

TEST_CASE("a timeline's bars stand in lanes: the rank's own first, then its side streams") {
  const GanttRun run = gantt_run(two_ranks(), 100);
  CHECK(run.lanes == std::vector<std::string>{"rank 0 (host-0)", "rank 0 (host-0), stream 1", "rank 1 (host-1)"});
  CHECK(run.lane == std::vector<int>{0, 0, 1, 2, 2});
  CHECK(run.kind == std::vector<int>{0, 1, 1, 0, 2});
  CHECK(run.peer[1] == 1);
  CHECK_FALSE(run.peer[0]);
  CHECK(run.bytes[1] == 800);
  CHECK(run.to_s == 4.0);
  CHECK(run.whole);
}

TEST_CASE("each wait on a timeline has a digit for its cause, and 8 where none is known") {
  record::Timeline timeline = two_ranks();
  const auto waits = [&] { return gantt_run(timeline, 100).waits; };
  CHECK(waits() == "8");
  for (record::Span& span : timeline.spans)
    if (span.kind == record::Activity::wait) span.cause = static_cast<int>(record::TimePart::wait_server);
  // wait_gradient, wait_worker, wait_server.
  CHECK(waits() == "2");
}

TEST_CASE("too many bars are cut in time, on all lanes at once") {
  const GanttRun run = gantt_run(two_ranks(), 3);
  // Bars begin at 0, 0, 1, 1 and 3: of the two that begin at 1 there is room for neither alone.
  CHECK(run.to_s == 1.0);
  CHECK(run.from == std::vector<double>{0.0, 0.0});
  CHECK(run.to == std::vector<double>{1.0, 1.0});
  CHECK_FALSE(run.whole);
}

TEST_CASE("the Gantt sentence names the shares of the window and the rank that waits longest") {
  const Results results = results_of({sample_run("server", 2, {1, 1, 0, 0})});
  const auto chart = gantt(report_model(results), [](const std::string&) { return std::optional(two_ranks()); });
  REQUIRE(chart);
  // The ranks' own lanes are 8 s: 4 computing, 1 communicating and 3 waiting; the side stream does
  // not count.
  CHECK(chart->sentence ==
        "Shown are all 4.00 s of server (1 step started): its 2 workers compute 50 % of the time, communicate 12 %, "
        "wait 38 %; "
        "rank 1 (host-1) waits longest, 75 %.");
  CHECK(chart->table.rows.size() == 3);
}

TEST_CASE("cases without a timeline are counted, with the reason and the command that makes them") {
  const Results results = results_of({sample_run("server", 2, {1, 1, 0, 0}), sample_run("ring", 2, {1, 1, 0, 0}),
                                      failed(sample_run("lost", 2, {}), "lost")});
  const ReportModel model = report_model(results);
  const auto missing_of = [&](const std::set<std::string>& kept) {
    const auto chart = gantt(model, [&](const std::string& stem) {
      return kept.contains(stem) ? std::optional(two_ranks()) : std::nullopt;
    });
    return missing_timelines(model, chart, "simgrad run x.toml");
  };
  const std::string one = run_stem(results.runs[0]), other = run_stem(results.runs[1]);
  const std::string why =
      " here: those of the first seed of at most 64 cases are kept by default, and this page shows no more. With the "
      "same directory, this command simulates the runs again that lack theirs, and leaves their results:";
  CHECK(missing_of({})->sentence == "No timeline of the 2 cases is" + why);
  CHECK(missing_of({other})->sentence == "Timelines of 1 of 2 cases are" + why);
  CHECK(missing_of({other})->command == "simgrad run x.toml --timelines all");
  CHECK_FALSE(missing_of({one, other}));
}

TEST_CASE("of several seeds the Gantt sentence names the one that it shows") {
  const Run run = sample_run("server", 2, {1, 1, 0, 0});
  const Results results = results_of({with_seed(run, 7), with_seed(run, 8)});
  const auto chart = gantt(report_model(results), [](const std::string&) { return std::optional(two_ranks()); });
  REQUIRE(chart);
  CHECK(chart->sentence.starts_with("Shown are all 4.00 s of server, seed 7 (1 step started): "));
}

TEST_CASE("servers are a clause of their own, and workers that are not shown are counted") {
  Run run = sample_run("server", 1024, {1, 1, 0, 0});
  run.record.ranks[1].role = "server";
  const auto chart =
      gantt(report_model(results_of({run})), [](const std::string&) { return std::optional(two_ranks()); });
  CHECK(chart->sentence.find("the first 1 of its 1023 workers computes 75 % of the time") != std::string::npos);
  CHECK(chart->sentence.ends_with("; its server computes 25 % of the time, communicates 0 %, waits 75 %."));
}

TEST_CASE("the data go into the page's only slot") {
  CHECK(filled("<a>@simgrad-data@</a>", "{}") == "<a>{}</a>");
  CHECK_THROWS_AS(filled("<a></a>", "{}"), base::EnvironmentError);
  CHECK_THROWS_AS(filled("@simgrad-data@ @simgrad-data@", "{}"), base::EnvironmentError);
}

TEST_CASE("results are read from their directory, and an error names a damaged file") {
  const tests::Scratch scratch;
  CHECK(fault_of(scratch.path()).starts_with("environment: " + scratch.path() + "/results.json: cannot be opened"));
  const std::string good = results_json(six_runs());
  scratch.write("results.json", good);
  CHECK(read_results(scratch.path()).runs.size() == 6);
  scratch.write("results.json", good.substr(0, good.size() / 2));
  // The text ends in the line that has the half's last letter.
  const auto half = good.substr(0, good.size() / 2);
  CHECK(fault_of(scratch.path())
            .starts_with(fmt::format("{}/results.json:{}:", scratch.path(), 1 + std::ranges::count(half, '\n'))));
  CHECK(fault_of(scratch.path()).find(": not JSON, or cut short: found ") != std::string::npos);
  scratch.write("results.json", "[]");
  CHECK(fault_of(scratch.path()) == scratch.path() + "/results.json: results: found an array, expected an object");
  Json json = Json::parse(good);
  json["schema"] = 2;
  scratch.write("results.json", json.dump());
  CHECK(fault_of(scratch.path()).find("\"schema\" is 2, expected 1") != std::string::npos);
  json["schema"] = 1;
  json["runs"][0].erase("curve");
  scratch.write("results.json", json.dump());
  CHECK(fault_of(scratch.path()).find("runs[0]: \"curve\" is missing") != std::string::npos);
}

TEST_CASE("the command is written and read back, and left out where it is not known") {
  Results results = six_runs();
  CHECK(results_json(results).find("\"command\"") == std::string::npos);
  results.command = "simgrad run wan.toml --seeds 1..2";
  const Results again = results_from_json(parse_json(results_json(results)));
  CHECK(again.command == results.command);
}

}  // namespace report_page_test

// The subcommand `report`, and the page that `run` writes at its end.
#include "catch.h"
#include "cli/scenario.h"
#include "run_files.h"
#include "unpacked.h"

namespace report_test {

using namespace simgrad::tests;
namespace fs = std::filesystem;

namespace {

const std::string slot = "<script id=\"simgrad-data\">@simgrad-data@</script>\n";

/// The data within a page that was made from the slot alone.
Json data_in(const std::string& page) {
  const std::size_t from = page.find('>') + 1;
  return Json::parse(page.substr(from, page.find("</script>") - from));
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// A directory with results of two strategies, a grid and two seeds.
void prepare(const Scratch& scratch) {
  scratch.write("x.toml", small + "[[strategy]]\nkind = \"parameter_server\"\nconsistency = \"asp\"\n");
  scratch.write("page.html", slot);
  const Called run = call(
      "simgrad run x.toml --set cluster.speed='2GF' --grid cluster.workers=2,4 --seeds 1..2 --quiet", scratch.path());
  REQUIRE(run.exit_code == 0);
}

}  // namespace

TEST_CASE("report makes a page from results, with the numbers of results.json in it") {
  const Scratch scratch;
  prepare(scratch);
  const Called report = call("simgrad report out/x --template page.html --out seen.html", scratch.path());
  CHECK(report.exit_code == 0);
  CHECK(report.out == "seen.html\n");
  const Json data = data_in(contents(scratch.path() + "/seen.html"));
  const Json results = Json::parse(contents(scratch.path() + "/out/x/results.json"));
  CHECK(data["title"] == "small");
  CHECK(data["strategies"].size() == 2);
  CHECK(data["points"].size() == 2);
  CHECK(data["foot"]["seeds"] == Json::array({1, 2}));
  CHECK(data["foot"]["command"] ==
        "simgrad run x.toml --set cluster.speed=2GF --grid cluster.workers=2,4 --seeds 1..2");
  CHECK(data["foot"]["command"] == results["command"]);
  CHECK(has(data["foot"]["scenario_toml"], "[cluster]\n"));
  const auto mean = [&](const char* field) {
    return (results["runs"][0][field].get<double>() + results["runs"][1][field].get<double>()) / 2.0;
  };
  CHECK(data["time"]["rows"][0]["parts"][0].get<double>() == Approx(mean("compute_s")).epsilon(1e-12));
  CHECK(data["curves"]["series"][0]["loss"].back().get<double>() == Approx(mean("final_loss")).epsilon(1e-9));
}

TEST_CASE("the command at the foot gives the results again, with any quoting in it") {
  const Scratch scratch;
  scratch.write("it's x.toml", small);
  REQUIRE(call("simgrad run \"it's x.toml\" --set 'title=\"a b; $c\"' --no-baseline --strategy allreduce --quiet --out "
               "first",
               scratch.path())
              .exit_code == 0);
  const std::string command = Json::parse(contents(scratch.path() + "/first/results.json"))["command"];
  CHECK(command == "simgrad run 'it'\\''s x.toml' --set 'title=\"a b; $c\"' --strategy allreduce --no-baseline");
  REQUIRE(call(command + " --quiet --out second", scratch.path()).exit_code == 0);
  Json first = Json::parse(contents(scratch.path() + "/first/results.json"));
  Json second = Json::parse(contents(scratch.path() + "/second/results.json"));
  for (Json* each : {&first, &second}) (*each)["runs"][0].erase("wall_s");
  CHECK(first == second);
}

TEST_CASE("run --sqlite writes results.sqlite and names it, and so does report --sqlite") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  const Called run = call("simgrad run x.toml --sqlite", scratch.path());
  CHECK(run.exit_code == 0);
  CHECK(run.out.find("links.csv, results.sqlite") != std::string::npos);
  const std::string file = scratch.path() + "/out/x/results.sqlite";
  const std::string written = contents(file);
  CHECK(written.starts_with("SQLite format 3"));
  std::filesystem::remove(file);
  CHECK(call("simgrad run x.toml", scratch.path()).out.find("results.sqlite") == std::string::npos);
  CHECK_FALSE(std::filesystem::exists(file));
  CHECK(call("simgrad report out/x --sqlite", scratch.path()).exit_code == 0);
  CHECK(contents(file) == written);
  CHECK(call("simgrad run x.toml --sqlite --dry-run", scratch.path()).exit_code == 2);
}

TEST_CASE("a database that cannot be written ends with 5 and leaves the other results") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  std::filesystem::create_directories(scratch.path() + "/out/x/results.sqlite/taken");
  const Called run = call("simgrad run x.toml --sqlite --quiet", scratch.path());
  CHECK(run.exit_code == 5);
  CHECK(run.err.find("out/x/results.sqlite: cannot be written: ") != std::string::npos);
  CHECK(std::filesystem::exists(scratch.path() + "/out/x/results.json"));
  for (const auto& entry : std::filesystem::directory_iterator(scratch.path() + "/out/x"))
    CHECK(entry.path().extension() != ".tmp");
}

TEST_CASE("run writes report.html and names it, or says once how to get it") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  const Called run = call("simgrad run x.toml", scratch.path());
  CHECK(run.exit_code == 0);
  if (fs::exists(scratch.path() + "/out/x/report.html")) {
    CHECK(has(run.out,
              "Results: out/x/results.json, runs.csv, summary.csv, curves.csv, ranks.csv, links.csv, report.html\n"));
    CHECK_FALSE(has(run.err, "Node"));
    const std::string page = contents(scratch.path() + "/out/x/report.html");
    CHECK_FALSE(has(page, "@simgrad-data@"));
    CHECK(has(page, "\"name\":\"x\""));
    REQUIRE(call("simgrad report out/x --out again.html", scratch.path()).exit_code == 0);
    CHECK(contents(scratch.path() + "/again.html") == page);
  } else {
    CHECK(has(run.err, "script/bootstrap, which installs Node"));
    const Called report = call("simgrad report out/x", scratch.path());
    CHECK(report.exit_code == 5);
    CHECK(has(report.err, "script/bootstrap, which installs Node"));
  }
}

TEST_CASE("report refuses results that are missing, damaged or of another kind, and leaves no page") {
  const Scratch scratch;
  prepare(scratch);
  const std::string results = scratch.path() + "/out/x/results.json";
  const std::string good = contents(results);
  fs::remove(scratch.path() + "/out/x/report.html");
  const auto report = [&] { return call("simgrad report out/x --template page.html", scratch.path()); };

  CHECK(call("simgrad report nowhere --template page.html", scratch.path()).exit_code == 5);
  CHECK(has(call("simgrad report nowhere", scratch.path()).err, "nowhere/results.json: cannot be opened"));
  CHECK(call("simgrad report", scratch.path()).exit_code == 2);

  const auto damaged = [&](const std::string& text, const std::string& said) {
    INFO(said);
    scratch.write("out/x/results.json", text);
    const Called called = report();
    CHECK(called.exit_code == 2);
    CHECK(called.err.starts_with("out/x/results.json:"));
    CHECK(has(called.err, said));
    CHECK_FALSE(fs::exists(scratch.path() + "/out/x/report.html"));
  };
  const std::string runs = "\"runs\":";
  damaged(good.substr(0, good.find(runs) + runs.size()), "not JSON, or cut short: found end of input");
  damaged("", "results.json:1:1: ");
  damaged("{}", "\"schema\" is missing");
  damaged("{\"schema\": 7}", "\"schema\" is 7, expected 1");
  Json json = Json::parse(good);
  json["runs"][1]["simulated_s"] = "soon";
  damaged(json.dump(), "runs[1]: \"simulated_s\" is \"soon\", expected a number");

  scratch.write("out/x/results.json", good);
  CHECK(report().exit_code == 0);
  scratch.write("page.html", "no place for data");
  const Called without_slot = report();
  CHECK(without_slot.exit_code == 5);
  CHECK(without_slot.err.starts_with("page.html: "));
  CHECK(has(without_slot.err, "@simgrad-data@"));
  scratch.write("page.html", "");
  CHECK(report().exit_code == 5);
  CHECK(has(report().err, "page.html: the page's template must hold @simgrad-data@ exactly once"));

  scratch.write("page.html", slot);
  const std::string one = json["runs"][0]["id"], other = json["runs"][1]["id"];
  const auto timeline = [&](const std::string& id) {
    return file_of_run(scratch.path() + "/out/x/timelines", id, ".json.gz");
  };
  const std::string file = timeline(one), packed = contents(file), text = unpacked(file);
  scratch.write(fs::relative(file, scratch.path()), packed.substr(0, packed.size() / 2));
  const Called cut_short = report();
  CHECK(cut_short.exit_code == 2);
  CHECK(has(cut_short.err, one + ".json.gz: is cut short or damaged; type simgrad run again"));
  scratch.write(fs::relative(file, scratch.path()), with(text, one, other));
  fs::remove(scratch.path() + "/out/x/report.html");
  const Called another = report();
  CHECK(another.exit_code == 2);
  CHECK(has(another.err, ": the file belongs to run " + other + ", expected "));
  CHECK_FALSE(fs::exists(scratch.path() + "/out/x/report.html"));
}

TEST_CASE("a page that cannot be written does not suppress the table, and ends with 5") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  fs::create_directories(scratch.path() + "/out/x/report.html/in the way");
  const Called run = call("simgrad run x.toml", scratch.path());
  CHECK(has(run.out, "allreduce"));
  CHECK(fs::exists(scratch.path() + "/out/x/results.json"));
  if (has(run.err, "Node")) return;  // built without Node: there is no page to write
  CHECK(run.exit_code == 5);
  CHECK(has(run.err, "out/x/report.html: cannot be written: "));
  CHECK_FALSE(has(run.out, "Results:"));
}

TEST_CASE("results that cannot be written do not suppress the table, and end with 5") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  fs::create_directories(scratch.path() + "/out/x/results.json/in the way");
  const Called run = call("simgrad run x.toml", scratch.path());
  CHECK(run.exit_code == 5);
  CHECK(has(run.out, "allreduce"));
  CHECK(has(run.err, "out/x/results.json: cannot be written: "));
}

}  // namespace report_test

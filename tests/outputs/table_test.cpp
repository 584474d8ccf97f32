#include <algorithm>
#include <sstream>

#include "catch.h"
#include "outputs/text/text_layout.h"
#include "sample.h"

namespace table_test {

using namespace simgrad;
using namespace simgrad::outputs;

namespace {

Results of(std::vector<Run> runs) {
  Results results;
  results.runs = std::move(runs);
  return results;
}

std::size_t widest(const std::string& text) {
  std::istringstream lines(text);
  std::size_t width = 0;
  for (std::string line; std::getline(lines, line);) width = std::max(width, display_width(line));
  return width;
}

std::string without_colour(std::string text) {
  for (std::size_t start; (start = text.find('\033')) != std::string::npos;) {
    text.erase(start, text.find('m', start) + 1 - start);
  }
  return text;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("the table of two grid points and three strategies at 100 columns") {
  CHECK("\n" + table(six_runs(), {.width = 100}) == R"(
Three ways over a slow network

                             simulated      time to  ─── speed-up ────  time          bytes    final
strategy            workers       time       target  samples/s  target  went to        sent     loss
────────────────────────────────────────────────────────────────────────────────────────────────────
allreduce                 2     5.00 s       5.00 s      1.60x   1.60x  ████████▓▓   320 kB  0.01998
async PS                  2     6.00 s       6.00 s      1.33x   1.33x  ███████▓▓▓   640 kB  0.01871
gossip(graph=ring)        2     4.50 s  not reached      1.78x       -  █████████▓   320 kB   0.0312
────────────────────────────────────────────────────────────────────────────────────────────────────
allreduce                 8     1.50 s       1.50 s      5.33x   5.33x  ██████▓▓░×  1280 kB  0.01998
async PS                  8     1.00 s     diverged          -       -  ███▓▓▓▓▓░░  1920 kB        -
gossip(graph=ring)        8          -       failed          -       -  -                 -        -

Time went to: █ compute ▓ communicate ░ wait × down (mean over workers).
Target: loss 0.02 or less.
Baseline, one worker without a network: simulated 8.00 s, target after 8.00 s.
Fastest to the target: allreduce at workers=8, after 1.50 s, 5.33x as fast as one worker; its time
  is 66% computing, 17% communicating, 10% waiting, 7% down. One seed: the order may be chance.
Failed: gossip(graph=ring), workers=8, seed 1: rank 3 was lost and no recovery is configured
Note (allreduce): recovered once, at 0.9 s, from the checkpoint of step 60
)");
}

TEST_CASE("runs on devices show tokens a second, MFU and the peak of memory, at 80 columns too") {
  Results results = of({sample_run("fsdp", 8, {2.0, 1.0, 1.0, 0.0})});
  record::Record& record = results.runs[0].record;
  CHECK(!contains(table(results, {.width = 200}), "MFU"));
  record.throughput.tokens_per_s = 23'900.0;
  record.throughput.mfu = 0.3814;
  record.memory_bytes_max = 26.9e9;
  CHECK(contains(table(results, {.width = 80}), "38.1%"));
  CHECK(contains(table(results, {.width = 80}), "23.9 k"));
  CHECK(!contains(table(results, {.width = 80}), "26.9 GB"));  // a rank without a limit may hold what it likes
  record.ranks[0].memory_limit_bytes = 80e9;
  CHECK(contains(table(results, {.width = 80}), "26.9 GB"));
  record.throughput.mfu.reset();  // tokens of a run without a device
  CHECK(!contains(table(results, {.width = 200}), "23.9 k"));
}

TEST_CASE("the widest table has every column") {
  const std::string text = table(six_runs(), {.width = 200});
  for (const char* header : {"strategy", "workers", "samples/s", "efficiency", "went to", "messages", "loss", "r2"})
    CHECK(contains(text, header));
}

TEST_CASE("no line is wider than the terminal") {
  Results results = six_runs();
  for (Run& run : results.runs) run.parameters["training.learning_rate"] = 0.05;
  results.runs[0].label = "parameter_server(consistency=ssp, staleness=4, servers=2)";
  for (const int width : {20, 40, 60, 80, 100, 120, 160}) {
    CHECK(widest(table(six_runs(), {.width = width})) <= static_cast<std::size_t>(width));
    CHECK(widest(table(results, {.width = width})) <= static_cast<std::size_t>(width));
  }
}

TEST_CASE("many options of a grid give way to the numbers of its points, which are listed below") {
  Results results = six_runs();
  for (std::size_t r = 0; r < results.runs.size(); ++r)
    for (const char* key : {"parallel.micro_batches", "cluster.failures.recovery", "training.learning_rate"})
      results.runs[r].parameters[key] = r < 3 ? "as it was" : "as it will be";
  const std::string wide = table(results, {.width = 200}), narrow = table(results, {.width = 80});
  CHECK(contains(wide, "micro_batches"));
  CHECK_FALSE(contains(wide, "Point 1"));
  INFO(narrow);
  CHECK(contains(narrow, "simulated"));
  CHECK(contains(narrow, "  point  "));
  CHECK(contains(narrow, "Point 1: "));
  CHECK(contains(narrow, "micro_batches=as it was"));
  CHECK(widest(narrow) <= 80);
}

TEST_CASE("80 columns keep both speed-ups, with one grid column and a long label too") {
  Results results = six_runs();
  for (Run& run : results.runs) run.parameters["training.learning_rate"] = 0.05;
  results.runs[0].label = "parameter_server(consistency=ssp, staleness=4, servers=2)";
  const std::string text = table(results, {.width = 80});
  for (const char* header : {"learning_rate", "workers", "speed-up", "samples/s", "target"})
    CHECK(contains(text, header));
  CHECK(contains(text, "2)"));  // labels differ at their ends: the middle gives way
  CHECK(contains(text, "…"));
}

TEST_CASE("colour adds escape codes and nothing else") {
  const std::string colourful = table(six_runs(), {.colour = true, .width = 100});
  CHECK(contains(colourful, "\033[1;32m     1.50 s\033[0m"));  // the best, bold
  CHECK(contains(colourful, "\033[32m     5.00 s\033[0m"));
  CHECK(contains(colourful, "\033[31m   diverged\033[0m"));
  CHECK(without_colour(colourful) == table(six_runs(), {.width = 100}));
}

TEST_CASE("several seeds are one row with their number, the mean and half of its 95 % interval") {
  std::vector<Run> runs;
  for (const double time : {0.9, 1.0, 1.1})
    runs.push_back(reached(sample_run("a", 2, {time, 0.0, 0.0, 0.0}), 0.1, 2.0));
  const std::string text = table(of(runs), {});
  CHECK(contains(text, "seeds"));
  // t(2) s / sqrt(3) = 4.303 x 0.1 / 1.732
  CHECK(contains(text, "1.00 s ± 0.25"));
  CHECK(contains(text, "±: half of the 95 % interval of the mean over the seeds"));
  runs.push_back(sample_run("a", 2, {2.0, 0.0, 0.0, 0.0}));
  CHECK(contains(table(of(runs), {}), "1.00 s ± 0.25, 3 of 4"));
  CHECK_FALSE(contains(table(of({runs[0]}), {}), "seeds"));
}

TEST_CASE("the sign ± is explained where a cell has it, and not where all seeds take the same time") {
  const Run run = reached(sample_run("a", 2, {1.0, 0.0, 0.0, 0.0}), 0.1, 2.0);
  const std::string text = table(of({run, run, run}), {});
  CHECK(contains(text, "1.00 s"));
  CHECK_FALSE(contains(text, "±"));
}

TEST_CASE("a diverged or failed seed shows in the row") {
  Run diverged = sample_run("a", 2, {1.0, 0.0, 0.0, 0.0});
  diverged.record.status = record::Status::diverged;
  const Run stopped = sample_run("a", 2, {1.0, 0.0, 0.0, 0.0});
  CHECK(contains(table(of({stopped, diverged}), {}), "1 of 2 diverged"));
  CHECK(contains(table(of({stopped, failed(stopped, "lost")}), {}), "1 of 2 failed"));
}

TEST_CASE("small speed-ups keep their digits, and a baseline that takes next to no time gives none") {
  Run slow = reached(sample_run("a", 2, {2.0, 0.0, 0.0, 0.0}), 0.1, 0.00824);
  CHECK(contains(table(of({slow}), {}), "0.00412x"));
  slow = reached(sample_run("a", 2, {2.0, 0.0, 0.0, 0.0}), 0.1, 1e-11);
  Results results = of({slow});
  results.baselines.push_back(reached(sample_run("baseline", 1, {1e-11, 0.0, 0.0, 0.0}), 0.1, 1e-11));
  const std::string text = table(results, {.width = 160});
  CHECK_FALSE(contains(text, "samples/s"));
  CHECK(contains(text, "Baseline, one worker without a network: next to no time, so there are no speed-ups."));
}

TEST_CASE("baselines of other options are named apart, and no mean is taken over them") {
  Results results = of({sample_run("a", 2, {1.0, 0.0, 0.0, 0.0})});
  for (const int features : {10, 20})
    results.baselines.push_back(
        at(sample_run("baseline", 1, {static_cast<double>(features), 0.0, 0.0, 0.0}), "data.features", features));
  const std::string text = table(results, {.width = 120});
  CHECK(contains(text, "baseline at features=10: simulated 10.0 s."));
  CHECK(contains(text, "baseline at features=20: simulated 20.0 s."));
  for (Run& run : results.baselines) run.parameters = Json::object();  // a file of an older release
  CHECK_FALSE(contains(table(results, {.width = 120}), "15.0 s"));
}

TEST_CASE("where every run diverged the table says so, as the page does") {
  Run wild = sample_run("a", 2, {1.0, 0.0, 0.0, 0.0});
  wild.record.status = record::Status::diverged;
  Results results = of({wild});
  results.scenario = {{"stop", {{"loss", 0.1}}}};
  CHECK(contains(table(results, {.width = 120}), "Every run diverged. A smaller training.learning_rate may help."));
}

TEST_CASE("of several that are equally fast none lends its parts of the time to all") {
  Run a = reached(sample_run("a", 2, {1.0, 0.0, 0.0, 0.0}), 0.1, 8.0);
  Run b = reached(sample_run("b", 2, {0.5, 0.5, 0.0, 0.0}), 0.1, 8.0);
  CHECK_FALSE(contains(table(of({a, b}), {.width = 120}), "its time is"));
}

TEST_CASE("without a baseline there are no speed-up columns, without a target no target column") {
  const std::string text = table(of({sample_run("a", 2, {1.0, 0.0, 0.0, 0.0})}), {});
  CHECK_FALSE(contains(text, "speed-up"));
  CHECK_FALSE(contains(text, "target"));
  CHECK(contains(text, "100 steps done"));
}

TEST_CASE("a run in which no time went by has no bar") {
  const std::string text = table(of({sample_run("a", 2, {})}), {});
  CHECK(contains(text, "0 s"));
  CHECK_FALSE(contains(text, "█"));
}

TEST_CASE("a scenario whose target no run reached says so") {
  Results results = of({sample_run("a", 2, {1.0, 0.0, 0.0, 0.0})});
  results.scenario = {{"stop", {{"loss", 0.25}}}};
  CHECK(contains(table(results, {}), "not reached"));
  CHECK(contains(table(results, {}), "Target: loss 0.25 or less."));
}

TEST_CASE("a time bar has a cell of down only where a worker was down") {
  CHECK(contains(table(six_runs(), {}), "× down"));
  CHECK_FALSE(contains(table(of({sample_run("a", 2, {1.0, 1.0, 1.0, 0.0})}), {}), "×"));
}

TEST_CASE("baselines that differ are listed with their grid points, the first four") {
  Results results = six_runs();
  results.baselines.clear();
  for (int k = 1; k <= 6; ++k) {
    results.baselines.push_back(at(sample_run("one worker", 1, {1.0 * k, 0.0, 0.0, 0.0}), "training.batch_size", k));
  }
  const std::string text = table(results, {});
  CHECK(contains(text, "  one worker at batch_size=4: simulated 4.00 s.\n  2 more are in results.json.\n"));
}

TEST_CASE("errors, notes and incompleteness stand under the table, a note once") {
  Results results = six_runs();
  results.complete = false;
  results.runs[0].record.notes = results.runs[1].record.notes = {"clocks disagree"};
  const std::string text = table(results, {.width = 100});
  CHECK(contains(text, "Incomplete: these are the 6 runs finished so far.\n"));
  CHECK(
      contains(text, "Failed: gossip(graph=ring), workers=8, seed 1: rank 3 was lost and no recovery is configured\n"));
  CHECK(contains(text, "Note (allreduce and async PS): clocks disagree\n"));
}

TEST_CASE("a note names the strategies whose runs have it") {
  const auto line = [](const Results& results) {
    const std::string text = table(results, {.width = 100});
    const std::size_t from = text.find("Note (");
    return text.substr(from, text.find('\n', from) - from);
  };
  Results results = six_runs();
  results.runs[3].record.notes.clear();
  for (const std::size_t k : {0U, 3U}) results.runs[k].record.notes = {"late", "late"};
  CHECK(line(results) == "Note (allreduce, 2 runs): late");
  results.runs[3].parameters = results.runs[0].parameters;
  CHECK(line(results) == "Note (allreduce, 2 seeds): late");
  for (Run& run : results.runs) run.record.notes = {"late"};
  CHECK(line(results) == "Note (allreduce, async PS and gossip(graph=ring), 6 runs): late");
}

TEST_CASE("an experiment without a run is said to have none, once") {
  Results results = six_runs();
  results.complete = false;
  results.runs.resize(1);
  CHECK(contains(table(results, {.width = 100}), "Incomplete: this is the one run finished so far.\n"));
  results.runs.clear();
  CHECK(contains(table(results, {.width = 100}), "No run has finished.\n"));
  CHECK_FALSE(contains(table(results, {.width = 100}), "Incomplete"));
}

TEST_CASE("a baseline that diverged is said to have") {
  Results results = six_runs();
  results.baselines[0].record.status = record::Status::diverged;
  results.baselines[0].record.time_to_target_s = {};
  CHECK(contains(table(results, {.width = 100}),
                 "Baseline, one worker without a network: simulated 8.00 s, diverged.\n"));
}

TEST_CASE("the first eight of many notes are printed") {
  Results results = six_runs();
  for (int crash = 0; crash < 11; ++crash) results.runs[0].record.notes.push_back("crash " + std::to_string(crash));
  const std::string text = table(results, {});
  CHECK(contains(text, "crash 7\n"));
  CHECK_FALSE(contains(text, "crash 8"));
  CHECK(contains(text, "4 more notes are in results.json.\n"));  // the sample has one of its own
}

TEST_CASE("a label cannot move the cursor") {
  CHECK_FALSE(contains(table(of({sample_run("a\033[2J\n", 1, {})}), {}), "\033"));
}

TEST_CASE("without runs there is a title and a sentence") {
  Results results;
  results.name = "wan";
  CHECK(table(results, {}) == "wan\n\nNo run has finished.\n");
}

TEST_CASE("without a target the final loss stays when the bar and the speed-up have gone, with one it goes before") {
  std::vector<Run> runs = {sample_run("averaging of local steps", 8, {1.0, 1.0, 0.0, 0.0}),
                           sample_run("gossip on an exponential graph", 8, {1.0, 2.0, 0.0, 0.0})};
  for (Run& run : runs) run.record.final_loss = 0.125, run.speedup_throughput = 4.0;
  Results results = of(std::move(runs));
  CHECK(contains(table(results, {.width = 48}), " 0.125\n"));
  CHECK_FALSE(contains(table(results, {.width = 48}), "went to"));
  results.scenario = {{"stop", {{"loss", 0.0625}}}};
  INFO(table(results, {.width = 48}));
  CHECK_FALSE(contains(table(results, {.width = 48}), " 0.125\n"));
}

TEST_CASE("a speed-up over a worker that computes for no time is left out") {
  Run run = sample_run("ring", 8, {0.0, 1.0, 0.0, 0.0});
  run.speedup_throughput = 3e-15;
  CHECK_FALSE(contains(table(of({run}), {.width = 120}), "speed-up"));
  run.speedup_throughput = 3e-3;
  CHECK(contains(table(of({run}), {.width = 120}), "0.003x"));
}

TEST_CASE("labels of wide characters fit and leave the columns straight") {
  Results results = of({sample_run("异步参数服务器，八台服务器，陈旧度不超过四", 8, {1.0, 1.0, 0.0, 0.0}),
                        sample_run("ring", 8, {1.0, 2.0, 0.0, 0.0})});
  for (const int width : {40, 60, 80, 120}) {
    const std::string text = table(results, {.width = width});
    INFO(text);
    CHECK(widest(text) <= static_cast<std::size_t>(width));
    std::istringstream lines(text);
    std::vector<std::size_t> ends;  // ends of the number of workers
    for (std::string line; std::getline(lines, line);)
      if (const auto at = line.find(" 8 "); at != std::string::npos) ends.push_back(display_width(line.substr(0, at)));
    REQUIRE(ends.size() == 2);
    CHECK(ends[0] == ends[1]);
  }
}

TEST_CASE("cases that cost the same to the target are named together") {
  Results results = six_runs();
  results.runs.clear();
  results.baselines.clear();
  for (const auto& [label, s] : {std::pair("a", 1.0), std::pair("b", 2.0), std::pair("c", 4.0)}) {
    Run run = reached(sample_run(label, 2, {s, 0.0, 0.0, 0.0}), 0.01, 4.0);
    run.bill.cost_usd = run.bill.cost_to_target_usd = *label == 'c' ? 9.0 : 3.0;
    results.runs.push_back(run);
  }
  const auto said = [&] {
    std::istringstream words(table(results, {.colour = false, .width = 100}));
    std::string text;
    for (std::string word; words >> word;) text += " " + word;
    return text;
  };
  CHECK(said().find(" Cheapest to the target: a and b, equally, $3.00.") != std::string::npos);
  results.runs[1].bill.cost_to_target_usd = 3.5;
  CHECK(said().find(" It is also the cheapest: $3.00.") != std::string::npos);
}

}  // namespace table_test

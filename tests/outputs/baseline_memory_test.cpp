// A baseline of one worker that could not run: its numbers say so.
#include <algorithm>

#include "catch.h"
#include "outputs/comparison.h"
#include "sample.h"

namespace baseline_memory_test {

using namespace simgrad;
using namespace simgrad::outputs;

namespace {

Run with_memory(Run run, double bytes, double limit_bytes) {
  run.record.memory_bytes_max = bytes;
  for (record::RankUse& rank : run.record.ranks) {
    rank.memory_bytes = bytes;
    rank.memory_limit_bytes = limit_bytes;
  }
  return run;
}

/// Four workers with 30 GB of 80 each, against one that needs so much.
Results against(double one_needs_bytes) {
  Results results;
  results.runs = {with_memory(reached(sample_run("fsdp", 4, {8.0, 1.0, 1.0, 0.0}), 0.1, 40.0), 30e9, 80e9)};
  results.baselines = {
      with_memory(reached(sample_run("baseline", 1, {40.0, 0.0, 0.0, 0.0}), 0.1, 40.0), one_needs_bytes, 80e9)};
  return results;
}

/// The table, in one line.
std::string text(const Results& results) {
  std::string all = table(results, {.width = 300});
  std::ranges::replace(all, '\n', ' ');
  return all;
}

}  // namespace

TEST_CASE("a baseline that would not fit into memory says so at each of its numbers") {
  const std::string all = text(against(120e9));
  CHECK_THAT(all, ContainsSubstring("without a network: simulated 40.0 s (which would not fit into memory: it needs "
                                    "120 GB), target after 40.0 s"));
  CHECK_THAT(all, ContainsSubstring("4.00x as fast as one worker (which would not fit into memory)"));
}

TEST_CASE("a baseline that fits has its numbers as they are") {
  CHECK_THAT(text(against(80e9)), !ContainsSubstring("would not fit") && ContainsSubstring("as fast as one worker"));
  CHECK_THAT(text(against(120e9)), ContainsSubstring("would not fit"));
}

TEST_CASE("a baseline belongs to the grid points whose values it has") {
  Results results = against(120e9);
  Results small = against(20e9);
  for (Results* each : {&results, &small})
    for (auto* runs : {&each->runs, &each->baselines})
      for (Run& run : *runs) run = at(run, "model.layers", each == &results ? 96 : 12);
  results.runs.push_back(small.runs.front());
  results.baselines.push_back(small.baselines.front());
  const Comparison compared = comparison(results);
  CHECK(compared.rows.at(0).too_large_for_one);
  CHECK_FALSE(compared.rows.at(1).too_large_for_one);
}

}  // namespace baseline_memory_test

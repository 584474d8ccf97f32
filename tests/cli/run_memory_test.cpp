// --run-memory: the data of a run are its own, though they are loaded by the process that starts it.
#include <fmt/format.h>

#include "catch.h"
#include "cli/scenario.h"

namespace run_memory_test {

using namespace simgrad::tests;

namespace {

const std::string run = "run x.toml --no-baseline --no-why --quiet --jobs 1 ";

}  // namespace

TEST_CASE("a run whose generated data exceed its memory has failed with the limit, and the others go on") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  // 200,000 rows of 100 numbers are 160 MB.
  const std::string grid = "--set data.features=100 --grid data.samples=200,200000 ";
  CHECK(program(run + grid + "--run-memory 100MB", scratch).exit_code == 4);
  const Json runs = results_in(scratch)["runs"];
  CHECK(runs[0]["status"] == "stopped");
  CHECK(runs[1]["status"] == "failed");
  CHECK(runs[1]["error"] == "stopped at 100MB of memory, the limit of a run, while its data were loaded");
  CHECK(program(run + grid + "--out enough --run-memory 2GB", scratch).exit_code == 0);
}

TEST_CASE("a run whose file exceeds its memory while it is read has failed with the limit") {
  const Scratch scratch;
  std::string rows = "a,b,c,d,e,f,g,h,i,j\n";
  for (int i = 0; i < 200'000; ++i) rows += "1,2,3,4,5,6,7,8,9,0\n";  // 4 MB; its numbers are 16 MB
  scratch.write("d.csv", rows);
  scratch.write("x.toml", with(small, "source = \"house_prices\"\nsamples = 200\nfeatures = 5\n",
                               "source = \"csv\"\npath = \"d.csv\"\n"));
  // The file alone would fit into 5 MB, or half of 9 MB, or not into 3 MB.
  for (const char* limit : {"3MB", "5MB", "9MB", "15MB"}) {
    INFO(limit);
    CHECK(program(run + "--run-memory " + limit + " --out " + limit, scratch).exit_code == 1);
    CHECK(results_in(scratch, limit)["runs"][0]["error"] ==
          std::string("stopped at ") + limit + " of memory, the limit of a run, while its data were loaded");
  }
  CHECK(program(run + "--run-memory 15MB", scratch).exit_code == 1);
  CHECK(results_in(scratch)["runs"][0]["error"] ==
        "stopped at 15MB of memory, the limit of a run, while its data were loaded");
  CHECK(program(run + "--out enough --run-memory 1GB", scratch).exit_code == 0);
}

#ifndef __SANITIZE_ADDRESS__
TEST_CASE("data beyond the memory of the machine are refused in a sentence") {
  const Scratch scratch;
  scratch.write("x.toml", with(small, "samples = 200\nfeatures = 5", "samples = 1000000\nfeatures = 200"));
  const Called called = call("ulimit -v 1000000; timeout 60 simgrad run x.toml", scratch.path());
  CHECK(called.exit_code == 5);
  CHECK(
      called.err.starts_with("data source \"house_prices\": 1000000 rows x 200 columns would take 1534 MiB of memory; "
                             "expected at most the "));
  CHECK(called.out.empty());
}
#endif

}  // namespace run_memory_test

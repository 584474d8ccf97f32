// The options of mapreduce through the program: what contradicts what.
#include <fmt/format.h>

#include <utility>

#include "cli/refusal.h"

namespace mapreduce_test {

using namespace simgrad::tests;

namespace {

std::string mapreduce(const std::string& options) {
  return with_strategies("[[strategy]]\nkind = \"mapreduce\"\n" + options);
}

}  // namespace

TEST_CASE("copies of the slowest splits need more than one split a worker") {
  check_refused(
      mapreduce("speculative = true\n"),
      {"x.toml:26:1: speculative = true needs splits above 1: with one split a worker all begin and nobody is "
       "idle; give splits, or leave speculative out"});
}

TEST_CASE("a factor of slowness goes with copies") {
  check_refused(mapreduce("splits = 2\nslow_factor = 2.0\n"),
                {"x.toml:27:1: slow_factor says which splits are copied, but speculative = false copies none; set "
                 "speculative = true, or leave slow_factor out"});
  check_refused(mapreduce("splits = 2\nspeculative = true\nslow_factor = 0.9\n"),
                {"x.toml:28:15: slow_factor must be from 1 to 1000"});
}

TEST_CASE("more reducers than parameters are refused, once the parameters are known") {
  check_refused(
      mapreduce("reducers = 6\n"),
      {"x.toml:26:1: reducers = 6, but the model has 5 parameters; expected at most one reducer a parameter"});
  CHECK(each(results_of(mapreduce("reducers = 5\n")), "status") == std::vector<Json>{"stopped"});
}

TEST_CASE("mapreduce's storage is a name, or a table with options, and unknown ones are refused") {
  const Json results = results_of(mapreduce("storage = { kind = \"disk\", bandwidth = \"1MB/s\" }\n"));
  CHECK(results["runs"][0]["options"]["storage"] ==
        Json{{"kind", "disk"}, {"bandwidth", "8Mbps"}, {"flops_per_sample", 0.0}});
  CHECK(results["runs"][0]["label"] == "mapreduce(storage=disk, storage.bandwidth=8Mbps)");
  check_refused(mapreduce("storage = \"tape\"\n"), {"x.toml:26:11: unknown storage \"tape\"; known: memory, disk"});
  for (const auto& [key, value] : {std::pair("bytes_per_sample", "\"800B\""), std::pair("flops_per_sample", "100")})
    check_refused(
        mapreduce(fmt::format("storage = {{ kind = \"memory\", bandwidth = \"none\", {} = {} }}\n", key, value)),
        {fmt::format(
            "x.toml:26:50: {} is of rows that are read from disk, but bandwidth = \"none\" reads none; leave one "
            "of them out",
            key)});
  check_refused(mapreduce("storage = { kind = \"disk\", bandwidth = \"0MB/s\" }\n"),
                {"x.toml:26:40: bandwidth must be above 0"});
}

TEST_CASE("a broadcast that passes through workers goes with one reducer and one split a worker") {
  check_refused(
      mapreduce("broadcast = \"chain\"\nreducers = 2\n"),
      {"x.toml:26:1: broadcast = \"chain\" is one reducer's, but reducers = 2 send their stretches at once; leave "
       "broadcast out, or set reducers = 1"});
  check_refused(
      mapreduce("broadcast = \"binomial\"\nsplits = 2\n"),
      {"x.toml:26:1: broadcast = \"binomial\" passes through workers, but with splits = 2 they wait for orders; "
       "leave broadcast out, or set splits = 1"});
}

TEST_CASE("the k-means job goes with the model k_means and one reducer") {
  check_refused(mapreduce("job = \"k_means\"\n"),
                {"x.toml:26:1: job = \"k_means\" moves the centres of the model k_means, but [model] kind = "
                 "\"least_squares\"; set that to \"k_means\", or job = \"gradient\""});
  check_refused(
      mapreduce("job = \"k_means\"\nreducers = 2\n"),
      {"x.toml:27:1: job = \"k_means\" reduces a centre's sum and its number of rows together, but reducers = 2 "
       "hold stretches; set reducers = 1"});
}

}  // namespace mapreduce_test

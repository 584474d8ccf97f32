// Trials that an earlier command has left in the results directory.
#include "experiment/run/trial_store.h"

#include <nlohmann/json.hpp>
#include <string>

#include "base/hash.h"
#include "catch.h"
#include "outputs/summary.h"
#include "scratch.h"

namespace trial_store_test {

using namespace simgrad;
using namespace simgrad::experiment;
using Json = nlohmann::ordered_json;

namespace {

/// The directory's outcome of the trial "a" if its file has these trials and their checksum.
std::optional<Observed> found(const std::string& trials) {
  const tests::Scratch scratch;
  const Json json = Json::parse(trials);
  scratch.write("trials.json",
                outputs::compact(Json{{"checksum", base::hash(outputs::compact(json))}, {"trials", json}}));
  return TrialStore(scratch.path(), true).find("a");
}

}  // namespace

TEST_CASE("trials are read with the numbers that they were written with") {
  const auto seen = found(R"({"a":[0.5,20,1]})");
  REQUIRE(seen);
  CHECK(seen->simulated_s == 0.5);
  CHECK(seen->samples == 20);
  CHECK(seen->crashes == 1);
}

TEST_CASE("trials with numbers that none leaves are not there") {
  for (const char* trials : {R"({"a":[-0.5,20,1]})", R"({"a":[0.5,-20,1]})", R"({"a":[0.5,20,-1]})",
                             R"({"a":[0.5,1e300,1]})", R"({"a":[0.5,20]})", R"({"a":[null,20,1]})", R"({"a":7})",
                             R"([[0.5,20,1]])", R"({"a":[0.5,20,1],"b":[-1,2,3]})"}) {
    INFO(trials);
    CHECK_FALSE(found(trials));
  }
}

}  // namespace trial_store_test

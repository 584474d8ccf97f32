// Keys of a scenario in faults and echoes are those that `describe` names.
#include "experiment/plan/places.h"

#include <nlohmann/json.hpp>

#include "base/errors.h"
#include "catch.h"
#include "cluster/options.h"

namespace places_test {

using namespace simgrad;
using namespace simgrad::experiment;

TEST_CASE("a key that no option has is refused, whatever stands in the document") {
  const auto document = scenario::Document::parse("[cluster]\nworkerz = 3\n", "x.toml");
  for (const char* key : {"cluster.workerz", "workers", "cluster.workers.count", "job.workerz", ""}) {
    INFO(key);
    CHECK_THROWS_AS(option_key(key), base::InvariantError);
    CHECK_THROWS_AS(place(document, key), base::InvariantError);
    CHECK_THROWS_AS(writes(document, key), base::InvariantError);
  }
}

TEST_CASE("options of sections, of lists and of every kind of a component are keys") {
  for (const char* key :
       {"title", "cluster", "cluster.workers", "cluster.failures.crash", "job.0.workers", "strategy.3.recovery",
        "strategy.servers", "model.kind", "data.labels_path", "cluster.failures.hosts.class", "prices.hosts.2.class"})
    CHECK(option_key(key) == key);
}

TEST_CASE("a place is that of the first key that is written, else of the innermost table around the last") {
  const auto document = scenario::Document::parse("[data]\nsource = \"csv\"\n[training]\nbatch_size = 4\n", "x.toml");
  CHECK(place(document, {"data.samples", "data.source"}).text() == "x.toml:2:1");
  CHECK(place(document, {"training.batch_size_per_worker", "training.batch_size"}).line == 4);
  CHECK(place(document, "training.partition").line == 3);
  CHECK(place(document, "cluster.failures.crash").text() == document.position("").text());
}

TEST_CASE("an option is left out of an echo, in a table or at its root") {
  nlohmann::ordered_json echo{{"title", "x"}, {"cluster", {{"workers", 2}, {"latency", "1us"}}}};
  leave_out(echo, "cluster.latency");
  leave_out(echo, "title");
  leave_out(echo, "training.batch_size");  // has no table here
  CHECK(echo == nlohmann::ordered_json{{"cluster", {{"workers", 2}}}});
}

TEST_CASE("the options that a platform replaces are options of the cluster") {
  for (const std::string_view key : cluster::said_by_platform) CHECK_NOTHROW(option_key("cluster." + std::string(key)));
}

}  // namespace places_test

// Refusals of protocols: tables that are not ascending or have factors below 0, and networks with factors of their own.
#include "experiment/refused.h"

namespace protocol_refusals_test {

using namespace simgrad;
using namespace simgrad::experiment;

namespace {

std::string scenario(const std::string& cluster) {
  std::string text = small;
  return text.insert(text.find("workers = 4"), cluster + "\n") + ring_allreduce;
}

void check_refused(const std::string& cluster, const std::string& why) { check_refused_text(scenario(cluster), why); }

std::string table(const std::string& rows) { return "protocol = { kind = \"table\", rows = [" + rows + "] }"; }

}  // namespace

TEST_CASE("a table of a protocol has ascending rows from 0 bytes on, and factors above 0") {
  check_refused(table(""), "a table needs rows");
  check_refused(table("{ from = \"1kB\", latency = 1, bandwidth = 1 }"), "the first row is from 1kB; expected from");
  check_refused(table("{ from = \"0B\" }, { from = \"2kB\" }, { from = \"1kB\" }"),
                "row 3 is from 1kB, behind one from 2kB; expected ascending sizes");
  check_refused(table("{ from = \"0B\" }, { from = \"0B\" }"), "expected ascending sizes");
  check_refused(table("{ from = \"0B\", bandwidth = -0.5 }"), "bandwidth");
  check_refused(table("{ from = \"0B\", latency = -1 }"), "latency");
  check_refused(table("{ from = \"0B\", bandwidth = 0 }"), "bandwidth");
}

TEST_CASE("a protocol beside other factors of messages is refused") {
  check_refused("protocol = \"smpi\"\nnetwork_model = \"tcp\"",
                "which are not simulated with network_model = \"tcp\", whose factors are its own");
  check_refused("protocol = \"smpi\"\njitter = \"log_normal\"", "which are not simulated with jitter");
  check_refused("protocol = \"smpi\"\noverlap_slowdown = 0.1", "which are not simulated with overlap_slowdown");
  check_refused("protocol = \"smpi\"\ntopology = \"shared_memory\"", "which is one host");
  check_refused("protocol = \"smpy\"", "smpi");
  CHECK(planned(scenario("protocol = \"smpi\"\nnetwork_model = \"ethernet\"")).runs.size() == 1);
}

}  // namespace protocol_refusals_test

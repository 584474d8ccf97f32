#include <bit>
#include <cstdint>
#include <limits>

#include "catch.h"
#include "full_run.h"
#include "outputs/summary.h"
#include "sample.h"

namespace json_test {

using namespace simgrad;
using namespace simgrad::outputs;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The names of the parts of time, in their order: `"compute_gradient_s":null,` and so on.
std::string parts_text(const std::string& value, const std::string& last) {
  std::string text;
  for (std::size_t k = 0; k + 1 < record::time_parts; ++k)
    text += (k == 0 ? "\"" : ",\"") + std::string(record::field_name(static_cast<record::TimePart>(k))) + "\":" + value;
  return text + last;
}

}  // namespace

TEST_CASE("a run has the contract's fields in the contract's order, then the additions") {
  CHECK(keys(to_json(Run{})) == std::vector<std::string>{"id",
                                                         "strategy",
                                                         "label",
                                                         "options",
                                                         "parameters",
                                                         "seed",
                                                         "status",
                                                         "simulated_s",
                                                         "steps",
                                                         "samples",
                                                         "epochs",
                                                         "final_loss",
                                                         "time_to_target_s",
                                                         "speedup_throughput",
                                                         "speedup_time_to_target",
                                                         "efficiency",
                                                         "compute_s",
                                                         "communicate_s",
                                                         "wait_s",
                                                         "down_s",
                                                         "bytes",
                                                         "messages",
                                                         "staleness_mean",
                                                         "staleness_max",
                                                         "cost_usd",
                                                         "energy_j",
                                                         "wall_s",
                                                         "error",
                                                         "workers",
                                                         "metric_name",
                                                         "final_metric",
                                                         "consensus_distance",
                                                         "spectral_gap",
                                                         "crashes",
                                                         "lost_s",
                                                         "recovery_s",
                                                         "checkpoint_s",
                                                         "goodput",
                                                         "samples_seen",
                                                         "diverged_step",
                                                         "network_model",
                                                         "bytes_to_target",
                                                         "cost_compute_usd",
                                                         "cost_communicate_usd",
                                                         "cost_wait_usd",
                                                         "cost_down_usd",
                                                         "cost_egress_usd",
                                                         "cost_storage_usd",
                                                         "cost_to_target_usd",
                                                         "energy_idle_j",
                                                         "energy_busy_j",
                                                         "energy_links_j",
                                                         "energy_overhead_j",
                                                         "energy_to_target_j",
                                                         "co2e_g",
                                                         "notes",
                                                         "compute_gradient_s",
                                                         "compute_reduction_s",
                                                         "compute_update_s",
                                                         "compute_encoding_s",
                                                         "compute_other_s",
                                                         "communicate_transfer_s",
                                                         "communicate_input_s",
                                                         "communicate_storage_s",
                                                         "communicate_checkpoint_s",
                                                         "wait_gradient_s",
                                                         "wait_worker_s",
                                                         "wait_server_s",
                                                         "wait_transfer_s",
                                                         "wait_turn_s",
                                                         "wait_storage_s",
                                                         "wait_checkpoint_s",
                                                         "wait_recovery_s",
                                                         "wait_other_s",
                                                         "curve",
                                                         "ranks",
                                                         "hosts",
                                                         "stored_bytes",
                                                         "links"});
}

TEST_CASE("results.json of one small run, byte for byte") {
  Results results{.name = "tiny",
                  .title = "A \"tiny\" one",
                  .version = "0.1.0",
                  .complete = false,
                  .scenario = {{"seed", 1}},
                  .runs = {full_run()},
                  .baselines = {}};
  CHECK(results_json(results) ==
        R"({
  "schema": 1,
  "version": "0.1.0",
  "name": "tiny",
  "title": "A \"tiny\" one",
  "complete": false,
  "scenario": {"seed":1},
  "runs": [
    {"id":"0123456789abcdef","strategy":"parameter_server","label":"async \"PS\", fast",)"
        R"("options":{"consistency":"asp","servers":1},)"
        R"("parameters":{"cluster.workers":2,"cluster.latency":"50us"},)"
        R"("seed":18446744073709551615,"status":"reached","simulated_s":4.0,"steps":5,)"
        R"("samples":600,"epochs":6.5,"final_loss":0.03125,"time_to_target_s":3.5,)"
        R"("speedup_throughput":1.75,"speedup_time_to_target":1.5,"efficiency":0.875,)"
        R"("compute_s":1.5,"communicate_s":1.5,"wait_s":0.75,"down_s":0.25,"bytes":7000,)"
        R"("messages":80,"staleness_mean":0.9,"staleness_max":1.0,"cost_usd":0.5,)"
        R"("energy_j":null,"wall_s":0.1,"error":null,"workers":2,"metric_name":"accuracy",)"
        R"("final_metric":0.96875,"consensus_distance":1e-07,"spectral_gap":0.3,)"
        R"("crashes":2,"lost_s":0.125,"recovery_s":0.25,"checkpoint_s":0.0625,"goodput":0.5,"samples_seen":500,)"
        R"("diverged_step":null,)"
        R"("network_model":"ideal","bytes_to_target":7000.0,"cost_compute_usd":null,"cost_communicate_usd":null,)"
        R"("cost_wait_usd":null,"cost_down_usd":null,"cost_egress_usd":null,)"
        R"("cost_storage_usd":null,"cost_to_target_usd":null,"energy_idle_j":null,)"
        R"("energy_busy_j":null,"energy_links_j":null,"energy_overhead_j":null,"energy_to_target_j":null,"co2e_g":2.0,)"
        R"("notes":["one","two, and three"],)" +
            parts_text("null", R"(,"staleness_counts":[[0,3],[1,7]],)") +
            R"("curve":[{"step":0,"simulated_s":0.0,"samples":0,"loss":1.0,"metric":null,)"
            R"("consensus_distance":null,"bytes":null,"flops":null,"energy_j":null,"hosts_busy_s":null,)"
            R"("hosts_down_s":null},)"
            R"({"step":5,"simulated_s":4.0,"samples":600,"loss":0.03125,"metric":0.96875,"consensus_distance":1e-07,)"
            R"("bytes":null,"flops":null,"energy_j":null,"hosts_busy_s":null,"hosts_down_s":null}],)"
            R"("ranks":[{"rank":0,"role":"worker","compute_s":1.0,"communicate_s":2.0,)"
            R"("wait_s":1.0,"down_s":0.0,"bytes_sent":10,"bytes_received":11,"host_class":"host","host":0,)" +
            parts_text("0.0", R"(,"staleness_mean":null},)") +
            R"({"rank":1,"role":"worker","compute_s":2.0,"communicate_s":1.0,"wait_s":0.5,)"
            R"("down_s":0.5,"bytes_sent":12,"bytes_received":13,"host_class":"host","host":0,)" +
            parts_text("0.0", R"(,"staleness_mean":null},{"rank":2,"role":"server",)") +
            R"("compute_s":0.0,"communicate_s":3.0,"wait_s":1.0,"down_s":0.0,"bytes_sent":14,)"
            R"("bytes_received":15,"host_class":"gpu","host":0,)" +
            parts_text("0.0", R"(,"staleness_mean":null}],)") +
            R"("hosts":[{"host_class":"gpu","host_number":3,"busy_s":1.0,"down_s":0.5,"serves":false,"spot":true,)"
            R"("price_usd_per_h":2.5,"idle_w":100.0,"busy_w":null}],"stored_bytes":640,)"
            R"("links":[{"link":"up-0","bytes":7000,"utilisation":0.25,)"
            R"("link_class":"nic"}],"wires":[{"link":"up-0","from":"host-0","to":"switch-0"}],)"
            R"("collectives":[{"name":"ring","members":2,"bytes":80,"calls":5,"predicted_s":0.25,)"
            R"("simulated_s":0.5,"skew_s":0.125,"duration_s":0.75,"exposed_s":0.25}]}
  ],
  "baselines": [],
  "summary": [
    {"parameters":{"cluster.workers":2,"cluster.latency":"50us"},)"
            R"("label":"async \"PS\", fast","strategy":"parameter_server","workers":2,"seeds":1,)"
            R"("reached":1,"diverged":0,"failed":0,)"
            R"("simulated_s":4.0,"simulated_s_low":null,"simulated_s_high":null,)"
            R"("time_to_target_s":3.5,"time_to_target_s_low":null,"time_to_target_s_high":null,)"
            R"("cost_usd":0.5,"cost_usd_low":null,"cost_usd_high":null,)"
            R"("cost_to_target_usd":null,"cost_to_target_usd_low":null,"cost_to_target_usd_high":null,)"
            R"("energy_j":null,"energy_j_low":null,"energy_j_high":null,)"
            R"("samples_per_s":125.0,"samples_per_s_low":null,"samples_per_s_high":null,)"
            R"("speedup_throughput":1.75,"speedup_throughput_low":null,"speedup_throughput_high":null,)"
            R"("speedup_time_to_target":1.5,"speedup_time_to_target_low":null,"speedup_time_to_target_high":null,)"
            R"("efficiency":0.875,"efficiency_low":null,"efficiency_high":null,)"
            R"("final_loss":0.03125,"final_loss_low":null,"final_loss_high":null,)"
            R"("compared_by":"time_to_target_s","best":"async \"PS\", fast",)"
            R"("behind":null,"behind_low":null,"behind_high":null}
  ]
}
)");
}

TEST_CASE("the mean over workers of equal parts is that part, to the last bit") {
  // 0.1 + 0.1 + 0.1 is not 0.3: a plain mean would miss.
  CHECK(to_json(sample_run("a", 3, {0.1, 0.7, 0.3, 0.0}))["compute_s"].get<double>() == 0.1);
}

TEST_CASE("a run without recorded workers has nulls for where its time went, not zeros") {
  const Json json = to_json(failed(sample_run("a", 2, {}), "lost"));
  for (const char* part : {"compute_s", "communicate_s", "wait_s", "down_s"}) CHECK(json[part].is_null());
  CHECK(json["error"] == "lost");
}

TEST_CASE("the parts of time are means over the workers, and null in a run of a release without parts") {
  Run run = sample_run("a", 2, {1.0, 0.5, 0.5, 0.0});
  CHECK(to_json(run)["compute_gradient_s"].is_null());
  run.record.ranks[0].parts[record::TimePart::wait_server] = 0.5;
  for (auto& rank : run.record.ranks) {
    rank.parts[record::TimePart::compute_gradient] = 1.0;
    rank.parts[record::TimePart::communicate_storage] = 0.5;
  }
  run.record.ranks[1].parts[record::TimePart::wait_turn] = 0.5;
  const Json json = to_json(run);
  CHECK(json["compute_gradient_s"] == 1.0);
  CHECK(json["communicate_storage_s"] == 0.5);
  CHECK(json["wait_server_s"] == 0.25);  // (0.5 + 0) / 2
  CHECK(json["ranks"][1]["wait_turn_s"] == 0.5);
  Json older = json;
  for (Json& rank : older["ranks"])
    for (std::size_t k = 0; k + 1 < record::time_parts; ++k)
      rank.erase(std::string(record::field_name(static_cast<record::TimePart>(k))));
  const Run read = run_from_json(older);
  CHECK(read.record.ranks[0].compute_s == 1.0);
  CHECK_FALSE(time_by_part(read.record));
}

TEST_CASE("a run read back is the run that was written") {
  for (const Run& run : {full_run(), Run{}, failed(sample_run("a", 2, {}), "lost"), six_runs().runs[4]}) {
    const std::string text = to_json(run).dump();
    CHECK(to_json(run_from_json(parse_json(text))).dump() == text);
  }
  const Run run = run_from_json(to_json(full_run()));
  CHECK(run.seed == full_run().seed);
  CHECK(run.record.status == record::Status::reached);
  CHECK(run.record.curve[1].consensus_distance == 1e-7);
  CHECK(run.record.ranks[2].role == "server");
  CHECK(run.record.links[0].link == "up-0");
  CHECK(run.record.wires[0].to == "switch-0");
  CHECK(run.record.collectives[0].skew_s == 0.125);
  CHECK(run.record.collectives[0].exposed_s == 0.25);
  Json older = to_json(full_run());
  for (const char* field : {"duration_s", "exposed_s"}) older["collectives"][0].erase(field);
  CHECK_FALSE(run_from_json(older).record.collectives[0].exposed_s);
  CHECK(run.record.staleness_counts == std::map<std::int64_t, std::int64_t>{{0, 3}, {1, 7}});
}

TEST_CASE("whole results read back are the results that were written") {
  const std::string text = results_json(six_runs());
  CHECK(results_json(results_from_json(parse_json(text))) == text);
}

TEST_CASE("doubles read back to the same bits") {
  for (const double value : {0.1, 1.0 / 3.0, 1e-7, 1e22, 5e-324, 1.7976931348623157e308, -0.0, 123456789012345680.0}) {
    Run run;
    run.record.simulated_s = value;
    const Run read = run_from_json(parse_json(to_json(run).dump()));
    CHECK(std::bit_cast<std::uint64_t>(read.record.simulated_s) == std::bit_cast<std::uint64_t>(value));
  }
}

TEST_CASE("numbers that are not finite are null in JSON and are read back") {
  Run run;
  run.record.status = record::Status::diverged;
  run.record.final_loss = infinity;
  run.record.links = {{"up-0", 0, std::numeric_limits<double>::quiet_NaN()}};
  const std::string text = to_json(run).dump();
  CHECK(to_json(run)["final_loss"].is_null());
  CHECK_FALSE(run_from_json(parse_json(text)).record.final_loss.has_value());
  CHECK(to_json(run_from_json(parse_json(text))).dump() == text);
}

TEST_CASE("bytes that are not UTF-8 do not lose the record") {
  Results results;
  results.runs = {failed(Run{}, "cannot open \xff.csv")};
  CHECK(parse_json(results_json(results))["runs"][0]["error"] == "cannot open \xEF\xBF\xBD.csv");
}

}  // namespace json_test

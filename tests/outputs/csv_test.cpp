#include "catch.h"
#include "sample.h"

namespace csv_test {

using namespace simgrad;
using namespace simgrad::outputs;

namespace {

/// The lines of a text, without their ends.
std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> result;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = text.find('\n', start);
    result.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return result;
}

Results one(Run run) {
  Results results;
  results.runs.push_back(std::move(run));
  return results;
}

}  // namespace

TEST_CASE("runs.csv has the contract's columns, one of each parameter, and empty cells for nulls") {
  Run run = at(sample_run("gossip", 2, {1.0, 0.5, 0.5, 0.0}), "cluster.latency", "50us");
  run.options = {{"graph", "ring"}, {"every", 2}};
  run.record.notes = {"first", "second"};
  Results results = one(run);
  results.runs.push_back(at(failed(sample_run("allreduce", 4, {}), "lost, \"for good\""), "cluster.workers", 4));
  results.baselines.push_back(sample_run("one worker", 1, {}));
  const std::string parts =
      "compute_gradient_s,compute_reduction_s,compute_update_s,compute_encoding_s,compute_other_s,"
      "communicate_transfer_s,communicate_input_s,communicate_storage_s,communicate_checkpoint_s,"
      "wait_gradient_s,wait_worker_s,wait_server_s,wait_transfer_s,"
      "wait_turn_s,wait_storage_s,wait_checkpoint_s,wait_recovery_s,wait_other_s";
  CHECK(
      lines(runs_csv(results)) ==
      std::vector<std::string>{
          "id,strategy,label,options,param.cluster.latency,param.cluster.workers,seed,status,simulated_s,steps,samples,"
          "epochs,final_loss,time_to_target_s,speedup_throughput,speedup_time_to_target,efficiency,compute_s,"
          "communicate_s,wait_s,down_s,bytes,messages,staleness_mean,staleness_max,cost_usd,energy_j,wall_s,error,"
          "workers,metric_name,final_metric,consensus_distance,spectral_gap,crashes,lost_s,recovery_s,checkpoint_s,"
          "goodput,samples_seen,diverged_step,network_model,bytes_to_target,"
          "cost_compute_usd,cost_communicate_usd,cost_wait_usd,cost_down_usd,cost_egress_usd,cost_storage_usd,"
          "cost_to_target_usd,energy_idle_j,energy_busy_j,energy_links_j,energy_overhead_j,energy_to_target_j,co2e_g,"
          "notes," +
              parts,
          R"(gossip-2,gossip,gossip,"{""graph"":""ring"",""every"":2}",50us,,1,stopped,2.0,100,2000000,)"
          "100.0,,,,,,1.0,0.5,0.5,0.0,0,0,,,,,0.0,,2,,,,,,,,,,,,,,,,,,,,,,,,,,,first; second,,,,,,,,,,,,,,,,,,",
          "allreduce-4,allreduce,allreduce,{},,4,1,failed,0.0,0,0,0.0,,,,,,,,,,0,0,,,,,0.0,\"lost, \"\"for good\"\"\","
          "4,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,"});
}

TEST_CASE("curves.csv has a column for each metric that occurs") {
  Results results;
  for (const char* metric : {"accuracy", "r2", "unused"}) {
    Run run = sample_run(metric, 1, {});
    run.record.metric_name = metric;
    auto& e = run.record.curve.emplace_back();
    e.loss = 0.1;
    if (run.record.metric_name != "unused") e.metric = 0.5;
    if (run.record.metric_name == "r2") e.consensus_distance = 1e-7;
    results.runs.push_back(run);
  }
  CHECK(curves_csv(results) ==
        "run,step,simulated_s,samples,loss,accuracy,r2,consensus_distance,bytes,flops,energy_j\n"
        "accuracy-1,0,0.0,0,0.1,0.5,,,,,\n"
        "r2-1,0,0.0,0,0.1,,0.5,1e-07,,,\n"
        "unused-1,0,0.0,0,0.1,,,,,,\n");
}

TEST_CASE("ranks.csv and links.csv have a row for each rank and each link") {
  Run run = sample_run("a", 1, {1.0, 0.5, 0.25, 0.0});
  run.record.ranks.push_back({"server", 0.0, 1.0, 0.75, 0.0, 30, 40, "gpu"});
  record::TimeParts& of_worker = run.record.ranks.front().parts;
  of_worker[record::TimePart::compute_gradient] = 1.0;
  of_worker[record::TimePart::communicate_storage] = 0.5;
  of_worker[record::TimePart::wait_storage] = 0.25;
  run.record.links = {{"up-0", 30, 0.125, "nic"}, {"down-0", 0, 0.0}};
  CHECK(ranks_csv(one(run)) ==
        "run,rank,role,compute_s,communicate_s,wait_s,down_s,bytes_sent,bytes_received,host_class,"
        "compute_gradient_s,compute_reduction_s,compute_update_s,compute_encoding_s,compute_other_s,"
        "communicate_transfer_s,communicate_input_s,communicate_storage_s,communicate_checkpoint_s,"
        "wait_gradient_s,wait_worker_s,wait_server_s,wait_transfer_s,"
        "wait_turn_s,wait_storage_s,wait_checkpoint_s,wait_recovery_s,wait_other_s,staleness_mean\n"
        "a-1,0,worker,1.0,0.5,0.25,0.0,0,0,host,1.0,0.0,0.0,0.0,0.0,0.0,0.0,0.5,0.0,0.0,0.0,0.0,0.0,0.0,0.25,0.0,0.0,0."
        "0,\n"
        "a-1,1,server,0.0,1.0,0.75,0.0,30,40,gpu,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0."
        "0,\n");
  CHECK(links_csv(one(run)) == "run,link,bytes,utilisation,link_class\na-1,up-0,30,0.125,nic\na-1,down-0,0,0.0,link\n");
}

TEST_CASE("a text with a comma, a quote or a line end is quoted, its quotes doubled") {
  Run run;
  run.record.links = {{"plain", 0, 0.0}, {"a,b", 0, 0.0}, {"say \"a\"", 0, 0.0}, {"two\nlines", 0, 0.0}};
  CHECK(links_csv(one(run)) ==
        "run,link,bytes,utilisation,link_class\n,plain,0,0.0,link\n,\"a,b\",0,0.0,link\n"
        ",\"say \"\"a\"\"\",0,0.0,link\n,\"two\nlines\",0,0.0,link\n");
}

TEST_CASE("a text that a spreadsheet would compute stands behind an apostrophe, a number does not") {
  for (const char* label : {"=1+2", "+1", "-1", "@x", "\tx"}) {
    Run run = sample_run("a", 1, {});
    run.label = label;
    CHECK(lines(runs_csv(one(run)))[1].starts_with(std::string("a-1,a,'") + label + ","));
  }
  Run run = sample_run("a", 1, {});
  run.record.simulated_s = -1.5;
  CHECK(runs_csv(one(run)).find(",-1.5,") != std::string::npos);
}

TEST_CASE("a double has the same spelling in CSV and in JSON") {
  for (const double value : {0.1, 1.0 / 3.0, 1e-7, 1e22, 1e15, 5e-324, 2.0}) {
    Run run;
    run.record.links = {{"l", 0, value}};
    const std::string json = to_json(run)["links"][0]["utilisation"].dump();
    CHECK(lines(links_csv(one(run)))[1] == ",l,0," + json + ",link");
  }
}

TEST_CASE("without runs each CSV file is its header") {
  for (const std::string& text : {runs_csv({}), curves_csv({}), ranks_csv({}), links_csv({})})
    CHECK(lines(text).size() == 1);
}

}  // namespace csv_test

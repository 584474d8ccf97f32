// Runs in which hosts, links or the solver are at their ends: each ends, its parts of time add up, and its shares are
// shares.
#include <cmath>

#include "catch.h"
#include "experiment/checked_runs.h"

namespace mishaps_test {

using namespace simgrad;
using namespace simgrad::experiment;
using namespace checked;

namespace {

/// Hosts fail again and again, often while others restart.
std::string failing(const std::string& recovery, const std::string& restart) {
  return "[cluster]\nworkers = 4\n[cluster.failures]\nhosts = { kind = \"exponential\", mtbf = \"5ms\" }\n"
         "repair = { kind = \"exponential\", mean = \"1ms\" }\ndetection = \"1ms\"\nrestart_time = \"" +
         restart + "\"\nrecovery = \"" + recovery +
         "\"\n[data]\nsamples = 64\n[model]\nkind = \"least_squares\"\n[stop]\nsteps = 20\n";
}

std::string on(const std::string& cluster) {
  return "[cluster]\nlatency = \"1us\"\n" + cluster +
         "\n[data]\nfeatures = 30\n[model]\nkind = \"least_squares\"\n[stop]\nsteps = 1\n";
}

}  // namespace

TEST_CASE("a link is full in an interval at most, though transfers share it unevenly or are cut by the end") {
  const std::string eight =
      "[cluster]\nworkers = 8\nlink_bins = 9\n[data]\nsamples = 28\n[model]\nkind = \"k_means\"\n[stop]\nsteps = 2\n";
  CHECK_FALSE(runs_of(eight + "[[strategy]]\nkind = \"easgd\"\nmoving_rate = 1.0\n")[0].record.link_bins.empty());
  const std::string cut =
      "[cluster]\nworkers = 1\nlink_bins = 7\n[data]\nsource = \"click_log\"\nsamples = 16\n"
      "[model]\nkind = \"factorization_machine\"\n[stop]\nsteps = 6\ntime = \"7.254191ms\"\n";
  CHECK_FALSE(runs_of(cut + strategy("parameter_server"))[0].record.link_bins.empty());
}

TEST_CASE("crashes that follow each other during restarts kill no process, under any recovery") {
  const std::string all = strategy("async_broadcast") + strategy("ad_psgd") + strategy("allreduce") +
                          strategy("gossip") + strategy("data_parallel") +
                          "[[strategy]]\nkind = \"parameter_server\"\nconsistency = \"asp\"\n";
  for (const char* recovery : {"restart", "wait", "elastic"}) {
    Selection seeds;
    seeds.seeds = "1..6";
    runs_of(failing(recovery, "1ms") + all, seeds);
  }
}

TEST_CASE("the rank that holds the state crashes while the one that waits for it restarts") {
  for (const char* recovery : {"wait", "elastic"}) {
    std::string text = "[cluster]\nworkers = 2\n[cluster.failures]\nrestart_time = \"1ms\"\nrecovery = \"";
    text += recovery;
    text +=
        "\"\ncrash = [{ rank = 0, at = \"1ms\", repair = \"200ms\" }, { rank = 1, at = \"201.5ms\", repair = \"1ms\" "
        "}]\n[data]\n[model]\nkind = \"least_squares\"\n[stop]\nsteps = 1000\n[evaluate]\nevery_steps = 100\n";
    for (const char* kind : {"allreduce", "gossip", "local_sgd", "sgp", "d2", "byteps", "data_parallel"})
      text += strategy(kind);
    for (const outputs::Run& run : runs_of(text)) {
      CAPTURE(recovery, run.label);
      CHECK(run.record.status == record::Status::stopped);
      CHECK(run.record.steps == 1000);
    }
  }
}

TEST_CASE("routes of one microsecond and of one second are simulated on every topology") {
  for (const char* topology : {"ring", "torus", "fat_tree", "two_tier"})
    for (const int workers : {3, 4, 7})
      for (const outputs::Run& run : runs_of(
               on("workers = " + std::to_string(workers) + "\ntopology = \"" + topology + "\"") + strategy("byteps") +
               strategy("async_broadcast") + "[[strategy]]\nkind = \"parameter_server\"\nservers = 3\n")) {
        CAPTURE(topology, workers, run.label, run.record.error);
        CHECK(run.record.status == record::Status::stopped);
      }
  for (const outputs::Run& run :
       runs_of("[cluster]\nworkers = 2\ntopology = \"ring\"\nlatency = \"1s\"\n[data]\n[model]\nkind = "
               "\"least_squares\"\n[stop]\nsteps = 1\n" +
               strategy("allreduce")))
    CHECK(run.record.status == record::Status::stopped);
}

TEST_CASE("links that fail and come back under tcp leave every flow its weight") {
  for (const outputs::Run& run :
       runs_of("[cluster]\nworkers = 2\nnetwork_model = \"tcp\"\n[cluster.failures]\nlinks = { kind = \"exponential\", "
               "mtbf = \"10ms\" }\nlink_repair = { kind = \"exponential\", mean = \"10ms\" }\n[data]\n[model]\nkind = "
               "\"least_squares\"\n[stop]\nsteps = 10\n" +
               strategy("allreduce")))
    CHECK(run.record.status == record::Status::stopped);
}

TEST_CASE("hosts that are slow all the time take as long as hosts of that speed") {
  const auto seconds = [](const std::string& cluster) {
    return runs_of("[cluster]\nworkers = 1\n" + cluster +
                   "\n[data]\nsamples = 100\nfeatures = 5\n[model]\nkind = \"least_squares\"\n[stop]\nsteps = 40\n"
                   "[[strategy]]\nkind = \"parameter_server\"\nplacement = \"colocated\"\n")
        .at(0)
        .record.simulated_s;
  };
  CHECK(seconds("speed = \"1MF\"\nstragglers = { kind = \"periodic\", period = \"1ms\", duty = 1.0, factor = 0.5, "
                "servers = true }") == Approx(seconds("speed = \"0.5MF\"")).epsilon(1e-9));
}

TEST_CASE("a run that ends before any rank has reported a state has the first state in its curve") {
  for (const outputs::Run& run :
       runs_of("[cluster]\nspeed = \"10MF\"\n[data]\nsource = \"ratings\"\n[model]\nkind = \"matrix_factorization\"\n"
               "[stop]\ntime = \"1us\"\n[[strategy]]\nkind = \"parameter_server\"\nk_batch = 1\n"
               "parameter_compression = \"float32\"\n" +
               strategy("allreduce"))) {
    CHECK(run.record.curve.size() == 1);
    CHECK(run.record.final_loss.has_value());
  }
}

TEST_CASE("a run that ends in a restart or in a transfer has shares between 0 and 1") {
  runs_of(
      "[cluster]\nworkers = 2\n[cluster.failures]\ndetection = \"0s\"\nrestart_time = \"1s\"\n"
      "crash = [{ rank = 0, at = \"1ms\", repair = \"1ms\" }]\n[data]\n[model]\nkind = \"least_squares\"\n[stop]\n"
      "time = \"3ms\"\n" +
      strategy("allreduce"));
  runs_of(
      "[cluster]\nworkers = 6\nbandwidth = \"10Mbps\"\n[data]\nsamples = 24\n[model]\nkind = \"least_squares\"\n"
      "[stop]\ntime = \"101us\"\n" +
      strategy("async_broadcast") + strategy("parameter_server"));
}

TEST_CASE("a run that has failed evaluates no more") {
  // Every thousandth crash ends it; its clock would go on for 10^7 s.
  const auto runs = runs_of(
      "[cluster]\nworkers = 8\nspeed = \"10MF\"\n[cluster.failures]\nmarket = \"spot\"\n"
      "spot = { interruption = \"1ms\", replacement = \"0s\" }\nrepair = { kind = \"constant\", time = \"1ms\" }\n"
      "detection = \"1ms\"\nrecovery = \"wait\"\n[data]\nsamples = 24\nfeatures = 5\n[model]\nkind = "
      "\"least_squares\"\n[stop]\nsteps = 400\n[evaluate]\nevery_s = \"1ms\"\n" +
      strategy("allreduce"));
  CHECK(runs.at(0).record.status == record::Status::failed);
  CHECK(runs.at(0).record.error.find("no progress: 1000 crashes") != std::string::npos);
}

}  // namespace mishaps_test

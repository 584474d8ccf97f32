// Refusals of buckets of gradients and of formats on the wire: options contradict each other, the optimizer, the model.
#include "experiment/refused.h"

namespace buckets_refusals_test {

using namespace simgrad;
using namespace simgrad::experiment;

namespace {

void check_refused(const std::string& strategy, const std::string& why, const std::string& training = "") {
  check_refused_text(small + "[training]\n" + training + "[[strategy]]\n" + strategy, why);
}

void check_accepted(const std::string& strategy, const std::string& training = "") {
  CAPTURE(strategy, training);
  CHECK(planned(small + "[training]\n" + training + "[[strategy]]\n" + strategy).runs.size() == 1);
}

const std::string servers = "kind = \"parameter_server\"\nbucket_size = \"1MB\"\n";
const std::string reducers = "kind = \"mapreduce\"\nbucket_size = \"1MB\"\n";
const std::string neighbours = "kind = \"gossip\"\nbucket_size = \"1MB\"\n";

}  // namespace

TEST_CASE("options of buckets without a bucket_size are refused") {
  for (const char* kind : {"parameter_server", "mapreduce", "data_parallel"})
    for (const char* option : {"credits = 2\n", "split_layers = true\n"})
      check_refused("kind = \"" + std::string(kind) + "\"\n" + option, "without bucket_size there are none");
  check_refused("kind = \"parameter_server\"\npull = \"at_once\"\n",
                "without bucket_size they are pulled before them; give bucket_size, or leave pull out");
  check_refused(servers + "credits = 0\n", "credits");
  check_refused("kind = \"allreduce\"\nbucket_size = \"0B\"\n", "bucket_size");
}

TEST_CASE("buckets that a strategy cannot send while the backward pass goes on are refused with both options") {
  check_refused(servers + "k_batch = 2\n", "k_batch under bsp gives it up when new parameters come");
  check_refused(servers + "backup_workers = 1\nlate = \"cancel\"\n", "but late = \"cancel\" gives it up");
  check_refused(servers + "servers = 2\nsharding = \"hash\"\n", "sharding = \"hash\" tears layers apart");
  check_refused("kind = \"byteps\"\nbucket_size = \"1MB\"\npartitions = 4\n",
                "with bucket_size every bucket is a piece; leave one of them out");
  check_refused("kind = \"byteps\"\npull = \"at_once\"\n", "give bucket_size, or leave pull out");
  check_refused("kind = \"byteps\"\ncredits = 2\n", "without bucket_size there are none");
  check_refused("kind = \"byteps\"\nbucket_size = \"1MB\"\n", "pull = \"at_once\" waits for the whole gradient",
                "clip_norm = 1.0\n");
  check_accepted("kind = \"byteps\"\nbucket_size = \"1MB\"\npull = \"at_once\"\n", "clip_norm = 1.0\n");
  for (const char* kind : {"parameter_server", "mapreduce", "data_parallel", "byteps"})
    check_refused("kind = \"" + std::string(kind) + "\"\nbucket_size = \"0.0001B\"\nsplit_layers = true\n",
                  "expected at most 10000; give a larger bucket_size");
  check_refused("kind = \"sgp\"\nbucket_size = \"1MB\"\noverlap = true\n", "leave one of them out");
  check_refused("kind = \"sgp\"\nbucket_size = \"1MB\"\n", "bucket_size updates each bucket", "clip_norm = 1.0\n");
  check_refused(neighbours + "overlap = true\n", "overlap = true sends all parameters when the gradient begins");
  check_refused(neighbours + "compression = { kind = \"top_k\", k = 1 }\n",
                "compression = \"top_k\" is of differences to copies of whole replicas here");
  check_refused(reducers + "combiner = false\n", "which combiner = false does not allow");
  check_refused(reducers + "splits = 2\n", "which splits = 2 does not allow");
  check_refused(reducers + "storage = \"disk\"\n", "which storage = \"disk\" does not allow");
  check_refused(reducers + "broadcast = \"binomial\"\n", "which broadcast = \"binomial\" does not allow");
  check_accepted(servers);
  check_accepted(servers + "consistency = \"asp\"\nk_batch = 2\npull = \"at_once\"\ncredits = 7\n");
  check_accepted(neighbours + "update = \"gradient_exchange\"\ncompression = { kind = \"top_k\", k = 1 }\n");
}

TEST_CASE("buckets that are updated one by one are refused where an update needs the whole gradient") {
  for (const std::string& strategy : {servers, reducers, neighbours + "update = \"adapt_then_combine\"\n"}) {
    check_refused(strategy, "under optimizer = \"lamb\" the update of one parameter depends on all",
                  "optimizer = \"lamb\"\n");
    check_refused(strategy, "under training.clip_norm the update of one parameter depends on all", "clip_norm = 1.0\n");
    check_refused(strategy, "an overflow anywhere leaves the whole update out", "precision = \"float16\"\n");
  }
  check_accepted(servers + "consistency = \"asp\"\n", "optimizer = \"lamb\"\n");
  check_accepted(neighbours, "clip_norm = 1.0\n");
}

TEST_CASE("buckets by default are refused nowhere, and stand in the resolved scenario") {
  const auto resolved = [](const std::string& strategy, const std::string& training = "") {
    CAPTURE(strategy, training);
    const Plan plan = planned(small + "[training]\n" + training + "[[strategy]]\n" + strategy);
    return plan.scenario.at("strategy").at(0).at("bucket_size").get<std::string>();
  };
  for (const char* const training : {"", "optimizer = \"lamb\"\n", "clip_norm = 1.0\n", "precision = \"float16\"\n"}) {
    CHECK(resolved("kind = \"allreduce\"\n", training) == "25MB");
    for (const char* const kind :
         {"local_sgd", "gossip", "sgp", "parameter_server", "byteps", "data_parallel", "mapreduce"})
      CHECK(resolved("kind = \"" + std::string(kind) + "\"\n", training) == "none");
  }
  for (const char* const training : {"", "clip_norm = 1.0\n", "precision = \"float16\"\n"}) {
    CHECK(resolved("kind = \"zero\"\n", training) == "80MB");
    CHECK(resolved("kind = \"zero\"\nstage = 2\n", training) == "80MB");
    CHECK(resolved("kind = \"zero\"\nstage = 3\n", training) == "none");
  }
  CHECK(resolved("kind = \"allreduce\"\nbucket_size = \"none\"\n") == "none");
  CHECK(resolved("kind = \"allreduce\"\ncompression = { kind = \"top_k\", k = 1 }\n") == "25MB");
  CHECK(resolved("kind = \"zero\"\nstage = 3\nbucket_size = \"none\"\n") == "none");
  check_refused("kind = \"zero\"\nstage = 3\nbucket_size = \"1MB\"\n", "stage 3 reduces gradients unit by unit");
  check_refused("kind = \"allreduce\"\nbucket_size = \"nothing\"\n", "found \"nothing\"; or write \"none\"");
  check_refused("kind = \"allreduce\"\nbucket_size = false\n", "or \"none\", found false");
  check_refused("kind = \"allreduce\"\nbucket_size = 25\n", "as in \"16GiB\" or \"none\"; found 25");
}

TEST_CASE("a grid of zero's stages has the default of each") {
  const Plan plan = planned(small + "[[strategy]]\nkind = \"zero\"\n[grid]\n\"strategy.0.stage\" = [1, 2, 3]\n");
  CHECK(plan.runs.size() == 3);
  CHECK_FALSE(plan.scenario.at("strategy").at(0).contains("bucket_size"));
}

TEST_CASE("a wire format that shortens nothing, or that codes do not travel in, is refused") {
  check_refused("kind = \"allreduce\"\n",
                "wire = \"float64\" is no shorter than the numbers of precision = \"float32\", which have 4 bytes",
                "precision = \"float32\"\nwire = \"float64\"\n");
  check_refused("kind = \"allreduce\"\n", "wire = \"float16\" is no shorter",
                "precision = \"bfloat16\"\nwire = \"float16\"\n");
  check_refused("kind = \"allreduce\"\ncompression = { kind = \"top_k\", k = 1 }\n",
                "a sparse code has numbers and places of its own formats", "wire = \"float16\"\n");
  check_refused("kind = \"allreduce\"\ncompression = { kind = \"random_k\", k = 1 }\n",
                "a sparse code has numbers and places of its own formats", "wire = \"float32\"\n");
  check_refused("kind = \"allreduce\"\ncompression = \"float32\"\n",
                "numbers of 4 bytes, but training.wire sends all numbers in 2", "wire = \"bfloat16\"\n");
  check_refused("kind = \"allreduce\"\n", "wire", "wire = \"int8\"\n");
  check_accepted("kind = \"allreduce\"\n", "precision = \"float32\"\nwire = \"float32\"\n");
  check_accepted("kind = \"allreduce\"\n", "precision = \"float32\"\nwire = \"bfloat16\"\n");
  check_accepted("kind = \"allreduce\"\ncompression = \"int8\"\n", "wire = \"float32\"\n");
}

}  // namespace buckets_refusals_test

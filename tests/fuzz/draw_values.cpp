/// The exceptions to what describe says of an option: sizes that keep a run short, and names, files and pairs.
#include <map>

#include "fuzz/draw.h"
#include "scenario/document.h"
#include "scenario/json.h"

namespace simgrad::fuzz {

namespace {

/// The entry of the key, or of its longest end after a dot.
template <class Value>
const Value* entry_of(const std::map<std::string, Value, std::less<>>& all, std::string_view key) {
  while (true) {
    if (const auto found = all.find(key); found != all.end()) return &found->second;
    const std::size_t dot = key.find('.');
    if (dot == std::string_view::npos) return nullptr;
    key.remove_prefix(dot + 1);
  }
}

using Size = std::pair<std::int64_t, std::int64_t>;

const std::map<std::string, Size, std::less<>>& sizes() {
  static const std::map<std::string, Size, std::less<>> all{{"cluster.workers", {1, 9}},
                                                            {"data.samples", {1, 90}},
                                                            {"data.features", {1, 7}},
                                                            {"stop.steps", {1, 12}},
                                                            {"stop.samples", {1, 900}},
                                                            {"batch_size", {1, 60}},
                                                            {"samples", {1, 90}},
                                                            {"features", {1, 7}},
                                                            {"users", {1, 12}},
                                                            {"items", {1, 9}},
                                                            {"nonzeros", {1, 5}},
                                                            {"rows", {1, 90}},
                                                            {"classes", {2, 5}},
                                                            {"clusters", {1, 5}},
                                                            {"factors", {1, 4}},
                                                            {"embedding", {1, 4}},
                                                            {"layers", {1, 3}},
                                                            {"model.hidden", {1, 8}},
                                                            {"heads", {1, 4}},
                                                            {"feed_forward", {1, 16}},
                                                            {"sequence", {1, 8}},
                                                            {"vocabulary", {2, 12}},
                                                            {"experts", {0, 4}},
                                                            {"top_k", {1, 3}},
                                                            {"servers", {1, 4}},
                                                            {"spare_hosts", {0, 4}},
                                                            {"spares", {0, 4}},
                                                            {"reducers", {1, 4}},
                                                            {"partitions", {1, 9}},
                                                            {"hosts", {1, 5}},
                                                            {"count", {1, 4}},
                                                            {"rank", {0, 4}},
                                                            {"from", {0, 5}},
                                                            {"to", {0, 5}},
                                                            {"splits", {1, 4}},
                                                            {"chunks", {1, 40}},
                                                            {"devices", {1, 4}},
                                                            {"nics", {1, 4}},
                                                            {"k", {1, 6}},
                                                            {"k_batch", {1, 4}},
                                                            {"krum_faulty", {0, 2}},
                                                            {"krum_selected", {1, 3}},
                                                            {"batch_size_per_worker", {1, 9}},
                                                            {"routers", {1, 3}},
                                                            {"groups", {1, 4}},
                                                            {"hosts_per_router", {1, 3}},
                                                            {"hosts_per_rack", {1, 4}},
                                                            {"hosts_per_group", {1, 4}},
                                                            {"spines", {1, 4}},
                                                            {"window", {1, 60}},
                                                            {"hot_keys", {0, 9}},
                                                            {"seed", {0, 999}},
                                                            {"job.workers", {1, 4}},
                                                            {"job.steps", {1, 6}},
                                                            {"job.batch_size", {1, 12}},
                                                            {"levels", {1, 300}},
                                                            {"prefetch", {0, 5}},
                                                            {"degree", {1, 5}},
                                                            {"data.order", {1, 3}},
                                                            {"quantum", {1, 4}},
                                                            {"parallel.tensor", {1, 2}},
                                                            {"parallel.pipeline", {1, 3}},
                                                            {"parallel.context", {1, 2}},
                                                            {"parallel.expert", {1, 2}},
                                                            {"parallel.data", {1, 3}},
                                                            {"parallel.chunks", {1, 2}},
                                                            {"micro_batches", {1, 4}},
                                                            {"serving.requests", {1, 12}},
                                                            {"prompt_tokens", {1, 4}},
                                                            {"output_tokens", {1, 4}},
                                                            {"prefill_chunk", {1, 4}},
                                                            {"capacity.hosts", {1, 8}},
                                                            {"workers_per_host", {1, 2}},
                                                            {"simulated_steps", {1, 4}},
                                                            {"plan.samples", {1, 900}},
                                                            {"plan.seeds", {1, 3}},
                                                            {"every_steps", {1, 12}},
                                                            {"local_steps", {1, 6}},
                                                            {"period", {1, 6}},
                                                            {"warmup_steps", {0, 12}},
                                                            {"checkpoint_every_steps", {1, 6}}};
  return all;
}

/// The values of each key, as a table of lists.
constexpr const char* values_text = R"(
schema = [1]
title = ["A title", "=1+2, \"quoted\""]
checkpoint_every = ["1ms", "100us", "young", "daly"]
class = ["host", "nic", "a"]
"parameter_server.bucket_size" = ["64B", "1kB", "1MB"]
"byteps.bucket_size" = ["64B", "1kB", "1MB"]
link = ["nic-0", "nic-1", "backbone"]
from = ["a", "b"]
to = ["a", "b"]
"protocol.rows.from" = ["0B", "0B", "64KiB"]
"background.from" = [0, 1, 2]
"background.to" = [0, 1, 3]
name = ["a", "b"]
label = ["plain", "=1+2", "two words", "\"quoted\", comma", "αβ"]
"crash.rank" = [0, 0, 1, 1, 2, 3, 4]
"crash.at" = ["0s", "1ms", "1ms", "200us", "3ms", "20ms", "1000s"]
"crash.repair" = ["0s", "100us", "5ms", "1s"]
"cluster.watchdog.simulated" = ["1e9s"]
"cluster.watchdog.real" = ["100s"]
"cluster.watchdog.events" = [20000]
"cluster.platform" = ["platform.xml"]
measured = ["measured.csv"]
"csv.path" = ["data.csv", "ratings.csv"]
"libsvm.path" = ["data.libsvm"]
"text.path" = ["text.txt"]
"idx.path" = ["samples.idx"]
"idx.labels_path" = ["labels.idx"]
"npy.path" = ["samples.npy"]
"npy.labels_path" = ["labels.npy"]
"graph.file.path" = ["graph.edges"]
"mixing.file.path" = ["mixing.txt"]
"trace.path" = ["failures.csv", "faults.csv"]
"trace.servers" = [4, 9]
"trace.days" = [20.0, 30.5]
"stragglers.trace.file" = ["speeds.txt"]
config = ["config.json"]
"profile.path" = ["layers.csv", "layers_of_nothing.csv"]
"operator_graph.path" = ["operators.csv", "operators_of_nothing.csv", "operators.toml"]
"operator.name" = ["in", "out"]
"operator.inputs" = [[], ["in"]]
"operator.flops" = [0.0, 1e6]
"operator.parameters" = [0, 50]
"operator.output_bytes" = [0.0, 256.0]
target = ["price", 2, "rating"]
user = ["user", 0]
item = ["item", 1]
ignore = [["rooms"], [1], "area"]
separator = [","]
decimal = ["."]
"parallel.order" = [["tensor", "data"], ["data", "tensor", "pipeline", "expert", "context"]]
"serving.trace" = ["requests.csv"]
"serving.model" = ["served.model"]
"serving.rate" = [1000.0, 20.0, 1e6]
"capacity.horizon" = ["1d", "10d"]
"capacity.warm_up" = ["0s", "1d"]
"capacity.detection" = ["0s", "10min"]
"capacity.restart" = ["0s", "20min"]
"capacity.checkpoint_time" = ["2min", "0s"]
"capacity.checkpoint_write" = ["0s", "5min"]
"capacity.checkpoint_every" = ["1h", "young", "daly"]
"capacity.job.hosts" = [1, 2]
"capacity.arrivals.hosts" = [[1], [1, 2]]
"capacity.training.hosts" = [1, 2]
"capacity.spares" = [[0], [0, 1], [2]]
"capacity.failures.mtbf" = ["1d", "30d"]
"capacity.repair.mean" = ["1h", "1d"]
work = ["1h", "2d"]
"capacity.training.fixed" = ["1h"]
"capacity.training.limit" = ["30d"]
arrival = ["0s", "1h"]
"capacity.arrivals.every" = ["6h"]
"capacity.arrivals.rate" = ["6/h", "2/d"]
budget = ["100$", "1$"]
space = [{ "cluster.workers" = [1, 2] }, { "training.batch_size" = [2, 4] }]
"expect.better_than" = ["allreduce"]
"expect.relative_to" = ["allreduce"]
"serving.allreduce.rings" = [1]
metric = ["steps", "simulated_s", "time_to_target_s", "bytes"]
where = [{}, { "cluster.latency" = "50us" }]
relative_where = [{}, { "cluster.latency" = "1ms" }]
"job.data" = [{ samples = 20 }, { source = "blobs", samples = 15 }]
"job.model" = [{ l2 = 0.1 }, { kind = "logistic_regression" }]
"job.training" = [{ learning_rate = 0.02 }, { optimizer = "adam" }]
"job.stop" = [{ steps = 3 }, { epochs = 0.5 }]
"job.hosts" = [[0], [0, 1], [1, 0], [1, 2, 3]]
"job.start" = ["0s", "1ms"]
)";

using Values = std::map<std::string, std::vector<Draw::Json>, std::less<>>;

const Values& values() {
  static const Values all = [] {
    const scenario::Table table = scenario::parse_toml(values_text, "values");
    Values found;
    for (const scenario::Entry& entry : table.entries)
      found[entry.key] = scenario::json(entry.node).get<std::vector<Draw::Json>>();
    return found;
  }();
  return all;
}

}  // namespace

std::optional<std::pair<std::int64_t, std::int64_t>> size_of(const std::string& key) {
  const auto* const found = entry_of(sizes(), key);
  return found ? std::optional(*found) : std::nullopt;
}

const std::vector<Draw::Json>& values_of(const std::string& key) {
  static const std::vector<Draw::Json> none;
  const auto* const found = entry_of(values(), key);
  return found ? *found : none;
}

}  // namespace simgrad::fuzz

#include "scenario/aliases.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"

namespace simgrad::scenario {

namespace {

constexpr auto alias_table = std::to_array<Alias>({
    {"ddp", "allreduce", "PyTorch's DistributedDataParallel, whose buckets overlap with the backward pass", ""},
    {"distributed_data_parallel", "allreduce", "PyTorch's DistributedDataParallel", ""},
    {"horovod", "allreduce", "Horovod sums the gradients by a ring, in buckets of its fusion buffer",
     R"(algorithm = "ring", bucket_size = "64MB")"},
    {"nccl", "allreduce", "NCCL's collectives", R"(algorithm = "nccl")"},
    {"nccl_tests", "collectives", "measured times: cluster.collectives = { measured = \"FILE\" }", "", true},
    {"osu", "collectives", "measured times: cluster.collectives = { measured = \"FILE\", ranks = 16 }", "", true},
    {"mpi", "allreduce", "MPI_Allreduce of the gradients", ""},
    {"psgd", "allreduce", "parallel SGD: the gradients of all workers are summed in every step", ""},
    {"psgd", "gossip", "D-PSGD, the decentralised one", R"(update = "combine_then_adapt")"},
    {"parallel_sgd", "allreduce", "parallel SGD: the gradients of all workers are summed in every step", ""},
    {"bsp", "parameter_server", "bulk synchronous", R"(consistency = "bsp")"},
    {"ssp", "parameter_server", "stale synchronous", R"(consistency = "ssp")"},
    {"asp", "parameter_server", "asynchronous", R"(consistency = "asp")"},
    {"async", "parameter_server", "asynchronous", R"(consistency = "asp")"},
    {"asynchronous", "parameter_server", "asynchronous", R"(consistency = "asp")"},
    {"asgd", "parameter_server", "asynchronous SGD", R"(consistency = "asp")"},
    {"downpour", "parameter_server", "DistBelief's Downpour SGD", R"(consistency = "asp", gradient = "mean")"},
    {"ps", "parameter_server", "the usual abbreviation", ""},
    {"param_server", "parameter_server", "the usual abbreviation", ""},
    {"ps_lite", "parameter_server", "a program for parameter servers", ""},
    {"dp", "data_parallel", "PyTorch's DataParallel: one master device, which sends parameters and gathers gradients",
     "", true},
    {"dataparallel", "data_parallel",
     "PyTorch's DataParallel: one master device, which sends parameters and gathers gradients", ""},
    {"dpsgd", "gossip", "decentralised parallel SGD", R"(update = "combine_then_adapt")"},
    {"d_psgd", "gossip", "decentralised parallel SGD", R"(update = "combine_then_adapt")"},
    {"decentralized_sgd", "gossip", "decentralised parallel SGD", R"(update = "combine_then_adapt")"},
    {"adpsgd", "ad_psgd", "asynchronous decentralised parallel SGD", ""},
    {"deepspeed", "zero", "DeepSpeed's ZeRO, whose stage is an option", ""},
    {"zero_1", "zero", "ZeRO with a sharded optimizer", "stage = 1"},
    {"zero_2", "zero", "ZeRO with sharded gradients, too", "stage = 2"},
    {"zero_3", "zero", "ZeRO with sharded parameters, too", "stage = 3"},
    {"zero1", "zero", "ZeRO with a sharded optimizer", "stage = 1"},
    {"zero2", "zero", "ZeRO with sharded gradients, too", "stage = 2"},
    {"zero3", "zero", "ZeRO with sharded parameters, too", "stage = 3"},
    {"fully_sharded_data_parallel", "fsdp", "PyTorch's name in full", ""},
    {"push_sum", "sgp", "stochastic gradient push is push-sum with gradients", ""},
    {"stochastic_gradient_push", "sgp", "the name in full", ""},
    {"fedavg", "federated_averaging", "the usual abbreviation", ""},
    {"fed_avg", "federated_averaging", "the usual abbreviation", ""},
    {"fl", "federated_averaging", "federated learning", ""},
    {"local", "local_sgd", "local steps, then an average", ""},
    {"post_local_sgd", "local_sgd", "local steps, then an average", "", true},
    {"easgd_async", "easgd", "elastic averaging SGD", ""},
    {"elastic_averaging", "easgd", "elastic averaging SGD", ""},
    {"spark", "mapreduce", "resilient data sets in memory", R"(storage = "memory")"},
    {"hadoop", "mapreduce", "every job reads its rows from the disk", R"(storage = "disk")"},
    {"sequential", "single", "one worker", ""},
    {"logistic", "logistic_regression", "the model's name; \"logistic\" itself is a data source", ""},
    {"logreg", "logistic_regression", "the usual abbreviation", ""},
    {"linear", "least_squares", "linear regression", ""},
    {"linreg", "least_squares", "linear regression with the factor 1/2", ""},
    {"linear_regression", "least_squares", "linear regression with the factor 1/2", ""},
    {"ridge", "least_squares", "linear regression with l2 above 0", "", true},
    {"softmax", "softmax_regression", "the model", ""},
    {"mlp", "perceptron", "a multi-layer perceptron", ""},
    {"neural_network", "perceptron", "dense layers", ""},
    {"kmeans", "k_means", "the model; mapreduce has job = \"k_means\" for Lloyd's algorithm", ""},
    {"fm", "factorization_machine", "the usual abbreviation", ""},
    {"mf", "matrix_factorization", "the usual abbreviation", ""},
    {"svmlight", "libsvm", "the same format", ""},
    {"mnist", "idx", "MNIST's files are in the format IDX", ""},
    {"heavy_ball", "momentum", "Polyak's momentum", ""},
    {"nag", "nesterov", "Nesterov's accelerated gradient", ""},
    {"fp16", "float16", "half precision", ""},
    {"bf16", "bfloat16", "the usual abbreviation", ""},
    {"powersgd", "power_sgd", "the usual spelling", ""},
    {"topk", "top_k", "the usual spelling", ""},
    {"signsgd", "sign", "signs of the gradient", ""},
    {"quantization", "qsgd", "random rounding to levels; int8 rounds to whole numbers", "", true},
    {"halving_doubling", "rabenseifner", "recursive halving, then recursive doubling", ""},
    {"fattree", "fat_tree", "the usual spelling", ""},
    {"switch", "star", "all hosts at one switch", ""},
    {"nvlink", "gpu_hosts", "hosts of several devices", ""},
    {"superpod", "pod", "GPU hosts on leaf and spine switches, by rails or racks", ""},
    {"lv08", "tcp", "SimGrid's model for TCP", ""},
    {"cm02", "ideal", "latency + bytes / bandwidth with max-min fair sharing", ""},
    {"non_iid", "dirichlet", "rows whose labels differ from rank to rank; also by_label", "", true},
    {"lr", "learning_rate", "the usual abbreviation", ""},
    {"mtbf", "failures", "the mean time between failures is an option of the failure process", ""},
    {"loss", "stop", "stop.loss is the target", ""},
    {"daly", "checkpoint_every",
     "by time: \"young\" or \"daly\" computes the interval from the mean time between failures", ""},
    {"young_daly", "checkpoint_every",
     "by time: \"young\" or \"daly\" computes the interval from the mean time between failures", ""},
    {"young", "checkpoint_every",
     "by time: \"young\" or \"daly\" computes the interval from the mean time between failures", ""},
    {"speedup_target", "speedup_time_to_target", "by the time to the target", ""},
    {"speedup", "speedup_throughput", "by samples per second", ""},
    {"speedup", "speedup_time_to_target", "by the time to the target", ""},
});

}  // namespace

std::span<const Alias> aliases() { return alias_table; }

std::string alias_text(std::string_view name) {
  std::string text;
  for (const char c : name)
    text += c == '-' || c == ' ' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

const Alias* only_alias(std::string_view name) {
  const std::string text = alias_text(name);
  const auto found = std::ranges::find(alias_table, text, &Alias::alias);
  if (found == alias_table.end() || found->explained_only) return nullptr;
  return std::ranges::find(found + 1, alias_table.end(), text, &Alias::alias) == alias_table.end() ? &*found : nullptr;
}

Table options_of(const Alias& alias, const Position& position) {
  const Node options = parse_value(fmt::format("{{ {} }}", alias.options), position);
  return *options.as<Table>();
}

std::string suggestion_with_aliases(const std::string& kind, const std::vector<std::string>& known) {
  std::vector<std::string> meanings, names;
  for (const Alias& alias : alias_table) {
    if (std::ranges::find(known, alias.name) == known.end()) continue;
    if (alias.alias == alias_text(kind))
      meanings.emplace_back(alias.name);
    else if (!alias.explained_only)
      names.emplace_back(alias.alias);
  }
  if (!meanings.empty()) return fmt::format("; it may be \"{}\"", base::joined(meanings, "\" or \""));
  if (!base::closest(kind, known).empty()) return base::suggestion(kind, known);
  const std::string closest = base::closest(alias_text(kind), names);
  return closest.empty() ? base::suggestion(kind, known) : fmt::format("; did you mean \"{}\"?", closest);
}

}  // namespace simgrad::scenario

#include "cli/aliases.h"

#include <array>

namespace simgrad::cli {

namespace {

constexpr auto alias_table = std::to_array<Alias>({
    {"ddp", "allreduce", "PyTorch's DistributedDataParallel; bucket_size overlaps its buckets with the backward pass"},
    {"distributed_data_parallel", "allreduce", "PyTorch's DistributedDataParallel"},
    {"horovod", "allreduce", "Horovod sums the gradients by a ring"},
    {"nccl", "allreduce", "NCCL's collectives: algorithm = \"ring\" or \"double_binary_tree\""},
    {"mpi", "allreduce", "MPI_Allreduce of the gradients"},
    {"psgd", "allreduce", "parallel SGD: the gradients of all workers are summed in every step"},
    {"psgd", "gossip", "D-PSGD, the decentralised one: update = \"combine_then_adapt\""},
    {"parallel_sgd", "allreduce", "parallel SGD: the gradients of all workers are summed in every step"},
    {"bsp", "parameter_server", "bulk synchronous: consistency = \"bsp\""},
    {"ssp", "parameter_server", "stale synchronous: consistency = \"ssp\""},
    {"asp", "parameter_server", "asynchronous: consistency = \"asp\""},
    {"async", "parameter_server", "asynchronous: consistency = \"asp\""},
    {"asgd", "parameter_server", "asynchronous SGD: consistency = \"asp\""},
    {"downpour", "parameter_server", "DistBelief's Downpour SGD: consistency = \"asp\", gradient = \"mean\""},
    {"ps", "parameter_server", "the usual abbreviation"},
    {"param_server", "parameter_server", "the usual abbreviation"},
    {"ps_lite", "parameter_server", "a program for parameter servers"},
    {"dp", "data_parallel", "PyTorch's DataParallel: one master device, which deals out and gathers"},
    {"dataparallel", "data_parallel", "PyTorch's DataParallel: one master device, which deals out and gathers"},
    {"dpsgd", "gossip", "decentralised parallel SGD: update = \"combine_then_adapt\""},
    {"d_psgd", "gossip", "decentralised parallel SGD: update = \"combine_then_adapt\""},
    {"decentralized_sgd", "gossip", "decentralised parallel SGD: update = \"combine_then_adapt\""},
    {"adpsgd", "ad_psgd", "asynchronous decentralised parallel SGD"},
    {"push_sum", "sgp", "stochastic gradient push is push-sum with gradients"},
    {"stochastic_gradient_push", "sgp", "the name in full"},
    {"fedavg", "federated_averaging", "the usual abbreviation"},
    {"fed_avg", "federated_averaging", "the usual abbreviation"},
    {"fl", "federated_averaging", "federated learning"},
    {"local", "local_sgd", "local steps, then an average"},
    {"post_local_sgd", "local_sgd", "local steps, then an average"},
    {"easgd_async", "easgd", "elastic averaging SGD"},
    {"elastic_averaging", "easgd", "elastic averaging SGD"},
    {"spark", "mapreduce", "storage = \"memory\""},
    {"hadoop", "mapreduce", "storage = \"disk\""},
    {"sequential", "single", "one worker"},
    {"logistic", "logistic_regression", "the model; \"logistic\" itself is a data source"},
    {"logreg", "logistic_regression", "the usual abbreviation"},
    {"linear", "least_squares", "linear regression"},
    {"linear_regression", "least_squares", "linear regression with the factor 1/2"},
    {"ridge", "least_squares", "linear regression with l2 above 0"},
    {"softmax", "softmax_regression", "the model"},
    {"mlp", "perceptron", "a multi-layer perceptron"},
    {"neural_network", "perceptron", "dense layers"},
    {"kmeans", "k_means", "the model; mapreduce has job = \"k_means\" for Lloyd's algorithm"},
    {"fm", "factorization_machine", "the usual abbreviation"},
    {"mf", "matrix_factorization", "the usual abbreviation"},
    {"svmlight", "libsvm", "the same format"},
    {"mnist", "idx", "MNIST's files are in the format IDX"},
    {"heavy_ball", "momentum", "Polyak's momentum"},
    {"nag", "nesterov", "Nesterov's accelerated gradient"},
    {"fp16", "float16", "half precision"},
    {"bf16", "bfloat16", "the usual abbreviation"},
    {"powersgd", "power_sgd", "the usual spelling"},
    {"topk", "top_k", "the usual spelling"},
    {"signsgd", "sign", "signs of the gradient"},
    {"quantization", "qsgd", "random rounding to levels; int8 rounds to whole numbers"},
    {"halving_doubling", "rabenseifner", "recursive halving, then recursive doubling"},
    {"fattree", "fat_tree", "the usual spelling"},
    {"switch", "star", "all hosts at one switch"},
    {"nvlink", "gpu_hosts", "hosts of several devices"},
    {"lv08", "tcp", "SimGrid's model for TCP"},
    {"cm02", "ideal", "latency + bytes / bandwidth with max-min fair sharing"},
    {"non_iid", "dirichlet", "rows whose labels differ from rank to rank; also by_label"},
    {"lr", "learning_rate", "the usual abbreviation"},
    {"mtbf", "failures", "the mean time between failures is an option of the failure process"},
    {"loss", "stop", "stop.loss is the target"},
    {"speedup", "speedup_throughput", "by samples per second"},
    {"speedup", "speedup_time_to_target", "by the time to the target"},
});

}  // namespace

std::span<const Alias> aliases() { return alias_table; }

}  // namespace simgrad::cli

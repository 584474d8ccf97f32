#include "cli/result_fields.h"

#include <array>

namespace simgrad::cli {

namespace {

constexpr std::string_view of_run = "a field of a run in runs.csv and results.json";
constexpr std::string_view of_json = "a field of a run in results.json";
constexpr std::string_view of_curve = "a field of a row of curves.csv";
constexpr std::string_view of_rank = "a field of a row of ranks.csv";
constexpr std::string_view of_run_and_rank =
    "a field of a run in runs.csv and results.json (mean over workers), and of a row of ranks.csv";
constexpr std::string_view of_table = "a column of the table that `run` prints";
constexpr std::string_view of_summary = "a field of a row of summary.csv and of summary in results.json";
constexpr std::string_view of_directory = "a file of the results directory";
constexpr std::string_view of_host = "a field of a host of a run in results.json";
constexpr std::string_view of_link = "a field of a row of links.csv";
constexpr std::string_view of_bin = "a field of a row of link_utilisation.csv";
constexpr std::string_view of_collective = "a field of a collective of a run in results.json";
constexpr std::string_view of_dimension = "a field of a dimension of a run in results.json";
constexpr std::string_view of_file = "a field of results.json";

constexpr auto field_table = std::to_array<ResultField>({
    {"id", of_run, "", "a hash of all that determines the run; runs/ID.json is its record"},
    {"strategy", of_run, "", "the kind of the strategy"},
    {"label", of_run, "", "the strategy's name in tables: its label, or its kind and the options that differ"},
    {"options", of_run, "", "the options of the strategy, defaults included"},
    {"parameters", of_run, "", "the grid point; in CSV a column param.KEY for each key of the grid"},
    {"seed", of_run, "", "the seed of the run's random draws"},
    {"status", of_run, "",
     "reached: the target loss; stopped: another rule of [stop]; diverged: the loss is of no use; failed: see error"},
    {"simulated_s", of_run, "s", "the duration of the training on the simulated cluster"},
    {"steps", of_run, "", "updates of the parameters; of an asynchronous server one for each gradient"},
    {"samples", of_run, "", "gradient samples that were computed and applied, those that a recovery lost included"},
    {"epochs", of_run, "", "samples / rows of the training set"},
    {"final_loss", of_run, "", "the mean loss over the evaluation set at the end, L2 penalty included"},
    {"time_to_target_s", of_run, "s", "the time of the first evaluation at or below stop.loss; empty if there is none"},
    {"speedup_throughput", of_run, "",
     "samples per simulated second / those of the one-worker baseline; over seeds, of mean times per sample; empty if "
     "the run diverged"},
    {"speedup_time_to_target", of_run, "", "the baseline's time to target / this run's; over seeds, of mean times"},
    {"efficiency", of_run, "", "speedup_throughput / workers; the report divides the speed-up that it shows"},
    {"compute_s", of_run, "s",
     "time spent computing, mean over workers; compute_s, communicate_s, wait_s and down_s add up to simulated_s"},
    {"communicate_s", of_run, "s", "time blocked on a transfer in progress, mean over workers"},
    {"wait_s", of_run, "s", "time blocked on a peer that is not ready, mean over workers"},
    {"down_s", of_run, "s", "time in which the host had crashed, mean over workers"},
    {"bytes", of_run, "bytes", "payload of all messages, each once, servers included"},
    {"messages", of_run, "", "the number of messages, servers included"},
    {"staleness_mean", of_run, "updates", "updates made between a gradient's parameters and its application, mean"},
    {"staleness_max", of_run, "updates", "the greatest staleness of a gradient"},
    {"staleness_counts", of_json, "", "the number of gradients of each staleness"},
    {"cost_usd", of_run, "$", "the bill by [prices]: the sum of the other cost columns"},
    {"energy_j", of_run, "J", "the energy by [prices]: the sum of the other energy columns"},
    {"wall_s", of_run, "s", "real time of the simulation; the only field that differs between two equal runs"},
    {"error", of_run, "", "the reason of a failed run"},
    {"workers", of_run, "", "the number of workers P, without servers"},
    {"metric_name", of_run, "", "the metric beside the loss: accuracy, or r2"},
    {"final_metric", of_run, "", "the metric of the last evaluation"},
    {"consensus_distance", of_run, "", "at the end: sqrt(mean over replicas of |w_i - mean w|^2)"},
    {"spectral_gap", of_run, "",
     "1 - the second largest modulus of the mixing matrix's eigenvalues (1: one step averages)"},
    {"crashes", of_run, "", "crashes of hosts; empty where no host can fail"},
    {"lost_s", of_run, "s", "time of work that was done again after crashes"},
    {"recovery_s", of_run, "s", "time from crashes until all ranks work again"},
    {"checkpoint_s", of_run, "s", "time of writing checkpoints"},
    {"goodput", of_run, "",
     "the share of the time that is none of lost_s, recovery_s and checkpoint_s; empty after a crash under recovery = "
     "\"continue\", where the work that is lost is no time of all ranks"},
    {"samples_seen", of_run, "", "samples without those that a recovery lost; speeds and speed-ups are of these"},
    {"diverged_step", of_run, "", "the step from which on all losses of a diverged run are of no use"},
    {"network_model", of_run, "", "the network model that was simulated"},
    {"bytes_to_target", of_run, "bytes", "payload until the target was reached"},
    {"cost_compute_usd", of_run, "$", "the price of the hosts' time while their ranks compute"},
    {"cost_communicate_usd", of_run, "$", "the price of the hosts' time while their ranks communicate"},
    {"cost_wait_usd", of_run, "$", "the price of the hosts' time while their ranks wait"},
    {"cost_down_usd", of_run, "$", "the price of the hosts' time while they are down; spot hosts are not paid then"},
    {"cost_egress_usd", of_run, "$", "the price of bytes on links that have one"},
    {"cost_storage_usd", of_run, "$", "the price of stored data and checkpoints"},
    {"cost_to_target_usd", of_run, "$", "cost_usd of a run that reached its target"},
    {"energy_idle_j", of_run, "J", "idle power of the hosts while they are up"},
    {"energy_busy_j", of_run, "J", "additional power of computing"},
    {"energy_links_j", of_run, "J", "energy of the bytes on links that have a price in joules"},
    {"energy_overhead_j", of_run, "J", "cooling and the like: (PUE - 1) x the other energies"},
    {"energy_to_target_j", of_run, "J", "energy until the target was reached"},
    {"co2e_g", of_run, "g", "energy x prices.carbon"},
    {"notes", of_run, "", "remarks of the run: a recovery, a warning"},
    {"interference", of_run, "", "a job's time beside the other jobs / its time by itself"},
    {"server_imbalance", of_run, "", "servers by key: the bytes of the busiest / the mean"},
    {"cache_hit_rate", of_run, "", "the share of the keys needed that a worker's cache had"},
    {"memory_bytes_max", of_run, "bytes", "the largest peak of a rank's memory_bytes"},
    {"memory_bytes", of_rank, "bytes",
     "the memory that the rank held at its peak; the other memory_ fields are its parts"},
    {"memory_parameters_bytes", of_rank, "bytes", "the part of memory_bytes that is parameters which the rank keeps"},
    {"memory_gradients_bytes", of_rank, "bytes", "the part of memory_bytes that is gradients, until their update"},
    {"memory_optimizer_bytes", of_rank, "bytes",
     "the part of memory_bytes that is the optimizer's vectors and master copies of parameters"},
    {"memory_activations_bytes", of_rank, "bytes",
     "the part of memory_bytes that is activations, kept for the backward pass or computed again for it"},
    {"memory_gathered_bytes", of_rank, "bytes",
     "the part of memory_bytes that is gathered parameters of other ranks, while a pass needs them"},
    {"memory_buckets_bytes", of_rank, "bytes", "the part of memory_bytes that is gradients being reduced"},
    {"memory_workspace_bytes", of_rank, "bytes", "the part of memory_bytes that is the strategy's own vectors"},
    {"memory_limit_bytes", of_rank, "bytes", "the memory of the rank's device: cluster.memory, or the device's own"},
    {"parallel", of_run, "",
     "where [parallel] cuts the model: the ranks of the mesh along each dimension, the dimensions' order from the "
     "innermost, the schedule of the stages, and the micro-batches of a replica's step"},
    {"bubble_s", of_run_and_rank, "s",
     "the part of wait_s in which a stage waited for another stage: for activations, derivatives or gradients of tied "
     "parameters; only where [parallel] has stages"},
    {"bubble_share", of_run, "", "bubble_s / simulated_s"},
    {"hop_s", of_rank, "s",
     "time in which a stage exchanged messages with another stage (activations, derivatives, gradients of tied "
     "parameters), without bubble_s"},
    {"tensor_s", of_rank, "s", "time in collectives among the ranks that share products: transfers, sums and waiting"},
    {"context_s", of_rank, "s",
     "time in collectives among the ranks that share the tokens of sequences: what attention's work does not hide, and "
     "sums of gradients; only where [parallel] has context ranks"},
    {"expert_s", of_rank, "s",
     "time in exchanges among the ranks that share experts or tables, and in sums of the other parameters' gradients; "
     "only where [parallel] has expert ranks"},
    {"data_s", of_rank, "s",
     "time in which a rank did nothing but the strategy's communication among the ranks with the same part of the "
     "model "
     "(transfers, sums and waiting), without its idle time at the end of the run; only where a cut model has replicas"},
    {"place_tensor", of_rank, "", "the rank's place among the ranks that share its products, from 0"},
    {"place_context", of_rank, "", "the rank's place among the ranks that share the tokens of sequences, from 0"},
    {"place_expert", of_rank, "", "the rank's place among the ranks that share experts or tables, from 0"},
    {"place_data", of_rank, "", "the rank's place among the ranks that hold the same part of the model, from 0"},
    {"place_pipeline", of_rank, "", "the rank's stage, from 0"},
    {"dropped_share", of_run, "",
     "of a model with experts, at the last evaluation: the share of tokens' choices of an expert that had no room for "
     "them; such a token goes on by the residual sum alone"},
    {"expert_imbalance", of_run, "",
     "likewise, over the layers of experts: the largest number of choices of one expert / the mean of a layer's "
     "experts"},
    {"loss_floor", of_run, "",
     "computed: the least expected loss that any model can reach, where the data tell it: the entropy of the next "
     "token "
     "(source markov)"},
    {"predicted_step_s", of_run, "s",
     "predicted before the run: by the schedule of a placement of operators (strategy operators), in which messages "
     "share the links; or of a layout that was found ([parallel] automatic, balance = \"time\"), for the first "
     "strategy"},
    {"prediction_error", of_run, "",
     "predicted_step_s / (simulated_s / steps) - 1: below 0 where stragglers, or network models other than ideal, make "
     "the simulated step longer"},
    {"tokens", of_run, "", "computed: samples x the tokens of one; only where samples are text"},
    {"samples_per_s", of_run, "1/s",
     "computed: samples / simulated_s; on devices it rests on their efficiency, which is measured for some and assumed "
     "for others, as `simgrad list devices` tells"},
    {"samples_per_s_per_device", of_run, "1/s", "computed: samples_per_s / workers"},
    {"tokens_per_s", of_run, "1/s", "computed: tokens / simulated_s; see samples_per_s"},
    {"tokens_per_s_per_device", of_run, "1/s", "computed: tokens_per_s / workers"},
    {"mfu", of_run, "",
     "computed: flops of the model's gradients, without recomputation / (simulated_s x the peaks of the workers' "
     "devices "
     "for the products of training.precision); the peaks are the vendors'"},
    {"hfu", of_run, "", "computed: as mfu, with the flops of recomputation"},
    {"days_per_trillion_tokens", of_run, "d", "computed: the time of 10^12 tokens at tokens_per_s"},
    {"dollars_per_trillion_tokens", of_run, "$", "computed: cost_usd / tokens x 10^12, at the prices given"},
    {"kwh_per_trillion_tokens", of_run, "kWh", "computed: energy_j / tokens x 10^12, at the powers given"},
    {"compute_gradient_s", of_run_and_rank, "s", "the part of compute_s that goes to gradients"},
    {"gradient_products_s", of_run_and_rank, "s",
     "computed: the part of compute_gradient_s in products with parameters, on a device"},
    {"gradient_attention_s", of_run_and_rank, "s",
     "computed: the part of compute_gradient_s in attention's products of queries, keys and values, on a device"},
    {"gradient_elementwise_s", of_run_and_rank, "s",
     "computed: the part of compute_gradient_s in elementwise work, by its bytes of the device's memory"},
    {"compute_reduction_s", of_run_and_rank, "s", "the part of compute_s that goes to sums and averages"},
    {"compute_update_s", of_run_and_rank, "s", "the part of compute_s that goes to updates of parameters"},
    {"compute_encoding_s", of_run_and_rank, "s", "the part of compute_s that goes to compression"},
    {"compute_other_s", of_run_and_rank, "s", "the part of compute_s that is the strategy's own work"},
    {"communicate_transfer_s", of_run_and_rank, "s", "the part of communicate_s in transfers over the network"},
    {"communicate_input_s", of_run_and_rank, "s", "the part of communicate_s that reads training data from a storage"},
    {"communicate_storage_s", of_run_and_rank, "s",
     "the part of communicate_s that reads and writes intermediate results: a mapreduce's disk"},
    {"communicate_checkpoint_s", of_run_and_rank, "s", "the part of communicate_s that writes and reads checkpoints"},
    {"wait_gradient_s", of_run_and_rank, "s", "the part of wait_s in which the awaited worker computed a gradient"},
    {"wait_worker_s", of_run_and_rank, "s",
     "the part of wait_s in which the awaited worker computed sums, updates or codes"},
    {"wait_server_s", of_run_and_rank, "s", "the part of wait_s in which the awaited server computed"},
    {"wait_transfer_s", of_run_and_rank, "s",
     "the part of wait_s in which the awaited rank exchanged messages with others"},
    {"wait_turn_s", of_run_and_rank, "s", "the part of wait_s in which another job had the hosts"},
    {"wait_storage_s", of_run_and_rank, "s", "the part of wait_s in which the awaited rank read or wrote a storage"},
    {"wait_checkpoint_s", of_run_and_rank, "s", "the part of wait_s for a checkpoint"},
    {"wait_recovery_s", of_run_and_rank, "s", "the part of wait_s in which a rank was down, or ranks started again"},
    {"wait_other_s", of_run_and_rank, "s",
     "the part of wait_s in which nothing was awaited, or whose cause is not known"},
    {"stored_bytes", of_json, "bytes",
     "bytes held by a storage for the run: the data, and a checkpoint if there is one"},
    {"curve", of_json, "", "the evaluations, which are the rows of curves.csv"},
    {"ranks", of_json, "", "the ranks, which are the rows of ranks.csv"},
    {"hosts", of_json, "", "the hosts with their class, time and price"},
    {"links", of_json, "", "the links, which are the rows of links.csv"},
    {"wires", of_json, "", "the two ends of each link that carried messages: link, from, to"},
    {"collectives", of_json, "", "the collectives by algorithm, size and members, with their alpha-beta prediction"},
    {"dimensions", of_json, "", "the traffic of each dimension of the mesh, by class of link"},
    {"link_utilisation", of_json, "", "the use of links over time, which are the rows of link_utilisation.csv"},

    {"run", "a field of a row of curves.csv, ranks.csv and links.csv", "", "the id of the run"},
    {"step", of_curve, "", "the number of updates before the evaluation"},
    {"simulated_s", of_curve, "s", "the simulated time of the evaluation"},
    {"samples", of_curve, "", "gradient samples that the parameters had seen"},
    {"loss", of_curve, "", "the mean loss over the evaluation set, L2 penalty included"},
    {"accuracy", of_curve, "", "the share of the evaluation set whose class is predicted"},
    {"r2", of_curve, "", "1 - squared error / variance of the target, over the evaluation set"},
    {"metric", "a field of an evaluation in results.json", "",
     "accuracy or r2, as metric_name says; in curves.csv by its name"},
    {"dropped_share", of_curve, "", "of a model with experts: the share of choices of an expert that had no room"},
    {"expert_imbalance", of_curve, "",
     "of a model with experts: the largest number of choices of one expert / the mean of a layer's experts"},
    {"consensus_distance", of_curve, "", "sqrt(mean over replicas of |w_i - mean w|^2); empty where there is one w"},
    {"bytes", of_curve, "bytes", "payload of all messages until the evaluation"},
    {"flops", of_curve, "", "floating-point operations computed until the evaluation"},
    {"energy_j", of_curve, "J", "energy until the evaluation; empty where hosts differ in power"},
    {"hosts_busy_s", "a field of an evaluation in results.json", "s",
     "the hosts' busy time until the evaluation, summed"},
    {"hosts_down_s", "a field of an evaluation in results.json", "s",
     "the hosts' down time until the evaluation, summed"},

    {"rank", of_rank, "", "the rank: workers 0 .. P-1, then servers"},
    {"role", of_rank, "", "worker or server"},
    {"compute_s", of_rank, "s", "time spent computing; the four times of a rank add up to simulated_s of the run"},
    {"communicate_s", of_rank, "s", "time blocked on a transfer in progress"},
    {"wait_s", of_rank, "s", "time blocked on a peer that is not ready"},
    {"down_s", of_rank, "s", "time in which the rank's host had crashed"},
    {"bytes_sent", of_rank, "bytes", "payload of the messages that the rank sent"},
    {"bytes_received", of_rank, "bytes", "payload of the messages that the rank received"},
    {"host_class", of_rank, "", "the class of the rank's host, by which prices name it"},
    {"staleness_mean", of_rank, "updates", "the mean staleness of the worker's gradients; empty where none is stale"},
    {"quantile", "a field of a row of ranks.csv and links.csv where quantiles stand for many rows", "",
     "the share of the run's ranks of that role, or of its links of that class, whose value is at most the column's; "
     "each column by itself; empty in a row of one rank or link"},
    {"host", "a field of a rank in results.json", "", "the index of the rank's host among the run's hosts"},

    {"host_class", of_host, "", "the class of the host, by which prices name it"},
    {"busy_s", of_host, "s", "time of computing; with some of the cores only, in proportion"},
    {"down_s", of_host, "s", "time in which the host had crashed"},
    {"serves", of_host, "", "whether no worker lives on the host"},
    {"spot", of_host, "", "whether the host is on the spot market, where it is not paid while down"},
    {"price_usd_per_h", of_host, "$/h", "the price by the platform file or the cluster's options"},
    {"idle_w", of_host, "W", "idle power, likewise"},
    {"busy_w", of_host, "W", "power while computing, likewise"},

    {"link", of_link, "", "the name of the link, one direction of a cable"},
    {"bytes", of_link, "bytes", "payload that crossed the link"},
    {"utilisation", of_link, "", "bytes / (bandwidth x simulated_s), between 0 and 1"},
    {"link_class", of_link, "", "the class of the link, by which prices name it: nic, rack, ..."},
    {"background_bytes", of_link, "bytes", "other traffic on the link: in utilisation, not in bytes"},
    {"from_s", of_bin, "s", "the beginning of an interval of time"},
    {"to_s", of_bin, "s", "the end of the interval"},
    {"from", "a field of a wire in results.json", "", "the host or switch at one end of the link"},
    {"to", "a field of a wire in results.json", "", "the host or switch at the other end of the link"},

    {"name", of_collective, "", "the algorithm"},
    {"members", of_collective, "", "the number of ranks that take part"},
    {"calls", of_collective, "", "the number of calls"},
    {"predicted_s", of_collective, "s", "time of one call on an idle network by alpha, beta and gamma"},
    {"simulated_s", of_collective, "s", "mean time of a call, from the arrival of the last member to the end of all"},
    {"skew_s", of_collective, "s", "mean lateness of the last member, relative to the members' mean arrival"},
    {"duration_s", of_collective, "s",
     "mean time of a member in a call, from its own arrival to its own end; waiting for the last member is a part"},
    {"exposed_s", of_collective, "s",
     "the part of duration_s in which the member's rank did nothing else; the rest is hidden behind other work"},

    {"dimension", of_dimension, "", "the dimension of the mesh along which ranks exchange messages"},
    {"links", of_dimension, "", "the number of directions of links of the class that carry the dimension's messages"},
    {"bytes", of_dimension, "bytes",
     "payload of the dimension on these links; a message counts on each link of its way"},
    {"utilisation", of_dimension, "", "the share of these links' bandwidth that the dimension's bytes take, mean"},
    {"utilisation_max", of_dimension, "", "likewise of the busiest of these links"},

    {"reached", of_summary, "", "the number of seeds whose run reached the target"},
    {"diverged", of_summary, "", "the number of seeds whose run diverged"},
    {"failed", of_summary, "", "the number of seeds whose run failed"},
    {"seeds", of_summary, "", "the number of seeds; a number's 95 % interval over them is in NAME_low and NAME_high"},
    {"samples_per_s", of_summary, "samples/s", "samples_seen / simulated_s"},
    {"compared_by", of_summary, "", "the number by which strategies are compared at a grid point, less being better"},
    {"best", of_summary, "", "the strategy of the grid point with the smallest mean of that number"},
    {"behind", of_summary, "",
     "the mean difference from the best strategy's, seed by seed; its 95 % interval is in behind_low and behind_high"},

    {"outcome", of_table, "",
     "where no run has a target: the steps done, or that the run diverged or failed; else a column \"time to target\""},
    {"binds", of_table, "",
     "in the report's table: the change of the cluster that would make the run fastest, found by simulating again; "
     "counterfactuals in results.json has all changes"},

    {"results.json", of_directory, "",
     "everything: the resolved scenario, the runs with their curves, ranks and links"},
    {"runs.csv", of_directory, "", "a row a run"},
    {"summary.csv", of_directory, "", "a row a strategy at a grid point: means over the seeds with 95 % intervals"},
    {"curves.csv", of_directory, "", "a row an evaluation of the loss"},
    {"ranks.csv", of_directory, "",
     "a row a rank of a run: its times and bytes; quantiles of each run in a sweep of many ranks"},
    {"links.csv", of_directory, "",
     "a row a link of a run that carried bytes: its bytes and utilisation; quantiles where links are many"},
    {"link_utilisation.csv", of_directory, "", "a row an interval of time of a link: its utilisation"},
    {"report.html", of_directory, "", "the report: a page with tables and charts, for a browser without a network"},
    {"timelines", of_directory, "",
     "packed files, one a run that keeps a timeline: the activities of its ranks, for the report"},

    {"schema", of_file, "", "the version of the file's form"},
    {"name", of_file, "", "the stem of the scenario's file"},
    {"title", of_file, "", "the scenario's title"},
    {"version", of_file, "", "the version of simgrad that wrote the file"},
    {"complete", of_file, "", "false if an interrupt left runs out"},
    {"command", of_file, "", "the command that gives these results again"},
    {"scenario", of_file, "", "the resolved scenario"},
    {"all_ranks", of_file, "", "true if ranks.csv and links.csv have all rows by --all-ranks; else it is not there"},
    {"runs", of_file, "", "the runs: strategies x grid points x seeds"},
    {"baselines", of_file, "", "the one-worker runs that speed-ups are relative to, with the fields of runs"},
    {"summary", of_file, "",
     "a strategy at a grid point: means over the seeds with 95 % intervals; the rows of summary.csv"},
    {"counterfactuals", of_file, "",
     "runs simulated again with one cause changed: the options of each change (sets) and what it brings (gain); of "
     "runs "
     "on devices also with assumed numbers 10 % worse and better (assumed)"},
    {"dropped", of_file, "",
     "strategies that --race has dropped at a grid point: the seeds they ran (seeds) and did not (seeds_left_out), the "
     "best strategy (behind), and the paired difference that decided"},
});

}  // namespace

std::span<const ResultField> result_fields() { return field_table; }

}  // namespace simgrad::cli

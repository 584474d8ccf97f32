/// The options of MapReduce, and which of them contradict each other.
#include <fmt/format.h>

#include "collectives/flat.h"
#include "strategies/circumstances.h"
#include "strategies/mapreduce/mapreduce.h"

namespace simgrad::strategies {

void MapReduce::describe(base::Describer& d) {
  using base::Bounds;
  d.choice("job", job, jobs, "the work on the rows: the function that is mapped and reduced");
  d.component("broadcast", broadcast, "how the parameters reach the workers");
  d.flag("combiner", combiner, "whether a worker adds its rows' gradients itself; false: each row's gradient travels");
  d.integer("reducers", reducers,
            "the number of servers, each of which reduces and broadcasts a stretch of the parameters",
            Bounds::between(1, 10'000));
  d.integer("splits", splits,
            "the pieces per worker into which a step's batch is cut; with more than one, a worker that has finished "
            "one asks for the next (every worker can read all rows, as from a replicated file system)",
            Bounds::between(1, 1000));
  d.flag("speculative", speculative,
         "whether workers without a split map copies of slow ones, longest first; the first result counts");
  d.number("slow_factor", slow_factor,
           "speculative: a split is slow once its mapping takes longer than this multiple of the median of the round's "
           "finished splits (default 1.5)",
           Bounds::between(1, 1000));
  d.component("storage", storage, "where rows and sums are kept from round to round");
  describe_compression(d, compression);
  describe_parameter_compression(d, "parameter_compression", parameter_compression,
                                 "how parameters are compressed before reducers send them");
  describe_buckets(d);
  describe_reductions(d);
  describe_hosts_first(d);
  refuse_hosts_first(d);
  if (!compression->exact() && !combiner)
    d.refuse("compression",
             "compression is of a worker's sum, but combiner = false sends every row's gradient; leave one of "
             "them out");
  if (!compression->exact() && job == Job::k_means)
    d.refuse("compression",
             "compression is of gradients, but job = \"k_means\" sends sums and numbers of rows; leave one of "
             "them out");
  if (job == Job::k_means && reducers > 1)
    d.refuse("reducers",
             fmt::format("job = \"k_means\" reduces a centre's sum and its number of rows together, but reducers "
                         "= {} hold stretches; set reducers = 1",
                         reducers));
  const bool flat = broadcast.kind() == collectives::FlatBroadcast::about.kind;
  if (!flat && reducers > 1)
    d.refuse("broadcast",
             fmt::format("broadcast = \"{}\" is one reducer's, but reducers = {} send their stretches at once; "
                         "leave broadcast out, or set reducers = 1",
                         broadcast.kind(), reducers));
  if (!flat && splits > 1)
    d.refuse("broadcast",
             fmt::format("broadcast = \"{}\" passes through workers, but with splits = {} they wait for orders; "
                         "leave broadcast out, or set splits = 1",
                         broadcast.kind(), splits));
  if (speculative && splits == 1)
    d.refuse("speculative",
             "speculative = true needs splits above 1: with one split a worker all begin and nobody is "
             "idle; give splits, or leave speculative out");
  if (slow_factor && !speculative)
    d.refuse("slow_factor",
             "slow_factor says which splits are copied, but speculative = false copies none; set speculative "
             "= true, or leave slow_factor out");
}

/// Reductions other than the mean are of one gradient a worker or split: of what its combiner makes.
void MapReduce::describe_reductions(base::Describer& d) {
  describe_reduce(d, reduce, compression,
                  "how the gradients that workers (or splits) have mapped become that of the update: each is of the "
                  "mean loss over its rows, and only the mean weights them by their rows");
  refuse_parts(d, reduce, reducers > 1 ? fmt::format("reducers = {}", reducers) : bucket_bytes ? "bucket_size" : "");
  if (reduce->adds()) return;
  const auto refuse = [&](const char* written, const char* instead) {
    d.refuse("reduce",
             fmt::format("reduce = \"{}\" takes one gradient of each worker or split, but {} {}; leave one of "
                         "them out",
                         reduce.kind(), written, instead));
  };
  if (!combiner) refuse("combiner = false", "sends those of all rows");
  if (job == Job::k_means) refuse("job = \"k_means\"", "sends sums and numbers of rows, which are added");
}

/// The devices of a host sum what they make of their own rows.
void MapReduce::refuse_hosts_first(base::Describer& d) const {
  if (!hosts_first) return;
  const auto refuse = [&](const std::string& written, const char* instead) {
    d.refuse("hosts_first", fmt::format("hosts_first = true sums what a host's devices make of their rows, but {} {}; "
                                        "leave one of them out",
                                        written, instead));
  };
  if (!combiner) refuse("combiner = false", "sends the gradient of each row");
  if (splits > 1) refuse(fmt::format("splits = {}", splits), "assigns a batch to workers as they become free");
}

std::optional<Refusal> MapReduce::refusal(const Circumstances& circumstances) const {
  if (bucket_bytes)
    if (auto refusal = bucket_updates_refusal(circumstances)) return refusal;
  if (auto refusal = split_refusal(circumstances)) return refusal;
  if (auto refusal = job_refusal(job, circumstances)) return refusal;
  if (reducers > circumstances.parameters)
    return Refusal{
        "reducers",
        fmt::format("reducers = {}, but the model has {} parameter{}; expected at most one reducer a parameter",
                    reducers, circumstances.parameters, circumstances.parameters == 1 ? "" : "s")};
  if (const std::string whole = circumstances.needs_whole_gradient(); reducers > 1 && !whole.empty())
    return Refusal{"reducers", fmt::format("reducers = {}, but {} needs all parameters at once; set reducers = "
                                           "1, or another optimizer, without clip_norm",
                                           reducers, whole)};
  if (auto refusal = reduce_refusal(reduce, circumstances.workers * splits)) return refusal;
  return compression_refusal(compression, circumstances);
}

std::vector<std::string> MapReduce::warnings(std::int64_t P, std::uint64_t /*seed*/) const {
  return reduce_warnings(reduce, P * splits);
}

}  // namespace simgrad::strategies

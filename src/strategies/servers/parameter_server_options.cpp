/// The options of the parameter server, and which of them contradict each other.
#include <fmt/format.h>

#include <array>

#include "strategies/servers/parameter_server.h"
#include "strategies/servers/server_choices.h"

namespace simgrad::strategies {

using base::Bounds;
using base::Choice;

namespace {

constexpr std::array parameter_shardings{
    Choice{"range", "contiguous stretches whose lengths differ by at most one"},
    Choice{"hash", "each parameter by a fixed hash of its place: uneven, as hashing is"}};

constexpr std::array late_choices{
    Choice{"finish",
           "a late worker finishes its gradient, which is dropped, and goes on with the present step: a step takes "
           "longer than the k-th of n fresh draws, some of its workers being still late"},
    Choice{"cancel",
           "a late worker gives up its gradient as soon as the new parameters come: a step takes the k-th of n fresh "
           "draws, k = P - backup_workers"}};

}  // namespace

void ParameterServer::describe(base::Describer& d) {
  d.choice("consistency", consistency, consistency_choices,
           "when the parameters change; the staleness in results counts updates");
  d.integer("servers", shards, "number of servers, each of which holds a shard of the parameters",
            Bounds::between(1, 30'000));
  d.choice("placement", placement, placement_choices, "where the servers are");
  d.choice("sharding", dealt_by, parameter_shardings, "how the parameters are divided among several servers");
  d.integer(
      "staleness_bound", staleness_bound,
      "ssp: how many clocks (gradients of its own) a worker may be ahead of the slowest; default: 1, and 0 is bsp",
      Bounds::at_least(0));
  d.integer("backup_workers", backup_workers,
            "bsp: an update takes the first P - backup_workers gradients of its step; later ones are dropped",
            Bounds::at_least(0));
  d.choice("late", when_late, late_choices, "backup_workers: what workers do whose gradients come too late");
  d.integer("k_batch", k_batch,
            "an update takes K gradients, from any workers; bsp: gradients at the present parameters, and all workers "
            "begin new ones when these change (K-batch-sync); asp: gradients of any age (K-batch-async); in either "
            "case the update takes the mean over their rows",
            Bounds::at_least(1));
  d.flag("staleness_aware", staleness_aware, "a gradient's learning rate is divided by its staleness (asp, ssp)");
  d.number("delay_compensation", delay_compensation,
           "lambda: a stale gradient g of parameters v becomes g + lambda g^2 (w - v), element by element; 0: g is not "
           "changed",
           Bounds::at_least(0));
  d.choice("gradient", part, part_choices, "how a worker's gradient is scaled when it is applied alone (asp, ssp)");
  describe_compression(d, compression);
  describe_parameter_compression(d, "parameter_compression", parameter_compression,
                                 "how parameters are compressed before servers send them");
  describe_buckets(d);
  describe_reduce(d, reduce, compression,
                  "how the gradients of a step become that of the update (bsp): each is of the mean loss over its "
                  "worker's rows, and only the mean weights them by their rows");
  describe_hosts_first(d);
  refuse_contradictions(d);
  refuse_reductions(d);
  if (restarts()) refuse_beside_restarts(d);
}

/// A reduction other than the mean needs a round, in which all gradients are of one step.
void ParameterServer::refuse_reductions(base::Describer& d) const {
  if (!reduce->adds() && stale())
    d.refuse("reduce", fmt::format("reduce = \"{}\" compares the gradients of a step, but {} applies each as it comes; "
                                   "leave it out, or set consistency = \"bsp\"",
                                   reduce.kind(), consistency == Consistency::asp ? "asp" : "ssp"));
  refuse_parts(d, reduce, shards > 1 ? fmt::format("servers = {}", shards) : bucket_bytes ? "bucket_size" : "");
}

/// A worker that gives a gradient up does so by itself, and on cores of its own.
void ParameterServer::refuse_beside_restarts(base::Describer& d) const {
  if (placement == Placement::colocated)
    d.refuse("placement", fmt::format("placement = \"colocated\" shares cores, which is not modelled for the "
                                      "interrupted gradients of {}; set placement = \"dedicated\"",
                                      k_batch ? "k_batch under bsp" : "late = \"cancel\""));
  if (hosts_first)
    d.refuse("hosts_first",
             fmt::format("hosts_first = true makes a gradient on all devices of a host, of which only the first one "
                         "hears that {} gives it up; leave one of them out",
                         k_batch ? "k_batch under bsp" : "late = \"cancel\""));
}

void ParameterServer::refuse_contradictions(base::Describer& d) const {
  const bool bsp = consistency == Consistency::bsp;
  if (part == Part::mean && bsp)
    d.refuse("gradient",
             "gradient = \"mean\" says how a part counts alone, but bsp applies the sum of all parts; leave "
             "it out, or set consistency = \"asp\"");
  if (staleness_bound && consistency != Consistency::ssp)
    d.refuse("staleness_bound",
             "staleness_bound bounds how far workers run ahead under consistency = \"ssp\"; set that, "
             "or leave staleness_bound out");
  if (backup_workers > 0 && !bsp)
    d.refuse("backup_workers",
             "backup_workers are for consistency = \"bsp\", where somebody waits for the last; leave "
             "them out, or set that");
  if (backup_workers == 0 && when_late == Late::cancel)
    d.refuse("late",
             "late = \"cancel\" gives up the gradients that backup_workers leave behind, but backup_workers = 0; set "
             "these, or leave it out");
  if (backup_workers > 0 && k_batch)
    d.refuse("k_batch",
             "backup_workers and k_batch both say how many gradients an update takes; leave one of them out");
  if (k_batch && consistency == Consistency::ssp)
    d.refuse("k_batch", "k_batch is for consistency = \"bsp\" or \"asp\"; ssp applies each gradient as it comes");
  if (k_batch && consistency == Consistency::asp && part == Part::mean)
    d.refuse("gradient",
             "gradient = \"mean\" says how a part counts alone, but k_batch takes the mean over the rows of "
             "several; leave one of them out");
  if (k_batch && staleness_aware)
    d.refuse("staleness_aware",
             "staleness_aware divides an update's learning rate by its gradient's staleness, but "
             "k_batch makes an update of several gradients; leave one of them out");
  if (dealt_by == Sharding::hash && shards == 1)
    d.refuse("sharding",
             "sharding = \"hash\" divides the parameters among several servers, but servers = 1 holds all; leave "
             "sharding out, or take more servers");
  if (delay_compensation > 0.0 && !parameter_compression->exact())
    d.refuse("delay_compensation",
             "delay_compensation takes the difference to the parameters that a worker has got, but "
             "parameter_compression makes those others than the server's; leave one of them out");
  if (delay_compensation > 0.0 && !compression->says_how_far())
    d.refuse("delay_compensation",
             "delay_compensation changes how large a gradient's numbers are, but compression by a majority "
             "vote takes their signs alone; leave it out, or set scale = \"l1_mean\"");
  if (dealt_by == Sharding::hash && compression->of_matrices())
    d.refuse("sharding",
             fmt::format("sharding = \"hash\" tears the layers' matrices apart, which compression = \"{}\" looks at; "
                         "leave sharding out, or take another compression",
                         compression.kind()));
  const char* fresh =
      "no gradient is stale under bsp, nor under ssp with bound 0; leave it out, or set consistency = \"asp\"";
  if (staleness_aware && !stale()) d.refuse("staleness_aware", fmt::format("staleness_aware: {}", fresh));
  if (delay_compensation > 0.0 && !stale())
    d.refuse("delay_compensation", fmt::format("delay_compensation: {}", fresh));
}

}  // namespace simgrad::strategies

#include "experiment/plan/serving_section.h"

#include <fmt/format.h>

#include <set>
#include <string>

#include "base/child_process.h"
#include "base/errors.h"
#include "cluster/fabric/cluster.h"
#include "collectives/double_binary_tree.h"
#include "collectives/ring.h"
#include "experiment/plan/places.h"
#include "experiment/saved/served_model.h"
#include "models/transformer.h"
#include "serving/engine.h"

namespace simgrad::experiment {

using scenario::Document;
using scenario::Faults;

void ServingRun::operator()(strategies::Worker&) const { base::check(false, "a run that serves trains nothing"); }

bool shuffles_rows(const Settings& settings) {
  const bool prompts = settings.serving.any() && settings.training.numbers;
  return settings.training.partition->shuffled() && !prompts;
}

Document with_stop(const Document& document) {
  if (!document.contains("serving") || document.contains("stop")) return document;
  Document with = document;
  with.set("stop.steps=1");
  return with;
}

namespace {

/// The options of a table that say nothing about answers, or contradict them.
void refuse_options(const Document& document, const std::string& table, const std::set<std::string>& known,
                    const char* instead, Faults& faults) {
  for (const auto& [key, position] : document.written(table))
    if (!known.contains(key))
      faults.add(position,
                 fmt::format("{}.{} is about trainings, but [serving] trains nothing; {}", table, key, instead));
}

void refuse_sections(const Document& document, Faults& faults) {
  for (const char* section : {"strategy", "job", "stop", "evaluate", "plan", "capacity"})
    if (document.contains(section))
      faults.add(document.position(section),
                 fmt::format("[{}] is about trainings, but [serving] trains nothing; leave one of them out", section));
}

}  // namespace

void take_serving(Settings& settings, const Document& document, Faults& faults) {
  if (!document.contains("serving")) return;
  if (!settings.serving.any() && faults.empty())
    faults.add(document.position("serving"),
               "[serving] has no requests; expected requests = N with a rate, or a trace");
  settings.places.served_model = place(document, "serving.model");
  refuse_sections(document, faults);
  if (settings.save_model)
    faults.add(place(document, "save_model"),
               "save_model = true keeps the parameters of a training, but [serving] trains nothing; leave it out");
  if (settings.cluster.faulty->there())
    faults.add(place(document, "cluster.faulty"),
               "cluster.faulty is about trainings, but [serving] trains nothing; leave it out");
  refuse_options(document, "training", {"numbers", "precision"}, "leave it out", faults);
  refuse_options(document, "parallel", {"tensor", "pipeline", "data", "order"},
                 "a model that answers is cut by tensor and pipeline", faults);
  StrategyEntry& entry = settings.strategies.emplace_back();
  entry.strategy.choose("single");
  entry.label = serving_kind;
  entry.runs_as = std::make_shared<const ServingRun>();
}

serving::Layout layout_of(const Settings& settings) {
  const std::int64_t workers = settings.cluster.workers;
  const training::Mesh mesh = settings.parallel.mesh(workers);
  serving::Layout layout{.tensor = static_cast<int>(settings.parallel.tensor),
                         .pipeline = static_cast<int>(settings.parallel.pipeline),
                         .ranks = {}};
  const auto t = static_cast<std::size_t>(layout.tensor), p = static_cast<std::size_t>(layout.pipeline);
  layout.ranks.assign(static_cast<std::size_t>(workers) / (t * p), std::vector(p, std::vector<int>(t)));
  for (int rank = 0; rank < mesh.ranks(); ++rank) {
    const training::MeshPlace place = mesh.place(rank);
    layout.ranks[static_cast<std::size_t>(place[training::Dimension::data])][static_cast<std::size_t>(
        place[training::Dimension::pipeline])][static_cast<std::size_t>(place[training::Dimension::tensor])] = rank;
  }
  return layout;
}

serving::Fleet fleet_of(const Settings& settings, const models::Problem& problem) {
  const auto& model = dynamic_cast<const models::Transformer&>(*settings.model.model);
  const cluster::Options& cluster = settings.cluster;
  return serving::fleet_of(
      model.options.shape(problem.vocabulary), layout_of(settings), settings.training.precision, settings.serving,
      cluster, [&](int host) { return cluster.platform.empty() ? cluster.speed(host) : settings.nominal_flops_per_s; });
}

namespace {

/// The problem as far as it is known before a file of data is read: as many tokens as the model is told of, else bytes.
models::Problem problem_before(const Settings& settings) {
  constexpr std::int64_t bytes = 256;
  models::Problem problem = settings.problem();
  if (problem.vocabulary > 0) return problem;
  const auto* model = dynamic_cast<const models::Transformer*>(settings.model.model.operator->());
  problem.vocabulary = model ? model->options.vocabulary.value_or(bytes) : bytes;
  return problem;
}

class ServingCheck {
 public:
  ServingCheck(const Settings& settings, const Document& document, Faults& faults)
      : settings_(settings), document_(document), faults_(faults), options_(settings.serving) {}

  void all() {
    const auto* model = dynamic_cast<const models::Transformer*>(settings_.model.model.operator->());
    if (!model)
      return fault("model.kind",
                   fmt::format("{} does not write token after token, as [serving] needs; take a transformer",
                               settings_.model.model.kind()));
    cluster_options();
    numbers();
    if (!faults_.empty()) return;
    const models::Problem problem = problem_before(settings_);
    if (const std::string why = model->refusal(problem); !why.empty()) return fault("model.kind", why);
    this->model(*model, problem);
    check_served_model(settings_, document_, faults_);
    if (faults_.empty()) told([&] { requests(model->options.shape(problem.vocabulary)); });
  }

  void room() {
    if (settings_.model.model) told([&] { room(problem_before(settings_)); });
  }

 private:
  /// Adds the faults that a trace of requests has.
  template <class Act>
  void told(const Act& act) {
    try {
      act();
    } catch (const base::ScenarioError& error) {
      for (const std::string& text : error.faults()) faults_.add(scenario::Position(), text);
    }
  }
  void fault(std::string_view key, const std::string& text) { faults_.add(place(document_, key), text); }

  void cluster_options() {
    const cluster::Options& cluster = settings_.cluster;
    if (cluster.failures.any())
      fault("cluster.failures", "cluster.failures with [serving], whose hosts do not fail; leave failures out");
    if (cluster.collectives == cluster::Collectives::messages)
      fault("cluster.collectives",
            "collectives = \"messages\": sums among tensor ranks are computed under [serving]; leave collectives out");
    if (!cluster.measured.empty())
      fault(
          "cluster.collectives",
          "collectives.measured: sums among tensor ranks are computed from their links under [serving]; leave it out");
    const auto* const allreduce = options_.allreduce.operator->();
    if (const auto* const ring = dynamic_cast<const collectives::Ring*>(allreduce); ring && ring->rings.value_or(1) > 1)
      fault("serving.allreduce", "sums among tensor ranks go around one ring under [serving]; leave rings out");
    if (const auto* const trees = dynamic_cast<const collectives::DoubleBinaryTree*>(allreduce);
        trees && trees->overlap)
      fault("serving.allreduce", "sums among tensor ranks go up, then down, under [serving]; leave overlap out");
    if (options_.memory_bandwidth_bytes_per_s && cluster.device_of(0))
      fault("serving.memory_bandwidth", "memory_bandwidth with a device, which has its own; leave one of them out");
    if (!dynamic_cast<const collectives::ScheduledAllreduce*>(options_.allreduce.operator->()))
      fault("serving.allreduce",
            fmt::format("allreduce = \"{}\" is several collectives; take one that is a single schedule: ring, "
                        "recursive_doubling, rabenseifner",
                        options_.allreduce.kind()));
    else if (const std::string why = options_.allreduce->refusal(cluster); !why.empty())
      fault("serving.allreduce", why);
  }

  void numbers() {
    if (settings_.model.proxied())
      fault("model.timed_as", "timed_as with [serving]; give that model as kind, with training.numbers = false");
    if (!settings_.training.numbers) return;
    if (settings_.training.precision != training::Precision::float64)
      fault("training.precision",
            fmt::format("precision = \"{}\", but answers are computed in float64; leave it out, or set "
                        "training.numbers = false",
                        training::name(settings_.training.precision)));
    if (const std::string why = data::task_refusal(settings_.data, settings_.task()); !why.empty())
      faults_.add(settings_.places.data, why);
    else if (const std::string too_large = data::size_refusal(settings_.data, true); !too_large.empty())
      faults_.add(settings_.places.size, too_large);
  }

  void model(const models::Transformer& model, const models::Problem& problem) {
    const models::TransformerShape shape = model.options.shape(problem.vocabulary);
    const strategies::Parallel& parallel = settings_.parallel;
    if (shape.experts > 0)
      fault("model.experts", fmt::format("experts = {}: [serving] has no experts; take a dense model", shape.experts));
    else if (const std::string why = model.refusal(problem, parallel.shares()); !why.empty())
      fault("parallel.tensor", why);
    if (parallel.pipeline > shape.layers)
      fault("parallel.pipeline", fmt::format("pipeline = {} stages of {} layers; expected at most one a layer",
                                             parallel.pipeline, shape.layers));
  }

  void requests(const models::TransformerShape& shape) {
    const serving::Expected demand = serving::expected(options_);
    const auto at = [&] { return options_.trace.empty() ? "serving.output_tokens" : "serving.trace"; };
    if (demand.longest > shape.sequence)
      fault(at(), fmt::format("a request may have {} tokens, its answer included, but the model's sequence is {}; take "
                              "shorter requests, or a longer model.sequence",
                              demand.longest, shape.sequence));
    if (options_.trace.empty() && demand.rate_per_s > 0.0 &&
        options_.warm_up_s >= static_cast<double>(*options_.requests) / demand.rate_per_s)
      fault("serving.warm_up",
            fmt::format("a warm-up of {:.6g} s, but {} requests at {:.6g}/s have arrived after {:.6g} s; expected a "
                        "shorter one, or more requests",
                        options_.warm_up_s, *options_.requests, demand.rate_per_s,
                        static_cast<double>(*options_.requests) / demand.rate_per_s));
  }

  void room(const models::Problem& problem) {
    const serving::Fleet fleet = fleet_of(settings_, problem);
    const serving::Expected demand = serving::expected(options_);
    if (const std::string why = serving::memory_refusal(fleet, options_, demand); !why.empty())
      return fault("serving.output_tokens", why);
    if (!(demand.rate_per_s > 0.0)) return;
    const double capacity = capacity_requests_per_s(fleet);
    if (demand.rate_per_s > capacity)
      fault(options_.trace.empty() ? "serving.rate" : "serving.trace",
            fmt::format("{:.6g} requests/s arrive, but {} replica{} can answer {:.6g} at most, so that the queue would "
                        "grow for ever; expected a lower rate, more workers, or shorter requests",
                        demand.rate_per_s, fleet.layout.replicas(), fleet.layout.replicas() == 1 ? "" : "s", capacity));
  }

  /// As the run will have it: SimGrid knows the links, and builds one cluster a process.
  double capacity_requests_per_s(const serving::Fleet& fleet) const {
    if (fleet.layout.tensor * fleet.layout.pipeline == 1)
      return serving::capacity_requests_per_s(fleet, options_, serving::expected(options_));
    const base::ChildEnd end = base::run_in_child([&] {
      cluster::Cluster cluster(settings_.cluster, fleet.layout.count());
      const serving::Engine engine(
          cluster, {.options = options_, .fleet = fleet, .requests = {}, .precision = settings_.training.precision});
      return fmt::format("{}", engine.capacity_requests_per_s());
    });
    if (end.kind == base::ChildEnd::Kind::threw) throw base::ScenarioError(end.text);
    if (end.kind == base::ChildEnd::Kind::died)
      throw base::ScenarioError(fmt::format("the process that computes the capacity of [serving] {}", end.death));
    return std::stod(end.text);
  }

  const Settings& settings_;
  const Document& document_;
  Faults& faults_;
  const serving::Options& options_;
};

}  // namespace

void check_serving(const Settings& settings, const Document& document, Faults& faults) {
  ServingCheck(settings, document, faults).all();
}

void check_serving_room(const Settings& settings, const Document& document, Faults& faults) {
  if (settings.serving.any()) ServingCheck(settings, document, faults).room();
}

}  // namespace simgrad::experiment

#include "experiment/run/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "base/files.h"
#include "base/memory.h"
#include "base/units.h"
#include "cluster/fabric/cluster.h"
#include "cluster/ranks/gang_schedule.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/world.h"
#include "cluster/recording/timeline_recording.h"
#include "data/limits.h"
#include "data/source.h"
#include "experiment/checks/batch_shares.h"
#include "experiment/checks/ideal_conditions.h"
#include "experiment/checks/tensor_balance.h"
#include "experiment/checks/test_rows.h"
#include "experiment/plan/points.h"
#include "experiment/plan/serving_section.h"
#include "experiment/run/expert_notes.h"
#include "experiment/run/simulate_serving.h"
#include "outputs/text/number_text.h"
#include "training/session/training.h"

namespace simgrad::experiment {

training::Learning::Setup learning_setup(const RunPlan& run, const Data& data) {
  const Settings& settings = *run.settings;
  const std::int64_t rows = data ? data->train.rows : *known_rows(settings);
  return {.data = data,
          .model = settings.model.model.shared(),
          .problem = data ? problem_of(*data) : settings.problem(),
          .rows = rows,
          .batch = settings.batch(rows),
          .partition = settings.training.partition.shared(),
          .evaluate_on = settings.evaluate.on,
          .seed = run.seed,
          .recompute = settings.training.recompute,
          .precision = settings.training.precision,
          .wire = settings.training.wire};
}

namespace {

/// Refuses files that have changed since the ids of the runs were made of their contents.
void require_unchanged(const Settings& settings) {
  const std::vector<std::string> files = settings.data.source->files();
  if (files.empty() || settings.data_contents.empty()) return;
  if (contents_of(files) == settings.data_contents) return;
  std::string names;
  for (const std::string& file : files) names += (names.empty() ? "" : ", ") + file;
  throw base::EnvironmentError(fmt::format(
      "{}: the data have changed since the scenario was read; start again, so that all runs have the same", names));
}

}  // namespace

Data load_data(const RunPlan& run, std::optional<double> memory_bytes, int threads) {
  const Settings& settings = *run.settings;
  if (!settings.training.numbers) return nullptr;
  const std::uintmax_t free_bytes = base::half_of_free_memory();
  const bool limited = memory_bytes && *memory_bytes < static_cast<double>(free_bytes);
  const std::uintmax_t most_bytes = limited ? static_cast<std::uintmax_t>(*memory_bytes) : free_bytes;
  const auto over = [&] {
    return OverRunMemory(fmt::format("stopped at {} of memory, the limit of a run, while its data were loaded",
                                     base::format_quantity(*memory_bytes, base::Unit::bytes)));
  };
  Data data;
  try {
    const base::MemoryLimit limit(most_bytes);
    data = std::make_shared<const data::Split>(
        data::load(settings.data, {.task = settings.task(),
                                   .seed = run.seed,
                                   .shuffle = shuffles_rows(settings),
                                   .bias = settings.model.model->constant_feature(),
                                   .sparse = settings.model.model->takes_sparse_rows(),
                                   .threads = threads}));
  } catch (const base::TooMuchMemory&) {
    if (limited) throw over();
    throw;
  } catch (const std::bad_alloc&) {
    if (limited) throw over();
    throw base::EnvironmentError(fmt::format(
        "the data take more than {:.4g} GiB of memory while they are loaded, half of what is free; expected "
        "fewer",
        static_cast<double>(most_bytes) / 0x1.0p30));
  }
  if (limited && data::held_bytes(*data) > *memory_bytes) throw over();
  require_unchanged(settings);
  return data;
}

models::Problem problem_of(const data::Split& data) {
  const data::Dataset& train = data.train;
  return {.features = train.columns,
          .classes = train.classes,
          .users = train.users,
          .items = train.items,
          .nonzeros =
              train.sparse.any() ? static_cast<double>(train.sparse.entries()) / static_cast<double>(train.rows) : 0.0,
          .fields = train.fields,
          .vocabulary = train.vocabulary,
          .sources = sources_of(train)};
}

models::Problem problem_of_run(const RunPlan& run) {
  const Settings& settings = *run.settings;
  if (settings.data.source->generates() || !settings.training.numbers) return settings.problem();
  return problem_of(*load_data(run));
}

namespace {

/// One training of a run: the only one, or one of its jobs.
struct Part {
  RunPlan plan;                        ///< with the settings, the strategy and the workers of this training
  std::vector<int> hosts = {};         ///< a job's: one for each rank; empty: as the strategy places them
  std::optional<double> start_s = {};  ///< a job's
  int job = 0;                         ///< the job's number, also if it runs by itself: its stragglers stay
  std::unique_ptr<training::Learning> learning = {};
  std::unique_ptr<training::Training> training = {};
  std::vector<std::string> notes = {};  ///< known before the training begins
};

/// The trainings of the run; most runs have one.
std::vector<Part> parts_of(const RunPlan& run) {
  std::vector<Part> parts;
  if (run.jobs.empty()) parts.push_back({.plan = run});
  for (const JobPlan& placed : run.jobs) {
    const Settings& all = *run.fabric;
    const JobEntry& job = all.jobs[placed.job];
    Part& part = parts.emplace_back(
        Part{.plan = run, .hosts = placed.hosts, .start_s = job.start_s, .job = static_cast<int>(placed.job)});
    part.plan.settings = std::make_shared<const Settings>(all.trainings[placed.job]);
    part.plan.data.reset();  // each job may have data of its own
    part.plan.strategy = all.strategies[placed.strategy].strategy.shared();
    part.plan.workers = job.workers;
  }
  return parts;
}

/// The cluster that all trainings of the run share.
cluster::Cluster cluster_of(const RunPlan& run) {
  if (!run.jobs.empty()) {
    const cluster::Options& options = run.fabric->cluster;
    std::int64_t side_actors = 0;
    for (const JobPlan& placed : run.jobs)
      side_actors += run.fabric->strategies[placed.strategy]
                         .strategy->traits(static_cast<int>(run.fabric->jobs[placed.job].workers))
                         .side_actors(options);
    return {options, static_cast<int>(options.workers), true, run.seed, false, side_actors};
  }
  const auto workers = static_cast<int>(run.workers);
  const strategies::Traits traits = run.strategy->traits(workers);
  const cluster::Options& options = run.settings->cluster;
  // The cluster's own network is faster than SimGrid's; in lockstep no order of events at one instant decides.
  const bool by_messages = options.collectives == cluster::Collectives::messages && traits.lockstep();
  const bool own_network = traits.many_to_many || (by_messages && options.constant_network());
  return {options,  traits.hosts_needed(workers), own_network,
          run.seed, traits.few_neighbours,        traits.side_actors(options)};
}

/// The turns that jobs take under sharing = "gang"; null without.
std::unique_ptr<cluster::GangSchedule> turns_of(const RunPlan& run) {
  if (run.jobs.empty() || run.fabric->cluster.sharing != cluster::Sharing::gang) return nullptr;
  return std::make_unique<cluster::GangSchedule>(static_cast<int>(run.fabric->jobs.size()),
                                                 run.fabric->cluster.quantum);
}

/// The hosts that ranks of several trainings live on.
std::set<int> shared_hosts(const std::vector<Part>& parts) {
  std::set<int> taken, shared;
  for (const Part& part : parts)
    for (const int host : std::set<int>(part.hosts.begin(), part.hosts.end()))
      if (!taken.insert(host).second) shared.insert(host);
  return shared;
}

/// Sets the workers' shares of a batch where `shares = "speed"` asks for them.  hosts: the workers' first.
/// Returns sentences for the run's notes, on shares of products besides.
std::vector<std::string> deal_by_speed(const RunPlan& run, const cluster::Cluster& cluster,
                                       const std::vector<int>& hosts, training::Learning::Setup& learning) {
  const Settings& settings = *run.settings;
  std::vector<std::string> notes = notes_on_ideal_conditions(settings.cluster);
  std::ranges::move(notes_on_test_rows(settings), std::back_inserter(notes));
  std::ranges::move(notes_on_padding(settings, *run.strategy, learning.problem), std::back_inserter(notes));
  std::ranges::move(notes_on_tensor_shares(settings, *run.strategy, learning.problem, learning.rows),
                    std::back_inserter(notes));
  if (!deals_by_speed(settings, *run.strategy)) return notes;
  const HostPowers powers{.speed = [&](int host) { return cluster.speed(host); },
                          .device = [&](int host) { return cluster.device(host); }};
  const BatchShares shares = batch_shares(settings, *run.strategy, learning.problem, learning.rows, powers, hosts);
  learning.speeds = shares.speeds();
  learning.most_rows = shares.most_rows();
  learning.rows_unit = shares.unit;
  std::ranges::move(notes_on_shares(settings, learning.problem, powers, shares), std::back_inserter(notes));
  return notes;
}

/// All trainings of a run in one engine.
class Simulation {
 public:
  Simulation(const RunPlan& run, const Data& data, int threads, const Numbers& numbers)
      : dispatcher_({.threads = threads,
                     .numbers = data != nullptr && !numbers.all_known && !numbers.state,
                     .lineages = numbers.trajectory != nullptr,
                     .known = numbers.state,
                     .label = [this] { return label(); }}),
        cluster_(cluster_of(run)),
        turns_(turns_of(run)),
        parts_(parts_of(run)),
        numbers_(numbers) {
    data_.emplace(run.data_key(), data);
    for (Part& part : parts_) prepare(part);
    if (turns_) return;  // one job at a time has a host
    for (const int host : shared_hosts(parts_))
      for (const Part& part : parts_) part.training->world().ranks().share_cores(host);
  }

  training::Training& training(std::size_t job) { return *part(job).training; }
  const std::vector<std::string>& notes(std::size_t job) { return part(job).notes; }

  /// Runs all trainings to their ends. Returns the text of the error that ended the run, or "".
  std::string run() {
    std::string error;
    try {
      for (const Part& part : parts_) start(part);
      cluster_.run();
    } catch (const std::bad_alloc&) {
      error = "not enough memory";
    } catch (const std::exception& failure) {
      error = failure.what();
    }
    return error;
  }
  /// Ends the recording of all trainings, also of those that have not ended.
  void end() {
    for (const Part& part : parts_) part.training->world().end();
  }
  bool several() const { return parts_.size() > 1; }
  const std::string& contended_link() const { return cluster_.contended_link(); }
  bool state_misfits() const { return dispatcher_.statistics().misfits > 0; }

 private:
  const Part& part(std::size_t job) { return *std::ranges::find(parts_, static_cast<int>(job), &Part::job); }
  /// The rank and step that are at work, for the texts of errors.
  values::Label label() const {
    for (const Part& part : parts_)
      if (const int rank = part.training ? part.training->world().ranks().current_rank() : -1; rank >= 0)
        return {rank, part.training->world().ranks().step(rank)};
    return {};
  }

  void prepare(Part& part) {
    const RunPlan& plan = part.plan;
    const Settings& own = *plan.settings;
    training::Program program = strategies::program(plan.strategy);
    if (plan.every_rank)
      program.traits = [all = program.traits](int P) {
        training::Traits traits = all(P);
        traits.may_stand_in = false;
        return traits;
      };
    if (!part.hosts.empty())
      program.traits = [strategy = plan.strategy, hosts = part.hosts](int P) {
        training::Traits traits = strategy->traits(P);
        traits.hosts = hosts;
        return traits;
      };
    const auto workers = static_cast<int>(plan.workers);
    training::Learning::Setup learning = learning_setup(plan, data_of(plan));
    learning.trajectory = numbers_.trajectory;
    part.notes = deal_by_speed(plan, cluster_, program.traits(workers).places(workers), learning);
    part.learning = std::make_unique<training::Learning>(std::move(learning), dispatcher_);
    training::StopOptions stop = own.stop;
    stop.samples = stop.samples_of(part.learning->model().tokens_a_sample(part.learning->problem()));
    training::Training::Setup setup{
        .options = own.training, .stop = stop, .evaluate = own.evaluate, .recovery = plan.recovery};
    setup.turns = turns_.get();
    setup.job = part.job;
    setup.keeps_parameters = numbers_.keeper != nullptr;
    if (numbers_.last_state) setup.near_end = [this] { keep_state(); };
    part.training =
        std::make_unique<training::Training>(cluster_, *part.learning, std::move(program), std::move(setup), workers);
  }

  void keep_state() {
    try {
      if (auto contents = dispatcher_.contents(state_bytes_most)) *numbers_.last_state = std::move(*contents);
    } catch (const std::bad_alloc&) {  // the run itself has enough
    }
  }

  /// Jobs that learn from equal data share them.
  const Data& data_of(const RunPlan& plan) {
    const auto [at, fresh] = data_.try_emplace(plan.data_key());
    if (fresh) at->second = load_data(plan);
    return at->second;
  }

  void start(const Part& part) {
    if (part.start_s)
      cluster_.start_at(*part.start_s, [training = part.training.get()] { training->start(); });
    else
      part.training->start();
  }

  values::Dispatcher dispatcher_;
  cluster::Cluster cluster_;
  std::unique_ptr<cluster::GangSchedule> turns_;
  std::map<std::string, Data> data_;  ///< by data_key
  std::vector<Part> parts_;
  Numbers numbers_;
};

/// The layout that was found for the scenario, and how long the step takes that was predicted for the first strategy.
void add_found_layout(const RunPlan& run, record::Record& record) {
  const Settings& settings = *run.settings;
  if (settings.parallel.found.empty() || settings.strategies.empty()) return;
  record.notes.push_back(settings.parallel.found);
  if (run.strategy != settings.strategies.front().as_run() || record.steps == 0) return;
  record.predicted_step_s = settings.parallel.predicted_step_s;
  // Failures and checkpoints are no part of the prediction.
  if (record.crashes.value_or(0) > 0 || record.checkpoint_s.value_or(0.0) > 0.0) return;
  record.prediction_error = *record.predicted_step_s * static_cast<double>(record.steps) / record.simulated_s - 1.0;
}

}  // namespace

record::Record simulate(const RunPlan& run, const Data& data, int threads, training::Pulse* pulse,
                        const std::vector<cluster::TimelineLimits>& limits, const Numbers& numbers) {
  if (run.settings->serving.any()) return simulate_serving(run, data, limits);
  Simulation simulation(run, data, threads, numbers);
  training::Training& own = simulation.training(run.job);
  own.show_progress_in(pulse);
  own.world().recording().start(limits);
  std::string error = simulation.run();
  if (!simulation.contended_link().empty()) throw CollectivesMeet(simulation.contended_link());
  if (own.world().stand_ins_differ()) throw CollectivesMeet("");
  if (simulation.state_misfits()) throw StateMisfits();
  const bool complete = own.world().ended();
  if (!complete && error.empty()) error = "every rank has ended, but the training has not: a strategy stopped early";
  simulation.end();
  record::Record record = own.take_record();
  require_none_left_out(own.world(), record);
  if (run.settings->cluster.failures.market == cluster::Market::spot && record.crashes.value_or(0) == 0)
    record.notes.push_back(
        fmt::format("no interruption occurred within {}: spot is untested; a longer run or other seeds may have some",
                    outputs::duration(record.simulated_s)));
  if (data) record.loss_floor = data->train.loss_floor;
  if (record.loss_floor)
    record.notes.push_back(
        fmt::format("no model's expected loss is below {:.6g}, the entropy of the next token", *record.loss_floor));
  if (std::string note = note_on_experts(run, record); !note.empty()) record.notes.push_back(std::move(note));
  for (const record::SourceScore& source : record.sources)
    if (source.loss && source.metric && std::isfinite(*source.loss))
      record.notes.push_back(fmt::format("source {}: loss {:.6g}, {} {:.4g} at the last evaluation", source.name,
                                         *source.loss, source.metric_name, *source.metric));
  add_found_layout(run, record);
  const std::vector<std::string>& known = simulation.notes(run.job);
  record.notes.insert(record.notes.end(), known.begin(), known.end());
  if (record.prediction_error)
    record.notes.push_back(fmt::format("predicted step {}, simulated {} ({:.1f} % off)",
                                       outputs::duration(*record.predicted_step_s),
                                       outputs::duration(record.simulated_s / static_cast<double>(record.steps)),
                                       100.0 * std::abs(*record.prediction_error)));
  for (const std::string& note : {note_on_way(own.world(), record), note_on_left_out(own.world(), record)})
    if (!note.empty()) record.notes.push_back(note);
  const std::vector<std::string> by_auto = notes_on_auto(own.world());
  for (const std::string& note : by_auto.empty() ? notes_on_nccl(record) : by_auto) record.notes.push_back(note);
  const bool of_another_job = complete && simulation.several();
  if (!error.empty() && !of_another_job) {
    record.status = record::Status::failed;
    record.error = error;
    record.goodput.reset();
  }
  if (numbers.keeper && own.evaluated() && !own.evaluated().timing_only()) try {
      numbers.keeper->keep({own.evaluated().value(), record});
    } catch (const base::EnvironmentError& fault) {
      numbers.keeper->fault = fault.what();
    }
  return record;
}

}  // namespace simgrad::experiment

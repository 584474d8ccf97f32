#include "training/session/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/rank_and_retry.h"
#include "cluster/computed/beside_messages.h"
#include "cluster/ranks/membership.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/world.h"
#include "cluster/recording/work_scope.h"
#include "cluster/usage/usage.h"
#include "training/learning/layer_times.h"
#include "training/memory/formula.h"
#include "training/parts/model_parts.h"
#include "training/parts/stand_ins.h"
#include "training/session/async_replicas.h"
#include "training/session/keep_going.h"
#include "training/session/lockstep.h"

namespace simgrad::training {

using record::Status;

namespace {

std::string name_of(const Training::Setup& setup) {
  return setup.job > 0 ? fmt::format("train-{}", setup.job) : "train";
}

/// A step's samples where every step is one update by all gradients of the step.
std::optional<std::int64_t> lockstep_batch(const Traits& traits, const Learning& learning) {
  return traits.lockstep() ? std::optional(learning.batches().batch()) : std::nullopt;
}

/// A step's samples where their number never changes. It does where replicas go on without lost ones.
std::optional<std::int64_t> constant_batch(const Traits& traits, const Learning& learning, cluster::Recovery recovery) {
  const bool varies = recovery == cluster::Recovery::keep_going && traits.holder == Holder::workers;
  return varies ? std::nullopt : lockstep_batch(traits, learning);
}

/// The facts on which the cuts of a model and the memory of its ranks depend.
MemoryTerms memory_terms(const cluster::Cluster& cluster, const Learning& learning, const Options& options,
                         int workers) {
  const std::int64_t batch = learning.batches().batch();
  return {.layers = learning.layers(),
          .bytes = options.number_bytes(),
          .recompute = learning.recompute(),
          .workers = workers,
          .rows = (batch + workers - 1) / workers,
          .batch = batch,
          .training_rows = learning.rows(),
          .optimizer_vectors = options.optimizer->vectors(),
          .model = &learning.model(),
          .problem = &learning.problem(),
          .precision = learning.precision(),
          .update_flops = options.optimizer->flops() + (options.clip_norm ? 3.0 : 0.0),
          .fits_memory = options.memory == MemoryCheck::refuse,
          .cluster = &cluster};
}

bool from_memory(cluster::Recovery recovery) {
  return recovery == cluster::Recovery::wait || recovery == cluster::Recovery::elastic;
}

}  // namespace

Training::Training(cluster::Cluster& cluster, const Learning& learning, Program program, Setup setup, int workers)
    : cluster_(cluster),
      learning_(learning),
      program_(std::move(program)),
      traits_(program_.traits(workers)),
      parts_(traits_.cuts ? std::make_unique<const ModelParts>(
                                learning, traits_.cuts(memory_terms(cluster, learning, setup.options, workers)))
                          : nullptr),
      setup_(std::move(setup)),
      world_(cluster, name_of(setup_), workers, traits_.servers, traits_.places(workers)),
      tally_(traits_.lockstep()),
      stop_rules_(setup_.stop, learning.rows(), constant_batch(traits_, learning, recovery())),
      divergence_([&learning] { return learning.score(0.0 * learning.initial_values()).loss; }),
      replicas_(recovery() == cluster::Recovery::keep_going, [this](int rank) { return world_.alive(rank); }),
      loss_scales_(traits_.holder == Holder::workers),
      checkpoints_(cluster, from_memory(recovery())),
      curve_(learning, setup_.evaluate, [this](const auto& replicas) { return assemble(replicas); }),
      progress_(make_progress()),
      recovery_driver_(world_, replicas_, *this,
                       {.seed = learning.seed(),
                        .recovery = recovery(),
                        .servers_hold = holder() == Holder::servers,
                        .workers_hold = holder() == Holder::workers}) {
  if (setup_.keeps_parameters) curve_.keep_evaluated();
  if (traits_.may_stand_in && all_are_alike()) let_ranks_stand_in();
  if (times_alone() && !cluster.options().failures.any())
    if (cluster::BesideMessages* const beside = world_.computed_collectives().beside_messages()) beside->leave_out();
  world_.set_travels_as(setup_.options.travels_as());
  world_.set_cut_model(static_cast<bool>(traits_.cuts));
  world_.ranks().set_number_bytes(number_bytes(setup_.options.precision).gradient);
  const std::vector<double>& speeds = cluster.options().relative_speeds;
  for (int rank = 0; rank < world_.size(); ++rank) {
    // A server on a worker's host is as fast as that worker.
    const int as = rank < workers ? rank : world_.host(rank);
    if (as < workers && std::cmp_less(as, speeds.size()))
      world_.ranks().set_relative_speed(rank, speeds[static_cast<std::size_t>(as)]);
  }
  find_rows();
  if (learning.scores()) record_.metric_name = learning.model().metric(learning.problem());
  record_.network_model = name(cluster.options().network_model);
}

Training::~Training() = default;

/// The memory of that rank's host is lost.
void Training::forget(int rank) {
  checkpoints_.forget(rank);
  if (rows_) rows_->lose(rank);
}

/// Whether only the clock is simulated.
bool Training::times_alone() const { return !learning_.dispatcher().numbers() && !learning_.dispatcher().lineages(); }

/// Whether only the clock is simulated, and no host or rank differs from another.
bool Training::all_are_alike() const {
  const cluster::Options& options = cluster_.options();
  return times_alone() && world_.computes_collectives() && options.undisturbed() && options.slow_links.empty() &&
         setup_.options.input.from == InputFrom::memory && !setup_.options.checkpoints() && !setup_.turns &&
         parts_->tensor_ranks_are_alike();
}

void Training::let_ranks_stand_in() {
  auto stand_ins = stand_ins_of(parts_->mesh(), world_,
                                {.along = parts_->sums_along(), .meets = traits_.meets, .rings = traits_.rings});
  if (!stand_ins) return;
  const int simulated = world_.workers() / stand_ins->times;
  tally_.note(fmt::format(
      "{} of {} ranks were simulated: each stands for itself and {} more, which share its products or have its part of "
      "the model, since all hosts are alike and no two of them send on one link (set "
      "parallel.simulate to all for the others)",
      simulated, world_.workers(), stand_ins->times - 1));
  world_.set_stand_ins(std::move(stand_ins));
}

std::unique_ptr<Progress> Training::make_progress() {
  Progress::Hooks hooks{.observe =
                            [this](Observed state) {
                              observe(std::move(state));
                              return !world_.ended();
                            },
                        .remember =
                            [this](int rank, const State& state, int reporters) {
                              if (!shared_.in_stores()) checkpoints_.remember(rank, state, reporters);
                            }};
  if (traits_.own_pace())
    return std::make_unique<AsyncReplicas>(
        std::move(hooks), [this](int rank) { return world_.alive(rank); }, tally_, stop_rules_, replicas_);
  if (replicas_.keep_going() && holder() == Holder::workers)
    return std::make_unique<KeepGoing>(std::move(hooks), learning_.batches(), stop_rules_, replicas_);
  return std::make_unique<Lockstep>(std::move(hooks), lockstep_batch(traits_, learning_), tally_, stop_rules_);
}

void Training::start() {
  world_.begin();
  // A rank that loses its peer has nothing to do until the recovery driver ends its actors.
  world_.ranks().on_peer_lost = [](int) { cluster::Ranks::stand_still(); };
  world_.recovering = [this] { return recovery_driver_.pending(); };
  schedule_timers();
  if (setup_.stop.steps)
    if (std::string text = about_steps(traits_, *setup_.stop.steps); !text.empty()) tally_.note(std::move(text));
  if (std::string text = about_rows(traits_, learning_.batches(), world_.workers()); !text.empty())
    tally_.note(std::move(text));
  if (const auto& faulty = cluster_.options().faulty; faulty->there() && world_.size() > 1)
    tally_.note(faulty->note(faulty.kind(), world_.workers(), learning_.seed()));
  const auto failing_hosts = static_cast<std::int64_t>(ranks_that_fail(cluster_, world_).size());
  if (traits_.copies_next_stage) keep_copies();
  for (std::string& text : checkpoints_.plan(
           setup_.options, [this] { return checkpoint_bytes(); }, failing_hosts))
    tally_.note(std::move(text));
  recovery_driver_.schedule_crashes();
  if (replicas_.keep_going()) world_.membership().set_keeps_going();
  launch();
}

base::Stream Training::stream(base::Purpose purpose, int rank, std::int64_t step, std::uint32_t retry) const {
  return base::Stream({.seed = learning_.seed(),
                       .purpose = purpose,
                       // 32 bits of step, and in a run of several jobs another stream for each.
                       .step = static_cast<std::uint64_t>(step) | static_cast<std::uint64_t>(setup_.job) << 32,
                       .rank = base::rank_and_retry(static_cast<std::uint32_t>(rank), retry),
                       .attempt = static_cast<std::uint16_t>(generation_->number())});
}

bool Training::report(int rank, const State& state) {
  if (world_.ended()) return false;
  cluster_.step();
  // In the last step a strategy may do what a longer training would not, as one last average.
  if (setup_.near_end && last_step(state.step + 1)) come_near_end();
  const std::int64_t judged = progress_->arrive(rank, state);
  return !world_.ended() && !last_step(judged);
}

/// The share of its state that a rank writes: equal replicas are written once, on a mesh by all that have the part.
double Training::share_of_checkpoint(int rank) const {
  if (holder() != Holder::workers || traits_.replicas_differ) return 1.0;
  if (parts_) return 1.0 / static_cast<double>(parts_->workers_with(rank)->size());
  return generation_->place(rank) == 0 ? 1.0 : 0.0;
}

void Training::write_checkpoint(const cluster::Communicator& comm, const State& reached) {
  if (!checkpoints_.writes() || world_.ended()) return;
  const int rank = comm.world_rank(comm.rank());
  const auto state =
      progress_->due_checkpoint(rank, reached, [this](std::int64_t step) { return checkpoints_.chosen(step); });
  if (!state) return;
  checkpoints_.write(comm, *state, share_of_checkpoint(rank), [this] {
    const bool some_are_lost = replicas_.keep_going() && holder() == Holder::workers;
    return some_are_lost ? replicas_.active_count() : generation_->reporters();
  });
}

void Training::await_turn(std::int64_t step) const {
  if (setup_.turns) setup_.turns->come(setup_.job, step, generation_->reporters());
}

bool Training::arrive(const cluster::Communicator& comm, const State& state) {
  if (!report(comm.world_rank(comm.rank()), state)) return false;
  write_checkpoint(comm, state);
  const cluster::WorkScope work_scope(comm, record::Work::turn);
  await_turn(state.step);
  return true;
}

bool Training::arrive(const cluster::Communicator& comm, std::int64_t step, std::shared_ptr<const Store> store) {
  if (world_.ended()) return false;
  const int rank = comm.world_rank(comm.rank());
  State state;
  if (curve_.due(step, last_step(step))) state = store->state();
  state.step = step;
  shared_.keep_store(rank, store);
  if (!report(rank, state)) return false;
  if (checkpoints_.writes() && step > 0 && !world_.ended() && checkpoints_.chosen(step)) {
    state = store->state();
    state.step = step;
    write_checkpoint(comm, state);
  }
  const cluster::WorkScope work_scope(comm, record::Work::turn);
  await_turn(step);
  return true;
}

/// Records the servers' imbalance and the caches' hit rate, of tables dealt by key.
void Training::record_keys() {
  const SparseLearning* const sparse = shared_.sparse();
  if (!sparse || traits_.sharding != Sharding::keys) return;
  if (sparse->caches && sparse->keys_needed > 0)
    record_.cache_hit_rate = static_cast<double>(sparse->keys_cached) / static_cast<double>(sparse->keys_needed);
  double most = 0.0, sum = 0.0;
  for (const record::RankUse& use : record_.ranks) {
    if (use.role != "server") continue;
    const auto bytes = static_cast<double>(use.bytes_sent + use.bytes_received);
    most = std::max(most, bytes);
    sum += bytes;
  }
  if (world_.servers() > 1 && sum > 0.0) record_.server_imbalance = most * world_.servers() / sum;
}

/// Records what devices do a second, and tokens.
void Training::fill_throughput() {
  record::Throughput& rates = record_.throughput;
  double peak = 0.0;
  for (int rank = 0; rank < world_.workers(); ++rank)
    if (const cluster::Device* device = cluster_.device(world_.host(rank)))
      peak += device->peak(multiplies_in(setup_.options.precision)).value_or(0.0);
  const double tokens_a_sample = learning_.model().tokens_a_sample(learning_.problem());
  if (!(record_.simulated_s > 0.0) || (peak == 0.0 && tokens_a_sample == 0.0)) return;
  const auto samples = static_cast<double>(record_.samples), workers = static_cast<double>(world_.workers());
  rates.samples_per_s = samples / record_.simulated_s;
  rates.samples_per_s_per_device = *rates.samples_per_s / workers;
  if (tokens_a_sample > 0.0) {
    constexpr double trillion = 1e12, day_s = 86400.0;
    rates.tokens = samples * tokens_a_sample;
    rates.tokens_per_s = *rates.tokens / record_.simulated_s;
    rates.tokens_per_s_per_device = *rates.tokens_per_s / workers;
    if (samples > 0.0) rates.days_per_trillion_tokens = trillion / *rates.tokens_per_s / day_s;
  }
  if (peak == 0.0) return;
  const double flops = learning_.model().gradient_flops(learning_.problem(), record_.samples);
  rates.mfu = flops / (record_.simulated_s * peak);
  // V. Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models", 2022: 56 % at 512 GPUs.
  if (constexpr double seldom = 0.55; *rates.mfu > seldom)
    record_.notes.push_back(fmt::format(
        "a model flops utilisation of {:.1f} % is seldom reached: large published trainings have at most some "
        "{:.0f} %; efficiency, half_size and launch of the device model what real kernels lose",
        100.0 * *rates.mfu, 100.0 * seldom));
  rates.hfu = learning_.gradient_flops(record_.samples) / (record_.simulated_s * peak);
}

/// Records what the memory of each rank's device holds, and says so where a rank needs more.
void Training::fill_memory_limits() {
  int over = 0;
  const record::RankUse* fullest = nullptr;
  for (std::size_t rank = 0; rank < record_.ranks.size(); ++rank) {
    record::RankUse& use = record_.ranks[rank];
    if (!use.memory_bytes) continue;
    const cluster::Device* const device = cluster_.device(world_.host(static_cast<int>(rank)));
    use.memory_limit_bytes = cluster_.options().memory_bytes;
    if (!use.memory_limit_bytes && device && device->memory_bytes > 0.0) use.memory_limit_bytes = device->memory_bytes;
    if (!use.memory_limit_bytes || *use.memory_bytes <= *use.memory_limit_bytes) continue;
    ++over;
    if (!fullest || *use.memory_bytes > *fullest->memory_bytes) fullest = &use;
  }
  if (!fullest) return;
  const auto text = [](double bytes) {
    return base::format_quantity(std::stod(fmt::format("{:.3e}", bytes)), base::Unit::bytes);
  };
  record_.notes.push_back(
      fmt::format("{} of {} ranks do not fit into the memory of their devices: one of them needs {} and has {} "
                  "(training.memory = \"ignore\")",
                  over, record_.ranks.size(), text(*fullest->memory_bytes), text(*fullest->memory_limit_bytes)));
}

/// Records the places of ranks in the mesh of a cut model, and the links of its dimensions.
void Training::fill_mesh() {
  if (!parts_) return;
  const Mesh& mesh = parts_->mesh();
  for (int rank = 0; rank < mesh.ranks(); ++rank) {
    record::RankUse& rank_use = record_.ranks[static_cast<std::size_t>(rank)];
    record::MeshUse& use = rank_use.mesh;
    const MeshPlace place = mesh.place(rank);
    use.tensor = place[Dimension::tensor];
    if (mesh.size(Dimension::context) > 1) use.context = place[Dimension::context];
    if (mesh.size(Dimension::expert) > 1) use.expert = place[Dimension::expert];
    use.data = place[Dimension::data];
    const bool sums = parts_->sums_along(Dimension::expert) && mesh.size(Dimension::expert) > 1;
    if (sums || parts_->workers_with(rank)->size() > 1) use.data_s = tally_.mesh_time(rank).data_s(rank_use.parts);
    use.pipeline = place[Dimension::pipeline];
  }
  std::vector<std::string> names;
  for (std::size_t k = 0; k < dimensions_of_mesh; ++k) names.emplace_back(name(static_cast<Dimension>(k)));
  cluster::add_dimensions(record_, world_, names, [&mesh](int source, int target) {
    const MeshPlace from = mesh.place(source), to = mesh.place(target);
    // A hop may lead to any replica of another stage that has ranks of its own.
    if (mesh.by_stages() && from[Dimension::pipeline] != to[Dimension::pipeline])
      return static_cast<std::size_t>(Dimension::pipeline);
    std::vector<std::size_t> along;
    for (std::size_t k = 0; k < dimensions_of_mesh; ++k)
      if (from[static_cast<Dimension>(k)] != to[static_cast<Dimension>(k)]) along.push_back(k);
    // A sum of gradients over several dimensions has such messages, and some along each of them alone.
    return along.size() == 1 ? along.front() : static_cast<std::size_t>(Dimension::data);
  });
}

void Training::fill_sources() {
  const std::vector<models::SourceShape>& sources = learning_.problem().sources;
  for (std::size_t s = 0; s < sources.size(); ++s) {
    record::SourceScore score{.name = sources[s].name, .metric_name = sources[s].classes > 0 ? "accuracy" : "r2"};
    if (2 * s + 1 < curve_.of_sources().size()) {
      score.loss = curve_.of_sources()[2 * s];
      score.metric = curve_.of_sources()[2 * s + 1];
    }
    record_.sources.push_back(std::move(score));
  }
}

record::Record Training::take_record() {
  world_.fill(record_);
  if (const std::string note = loss_scales_.note(); !note.empty()) tally_.note(note);
  if (world_.stand_ins()) tally_.repeat(world_.stand_ins()->of);
  tally_.fill(record_);
  fill_memory_limits();
  fill_mesh();
  checkpoints_.fill(record_, replicas_.keep_going());
  record_keys();
  record_.steps = latest_step();
  if (record_.predicted_step_s && record_.steps > 0)
    record_.prediction_error =
        *record_.predicted_step_s * static_cast<double>(record_.steps) / record_.simulated_s - 1.0;
  record_.stored_bytes = learning_.rows() * learning_.row_bytes();
  if (setup_.options.checkpoint_every_steps > 0)
    record_.stored_bytes += learning_.state_bytes(*setup_.options.optimizer);
  record_.samples = progress_->samples_at(curve_.latest());
  record_.samples_seen = samples_seen();
  record_.epochs = static_cast<double>(record_.samples) / static_cast<double>(learning_.rows());
  record_.curve = curve_.take_rows();
  if (!record_.curve.empty()) {
    record_.final_loss = record_.curve.back().loss;
    record_.dropped_share = record_.curve.back().dropped_share;
    record_.expert_imbalance = record_.curve.back().expert_imbalance;
  }
  if (const auto assumed = times_alone() ? learning_.model().assumed_choices() : std::nullopt) {
    record_.dropped_share = assumed->dropped_share;
    record_.expert_imbalance = assumed->imbalance;
  }
  fill_sources();
  fill_throughput();
  return std::move(record_);
}

}  // namespace simgrad::training

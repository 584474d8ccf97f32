#include "training/learning/learning.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/errors.h"
#include "base/hash.h"
#include "models/model_part.h"
#include "training/checkpoints/checkpoint_store.h"
#include "training/learning/samples.h"
#include "values/rounding.h"

namespace simgrad::training {

using values::Tensor;

namespace {

std::shared_ptr<const data::Dataset> training_set(const std::shared_ptr<const data::Split>& data) {
  return data ? std::shared_ptr<const data::Dataset>(data, &data->train) : nullptr;
}

/// Whether the model is a part of another, without the loss.
bool has_layers_behind(const models::Model& model) {
  const auto* const part = dynamic_cast<const models::ModelPart*>(&model);
  return part != nullptr && !part->has_loss();
}

double squared_deviation(const std::vector<double>& targets) {
  double sum = 0.0;
  for (const double y : targets) sum += y;
  const double mean = targets.empty() ? 0.0 : sum / static_cast<double>(targets.size());
  double squares = 0.0;
  for (const double y : targets) squares += (y - mean) * (y - mean);
  return squares;
}

/// The targets of a mixture's source.
std::vector<double> targets_of(const data::Dataset& set, const models::SourceShape& source) {
  std::vector<double> targets;
  for (std::int64_t i = 0; i < set.rows; ++i)
    for (std::int64_t k = 0; k < source.rows; ++k)
      targets.push_back(
          set.row(i)[static_cast<std::size_t>(source.first + k * (source.features + 1) + source.features)]);
  return targets;
}

}  // namespace

Learning::Learning(Setup setup, values::Dispatcher& dispatcher)
    : setup_(std::move(setup)),
      k_means_(setup_.model->k_means()),
      task_model_(setup_.model->task_model()),
      dispatcher_(dispatcher),
      parameters_(setup_.model->parameters(setup_.problem)),
      layers_(setup_.model->layers(setup_.problem)),
      units_(units_of(layers_)),
      passes_on_(has_layers_behind(*setup_.model)),
      batches_({.rows = setup_.rows,
                .batch = setup_.batch,
                .partition = setup_.partition,
                .seed = setup_.seed,
                .labelled = training_set(setup_.data),
                .speeds = setup_.speeds,
                .most_rows = setup_.most_rows,
                .rows_unit = setup_.rows_unit}) {
  for (std::size_t layer = 0; layer < layers_.size(); ++layer) recomputed_flops_ += recomputed_flops(layer);
  if (!setup_.data) return;
  target_deviation_ = squared_deviation(evaluation_set().targets);
  for (const models::SourceShape& source : setup_.problem.sources)
    source_deviations_.push_back(squared_deviation(targets_of(evaluation_set(), source)));
}

const data::Dataset& Learning::evaluation_set() const {
  return setup_.evaluate_on == EvaluationSet::test ? setup_.data->test : setup_.data->train;
}

std::int64_t Learning::state_bytes(const Optimizer& optimizer) const {
  State state{.w = dispatcher_.zeros(parameters_)};
  optimizer.start(state);
  return static_cast<std::int64_t>(std::ceil(bytes_of(state, training::number_bytes(precision()))));
}

const Learning::CodedShape& Learning::coded_shape(const Compressor& compressor, std::int64_t first, std::int64_t length,
                                                  std::size_t pieces, const std::function<CodedShape()>& find) const {
  const auto [known, is_new] = coded_shapes_.try_emplace({&compressor, first, length, pieces});
  if (is_new) known->second = find();
  return known->second;
}

double Learning::gradient_flops(int part, int parts) const { return gradient_flops(batches_.count(part, parts)); }

double Learning::gradient_flops(std::int64_t rows) const {
  double flops = 0.0;  // as models::Model::gradient_flops(), without making the layers anew
  for (const models::Layer& layer : layers_) flops += layer.forward_flops + layer.backward_flops;
  return flops * static_cast<double>(rows) + recomputed_flops_ * static_cast<double>(rows);
}

template <class Work>
Tensor Learning::dispatch_on_rows(std::string_view name, double flops, std::int64_t size, const Tensor& w,
                                  const Share& share, Work work, std::uint64_t variant,
                                  const values::WireFormat& wire_format) const {
  const auto of_w = [work](std::span<const std::span<const double>> in, const models::Samples& samples,
                           std::span<double> result) { work(in[0], samples, result); };
  return dispatch_of_inputs(name, flops, size, {&w, 1}, share, of_w, variant, wire_format);
}

template <class Work>
Tensor Learning::dispatch_of_inputs(std::string_view name, double flops, std::int64_t size,
                                    std::span<const Tensor> inputs, const Share& share, Work work,
                                    std::uint64_t variant, const values::WireFormat& wire_format) const {
  // A full batch is the same in every step, so equal w give equal results.
  const auto [part, parts] = share.micro;
  const std::array<std::uint64_t, 6> key{batches_.full() ? 0 : static_cast<std::uint64_t>(share.step) + 1,
                                         static_cast<std::uint64_t>(share.part),
                                         static_cast<std::uint64_t>(share.parts),
                                         variant,
                                         static_cast<std::uint64_t>(share.arrived.value_or(0)),
                                         static_cast<std::uint64_t>(part) << 32 | static_cast<std::uint64_t>(parts)};
  // Even of no rows a result is written.
  const values::Operation operation{.name = name,
                                    .key = key,
                                    .seconds = flops / flops_per_real_second + 1e-9 * static_cast<double>(size),
                                    .wire_format = wire_format};
  return dispatcher_.dispatch(operation, size, inputs,
                              [data = setup_.data, batches = batches_, share, work, effort = effort_](
                                  std::span<const std::span<const double>> in, std::span<double> result) {
                                const Stopwatch watch(effort->gradients_ns);
                                ++effort->gradients;
                                const RowSet rows = batches.rows(share);
                                models::Samples samples = samples_of(data->train);
                                samples.first = rows.first;
                                samples.count = rows.count;
                                samples.indices = rows.indices.empty() ? nullptr : rows.indices.data();
                                work(in, samples, result);
                              });
}

namespace {

/// A number of its own for every step of every chunk of a model.
std::uint64_t variant_of(const models::Chunk& chunk, const CutStep& step) {
  const auto among = [](int ranks, int rank) {
    return static_cast<std::uint64_t>(ranks) << 32 | static_cast<std::uint64_t>(rank);
  };
  std::vector<std::uint64_t> words{static_cast<std::uint64_t>(chunk.first_unit),
                                   static_cast<std::uint64_t>(chunk.end_unit),
                                   among(chunk.tensor, chunk.tensor_rank),
                                   among(chunk.context, chunk.context_rank),
                                   among(chunk.expert, chunk.expert_rank),
                                   chunk.sequence_parallel ? 1U : 0U,
                                   step.segment,
                                   step.backward ? 1U : 0U,
                                   step.step};
  for (const double weight : chunk.tensor_weights) words.push_back(std::bit_cast<std::uint64_t>(weight));
  return base::digest(words).low;
}

}  // namespace

Tensor Learning::initial_values() const {
  // All ranks with one part begin with one tensor.
  std::vector<std::uint64_t> key;
  if (part_)
    for (const models::PlacedChunk& placed : part_->chunks()) key.push_back(variant_of(placed.chunk, {}));
  if (part_ && key.empty()) return dispatcher_.zeros(0);
  const Tensor w = dispatcher_.dispatch(
      {.name = "initial_values", .key = key, .seconds = 1e-8 * static_cast<double>(parameters_)}, parameters_, {},
      [model = setup_.model, problem = setup_.problem, seed = setup_.seed](auto, std::span<double> w_0) {
        model->initial_values(problem, seed, w_0);
      });
  return setup_.precision == Precision::float64 ? w : values::rounded(w, values::Format::float32);
}

Tensor Learning::run(const CutStep& step, const Share& share, const CutInputs& inputs) const {
  const models::PlacedChunk& placed = part_->chunks()[step.chunk];
  const models::Segment& segment = placed.segments[step.segment];
  const models::Step& model_step = (step.backward ? segment.backward : segment.forward)[step.step];
  const std::int64_t rows = share.micro.count(batches_.count(share.part, share.parts));
  const std::int64_t numbers = std::llround(static_cast<double>(rows) * model_step.numbers);
  std::vector<Tensor> all{inputs.w};
  if (inputs.in) all.push_back(inputs.in);
  if (inputs.d_out) all.push_back(inputs.d_out);
  all.insert(all.end(), inputs.made.begin(), inputs.made.end());
  all.insert(all.end(), inputs.kept.begin(), inputs.kept.end());
  const values::Format format = travels_as(setup_.precision);
  const auto work = [part = part_, problem = setup_.problem, chunk = placed.chunk, step, format,
                     B = static_cast<double>(batches_.batch()), has_in = static_cast<bool>(inputs.in),
                     made = inputs.made.size(), has_out = static_cast<bool>(inputs.d_out)](
                        std::span<const std::span<const double>> in, const models::Samples& samples,
                        std::span<double> result) {
    std::size_t next = 1;
    models::StepInputs given{.w = in[0], .rows = samples, .in = {}};
    if (has_in) given.in = in[next++];
    if (has_out) given.d_out = in[next++];
    given.made = in.subspan(next, made);
    given.kept = in.subspan(next + made);
    given.scale = 1.0 / B;
    given.penalty_scale = static_cast<double>(samples.count * chunk.expert) / B;
    given.format = format;
    part->cut_model().run(problem, chunk, step.segment, step.backward, step.step, given, result);
  };
  double flops = 0.0;
  for (std::size_t i = segment.first_layer; i < segment.first_layer + segment.layers; ++i)
    flops +=
        step.backward ? layers_[placed.first_layer + i].backward_flops : layers_[placed.first_layer + i].forward_flops;
  return dispatch_of_inputs("pass of a segment", flops * static_cast<double>(rows),
                            numbers + (model_step.gradients ? inputs.w.size() : 0), all, share, work,
                            variant_of(placed.chunk, step), values::wire_format(format));
}

std::unique_ptr<const Learning> Learning::of_part(std::shared_ptr<const models::ModelPart> part) const {
  Setup setup = setup_;
  setup.model = part;
  setup.trajectory = nullptr;
  auto learning = std::make_unique<Learning>(std::move(setup), dispatcher_);
  learning->batches_ = batches_;
  learning->effort_ = effort_;
  learning->part_ = std::move(part);
  return learning;
}

void Learning::round(State& state) const {
  if (setup_.precision == Precision::float64) return;
  state.w = values::rounded(state.w, values::Format::float32);
  for (Tensor& vector : state.optimizer) vector = values::rounded(vector, values::Format::float32);
}

Tensor Learning::gradient_in_format(const Tensor& w, const Share& share, int loss_exponent) const {
  const values::Format format = travels_as(setup_.precision);
  values::WireFormat wire = values::wire_format(format);
  wire.exponent = loss_exponent;
  return dispatch_on_rows(
      "gradient in a format", gradient_flops(share.part, share.parts), parameters_, w, share,
      [model = setup_.model, problem = setup_.problem, format, scale = std::ldexp(1.0, loss_exponent),
       B = static_cast<double>(batches_.batch())](std::span<const double> at, const models::Samples& rows,
                                                  std::span<double> g) {
        model->gradient_in(format, problem, rows, at, scale / B, scale * static_cast<double>(rows.count) / B, g);
        for (double& g_j : g) g_j /= scale;
      },
      static_cast<std::uint64_t>(loss_exponent), wire);
}

Tensor Learning::gradient(const Tensor& w, const Share& share, int loss_exponent) const {
  if (setup_.precision != Precision::float64) return gradient_in_format(w, share, loss_exponent);
  return dispatch_on_rows("gradient", gradient_flops(share.part, share.parts), parameters_, w, share,
                          [model = setup_.model, problem = setup_.problem, B = static_cast<double>(batches_.batch())](
                              std::span<const double> at, const models::Samples& rows, std::span<double> g) {
                            model->gradient(problem, rows, at, 1.0 / B, static_cast<double>(rows.count) / B, g);
                          });
}

double Learning::assignment_flops(int part, int parts) const {
  base::check(clusters(), "only k-means assigns rows to centres");
  return k_means_->assignment_flops(setup_.problem, batches_.count(part, parts));
}

Tensor Learning::assignments(const Tensor& w, const Share& share) const {
  base::check(clusters(), "only k-means assigns rows to centres");
  return dispatch_on_rows("assignments", assignment_flops(share.part, share.parts),
                          k_means_->assignment_size(setup_.problem), w, share,
                          [owner = setup_.model, model = k_means_, problem = setup_.problem](
                              std::span<const double> at, const models::Samples& rows, std::span<double> sums) {
                            model->assign(problem, rows, at, sums);
                          });
}

Tensor Learning::centres(const Tensor& w, const Tensor& sums) const {
  base::check(clusters(), "only k-means has centres");
  const std::array inputs{w, sums};
  const values::Operation operation{.name = "centres",
                                    .seconds = static_cast<double>(w.size()) / flops_per_real_second};
  return dispatcher_.dispatch(operation, w.size(), inputs,
                              [](std::span<const std::span<const double>> in, std::span<double> centres) {
                                models::centres_of(in[0], in[1], centres);
                              });
}

double Learning::task_gradient_flops(const models::Tasks& tasks, int part, int parts) const {
  base::check(task_model_ != nullptr, "only a model of several tasks has a gradient of some");
  return task_model_->task_gradient_flops(setup_.problem, batches_.count(part, parts), tasks);
}

Tensor Learning::task_gradient(const Tensor& w, const models::Tasks& tasks, const Share& share,
                               int loss_exponent) const {
  const auto variant = static_cast<std::uint64_t>(tasks.first * (task_model_->tasks(setup_.problem) + 1) + tasks.count);
  const values::Format format = travels_as(setup_.precision);
  values::WireFormat wire = values::wire_format(format);
  wire.exponent = loss_exponent;
  return dispatch_on_rows(
      "task_gradient", task_gradient_flops(tasks, share.part, share.parts), parameters_, w, share,
      [owner = setup_.model, model = task_model_, tasks, problem = setup_.problem, format,
       scale = std::ldexp(1.0, loss_exponent), B = static_cast<double>(batches_.batch())](
          std::span<const double> at, const models::Samples& rows, std::span<double> g) {
        if (format == values::Format::float64) return model->task_gradient(problem, rows, tasks, at, 1.0 / B, g);
        std::vector<double> rounded(at.size());
        values::round_numbers(format, at, rounded);
        model->task_gradient(problem, rows, tasks, rounded, scale / B, g);
        values::round_numbers(format, g, g);
        for (double& g_j : g) g_j /= scale;
      },
      variant * 64 + static_cast<std::uint64_t>(loss_exponent), wire);
}

Tensor mean(std::span<const Tensor> replicas) {
  const Tensor& first = replicas.front();
  // Ranks that drift apart may compute the same update twice: equal numbers under two identities. Their mean is the
  // numbers themselves, which a sum of P-ths would round.
  const auto same = [&](const Tensor& w) {
    if (w.identity() == first.identity()) return true;
    if (w.lineage() != values::Lineage() && w.lineage() == first.lineage()) return true;
    return !w.timing_only() && !first.timing_only() && std::ranges::equal(w.value(), first.value());
  };
  if (std::all_of(replicas.begin(), replicas.end(), same)) return replicas.front();
  const std::vector<double> scales(replicas.size(), 1.0 / static_cast<double>(replicas.size()));
  return values::weighted_sum(replicas, scales);
}

namespace {

double computed_distance(std::span<const Tensor> replicas, const Tensor& mean) {
  double squares = 0.0;
  for (const Tensor& w : replicas) {
    if (w.identity() == mean.identity()) continue;
    const auto a = w.value();
    const auto b = mean.value();
    for (std::size_t i = 0; i < a.size(); ++i) squares += (a[i] - b[i]) * (a[i] - b[i]);
  }
  return std::sqrt(squares / static_cast<double>(replicas.size()));
}

/// The lineage of all of them together.
values::Lineage lineage_of_all(std::span<const Tensor> replicas) {
  std::vector<std::uint64_t> words;
  for (const Tensor& w : replicas) {
    if (w.lineage() == values::Lineage()) return {};
    words.insert(words.end(), {w.lineage().high, w.lineage().low});
  }
  return base::digest(words);
}

}  // namespace

double Learning::consensus_distance(std::span<const Tensor> replicas, const Tensor& mean) const {
  const auto compute = [&] { return computed_distance(replicas, mean); };
  if (!setup_.trajectory) return compute();
  const bool computable = !mean.timing_only() && std::ranges::none_of(replicas, &Tensor::timing_only);
  return setup_.trajectory->distance(lineage_of_all(replicas), computable ? std::function<double()>(compute) : nullptr);
}

}  // namespace simgrad::training

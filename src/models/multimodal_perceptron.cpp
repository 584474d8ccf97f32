#include "models/multimodal_perceptron.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/errors.h"
#include "base/hash.h"

namespace simgrad::models {

/// Where a source's parameters are in w. Its network has them in this order.
struct MultimodalPerceptron::Place {
  ParameterRange tower, trunk, head;
  std::size_t tower_layers = 0;

  /// Copies all numbers of the network: out of w, or into it.
  template <class W, class Network>
  void each(W w, Network network, auto transfer) const {
    auto network_at = network.begin();
    for (const ParameterRange& range : {tower, trunk, head}) {
      const auto part = w.subspan(static_cast<std::size_t>(range.first), static_cast<std::size_t>(range.count));
      for (auto& w_j : part) transfer(w_j, *network_at++);
    }
  }
};

namespace {

/// A source's rows of some samples, as a data set of its own.
struct SourceRows {
  std::vector<double> features;
  std::vector<double> targets;
  std::int64_t columns = 0;

  SourceRows(const SourceShape& shape, const Samples& samples) : columns(shape.features) {
    const std::int64_t rows = samples.count * shape.rows;
    features.reserve(static_cast<std::size_t>(rows * shape.features));
    targets.reserve(static_cast<std::size_t>(rows));
    for (std::int64_t i = 0; i < samples.count; ++i) {
      const double* x = samples.features + samples.row(i) * samples.columns + shape.first;
      for (std::int64_t k = 0; k < shape.rows; ++k) {
        features.insert(features.end(), x, x + shape.features);
        targets.push_back(x[shape.features]);
        x += shape.features + 1;
      }
    }
  }
  Samples samples() const {
    return {.features = features.data(),
            .targets = targets.data(),
            .columns = columns,
            .count = static_cast<std::int64_t>(targets.size())};
  }
};

/// The layers of one source as those of samples that have several of its rows.
Layer of_samples(Layer layer, double rows) {
  layer.forward_flops *= rows;
  layer.backward_flops *= rows;
  for (Product& product : layer.products) product.m *= rows;
  layer.kept.numbers *= rows;
  layer.entrance *= rows;
  return layer;
}

/// Adds the work that another source has in a layer of the trunk.
void add_work(Layer& layer, const Layer& other) {
  layer.forward_flops += other.forward_flops;
  layer.backward_flops += other.backward_flops;
  for (std::size_t i = 0; i < layer.products.size(); ++i) layer.products[i].m += other.products[i].m;
  layer.kept.numbers += other.kept.numbers;
  layer.entrance += other.entrance;
}

}  // namespace

void Tower::describe(base::Describer& d) {
  d.numbers("hidden", hidden, "units of the tower's hidden layers, before the embedding; [] for none",
            base::Bounds::between(1.0, 1e6));
  if (std::ranges::any_of(hidden, [](double width) { return width != std::floor(width); }))
    d.refuse("hidden", "units are counted: expected whole numbers, as in hidden = [256, 64]");
  d.number("weight", weight, "the weight of this source's loss", base::Bounds::above_zero());
}

void MultimodalPerceptron::describe(base::Describer& d) {
  d.list("towers", towers, "one for each of the data's parts, in their order; none: each with the defaults");
  d.number("embedding", embedding, "the units in which every tower ends, and that the trunk reads",
           base::Bounds::between(1.0, 1e6));
  if (embedding != std::floor(embedding))
    d.refuse("embedding", "units are counted: expected a whole number, as in embedding = 64");
  describe_hidden_layers(d, hidden, activation,
                         "the trunk has at least one hidden layer, which all sources share; expected its units, as in "
                         "hidden = [64]");
}

std::string MultimodalPerceptron::refusal(const Problem& problem) const {
  if (problem.sources.empty())
    return "multimodal_perceptron has a tower for each source of a mixture, but the data are one source; set [data] "
           "source = \"mixture\"";
  if (!towers.empty() && towers.size() != problem.sources.size())
    return fmt::format(
        "multimodal_perceptron has {} tower{}, but the mixture has {} part{}; give each part a tower, in "
        "their order, or leave towers out",
        towers.size(), towers.size() == 1 ? "" : "s", problem.sources.size(), problem.sources.size() == 1 ? "" : "s");
  for (const SourceShape& source : problem.sources)
    if (source.classes == 1)
      return fmt::format("multimodal_perceptron needs two classes or more, but part \"{}\" has 1", source.name);
  return {};
}

std::int64_t MultimodalPerceptron::tasks(const Problem& problem) const {
  return static_cast<std::int64_t>(problem.sources.size());
}

std::shared_ptr<const Perceptron> MultimodalPerceptron::network(const Problem& problem, std::size_t source) const {
  auto network = std::make_shared<Perceptron>();
  network->hidden = tower(source).hidden;
  network->hidden.push_back(embedding);
  network->hidden.insert(network->hidden.end(), hidden.begin(), hidden.end());
  network->activation = activation;
  network->outputs =
      problem.sources.at(source).classes > 0 ? Perceptron::Outputs::classes : Perceptron::Outputs::number;
  return network;
}

Problem MultimodalPerceptron::problem_of(const Problem& problem, std::size_t source) {
  const SourceShape& shape = problem.sources.at(source);
  return {.features = shape.features, .classes = shape.classes};
}

MultimodalPerceptron::Place MultimodalPerceptron::place(const Problem& problem, std::size_t source) const {
  Place source_place;
  std::int64_t towers_end = 0, heads_before = 0;
  for (std::size_t s = 0; s < problem.sources.size(); ++s) {
    const std::vector<Layer> all = network(problem, s)->layers(problem_of(problem, s));
    const std::size_t tower_layers = all.size() - 1 - hidden.size();
    if (s == source) {
      source_place.tower = {towers_end, all[tower_layers].first};
      source_place.trunk.count = all.back().first - all[tower_layers].first;
      source_place.head = {heads_before, all.back().count};
      source_place.tower_layers = tower_layers;
    }
    towers_end += all[tower_layers].first;
    heads_before += all.back().count;
  }
  source_place.trunk.first = towers_end;
  source_place.head.first += towers_end + source_place.trunk.count;
  return source_place;
}

std::int64_t MultimodalPerceptron::parameters(const Problem& problem) const {
  const Layer last = layers(problem).back();
  return last.first + last.count;
}

std::vector<Layer> MultimodalPerceptron::layers(const Problem& problem) const {
  return task_layers(problem, {0, tasks(problem)});
}

std::vector<Layer> MultimodalPerceptron::task_layers(const Problem& problem, const Tasks& asked) const {
  std::vector<Layer> towers_of_all, trunk, heads;
  for (auto s = static_cast<std::size_t>(asked.first); std::cmp_less(s, asked.first + asked.count); ++s) {
    const SourceShape& shape = problem.sources[s];
    std::vector<Layer> source_layers = network(problem, s)->layers(problem_of(problem, s));
    const std::size_t tower_layers = source_layers.size() - 1 - hidden.size();
    for (std::size_t l = 0; l < source_layers.size(); ++l) {
      Layer layer = of_samples(std::move(source_layers[l]), static_cast<double>(shape.rows));
      if (l < tower_layers) {
        layer.name = fmt::format("{}: tower layer {}", shape.name, l);
        towers_of_all.push_back(std::move(layer));
      } else if (l + 1 == source_layers.size()) {
        layer.name = fmt::format("{}: head", shape.name);
        heads.push_back(std::move(layer));
      } else if (std::cmp_equal(s, asked.first)) {
        layer.name = fmt::format("trunk layer {}", l - tower_layers);
        trunk.push_back(std::move(layer));
      } else {
        add_work(trunk[l - tower_layers], layer);
      }
    }
  }
  std::vector<Layer> all = std::move(towers_of_all);
  std::ranges::move(trunk, std::back_inserter(all));
  std::ranges::move(heads, std::back_inserter(all));
  std::int64_t first = 0;
  for (std::size_t l = 0; l < all.size(); ++l) {
    all[l].first = std::exchange(first, first + all[l].count);
    all[l].unit = static_cast<std::int64_t>(l);
  }
  return all;
}

std::vector<double> MultimodalPerceptron::parameters_of(const Problem& problem, std::size_t source,
                                                        std::span<const double> w) const {
  const Place source_place = place(problem, source);
  std::vector<double> own(
      static_cast<std::size_t>(source_place.tower.count + source_place.trunk.count + source_place.head.count));
  source_place.each(w, std::span(own), [](const double& w_j, double& own_j) { own_j = w_j; });
  return own;
}

void MultimodalPerceptron::initial_values(const Problem& problem, std::uint64_t seed, std::span<double> w) const {
  for (std::size_t s = problem.sources.size(); s-- > 0;) {
    const Place source_place = place(problem, s);
    const std::array<std::uint64_t, 2> words{seed, s};
    std::vector<double> own(
        static_cast<std::size_t>(source_place.tower.count + source_place.trunk.count + source_place.head.count));
    network(problem, s)->initial_values(problem_of(problem, s), s == 0 ? seed : base::digest(words).low, own);
    source_place.each(w, std::span<const double>(own), [](double& w_j, const double& own_j) { w_j = own_j; });
  }
}

void MultimodalPerceptron::add_gradient(const Problem& problem, const Samples& rows, std::size_t source,
                                        std::span<const double> w, double scale, std::span<double> gradient) const {
  const SourceShape& shape = problem.sources[source];
  const SourceRows source_rows(shape, rows);
  const std::vector<double> own = parameters_of(problem, source, w);
  std::vector<double> g(own.size());
  network(problem, source)
      ->gradient(problem_of(problem, source), source_rows.samples(), own,
                 scale * weight(source) / static_cast<double>(shape.rows), 0.0, g);
  place(problem, source).each(gradient, std::span<const double>(g), [](double& g_j, const double& own_j) {
    g_j += own_j;
  });
}

void MultimodalPerceptron::gradient(const Problem& problem, const Samples& rows, std::span<const double> w,
                                    double scale, double /*penalty_scale*/, std::span<double> gradient) const {
  task_gradient(problem, rows, {0, tasks(problem)}, w, scale, gradient);
}

void MultimodalPerceptron::task_gradient(const Problem& problem, const Samples& rows, const Tasks& asked,
                                         std::span<const double> w, double scale, std::span<double> gradient) const {
  check_shapes(problem, rows, w);
  begin_gradient(w, 0.0, gradient);
  for (std::int64_t s = asked.first; s < asked.first + asked.count; ++s)
    add_gradient(problem, rows, static_cast<std::size_t>(s), w, scale, gradient);
}

Score MultimodalPerceptron::score(const Problem& problem, const Samples& rows, std::span<const double> w) const {
  check_shapes(problem, rows, w);
  Score sum;
  for (std::size_t s = 0; s < problem.sources.size(); ++s) {
    const SourceRows source_rows(problem.sources[s], rows);
    const Score of_source =
        network(problem, s)->score(problem_of(problem, s), source_rows.samples(), parameters_of(problem, s, w));
    sum.loss += weight(s) / static_cast<double>(problem.sources[s].rows) * of_source.loss;
    sum.of_sources.insert(sum.of_sources.end(), {of_source.loss, of_source.metric});
  }
  return sum;
}

double MultimodalPerceptron::share_of_row(const Problem& problem, const Tasks& asked) const {
  std::int64_t columns = 0;
  for (std::int64_t s = asked.first; s < asked.first + asked.count; ++s) {
    const SourceShape& source = problem.sources[static_cast<std::size_t>(s)];
    columns += source.rows * (source.features + 1);
  }
  return static_cast<double>(columns) / static_cast<double>(problem.features);
}

ParameterRange MultimodalPerceptron::shared(const Problem& problem) const { return place(problem, 0).trunk; }

std::vector<ParameterRange> MultimodalPerceptron::own(const Problem& problem, const Tasks& asked) const {
  const Place first = place(problem, static_cast<std::size_t>(asked.first));
  const Place last = place(problem, static_cast<std::size_t>(asked.first + asked.count - 1));
  return {{first.tower.first, last.tower.first + last.tower.count - first.tower.first},
          {first.head.first, last.head.first + last.head.count - first.head.first}};
}

}  // namespace simgrad::models

#include "models/profiles/dlrm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace simgrad::models {

namespace {

bool are_whole(const std::vector<double>& counts) {
  return std::ranges::all_of(counts, [](double count) { return count == std::floor(count); });
}

/// A dense layer with a bias and an activation.
Layer dense(std::string name, std::int64_t inputs, std::int64_t outputs, bool inputs_have_gradient) {
  const auto in = static_cast<double>(inputs), out = static_cast<double>(outputs);
  Layer layer{.count = outputs * (inputs + 1), .rows = outputs, .columns = inputs, .name = std::move(name)};
  layer.products = {{.m = 1.0, .n = out, .k = in}};
  layer.forward_flops = 2.0 * in * out;
  layer.backward_flops = inputs_have_gradient ? 2.0 * layer.forward_flops : layer.forward_flops;
  layer.elementwise = 2.0 * out;
  layer.kept.numbers = layer.entrance = in;
  return layer;
}

}  // namespace

void Dlrm::describe(base::Describer& d) {
  const base::Bounds widths = base::Bounds::between(1.0, 1e6);
  d.integer("dense_features", dense_features, "the number of dense features of a sample",
            base::Bounds::between(1, 1e6));
  d.integer("tables", tables, "embedding tables, one for each categorical feature", base::Bounds::between(1, 1e4));
  d.numbers("rows", rows, "rows of each table; one number stands for all tables", base::Bounds::between(1.0, 1e10));
  d.integer("embedding", embedding, "numbers of a table's row, and outputs of the bottom perceptron",
            base::Bounds::between(1, 1e4));
  d.integer("look_ups", look_ups, "the number of rows of each table that a sample looks up and sums",
            base::Bounds::between(1, 1e5));
  d.numbers("bottom", bottom, "units of each hidden layer of the bottom perceptron; relu", widths);
  d.numbers("top", top, "units of each hidden layer of the top perceptron; relu", widths);
  if (rows.size() != 1 && rows.size() != static_cast<std::size_t>(tables))
    d.refuse("rows", fmt::format("{} numbers of rows for tables = {}; expected one for all tables, or one for each",
                                 rows.size(), tables));
  if (!are_whole(rows)) d.refuse("rows", "rows are counted: expected whole numbers, as in rows = [1000, 20000]");
  if (!are_whole(bottom)) d.refuse("bottom", "units are counted: expected whole numbers, as in bottom = [512, 256]");
  if (!are_whole(top)) d.refuse("top", "units are counted: expected whole numbers, as in top = [512, 256]");
}

std::int64_t Dlrm::rows_of(std::int64_t table) const {
  return static_cast<std::int64_t>(rows.size() == 1 ? rows.front() : rows[static_cast<std::size_t>(table)]);
}

/// share_of_samples: samples whose look-ups are done here, for one of the rank's own.
Layer Dlrm::tables_layer(std::int64_t tables_here, std::int64_t rows_here, double share_of_samples) const {
  const double look_ups_here = share_of_samples * static_cast<double>(tables_here * look_ups);
  const double sums = share_of_samples * static_cast<double>(tables_here), D = static_cast<double>(embedding);
  Layer layer{.count = rows_here * embedding, .name = "tables"};
  layer.forward_flops = layer.backward_flops = look_ups_here * D;
  layer.elementwise = (look_ups_here + sums) * D;
  layer.kept.bytes = 8.0 * look_ups_here;  // indices
  return layer;
}

Layer Dlrm::interaction() const {
  const auto n = static_cast<double>(tables + 1), D = static_cast<double>(embedding);
  Layer layer{.name = "interaction"};
  layer.products = {{.m = n, .n = n, .k = D, .parameters = false}};
  layer.forward_flops = 2.0 * n * n * D;
  layer.backward_flops = 2.0 * layer.forward_flops;
  // The vectors are joined, the dot products are read, and a half of them is joined with the bottom's numbers.
  layer.elementwise = 2.0 * n * D + n * n + static_cast<double>(pairs()) + 2.0 * D;
  layer.kept.numbers = layer.entrance = n * D;
  return layer;
}

std::vector<Layer> Dlrm::profile() const {
  std::int64_t all_rows = 0;
  for (std::int64_t table = 0; table < tables; ++table) all_rows += rows_of(table);
  std::vector<Layer> all{tables_layer(tables, all_rows, 1.0)};
  std::int64_t unit = 0;
  const auto add = [&](const std::string& name, std::int64_t inputs, const std::vector<double>& hidden,
                       std::int64_t outputs, bool of_samples) {
    std::vector<double> widths = hidden;
    widths.push_back(static_cast<double>(outputs));
    for (std::size_t l = 0; l < widths.size(); ++l) {
      all.push_back(dense(fmt::format("{} layer {}", name, l + 1), inputs, static_cast<std::int64_t>(widths[l]),
                          l > 0 || !of_samples));
      all.back().unit = ++unit;
      inputs = static_cast<std::int64_t>(widths[l]);
    }
  };
  add("bottom", dense_features, bottom, embedding, true);
  all.push_back(interaction());
  all.back().unit = unit + 1;
  add("top", embedding + pairs(), top, 1, false);
  for (std::size_t l = 1; l < all.size(); ++l) all[l].first = all[l - 1].first + all[l - 1].count;
  return all;
}

std::string Dlrm::refusal(const Problem&, const Shares& shares) const {
  if (shares.tensor > 1)
    return "dlrm's dense layers are not shared among ranks; set tensor = 1, and divide its tables by expert";
  if (shares.context > 1) return "dlrm's samples have no sequence that could be divided; set context = 1";
  if (shares.sequence_parallel)
    return "dlrm's samples have no sequence that could be divided; set sequence_parallel = false";
  if (shares.expert > tables)
    return fmt::format("{} tables do not suffice for expert = {} ranks; set expert to {} or less", tables,
                       shares.expert, tables);
  return {};
}

std::vector<std::vector<std::int64_t>> Dlrm::dealt(int ranks) const {
  struct Rank {
    std::vector<std::int64_t> tables;
    std::int64_t rows = 0;
  };
  const auto most = static_cast<std::size_t>((tables + ranks - 1) / ranks);
  std::vector<std::int64_t> order(static_cast<std::size_t>(tables));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::ranges::greater(), [&](std::int64_t table) { return rows_of(table); });
  std::vector<Rank> all(static_cast<std::size_t>(ranks));
  for (const std::int64_t table : order) {
    Rank& to = *std::ranges::min_element(
        all, {}, [&](const Rank& rank) { return std::pair(rank.tables.size() == most, rank.rows); });
    to.tables.push_back(table);
    to.rows += rows_of(table);
  }
  std::ranges::stable_sort(all, std::ranges::greater(), &Rank::rows);
  std::vector<std::vector<std::int64_t>> of_ranks;
  for (Rank& rank : all) {
    std::ranges::sort(rank.tables);
    of_ranks.push_back(std::move(rank.tables));
  }
  return of_ranks;
}

std::vector<Layer> Dlrm::layers(const Problem& problem, const Chunk& chunk) const {
  std::vector<Layer> own = ProfiledModel::layers(problem, chunk);
  if (chunk.first_unit > 0 || chunk.expert == 1) return own;
  const std::vector<std::int64_t> here = dealt(chunk.expert)[static_cast<std::size_t>(chunk.expert_rank)];
  std::int64_t rows_here = 0;
  for (const std::int64_t table : here) rows_here += rows_of(table);
  const std::int64_t elsewhere = own.front().count - rows_here * embedding;
  own.front() = tables_layer(static_cast<std::int64_t>(here.size()), rows_here, chunk.expert);
  for (std::size_t l = 1; l < own.size(); ++l) own[l].first -= elsewhere;
  return own;
}

double Dlrm::border(const std::vector<Layer>& all, std::int64_t unit) const {
  const auto next = std::ranges::find(all, unit, &Layer::unit);
  if (unit == 0 || next == all.end()) return 0.0;
  const bool in_bottom = unit <= static_cast<std::int64_t>(bottom.size()) + 1;
  const double beside = in_bottom ? static_cast<double>(tables * embedding) : 0.0;
  return beside + (unit == 1 ? 0.0 : next->entrance);  // the samples come into the first dense layer
}

std::vector<Segment> Dlrm::segments(const Problem& problem, const Chunk& chunk) const {
  using enum Step::Then;
  const std::vector<Layer> all = profile(), own = layers(problem, chunk);
  std::vector<Segment> made;
  for (std::size_t l = 0; l < own.size(); ++l) {
    if (l == 0 || own[l].unit != own[l - 1].unit) made.push_back({.first_layer = l, .first = own[l].first});
    made.back().layers += 1;
    made.back().count += own[l].count;
  }
  for (std::size_t s = 0; s < made.size(); ++s) {
    const std::int64_t unit = chunk.first_unit + static_cast<std::int64_t>(s);
    made[s].entrance = border(all, unit);
    made[s].exit = border(all, unit + 1);
    if (unit < all.back().unit) made[s].forward = {{.numbers = made[s].exit}};
    made[s].backward = {{.numbers = made[s].entrance, .gradients = true}};
  }
  if (chunk.first_unit > 0 || chunk.expert == 1) return made;
  const double places = static_cast<double>((tables + chunk.expert - 1) / chunk.expert * chunk.expert);
  const Step sums{.then = all_to_all_back, .among = Among::expert, .numbers = places * static_cast<double>(embedding)};
  Step derivatives = sums;
  derivatives.then = all_to_all;
  const Step indices{
      .then = all_to_all, .among = Among::expert, .numbers = places * static_cast<double>(look_ups), .kept = true};
  made.front().forward.insert(made.front().forward.begin(), {indices, sums});
  made.front().backward.insert(made.front().backward.begin(), derivatives);
  return made;
}

std::vector<ParameterStretch> Dlrm::parameters_of(const Problem& problem, const Chunk& chunk) const {
  if (chunk.first_unit > 0 || chunk.expert == 1) return ProfiledModel::parameters_of(problem, chunk);
  const std::vector<std::int64_t> here = dealt(chunk.expert)[static_cast<std::size_t>(chunk.expert_rank)];
  JoinedStretches stretches;
  std::int64_t first = 0;
  for (std::int64_t table = 0; table < tables; ++table) {
    const std::int64_t count = rows_of(table) * embedding;
    if (std::ranges::binary_search(here, table)) stretches.add(first, count);
    first += count;
  }
  for (const Layer& layer : profile())
    if (layer.unit > 0 && layer.unit < chunk.end_unit) stretches.add(layer.first, layer.count);
  return stretches.all;
}

std::vector<ParameterStretch> Dlrm::replicated(const Problem& problem, const Chunk& chunk, Among among) const {
  JoinedStretches stretches;
  for (const Layer& layer : layers(problem, chunk))
    if (among != Among::expert || chunk.first_unit > 0 || layer.unit > 0) stretches.add(layer.first, layer.count);
  return stretches.all;
}

}  // namespace simgrad::models

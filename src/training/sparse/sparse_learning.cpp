#include "training/sparse/sparse_learning.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/errors.h"

namespace simgrad::training {

using values::Tensor;

namespace {

constexpr double sparse_flops_per_real_second = 1e9;  // for gathering, adding and scattering

/// Rows are short: a call would take longer.
double* copy_row(const double* from, std::int64_t width, double* to) {
  for (std::int64_t k = 0; k < width; ++k) *to++ = from[k];
  return to;
}

}  // namespace

SparseLearning::SparseLearning(const Learning& learning, const SparseOptions& options)
    : learning_(learning),
      model_(learning.shared_model(), learning.model().sparse()),
      options_(options),
      width_(model_ ? model_->width() : 1),
      dense_(model_ ? model_->dense_parameters(learning.problem()) : 0),
      shards_(options.sharding, options.servers, learning.problem().features),
      distinct_(learning.problem().features) {
  base::check(model_ != nullptr && learning.data() != nullptr, "a sparse model, with its numbers");
  if (options.hot_keys > 0) find_hot_keys();
}

void SparseLearning::find_hot_keys() {
  std::vector<std::uint32_t> entries(static_cast<std::size_t>(learning_.problem().features));
  for (const std::uint32_t key : learning_.data()->train.sparse.keys) ++entries[key];
  std::vector<std::uint32_t> order(entries.size());
  std::iota(order.begin(), order.end(), 0u);
  const std::size_t most = std::min(order.size(), static_cast<std::size_t>(options_.hot_keys));
  std::partial_sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(most), order.end(),
      [&](std::uint32_t a, std::uint32_t b) { return entries[a] != entries[b] ? entries[a] > entries[b] : a < b; });
  hot_.assign(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(most));
  hot_numbers_.emplace(learning_.problem().features);
  hot_numbers_->begin(static_cast<std::int64_t>(most));
  for (const std::uint32_t key : hot_) hot_numbers_->number(key);
}

std::int64_t SparseLearning::dense_first(int server) const {
  return options_.dense_replicated ? 0 : stretch(dense_, server, options_.servers);
}

double SparseLearning::flops(const SparseBatch& batch) const {
  return model_->sparse_flops(learning_.problem(), batch.count, batch.entries());
}

namespace {

/// All that the gradient's kernel needs beside its inputs. The kernel owns it.
struct Layout {
  std::shared_ptr<const models::SparseModel> model;
  models::Problem problem;
  std::shared_ptr<const SparseBatch> batch;
  double scale;
  std::size_t width, dense, hot;           ///< dense: of the model
  std::vector<std::int64_t> dense_firsts;  ///< (servers + 1)

  std::size_t row_numbers() const { return batch->keys.size() * width; }
};

/// Gathers the numbers first: the hot rows stand before the others, or several servers' dense parameters between their
/// rows.
void gradient_elsewhere(const Layout& layout, std::span<const double> at, std::span<const double> replica,
                        std::span<double> g) {
  const std::size_t hot = layout.hot * layout.width, rows = layout.row_numbers(), D = layout.dense;
  const bool replicated = !replica.empty();
  std::vector<double> table(hot + rows), g_table(hot + rows, 0.0), g_dense(D, 0.0);
  if (replicated) std::copy_n(replica.begin() + static_cast<std::ptrdiff_t>(D), hot, table.begin());
  std::copy_n(at.begin(), rows, table.begin() + static_cast<std::ptrdiff_t>(hot));
  const double* const dense = replicated ? replica.data() : at.data() + rows;
  layout.model->add_gradient(layout.problem, layout.batch->samples(layout.problem.features), {table.data(), dense},
                             layout.scale, {g_table.data(), g_dense.data()});
  double* next = g.data();
  const double* row = g_table.data() + hot;
  const std::vector<std::int64_t>& firsts = layout.batch->firsts;
  for (std::size_t j = 0; j + 1 < firsts.size(); ++j) {
    const std::size_t numbers = static_cast<std::size_t>(firsts[j + 1] - firsts[j]) * layout.width;
    next = std::copy_n(row, numbers, next);
    row += numbers;
    next = std::copy(g_dense.data() + layout.dense_firsts[j], g_dense.data() + layout.dense_firsts[j + 1], next);
  }
  if (!replicated) return;
  next = std::ranges::copy(g_dense, next).out;
  std::copy_n(g_table.data(), hot, next);
}

}  // namespace

Tensor SparseLearning::gradient(const std::shared_ptr<const SparseBatch>& batch, const Tensor& at,
                                const Tensor& replica) const {
  Layout layout{.model = model_,
                .problem = learning_.problem(),
                .batch = batch,
                .scale = 1.0 / static_cast<double>(learning_.batches().batch()),
                .width = static_cast<std::size_t>(width_),
                .dense = static_cast<std::size_t>(dense_),
                .hot = hot_.size(),
                .dense_firsts = {}};
  for (int server = 0; server <= options_.servers; ++server) layout.dense_firsts.push_back(dense_first(server));
  const bool in_place = !replica && (options_.servers == 1 || dense_ == 0);
  std::vector<Tensor> inputs{at};
  if (replica) inputs.push_back(replica);
  const std::int64_t size = gradient_first(*batch, options_.servers) + replicated();
  const values::Operation operation{
      .name = "sparse_gradient", .seconds = flops(*batch) / sparse_flops_per_real_second, .numbered = false};
  return learning_.dispatcher().dispatch(
      operation, size, inputs,
      [layout = std::move(layout), in_place](std::span<const std::span<const double>> in, std::span<double> g) {
        if (!in_place) return gradient_elsewhere(layout, in[0], in.size() > 1 ? in[1] : std::span<const double>(), g);
        std::ranges::fill(g, 0.0);
        const std::size_t rows = layout.row_numbers();
        layout.model->add_gradient(layout.problem, layout.batch->samples(layout.problem.features),
                                   {in[0].data(), in[0].data() + rows}, layout.scale, {g.data(), g.data() + rows});
      });
}

Tensor SparseLearning::part_of(const Tensor& whole, int server) const {
  const std::int64_t table = learning_.problem().features * width_,
                     size = shards_.count(server) * width_ + dense_of(server);
  if (size == whole.size()) return whole;
  const values::Operation operation{
      .name = "part_of_table", .seconds = 1e-9 * static_cast<double>(whole.size()), .numbered = false};
  return learning_.dispatcher().dispatch(
      operation, size, {&whole, 1},
      [shards = shards_, server, table, width = width_, first = dense_first(server), dense = dense_of(server)](
          std::span<const std::span<const double>> in, std::span<double> out) {
        const double* const w = in[0].data();
        double* next = out.data();
        for (std::int64_t row = 0; row < shards.count(server); ++row)
          next = copy_row(w + shards.key(server, row) * width, width, next);
        std::copy_n(w + table + first, dense, next);
      });
}

Tensor SparseLearning::replica_of(const Tensor& whole) const {
  const std::int64_t table = learning_.problem().features * width_;
  const values::Operation operation{.name = "replica", .numbered = false};
  return learning_.dispatcher().dispatch(operation, replicated(), {&whole, 1},
                                         [hot = hot_, table, width = width_, dense = dense_](
                                             std::span<const std::span<const double>> in, std::span<double> out) {
                                           double* next = std::copy_n(in[0].data() + table, dense, out.data());
                                           for (const std::uint32_t key : hot)
                                             next = std::copy_n(in[0].data() + key * width, width, next);
                                         });
}

Tensor SparseLearning::whole(std::span<const Tensor> parts) const {
  if (parts.size() == 1 && !options_.dense_replicated) return parts.front();
  const std::int64_t keys = learning_.problem().features;
  const values::Operation operation{
      .name = "whole_table", .seconds = 2e-9 * static_cast<double>(keys * width_), .numbered = false};
  return learning_.dispatcher().dispatch(
      operation, keys * width_ + dense_, parts,
      [shards = shards_, hot = hot_, keys, width = width_, dense = dense_, replicated = options_.dense_replicated](
          std::span<const std::span<const double>> in, std::span<double> w) {
        double* next = w.data();
        for (std::int64_t key = 0; key < keys; ++key) {
          const auto place = shards.place(static_cast<std::uint32_t>(key));
          next = copy_row(in[static_cast<std::size_t>(place.server)].data() + place.row * width, width, next);
        }
        for (int server = 0; !replicated && server < shards.servers(); ++server) {
          const auto part =
              in[static_cast<std::size_t>(server)].subspan(static_cast<std::size_t>(shards.count(server) * width));
          next = std::copy(part.begin(), part.end(), next);
        }
        if (!replicated) return;
        const double* replica = in[0].data() + shards.count(0) * width;
        std::copy_n(replica, dense, next);
        replica += dense;
        for (const std::uint32_t key : hot) {
          std::copy_n(replica, width, w.data() + key * width);
          replica += width;
        }
      });
}

}  // namespace simgrad::training

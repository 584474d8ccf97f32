#include "training/sparse/sparse_table.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/errors.h"
#include "base/huge_pages.h"
#include "training/sparse/distinct_keys.h"

namespace simgrad::training {

using values::Tensor;

namespace {

constexpr double seconds_a_row = 10e-9;  // a few lines from memory
constexpr std::size_t table_rows_ahead = 24;

}  // namespace

struct SparseTable::Numbers {
  std::vector<double> w, s;            ///< s: adagrad's sums of squares
  std::optional<double> epsilon = {};  ///< adagrad's

  void update(std::size_t at, const double* g, std::size_t count, double lr, double factor) {
    double* const own = w.data() + at;
    if (!epsilon) {
      const double rate = lr * factor;
      for (std::size_t i = 0; i < count; ++i) own[i] -= rate * g[i];
      return;
    }
    double* const squares = s.data() + at;
    for (std::size_t i = 0; i < count; ++i) {
      const double g_i = factor * g[i];
      squares[i] += g_i * g_i;
      own[i] -= lr * (g_i / (std::sqrt(squares[i]) + *epsilon));
    }
  }
};

const char* SparseTable::refusal(const Optimizer& optimizer) {
  if (optimizer.row_update()) return nullptr;
  return "it moves parameters whose gradient is zero, too, but only keys that occur in a batch are touched; take sgd "
         "or adagrad";
}

SparseTable::SparseTable(values::Dispatcher& dispatcher, const Optimizer& optimizer, std::int64_t width,
                         std::int64_t dense, State start)
    : dispatcher_(dispatcher),
      width_(width),
      dense_(dense),
      size_(start.w.size()),
      start_{std::move(start.w)},
      numbers_(std::make_shared<Numbers>()) {
  const std::optional<RowUpdate> rule = optimizer.row_update();
  base::check(rule.has_value(), "an optimizer that can update rows alone");
  numbers_->epsilon = rule->epsilon;
  if (numbers_->epsilon && !start.optimizer.empty()) start_.push_back(std::move(start.optimizer.front()));
  const values::Operation operation{.name = "table", .seconds = 1e-9 * static_cast<double>(size_), .numbered = false};
  since_.push_back(dispatcher.dispatch(
      operation, 1, start_, [numbers = numbers_](std::span<const std::span<const double>> in, std::span<double> out) {
        numbers->w.reserve(in[0].size());
        base::prefer_huge_pages(numbers->w.data(), in[0].size_bytes());
        numbers->w.assign(in[0].begin(), in[0].end());
        if (in.size() > 1)
          numbers->s.assign(in[1].begin(), in[1].end());
        else if (numbers->epsilon)
          numbers->s.assign(in[0].size(), 0.0);
        out[0] = 0.0;
      }));
}

SparseTable::~SparseTable() = default;

Tensor SparseTable::read(const TableRows& rows) const {
  const std::size_t count = rows->size(), width = static_cast<std::size_t>(width_);
  const std::size_t first_dense = static_cast<std::size_t>(size_ - dense_);
  const values::Operation operation{
      .name = "read_rows",
      .seconds = seconds_a_row * static_cast<double>(count) + 1e-9 * static_cast<double>(dense_),
      .numbered = false};
  const Tensor found = dispatcher_.dispatch(
      operation, static_cast<std::int64_t>(count) * width_ + dense_, {since_.data(), 1},
      [numbers = numbers_, rows, width, first_dense](auto, std::span<double> out) {
        const double* const w = numbers->w.data();
        const std::vector<std::uint32_t>& which = *rows;
        double* next = out.data();
        for (std::size_t i = 0; i < which.size(); ++i) {
          if (i + table_rows_ahead < which.size()) __builtin_prefetch(w + which[i + table_rows_ahead] * width);
          const double* const own = w + which[i] * width;
          for (std::size_t k = 0; k < width; ++k) *next++ = own[k];
        }
        std::copy(numbers->w.begin() + static_cast<std::ptrdiff_t>(first_dense), numbers->w.end(), next);
      });
  since_.push_back(found);
  return found;
}

namespace {

/// Rows of several parts, each once, and where each row of each part goes among them.
struct Union {
  std::vector<std::uint32_t> rows;
  std::vector<std::vector<std::uint32_t>> places;  ///< by part
};

std::shared_ptr<const Union> united(const std::vector<SparseTable::Part>& parts, DistinctKeys& distinct) {
  std::size_t most = 0;
  for (const SparseTable::Part& part : parts) most += part.rows->size();
  distinct.begin(static_cast<std::int64_t>(most));
  auto all = std::make_shared<Union>();
  for (const SparseTable::Part& part : parts) {
    std::vector<std::uint32_t>& places = all->places.emplace_back(part.rows->size());
    distinct.number(*part.rows, places.data());
  }
  all->rows = distinct.keys();
  return all;
}

}  // namespace

std::int64_t SparseTable::update(std::vector<Part> parts, double lr, double factor) {
  const std::size_t width = static_cast<std::size_t>(width_), dense = static_cast<std::size_t>(dense_);
  const std::size_t first_dense = static_cast<std::size_t>(size_) - dense;
  if (parts.size() > 1 && !distinct_) distinct_.emplace((size_ - dense_) / width_);
  const std::shared_ptr<const Union> all = parts.size() > 1 ? united(parts, *distinct_) : nullptr;
  const TableRows rows = all ? TableRows(all, &all->rows) : parts.front().rows;
  start_.clear();
  std::vector<Tensor> inputs = std::move(since_);
  const std::size_t before = inputs.size();
  for (Part& part : parts) inputs.push_back(std::move(part.g));
  const values::Operation operation{
      .name = "update_rows",
      .seconds = seconds_a_row * static_cast<double>(rows->size() * parts.size()) + 1e-9 * static_cast<double>(dense_),
      .numbered = false};
  const Tensor done =
      dispatcher_.dispatch(operation, 1, inputs,
                           [numbers = numbers_, rows, all, before, width, dense, first_dense, lr, factor](
                               std::span<const std::span<const double>> in, std::span<double> out) {
                             const std::size_t count = rows->size();
                             const double* g = in[before].data();
                             std::vector<double> sum;
                             if (all) {
                               sum.assign(count * width + dense, 0.0);
                               for (std::size_t part = 0; part < all->places.size(); ++part) {
                                 const double* next = in[before + part].data();
                                 for (const std::uint32_t place : all->places[part])
                                   for (std::size_t k = 0; k < width; ++k) sum[place * width + k] += *next++;
                                 for (std::size_t k = 0; k < dense; ++k) sum[count * width + k] += *next++;
                               }
                               g = sum.data();
                             }
                             const std::vector<std::uint32_t>& which = *rows;
                             for (std::size_t i = 0; i < count; ++i) {
                               if (i + table_rows_ahead < count)
                                 __builtin_prefetch(numbers->w.data() + which[i + table_rows_ahead] * width, 1);
                               numbers->update(which[i] * width, g + i * width, width, lr, factor);
                             }
                             numbers->update(first_dense, g + count * width, dense, lr, factor);
                             out[0] = 0.0;
                           });
  since_.assign(1, done);
  return static_cast<std::int64_t>(rows->size()) * width_ + dense_;
}

Tensor SparseTable::copy(bool memory) const {
  const values::Operation operation{
      .name = "copy_table", .seconds = 1e-9 * static_cast<double>(size_), .numbered = false};
  const Tensor made = dispatcher_.dispatch(operation, size_, {since_.data(), 1},
                                           [numbers = numbers_, memory](auto, std::span<double> out) {
                                             std::ranges::copy(memory ? numbers->s : numbers->w, out.begin());
                                           });
  since_.push_back(made);
  return made;
}

State SparseTable::state() const {
  if (start_.size() == (numbers_->epsilon ? 2u : 1u))
    return {.w = start_.front(), .optimizer = {start_.begin() + 1, start_.end()}};
  State state{.w = copy(false)};
  if (numbers_->epsilon) state.optimizer.push_back(copy(true));
  return state;
}

}  // namespace simgrad::training

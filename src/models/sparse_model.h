/// Models of sparse rows: what a row's gradient touches is a table's few rows and some dense parameters.
///
/// w holds the table first, key after key, `width` numbers each, then the dense parameters. A key is a feature's
/// number. The same kernel serves w as a whole and a batch's keys alone: those are then numbered anew, and the table
/// has but their rows.
#pragma once

#include "models/model.h"

namespace simgrad::models {

class SparseModel : public Model {
 public:
  bool takes_sparse_rows() const final { return true; }
  const SparseModel* sparse() const final { return this; }
  Predicts predicts() const override { return Predicts::classes; }
  /// Two classes.
  std::string unfit(const Problem& problem) const override;

  /// Numbers a key.
  virtual std::int64_t width() const = 0;
  /// How many parameters are no key's.
  virtual std::int64_t dense_parameters(const Problem& problem) const = 0;
  std::int64_t parameters(const Problem& problem) const final {
    return problem.features * width() + dense_parameters(problem);
  }

  /// Of one gradient on that many rows with so many entries together.
  double sparse_flops(const Problem& problem, std::int64_t rows, std::int64_t entries) const;
  std::vector<Layer> layers(const Problem& problem) const final;

  /// What a row sees of the parameters.
  struct Parameters {
    const double* table = nullptr;  ///< (keys, width)
    const double* dense = nullptr;  ///< (dense_parameters)
  };
  struct Gradient {
    double* table = nullptr;
    double* dense = nullptr;
  };
  /// gradient += scale * sum over the rows of d loss / d w, without a penalty. The rows' keys count the table's rows.
  virtual void add_gradient(const Problem& problem, const Samples& rows, Parameters at, double scale,
                            Gradient gradient) const = 0;

  void gradient(const Problem& problem, const Samples& rows, std::span<const double> w, double scale,
                double penalty_scale, std::span<double> gradient) const final;
  Score score(const Problem& problem, const Samples& rows, std::span<const double> w) const final;

 protected:
  /// Loss and metric of the rows.
  virtual Score sum_scores(const Problem& problem, const Samples& rows, Parameters at) const = 0;
  /// Of a row with so many entries; without a table's row (dense layers) and with.
  struct RowFlops {
    double an_entry_forward = 0.0, an_entry_backward = 0.0;
    double a_row_forward = 0.0, a_row_backward = 0.0;
  };
  virtual RowFlops row_flops(const Problem& problem) const = 0;
  /// Those of the dense parameters, which begin at `first`: one, unless there are more.
  virtual std::vector<Layer> dense_layers(const Problem& problem, std::int64_t first) const;

  /// The entries of a row, as an average: of rows that were dense, all features.
  static double entries_a_row(const Problem& problem) {
    return problem.nonzeros > 0.0 ? problem.nonzeros : static_cast<double>(problem.features);
  }
  /// Throws InvariantError unless the rows are sparse and w has the problem's shape.
  void check_sparse(const Problem& problem, const Samples& rows, std::span<const double> w) const;
};

/// One row: its entries from `first` to before `last`.
struct SparseRow {
  const std::uint32_t* keys;
  const double* values;  ///< null: all are 1
  std::int64_t count;
  double target;
};

/// Visits the rows in their order.
template <class Visit>
void for_each_sparse_row(const Samples& rows, Visit visit) {
  for (std::int64_t i = 0; i < rows.count; ++i) {
    const std::int64_t row = rows.row(i), first = rows.starts[row];
    visit(SparseRow{rows.keys + first, rows.values ? rows.values + first : nullptr, rows.starts[row + 1] - first,
                    rows.targets[row]});
  }
}

/// The logistic loss log(1 + exp(-m)), m = s for class 1 and -s for class 0: its slope with respect to s, and loss and
/// accuracy as a score.  y: 0 or 1.
double logistic_slope(double s, double y);
Score logistic_score(double s, double y);

}  // namespace simgrad::models

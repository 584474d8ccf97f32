/// Models of sparse rows: a row's gradient touches a few rows of a table and some dense parameters.
///
/// w holds the table first, key after key, `width` numbers each, then the dense parameters. A key is a feature's
/// number. One kernel serves both the whole of w and a batch's keys alone; in the second case the keys are renumbered
/// from 0 and the table has only their rows.
#pragma once

#include "models/model.h"

namespace simgrad::models {

class SparseModel : public Model {
 public:
  const SparseModel* sparse() const final { return this; }
  Predicts predicts() const override { return Predicts::classes; }
  /// Refuses any data but those of two classes.
  std::string refusal(const Problem& problem) const override;

  /// Numbers in a key's row of the table.
  virtual std::int64_t width() const = 0;
  /// The number of parameters outside the table.
  virtual std::int64_t dense_parameters(const Problem& problem) const = 0;
  std::int64_t parameters(const Problem& problem) const final {
    return problem.features * width() + dense_parameters(problem);
  }

  /// Flops of one gradient on `rows` rows that have `entries` entries together.
  double sparse_flops(const Problem& problem, std::int64_t rows, std::int64_t entries) const;
  std::vector<Layer> layers(const Problem& problem) const final;

  /// The parameters as a row's kernel reads them.
  struct Parameters {
    const double* table = nullptr;  ///< (keys, width)
    const double* dense = nullptr;  ///< (dense_parameters)
  };
  struct Gradient {
    double* table = nullptr;
    double* dense = nullptr;
  };
  /// Adds scale * sum over the rows of d loss / d w, without a penalty, to the gradient. A key is the number of a row
  /// of the table.
  virtual void add_gradient(const Problem& problem, const Samples& rows, Parameters at, double scale,
                            Gradient gradient) const = 0;

  void gradient(const Problem& problem, const Samples& rows, std::span<const double> w, double scale,
                double penalty_scale, std::span<double> gradient) const final;
  Score score(const Problem& problem, const Samples& rows, std::span<const double> w) const final;
  void predict(const Problem& problem, const Samples& rows, std::span<const double> w,
               std::span<double> predictions) const final;

  /// The rows' scores s: class 1 has the probability 1 / (1 + exp(-s)).  s: (rows).
  virtual void compute_scores(const Problem& problem, const Samples& rows, Parameters at,
                              std::span<double> s) const = 0;

 protected:
  /// Flops for an entry of a row, and for the row itself.
  struct RowFlops {
    double an_entry_forward = 0.0, an_entry_backward = 0.0;
    double a_row_forward = 0.0, a_row_backward = 0.0;
  };
  virtual RowFlops row_flops(const Problem& problem) const = 0;
  /// The layers of the dense parameters, which begin at `first`; by default one layer.
  virtual std::vector<Layer> dense_layers(const Problem& problem, std::int64_t first) const;

  /// The average number of entries in a row; in rows that were dense, all features.
  static double entries_a_row(const Problem& problem) {
    return problem.nonzeros > 0.0 ? problem.nonzeros : static_cast<double>(problem.features);
  }
  /// compute_scores at w, whose shape is checked.
  std::vector<double> scores(const Problem& problem, const Samples& rows, std::span<const double> w) const;
  /// Throws InvariantError unless the rows are sparse and w has the problem's shape.
  void check_sparse(const Problem& problem, const Samples& rows, std::span<const double> w) const;
};

/// One row: `count` entries and a target.
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

/// The slope with respect to s of the logistic loss log(1 + exp(-m)), m = s for class 1 and -s for class 0.  y: 0 or 1.
double logistic_slope(double s, double y);
Score logistic_score(double s, double y);

}  // namespace simgrad::models

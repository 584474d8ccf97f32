/// Loss, gradient and flops of a model on a batch. A model knows neither time nor ranks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/describe.h"
#include "base/registry.h"
#include "values/wire_format.h"

namespace simgrad::models {

/// The class that a target names, below `classes`.  Errors: InvariantError for a target that names none.
std::size_t class_number(double y, std::size_t classes);

/// Rows of a row-major matrix and their targets: a contiguous range, or the rows that `indices` names.
struct Samples {
  const double* features = nullptr;  ///< (rows of the data set, columns)
  const double* targets = nullptr;   ///< (rows of the data set)
  std::int64_t columns = 0;
  std::int64_t first = 0;  ///< where the contiguous range begins; unused beside indices
  std::int64_t count = 0;
  const std::int64_t* indices = nullptr;  ///< count row numbers, or null

  // Sparse rows have these instead of `features`: their entries that are not zero.
  const std::int64_t* starts = nullptr;  ///< (rows of the data set + 1): where a row's entries begin
  const std::uint32_t* keys = nullptr;   ///< an entry's feature
  const double* values = nullptr;        ///< null: all are 1

  std::int64_t row(std::int64_t i) const { return indices ? indices[i] : first + i; }
};

/// One source's columns of samples that have rows of several: `rows` rows, each its features and then its target.
struct SourceShape {
  std::string name;
  std::int64_t first = 0;     ///< its first column
  std::int64_t features = 0;  ///< of a row
  std::int64_t rows = 1;      ///< of this source in every sample
  int classes = 0;            ///< 0: targets are numbers
};

/// The shape of the data that a model is fitted to.
struct Problem {
  std::int64_t features = 0;  ///< d, the constant feature of a bias included
  int classes = 0;            ///< 0: a regression
  std::int64_t users = 0;     ///< ratings only: the first feature is a user 0 .. users-1, the second an item
  std::int64_t items = 0;
  double nonzeros = 0.0;        ///< the average number in a sparse row; 0: rows are dense
  std::int64_t fields = 0;      ///< if every sparse row has one entry a field, in order: the number of fields; else 0
  std::int64_t vocabulary = 0;  ///< text only: rows are sequences of `features` tokens 0 .. vocabulary-1, each followed
                                ///< by the row's next one, the last by the row's target
  std::vector<SourceShape> sources = {};  ///< of a mixture, whose samples have rows of each; else none
};

/// The kind of a model's predictions, and so of its data's targets.
enum class Predicts {
  number,
  classes,
  number_or_class,  ///< either, as the data have it
  rating,           ///< a number: a user's rating of an item
  tokens,           ///< of a text: each one's next
  cluster,          ///< data without targets
  mixture           ///< of rows of several sources: a number or a class each
};

/// Sums over rows, so that the scores of a data set's parts add up.
struct Score {
  double loss = 0.0;                    ///< sum of the rows' losses, without the penalty
  double metric = 0.0;                  ///< accuracy: rows predicted right; r2: sum of squared residuals; else 0
  std::vector<double> of_sources = {};  ///< of a mixture, source by source: loss, without its weight, and metric
};

/// Tokens of some rows at a block's experts, in a gradient's forward pass.
struct ExpertLoad {
  std::int64_t block = 0;            ///< from 0
  std::vector<std::int64_t> chosen;  ///< choices of each expert, dropped ones included
  std::vector<std::int64_t> tokens;  ///< that each expert takes
  std::int64_t dropped = 0;          ///< choices for an expert without room
  double auxiliary = 0.0;            ///< the rows' mean auxiliary loss without its weight: 1 if p and shares are even
};

/// The choices of experts that a run of times alone assumes.
struct AssumedChoices {
  double dropped_share = 0.0;  ///< those for which an expert has no room
  double imbalance = 1.0;      ///< those of the busiest expert over the mean
};

/// A matrix product of a layer's forward pass, (m x k) by (k x n).
struct Product {
  double m = 1.0;      ///< rows of the result, a sample: a sequence's tokens, the places of an image
  double n = 1.0;      ///< columns of the result
  double k = 1.0;      ///< the length of the sums
  double count = 1.0;  ///< products of this shape, a sample
  /// Whether (k x n) are parameters, so that the rows of all samples of a batch are multiplied at once. False: they are
  /// numbers of the sample, as in attention.
  bool parameters = true;
  /// The share of the work that a product's kernel does where products are fused, as in fused attention, which skips
  /// what a mask hides. 0: the product has a kernel of its own, which does all of its work.
  double fused = 0.0;
  /// Whether a product by parameters stays in half precision where a training multiplies in float8.
  bool half = false;

  double flops() const { return 2.0 * m * n * k * count; }  ///< a sample's
};

/// Numbers of a sample that are kept from the forward to the backward pass.
struct Kept {
  double numbers = 0.0;  ///< in the format of activations
  double bytes = 0.0;    ///< beside them, whatever that format is: masks of a byte a number
};

/// A stretch of w whose gradient is complete at one point of the backward pass, and the work of a sample there.
struct Layer {
  std::int64_t first = 0;       ///< where it begins in w
  std::int64_t count = 0;       ///< number of parameters
  double forward_flops = 0.0;   ///< a sample's, for the forward pass
  double backward_flops = 0.0;  ///< a sample's, for the gradients of the parameters and of the layer below
  std::int64_t rows = 0;        ///< the rows of the matrix, stored row by row, with which it begins; 0: none
  std::int64_t columns = 0;     ///< the matrix's; the other parameters (biases), if any, are a vector

  // For devices whose speed depends on the work, and for what fits into their memory. A model without them is one
  // product of its flops a layer, and keeps nothing.
  std::string name = {};  ///< "block 3: attention"; empty: none
  /// Layers of one unit follow each other. Their parameters are gathered together where they are sharded, and their
  /// activations are recomputed together.
  std::int64_t unit = 0;
  std::vector<Product> products = {};  ///< of the forward pass; empty: unknown
  double elementwise = 0.0;      ///< numbers that norms, activations and the like read and write in the forward pass
  Kept kept = {};                ///< for the backward pass, where nothing is recomputed
  Kept selective = {};           ///< the part of `kept` that selective recomputation drops
  double selective_flops = 0.0;  ///< a sample's, to compute that part again: of the products without parameters
  double selective_elementwise = 0.0;  ///< the part of `elementwise` that computes it again, beside these products
  double entrance = 0.0;  ///< numbers of a sample that come in: kept at a unit's entrance if the unit is recomputed
  double backward_bytes = 0.0;  ///< of a sample, in memory during the backward pass alone: a gradient of float32 logits
  /// The last layer may read parameters of the first one, too, and make a part of their gradient: so many, with which w
  /// begins. They are a tied head's embedding, or a copy of it.
  std::int64_t tied = 0;

  // Only in a layer of experts that take what a router sends them.
  double expert_tokens = 0.0;       ///< that the layer's work of a sample counts; 0: its work does not follow a router
  double expert_elementwise = 0.0;  ///< the part of `elementwise` that grows with them

  // Seconds of a sample on the scenario's hosts where they were measured, in place of flops; 0: they were not.
  double forward_s = 0.0;
  double backward_s = 0.0;
  double weights_s = 0.0;  ///< of backward_s, for the gradients of the parameters; 0: not measured apart
};

/// The layer where its experts take so many tokens of a sample.
Layer with_tokens(const Layer& layer, double tokens);

class CutModel;
class KMeans;
class MultimodalPerceptron;
class MultitaskPerceptron;
class SparseModel;
class TaskModel;

class Model : public base::Described {
 public:
  bool bias = false;  ///< a constant feature, added as the last column when the data are loaded
  double l2 = 0.0;    ///< the penalty l2/2 |w|^2 on all parameters, the bias included

  void describe(base::Describer& d) override;

  virtual Predicts predicts() const = 0;
  /// The metric's name: "accuracy", "r2", or empty where there is none.
  virtual std::string_view metric(const Problem& problem) const;
  /// Whether the data need a last column of ones.
  virtual bool constant_feature() const { return bias; }
  /// Whether this model takes sparse rows, and no others.
  bool takes_sparse_rows() const { return sparse() != nullptr; }
  /// The model as one of the kinds that can do more; null where it is another.
  virtual const KMeans* k_means() const { return nullptr; }
  /// The model as one that can be cut among ranks.
  virtual const CutModel* cut() const { return nullptr; }
  virtual const MultimodalPerceptron* multimodal() const { return nullptr; }
  virtual const MultitaskPerceptron* multitask() const { return nullptr; }
  /// The model as one of several tasks that share parameters.
  virtual const TaskModel* task_model() const { return nullptr; }
  virtual const SparseModel* sparse() const { return nullptr; }
  /// Whether a router's choices decide how long the ranks of a cut model work, so that only numbers tell the times.
  virtual bool times_follow_routing() const { return false; }
  /// Nothing where there are no experts.
  virtual std::optional<AssumedChoices> assumed_choices() const { return {}; }
  /// Where rows' tokens go at w, of each layer of experts; nothing without experts.
  virtual std::vector<ExpertLoad> expert_loads(const Problem&, const Samples&, std::span<const double> /*w*/,
                                               values::Format) const {
    return {};
  }
  /// The reason why the model cannot be fitted to such data, or empty.
  virtual std::string refusal(const Problem& problem) const;
  /// The reason why the model can be timed but not computed, with what would do; or empty.
  virtual std::string numbers_refusal() const { return {}; }
  /// The problem of a timing-only run that the model itself decides; nothing: the data decide it.
  virtual std::optional<Problem> own_problem() const { return {}; }
  /// Bytes of a sample on a disk: 8 a feature, the constant one of a bias included; 12 an entry of a sparse row.
  virtual std::int64_t sample_bytes(const Problem& problem) const;
  /// The files that the options name; none.
  virtual std::vector<std::string> files() const { return {}; }

  /// Length of w.
  virtual std::int64_t parameters(const Problem& problem) const = 0;
  /// The layers of w in forward order: each begins where the one before ends. A backward pass completes the gradients
  /// of the last layer first. The flops are multiplications and additions, counted by hand.
  virtual std::vector<Layer> layers(const Problem& problem) const = 0;
  /// Flops of one gradient on so many rows: those of all layers, forwards and backwards.
  double gradient_flops(const Problem& problem, std::int64_t rows) const;
  /// Fills w for step 0.  w: (parameters).
  virtual void initial_values(const Problem& problem, std::uint64_t seed, std::span<double> w) const;

  /// Sets gradient = scale * sum over the rows of d loss / d w, plus penalty_scale * l2 * w, in one pass over the rows.
  /// w, gradient: (parameters); they do not overlap.
  virtual void gradient(const Problem& problem, const Samples& rows, std::span<const double> w, double scale,
                        double penalty_scale, std::span<double> gradient) const = 0;
  /// Loss and metric of the rows at w.
  virtual Score score(const Problem& problem, const Samples& rows, std::span<const double> w) const = 0;
  /// The gradient as it is computed in a format: of w rounded to it, and rounded itself. By default the arithmetic
  /// between them is float64's.
  virtual void gradient_in(values::Format format, const Problem& problem, const Samples& rows,
                           std::span<const double> w, double scale, double penalty_scale,
                           std::span<double> gradient) const;
  /// Loss and metric as they are computed in a format; by default those of w rounded to it.
  virtual Score score_in(values::Format format, const Problem& problem, const Samples& rows,
                         std::span<const double> w) const;
  /// Numbers of a row's prediction. A number or a rating has one, classes a probability each, a cluster two: its number
  /// from 0 and the row's squared distance from its centre. A row of text has, for each of its tokens, the probability
  /// of every token of the vocabulary to be the next.
  std::int64_t prediction_size(const Problem& problem) const;
  /// Predicts the rows at w; their targets are not read.  predictions: (rows, prediction_size), row after row.
  /// Errors: InvariantError for a model that computes no numbers.
  virtual void predict(const Problem& problem, const Samples& rows, std::span<const double> w,
                       std::span<double> predictions) const;
  /// Predictions as they are computed in a format; by default those of w rounded to it.
  virtual void predict_in(values::Format format, const Problem& problem, const Samples& rows, std::span<const double> w,
                          std::span<double> predictions) const;
  /// Tokens that a sample has; 0: samples are no text.
  virtual double tokens_a_sample(const Problem& problem) const;
  /// The tokens that a row of text has, where the model decides it; 0: the model takes no text.
  virtual std::int64_t sequence() const { return 0; }
  /// The penalty l2/2 |w|^2.
  double penalty(std::span<const double> w) const;

 protected:
  /// Vocabulary of the predictions of a text.
  virtual std::int64_t predicted_tokens(const Problem& problem) const { return problem.vocabulary; }
  /// Throws InvariantError unless w and the rows have the problem's shape.
  void check_shapes(const Problem& problem, const Samples& rows, std::span<const double> w) const;
  /// Starts a gradient: gradient = penalty_scale * l2 * w, or exact zeros where there is no penalty.
  void begin_gradient(std::span<const double> w, double penalty_scale, std::span<double> gradient) const;
};

/// The models a scenario can name.
const base::Registry<Model>& registry();

}  // namespace simgrad::models

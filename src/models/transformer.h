/// A decoder-only transformer, computed: every token of a sequence is predicted from those up to it.
///
/// x = embedding + positions; in every block x <- x + attention(norm(x)), x <- x + feed_forward(norm(x)); the logits
/// are the head's product with norm(x). The loss of a sample, a sequence, is the mean over its tokens of the softmax
/// cross-entropy of the next token. With experts a sequence's tokens beyond an expert's capacity are dropped, and a
/// gradient has that of their auxiliary loss in it, too; a score is the cross-entropy alone.
/// transformer_shape.h says how w is laid out, and names the sources.
#pragma once

#include "models/cut_model.h"
#include "models/model.h"
#include "models/transformer_options.h"

namespace simgrad::models {

class Transformer final : public Model, public CutModel {
 public:
  static constexpr base::About about{
      .kind = "transformer",
      .summary = "A decoder-only transformer on text: attention and feed-forward parts behind norms.",
      .cost =
          "2 flops a token and parameter of a matrix, 4 s h a token and layer of attention, 2 h V a token for the "
          "head; twice that backward",
      .source =
          "A. Vaswani et al., Attention Is All You Need, 2017; A. Radford et al., Language Models are "
          "Unsupervised Multitask Learners, 2019"};

  TransformerOptions options;

  void describe(base::Describer& d) override;

  Predicts predicts() const override { return Predicts::tokens; }
  std::string_view metric(const Problem&) const override { return "accuracy"; }
  bool constant_feature() const override { return false; }
  std::int64_t sequence() const override { return options.sequence; }
  std::string refusal(const Problem& problem) const override;
  std::string numbers_refusal() const override { return models::numbers_refusal(options.shape(2)); }
  std::optional<Problem> own_problem() const override;
  std::int64_t sample_bytes(const Problem&) const override { return 2 * options.sequence; }
  double tokens_a_sample(const Problem&) const override { return static_cast<double>(options.sequence); }
  std::int64_t parameters(const Problem& problem) const override;
  std::vector<Layer> layers(const Problem& problem) const override;
  bool times_follow_routing() const override { return models::times_follow_routing(options.shape(2)); }
  std::optional<AssumedChoices> assumed_choices() const override { return models::assumed_choices(options.shape(2)); }
  /// Matrices are N(0, 0.02), those that end on the residual stream over sqrt(2 layers); gains are 1, biases 0. Source:
  /// A. Radford et al., 2019.
  void initial_values(const Problem& problem, std::uint64_t seed, std::span<double> w) const override;
  void gradient(const Problem& problem, const Samples& rows, std::span<const double> w, double scale,
                double penalty_scale, std::span<double> gradient) const override;
  Score score(const Problem& problem, const Samples& rows, std::span<const double> w) const override;
  /// In floats where the format is not float64; half precision rounds weights and each part's results, too.
  void gradient_in(values::Format format, const Problem& problem, const Samples& rows, std::span<const double> w,
                   double scale, double penalty_scale, std::span<double> gradient) const override;
  Score score_in(values::Format format, const Problem& problem, const Samples& rows,
                 std::span<const double> w) const override;

  void predict(const Problem& problem, const Samples& rows, std::span<const double> w,
               std::span<double> predictions) const override;
  void predict_in(values::Format format, const Problem& problem, const Samples& rows, std::span<const double> w,
                  std::span<double> predictions) const override;

  std::vector<ExpertLoad> expert_loads(const Problem& problem, const Samples& rows, std::span<const double> w,
                                       values::Format format) const override;

  const CutModel* cut() const override { return this; }
  std::string refusal(const Problem& problem, const Shares& shares) const override;
  std::string padding_note(const Problem& problem, std::int64_t tensor) const override;
  /// Heads, columns of a feed-forward part, and tokens of the vocabulary.
  std::vector<SharedUnits> tensor_units(const Problem& problem, const Chunk& chunk) const override;
  std::vector<Layer> layers(const Problem& problem, const Chunk& chunk) const override;
  std::vector<Segment> segments(const Problem& problem, const Chunk& chunk) const override;
  std::vector<ParameterStretch> parameters_of(const Problem& problem, const Chunk& chunk) const override;
  std::vector<ParameterStretch> replicated(const Problem& problem, const Chunk& chunk, Among among) const override;
  std::vector<ParameterStretch> partial(const Problem& problem, const Chunk& chunk, Among among) const override;
  ParameterStretch tied(const Problem& problem, const Chunk& chunk) const override;
  void run(const Problem& problem, const Chunk& chunk, std::size_t segment, bool backward, std::size_t step,
           const StepInputs& inputs, std::span<double> result) const override;

 protected:
  std::int64_t predicted_tokens(const Problem& problem) const override;
};

}  // namespace simgrad::models

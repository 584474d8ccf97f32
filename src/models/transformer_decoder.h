/// A transformer that writes: one token after the other, the most likely one each time, with keys and values kept.
///
/// Keys and values of a token do not depend on those behind it, so that each is computed once and read by all later
/// tokens. Source: A. Vaswani et al., Attention Is All You Need, 2017; R. Pope et al., Efficiently Scaling Transformer
/// Inference, 2022.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "models/cut_model.h"
#include "models/transformer.h"

namespace simgrad::models {

/// Keys and values of a request's tokens at a stage.
struct KeysAndValues {
  struct Rows {
    std::vector<double> keys, values;  ///< (tokens x the rank's width)
  };
  std::vector<Rows> rows;   ///< by tensor rank, then block
  std::int64_t tokens = 0;  ///< that have passed
};

/// A stage of the transformer, with the shares of all of its tensor ranks. Numbers are float64.
class StageDecoder {
 public:
  /// w: of the whole model.  chunk: the stage's units, and the number of its tensor ranks.  The model has no experts.
  StageDecoder(const Transformer& model, const Problem& problem, const Chunk& chunk, std::span<const double> w);
  ~StageDecoder();
  StageDecoder(const StageDecoder&) = delete;
  StageDecoder& operator=(const StageDecoder&) = delete;

  /// Passes a request's next tokens through the stage, and keeps their keys and values.
  /// x: (tokens x hidden), what the stage before has made of them; the first stage looks the tokens up instead.
  void pass(std::span<const std::int64_t> tokens, KeysAndValues& kept, std::vector<double>& x);
  /// The most likely token behind the last one in x, of equal ones the first. Only in the last stage.
  std::int64_t next_token(const std::vector<double>& x);

 private:
  struct Share;
  template <class Act>
  void sum_of_shares(const Act& act, std::vector<double>& sum);
  void attend(std::size_t block, std::int64_t tokens, KeysAndValues& kept, std::vector<double>& x);
  void feed_forward(std::size_t block, std::int64_t tokens, std::vector<double>& x);

  std::vector<std::unique_ptr<Share>> shares_;
  bool first_, last_;
};

}  // namespace simgrad::models

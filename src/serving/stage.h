/// The work of an iteration on a stage of the model, and its time on a rank.
///
/// A product by a matrix (n x k) of parameters takes max(2 T n k / rate, n k b / bandwidth) for T tokens, b being the
/// bytes of a number. Attention takes max(4 w pairs / rate, bytes of keys and values / bandwidth), w being the width of
/// the rank's heads and a pair a token and a key that it meets. So a long prompt is bound by flops, 2 a parameter and
/// token, and one token of each request by bytes: those of the parameters and of the cache.
/// Source: S. Williams, A. Waterman, D. Patterson, Roofline: an insightful visual performance model, 2009; R. Pope et
/// al., Efficiently Scaling Transformer Inference, 2022.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/cut_model.h"
#include "models/transformer_shape.h"
#include "training/precision.h"

namespace simgrad::cluster {
struct Device;
}

namespace simgrad::serving {

/// The tokens of an iteration, or of a request.
struct Load {
  double tokens = 0.0;   ///< that pass
  double answers = 0.0;  ///< tokens that are chosen
  double pairs = 0.0;    ///< of a token and a key that it meets, its own included
  double cached = 0.0;   ///< tokens whose keys and values are read or written

  Load& operator+=(const Load& other) {
    tokens += other.tokens;
    answers += other.answers;
    pairs += other.pairs;
    cached += other.cached;
    return *this;
  }
};

/// Tokens first .. first + tokens - 1 of a request in an iteration.
Load load_of(std::int64_t first, std::int64_t tokens, bool answers);

/// Stage `stage` of `pipeline`: blocks stage L / pipeline to (stage + 1) L / pipeline of L, both rounded down; the
/// first stage has the embedding, the last one the head.
models::Chunk chunk_of(const models::TransformerShape& shape, int stage, int pipeline, int tensor);

/// The work on one tensor rank of a stage.
struct StageWork {
  struct Matrix {
    double outputs = 0.0, inputs = 0.0;
    double count = 1.0;
  };
  std::vector<Matrix> of_tokens;     ///< that every token is multiplied by
  std::optional<Matrix> of_answers;  ///< the head
  double pair_flops = 0.0;
  double cache_numbers = 0.0;  ///< of a token's keys and values
  double parameters = 0.0;     ///< that the rank holds
  double layers = 0.0;         ///< each of them takes a device's launch
  double sums = 0.0;           ///< among tensor ranks, of a token's hidden numbers
};
StageWork stage_work(const models::TransformerShape& shape, const models::Chunk& chunk);

/// The rank that computes it.
struct RankSpeed {
  const cluster::Device* device = nullptr;  ///< null: flops at `flops_per_s`
  double flops_per_s = 0.0;
  std::optional<double> bytes_per_s = {};  ///< of the memory, without a device; none: reading takes no time
  double relative = 1.0;                   ///< divides all times

  bool operator==(const RankSpeed&) const = default;
};

struct PassTime {
  double seconds = 0.0;
  double memory_s = 0.0;  ///< the part that the memory's bandwidth decides
};

class StageCosts {
 public:
  StageCosts(StageWork work, RankSpeed speed, training::Precision precision);

  /// The time of an iteration.
  PassTime pass(const Load& load) const { return time(load, 1.0, false); }
  /// The least time of a part of many iterations' work.  load: the part.  iterations: the share of the iterations that
  /// pays for reading the parameters; products of the others have no end of rows.
  PassTime share(const Load& load, double iterations) const;

  /// Whether the other one takes as long for equal loads, both being of one stage.
  bool as_fast_as(const StageCosts& other) const { return speed_ == other.speed_; }

  const StageWork& work() const { return work_; }
  double parameter_bytes() const { return work_.parameters * bytes_.product; }
  double cache_bytes_a_token() const { return work_.cache_numbers * bytes_.activation; }

 private:
  PassTime time(const Load& load, double reads, bool many_rows) const;
  /// half: of a product that keeps half precision beside float8, as the head does.
  double rate(double smallest, bool half = false) const;
  double attention_rate() const;
  double bytes_s(double bytes) const;

  StageWork work_;
  RankSpeed speed_;
  training::NumberBytes bytes_;
  double peak_ = 0.0, attention_peak_ = 0.0;
  double peak_share_ = 1.0;  ///< of the efficiency of large products, that those in the scenario's format reach
};

}  // namespace simgrad::serving

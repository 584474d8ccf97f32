#include "models/transformer_decoder.h"

#include <algorithm>

#include "base/errors.h"
#include "models/transformer_blocks.h"
#include "models/transformer_cut.h"
#include "models/transformer_parts.h"

namespace simgrad::models {

namespace {

std::vector<double> share_of(const std::vector<ParameterStretch>& stretches, std::span<const double> w) {
  std::vector<double> own;
  for (const ParameterStretch& stretch : stretches) {
    const auto part = w.subspan(static_cast<std::size_t>(stretch.first), static_cast<std::size_t>(stretch.count));
    own.insert(own.end(), part.begin(), part.end());
  }
  return own;
}

/// Appends numbers first .. first + width - 1 of each row.
void append(const std::vector<double>& rows, std::int64_t stride, std::int64_t first, std::int64_t width,
            std::vector<double>& to) {
  for (std::int64_t at = first; at < static_cast<std::int64_t>(rows.size()); at += stride)
    to.insert(to.end(), rows.begin() + at, rows.begin() + at + width);
}

}  // namespace

/// One tensor rank's.
struct StageDecoder::Share {
  TransformerNumbers<double> numbers;
  std::int64_t first_token;  ///< of its share of the vocabulary
  // Room that calls use again.
  NormKept<double> norm_kept;
  AttentionKept<double> attention_kept;
  FeedForwardKept<double> inner_kept;
  std::vector<double> normed, result;
};

StageDecoder::StageDecoder(const Transformer& model, const Problem& problem, const Chunk& chunk,
                           std::span<const double> w)
    : first_(chunk.first_unit == 0), last_(chunk.end_unit == model.options.shape(problem.vocabulary).layers + 2) {
  const TransformerShape shape = model.options.shape(problem.vocabulary);
  base::check(shape.experts == 0, "a decoder's feed-forward parts are dense");
  for (int rank = 0; rank < chunk.tensor; ++rank) {
    Chunk own = chunk;
    own.tensor_rank = rank;
    const std::vector<double> parameters = share_of(model.parameters_of(problem, own), w);
    shares_.push_back(std::make_unique<Share>(Share{
        .numbers = {shape, places_of(shape, own, parts_of(shape, own)), parameters, values::Format::float64, false},
        .first_token = share_of(shape, own).vocabulary.first,
        .norm_kept = {},
        .attention_kept = {},
        .inner_kept = {},
        .normed = {},
        .result = {}}));
  }
}

StageDecoder::~StageDecoder() = default;

/// Adds up what `act` leaves in each share's result, in the order of the ranks.
template <class Act>
void StageDecoder::sum_of_shares(const Act& act, std::vector<double>& sum) {
  for (std::size_t rank = 0; rank < shares_.size(); ++rank) {
    Share& share = *shares_[rank];
    act(share, rank);
    if (rank == 0)
      sum = share.result;
    else
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += share.result[i];
  }
}

void StageDecoder::attend(std::size_t block, std::int64_t tokens, KeysAndValues& kept, std::vector<double>& x) {
  const std::size_t blocks = shares_.front()->numbers.places.blocks.size();
  std::vector<double> sum;
  sum_of_shares(
      [&](Share& share, std::size_t rank) {
        TransformerNumbers<double>& numbers = share.numbers;
        const BlockPlaces& place = numbers.places.blocks[block];
        norm(numbers, place.attention_norm, tokens, x, share.norm_kept, share.normed);
        std::vector<double>& qkv = share.attention_kept.qkv;
        multiply(numbers, place.attention_in, tokens, share.normed, qkv);
        add_biases(numbers, place.attention_in, qkv);
        const std::int64_t q = numbers.heads_width(), stride = numbers.qkv_width(), width = (stride - q) / 2;
        turn_heads(numbers, kept.tokens, tokens, numbers.heads + numbers.kv_heads, stride, false, qkv);
        KeysAndValues::Rows& rows = kept.rows[rank * blocks + block];
        append(qkv, stride, q, width, rows.keys);
        append(qkv, stride, q + width, width, rows.values);
        const AttentionRows<const double> all{.first = kept.tokens,
                                              .queries = tokens,
                                              .keys = kept.tokens + tokens,
                                              .q = qkv.data(),
                                              .k = rows.keys.data(),
                                              .v = rows.values.data(),
                                              .q_stride = stride,
                                              .kv_stride = width};
        attention(numbers, 1, all, share.attention_kept);
        multiply(numbers, place.attention_out, tokens, share.attention_kept.result, share.result);
      },
      sum);
  const TransformerNumbers<double>& numbers = shares_.front()->numbers;
  add_to_residual(numbers, numbers.places.blocks[block].attention_out, sum, x);
}

void StageDecoder::feed_forward(std::size_t block, std::int64_t tokens, std::vector<double>& x) {
  std::vector<double> sum;
  sum_of_shares(
      [&](Share& share, std::size_t) {
        const BlockPlaces& place = share.numbers.places.blocks[block];
        norm(share.numbers, place.feed_forward_norm, tokens, x, share.norm_kept, share.normed);
        feed_forward_products(share.numbers, place, tokens, share.normed, share.inner_kept, share.result);
      },
      sum);
  const TransformerNumbers<double>& numbers = shares_.front()->numbers;
  add_to_residual(numbers, numbers.places.blocks[block].feed_forward_out, sum, x);
}

void StageDecoder::pass(std::span<const std::int64_t> tokens, KeysAndValues& kept, std::vector<double>& x) {
  const auto count = static_cast<std::int64_t>(tokens.size());
  const TransformerNumbers<double>& numbers = shares_.front()->numbers;
  kept.rows.resize(shares_.size() * numbers.places.blocks.size());
  if (first_) {
    sum_of_shares(
        [&](Share& share, std::size_t) {
          std::vector<std::int64_t> own(tokens.begin(), tokens.end());
          for (std::int64_t& token : own) token -= share.first_token;
          look_up(share.numbers, own, share.result);
        },
        x);
    add_positions(numbers, kept.tokens, count, x);
  }
  for (std::size_t block = 0; block < numbers.places.blocks.size(); ++block) {
    attend(block, count, kept, x);
    feed_forward(block, count, x);
  }
  kept.tokens += count;
}

std::int64_t StageDecoder::next_token(const std::vector<double>& x) {
  base::check(last_, "the head is in the last stage");
  const std::int64_t hidden = shares_.front()->numbers.shape.hidden;
  const std::vector<double> last(x.end() - hidden, x.end());
  std::int64_t best = -1;
  double most = 0.0;
  for (const auto& share : shares_) {
    norm(share->numbers, share->numbers.places.last_norm, 1, last, share->norm_kept, share->normed);
    multiply(share->numbers, share->numbers.places.head, 1, share->normed, share->result);
    const auto greatest = std::ranges::max_element(share->result);
    if (best >= 0 && !(*greatest > most)) continue;
    most = *greatest;
    best = share->first_token + (greatest - share->result.begin());
  }
  return best;
}

}  // namespace simgrad::models

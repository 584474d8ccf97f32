// Decoding with kept keys and values against passes over whole sequences.
#include "models/transformer_decoder.h"

#include <cmath>

#include "catch.h"
#include "models/cut_text.h"
#include "models/sample_data.h"

namespace transformer_decoder_test {

using namespace simgrad::models;

namespace {

constexpr std::int64_t vocabulary = 12, s = 8;

Transformer small(bool gated, Positions positions) {
  Transformer model;
  model.options.layers = 3;
  model.options.hidden = 16;
  model.options.heads = 4;
  model.options.kv_heads = 2;
  model.options.sequence = s;
  model.options.gated = gated;
  model.options.tied = !gated;
  model.options.positions = positions;
  return model;
}

const Problem problem{.features = s, .vocabulary = vocabulary};

std::vector<double> parameters_of(const Transformer& model) {
  std::vector<double> w = test::sample_parameters(model.parameters(problem));
  for (double& w_j : w) w_j = 3.0 * w_j + 0.03;
  return w;
}

/// The loss's sum of a row that ends on `next`: less for a likelier token.
double loss(const Transformer& model, const std::vector<double>& w, const std::vector<double>& row, double next) {
  const Samples one{.features = row.data(), .targets = &next, .columns = s, .count = 1};
  return model.score(problem, one, w).loss;
}

}  // namespace

TEST_CASE("the token that is chosen is the likeliest by the loss of the uncut model") {
  for (const bool gated : {false, true}) {
    const Transformer model = small(gated, gated ? Positions::rotary : Positions::learned);
    const std::vector<double> w = parameters_of(model);
    for (const int tensor : {1, 2}) {
      StageDecoder decoder(model, problem, {.first_unit = 0, .end_unit = 5, .tensor = tensor}, w);
      for (std::int64_t begun = 0; begun < 6; ++begun) {
        std::vector<double> row;
        std::vector<std::int64_t> tokens;
        for (std::int64_t k = 0; k < s; ++k) {
          tokens.push_back((5 * k * k + 7 * begun + k) % vocabulary);
          row.push_back(static_cast<double>(tokens.back()));
        }
        // In three pieces, as a prompt in chunks and single tokens pass.
        KeysAndValues kept;
        std::vector<double> x;
        const std::span all(tokens);
        decoder.pass(all.first(4), kept, x);
        decoder.pass(all.subspan(4, 3), kept, x);
        decoder.pass(all.last(1), kept, x);
        double least = loss(model, w, row, 0.0);
        std::int64_t likeliest = 0;
        for (std::int64_t next = 1; next < vocabulary; ++next)
          if (const double next_loss = loss(model, w, row, static_cast<double>(next)); next_loss < least) {
            least = next_loss;
            likeliest = next;
          }
        CHECK(decoder.next_token(x) == likeliest);
        CHECK(kept.tokens == s);
      }
    }
  }
}

TEST_CASE("a cut between stages changes no bit of what passes") {
  const Transformer model = small(false, Positions::learned);
  const std::vector<double> w = parameters_of(model);
  StageDecoder whole(model, problem, {.first_unit = 0, .end_unit = 5}, w);
  StageDecoder first(model, problem, {.first_unit = 0, .end_unit = 3}, w);
  StageDecoder second(model, problem, {.first_unit = 3, .end_unit = 5}, w);
  const std::vector<std::int64_t> tokens{3, 1, 4, 1, 5};
  KeysAndValues kept, kept_first, kept_second;
  std::vector<double> x, y;
  whole.pass(tokens, kept, x);
  first.pass(tokens, kept_first, y);
  second.pass(tokens, kept_second, y);
  CHECK(x == y);
  CHECK(whole.next_token(x) == second.next_token(y));
}

}  // namespace transformer_decoder_test

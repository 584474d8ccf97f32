// The layers of transformers against the published counts of parameters, flops and kept activations.
#include "models/transformer_shape.h"

#include "catch.h"
#include "models/published_shapes.h"

namespace transformer_shape_test {

using namespace simgrad::models;

namespace {

using test::gpt;

TransformerShape small_llama() { return test::small_llama(6, 2); }

double forward_flops(const TransformerShape& shape) {
  double flops = 0.0;
  for (const Layer& layer : layers(shape)) flops += layer.forward_flops;
  return flops;
}

/// The sum over the layers of one block.
struct Block {
  double numbers = 0.0, bytes = 0.0, selective_numbers = 0.0, selective_bytes = 0.0, entrance = 0.0, elementwise = 0.0,
         selective_flops = 0.0, selective_elementwise = 0.0;
};
Block first_block(const TransformerShape& shape) {
  Block sum;
  for (const Layer& layer : layers(shape)) {
    if (layer.unit != 1) continue;
    sum.numbers += layer.kept.numbers;
    sum.bytes += layer.kept.bytes;
    sum.selective_numbers += layer.selective.numbers;
    sum.selective_bytes += layer.selective.bytes;
    sum.entrance += layer.entrance;
    sum.elementwise += layer.elementwise;
    sum.selective_flops += layer.selective_flops;
    sum.selective_elementwise += layer.selective_elementwise;
  }
  return sum;
}

}  // namespace

TEST_CASE("a GPT layer has 12 h^2 + 13 h parameters") {
  const TransformerShape shape = gpt(5, 96, 8, 64, 1000);
  std::int64_t of_blocks = 0;
  for (const Layer& layer : layers(shape))
    if (layer.unit >= 1 && layer.unit <= 5) of_blocks += layer.count;
  // l (12 h^2 + 13 h), h = 96, l = 5
  CHECK(of_blocks == 5 * (12 * 96 * 96 + 13 * 96));
  // ... + V h + s h, and the last norm's 2 h
  CHECK(parameters(shape) == of_blocks + 1000 * 96 + 64 * 96 + 2 * 96);
}

TEST_CASE("a transformer's layers follow each other in w and fill it") {
  TransformerShape with_norm = gpt(2, 32, 4, 16, 50);
  with_norm.embedding_norm = true;
  with_norm.biases = false;
  with_norm.qkv_biases = true;
  for (const TransformerShape& shape : {gpt(2, 32, 4, 16, 50), small_llama(), with_norm}) {
    std::int64_t next = 0, unit = 0;
    for (const Layer& layer : layers(shape)) {
      CHECK(layer.first == next);
      CHECK((layer.unit == unit || layer.unit == unit + 1));
      CHECK(layer.rows * layer.columns <= layer.count);
      CHECK_FALSE(layer.name.empty());
      next = layer.first + layer.count;
      unit = layer.unit;
    }
    CHECK(next == parameters(shape));
    CHECK(unit == shape.layers + 1);
    CHECK(layers(shape).size() == static_cast<std::size_t>(4 * shape.layers + 2));
  }
}

TEST_CASE("the layers of a gated transformer with grouped keys by hand") {
  const std::vector<Layer> all = layers(small_llama());
  // Rows and columns of the matrices, and the parameters besides: norms of h gains, no biases, no positions.
  CHECK((all[0].rows == 100 && all[0].columns == 48 && all[0].count == 4800));
  CHECK((all[1].rows == 48 + 2 * 16 && all[1].columns == 48 && all[1].count == 80 * 48 + 48));  // kv width 2 x 8
  CHECK((all[2].rows == 48 && all[2].columns == 48 && all[2].count == 48 * 48));
  CHECK((all[3].rows == 256 && all[3].columns == 48 && all[3].count == 256 * 48 + 48));
  CHECK((all[4].rows == 48 && all[4].columns == 128 && all[4].count == 48 * 128));
  CHECK((all[13].rows == 100 && all[13].columns == 48 && all[13].count == 4800 + 48));
  REQUIRE(all[1].products.size() == 3);
  CHECK((all[1].products[0].m == 20 && all[1].products[0].n == 80 && all[1].products[0].k == 48));
  CHECK((all[1].products[1].n == 20 && all[1].products[1].k == 8 && all[1].products[1].count == 6));
  CHECK((all[1].products[2].n == 8 && all[1].products[2].k == 20 && !all[1].products[2].parameters));
  // 2 s k n for q, k and v, 2 x 2 s^2 h for scores and application
  CHECK(all[1].forward_flops == 2.0 * 20 * 80 * 48 + 4.0 * 20 * 20 * 48);
  CHECK(all[1].backward_flops == 2.0 * all[1].forward_flops);
  // norm 2 s h, rotary 2 s (h + kv); residual 3 s h; norm 2 s h, SwiGLU reads 2 f and writes f; residual 3 s h
  CHECK(first_block(small_llama()).elementwise == 20.0 * (2 * 48 + 2 * (48 + 16) + 3 * 48 + 2 * 48 + 3 * 128 + 3 * 48));
}

TEST_CASE("a GPT's flops are those of Narayanan et al.") {
  const double l = 24, h = 2048, s = 1024, V = 51200;
  // 72 s l h^2 (1 + s/(6 h) + V/(12 l h)) a sequence, the forward pass being a third
  const double expected = 72.0 * s * l * h * h * (1.0 + s / (6.0 * h) + V / (12.0 * l * h));
  CHECK(3.0 * forward_flops(gpt(24, 2048, 16, 1024, 51200)) == Approx(expected).epsilon(1e-12));
}

TEST_CASE("a GPT layer keeps s h (34 + 5 a s / h) bytes in half precision") {
  const Block block = first_block(gpt(48, 6144, 64, 2048, 51200));
  const double s = 2048, h = 6144, a = 64;
  CHECK(2.0 * block.numbers + block.bytes == Approx(s * h * (34.0 + 5.0 * a * s / h)).epsilon(1e-12));
  // selective recomputation drops 5 a s^2 and adds 4 s^2 h flops; a unit's entrance is s h numbers
  CHECK(2.0 * block.selective_numbers + block.selective_bytes == Approx(5.0 * a * s * s).epsilon(1e-12));
  CHECK(block.selective_flops == 4.0 * s * s * h);
  CHECK(block.selective_elementwise == (2.0 + 2.0) * a * s * s);  // softmax and dropout each read and write a score
  CHECK(block.entrance == s * h);
}

TEST_CASE("fused attention keeps no scores and has none to drop") {
  TransformerShape shape = gpt(2, 64, 4, 32, 100);
  shape.fused_attention = true;
  const Block block = first_block(shape);
  CHECK(2.0 * block.numbers + block.bytes == Approx(34.0 * 32 * 64).epsilon(1e-12));  // 34 s h
  CHECK(block.selective_numbers == 0.0);
  CHECK(block.selective_flops == 0.0);
  CHECK(block.selective_elementwise == 0.0);
}

TEST_CASE("without dropout a layer keeps no masks") {
  TransformerShape shape = gpt(2, 64, 4, 32, 100);
  shape.dropout = false;
  const Block block = first_block(shape);
  // per token: norms' inputs 2 h, products' inputs h + h + h + 4 h, q, k and v 3 h, GELU's input 4 h; scores a s^2 once
  CHECK(block.numbers == 32.0 * 64 * 16 + 4.0 * 32 * 32);
  CHECK(block.bytes == 0.0);
  CHECK(block.selective_numbers == 4.0 * 32 * 32);
}

TEST_CASE("a gated layer with grouped keys keeps less of keys and more of the feed-forward part") {
  const Block block = first_block(small_llama());
  // norm's input and output, q: 3 h; k and v: 2 kv; attention's output h; norm's input and output 2 h; gate, factor and
  // their product 3 f
  CHECK(block.numbers == 20.0 * (6 * 48 + 2 * 16 + 3 * 128));
}

TEST_CASE("the head keeps its inputs and the logits in float32") {
  const Layer head = layers(gpt(1, 64, 4, 32, 100)).back();
  CHECK(head.kept.numbers == 2.0 * 32 * 64);
  CHECK(head.kept.bytes == 4.0 * 32 * 100);
  CHECK(head.forward_flops == 2.0 * 32 * 64 * 100);
  CHECK((head.count == 2 * 64 && head.rows == 0));  // tied: only the last norm is its own
}

TEST_CASE("shapes that no transformer has are refused with what would do") {
  TransformerShape shape = gpt(2, 64, 4, 32, 100);
  CHECK(refusal(shape).empty());
  shape.heads = shape.kv_heads = 6;
  CHECK(
      refusal(shape) ==
      "hidden = 64 does not divide into heads = 6 of equal widths; take 60 or 66 for hidden, or a number of heads that "
      "divides it");
  shape.heads = 8;
  shape.kv_heads = 3;
  CHECK(refusal(shape).starts_with("kv_heads = 3 does not divide heads = 8; each of the kv_heads serves"));
  shape = small_llama();
  shape.heads = shape.kv_heads = 16;
  CHECK(refusal(shape).starts_with(
      "rotary positions turn pairs of numbers, but hidden = 48 and heads = 16 make heads of 3"));
  shape = gpt(10000, 1'000'000, 4, 32, 100);
  CHECK(refusal(shape).starts_with("a transformer of some"));
}

TEST_CASE("parts of a transformer that the kernels leave out are refused with numbers") {
  TransformerShape shape = gpt(2, 64, 4, 32, 100);
  CHECK(numbers_refusal(shape) ==
        "dropout: dropout can be timed, but the transformer's numbers have none; set dropout = false, or "
        "training.numbers = false");
  shape.dropout = false;
  CHECK(numbers_refusal(shape).empty());
  shape.embedding_norm = true;
  CHECK(numbers_refusal(shape).starts_with("embedding_norm: "));
  shape.embedding_norm = false;
  shape.qkv_biases = true;
  CHECK(numbers_refusal(shape).empty());  // all products have biases
  shape.biases = false;
  CHECK(numbers_refusal(shape).starts_with("qkv_biases: "));
}

}  // namespace transformer_shape_test

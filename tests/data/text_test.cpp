// Texts: the tokens of files, what is refused of them, and a Markov chain whose entropy is known.
#include "data/text.h"

#include <cmath>
#include <map>

#include "catch.h"
#include "data/files.h"
#include "data/markov.h"

namespace text_test {

using namespace simgrad;
using data::Dataset;
using data::Markov;
using data::Task;
using data::Text;
using data::test::fault;
using data::test::Folder;
using Numbers = std::vector<double>;

namespace {

Dataset read(const std::string& text, std::int64_t sequence, Text::Tokens tokens = Text::Tokens::bytes) {
  Text source;
  source.path = "t.txt";
  source.tokens = tokens;
  return source.read(text, {.task = Task::text, .features = sequence});
}

Dataset made(const Markov& source, std::int64_t samples, std::int64_t sequence, std::uint64_t seed = 1) {
  return source.load({.task = Task::text, .seed = seed, .samples = samples, .features = sequence});
}

Markov chain(std::int64_t vocabulary, std::int64_t order, double sharpness) {
  Markov source;
  source.vocabulary = vocabulary;
  source.order = order;
  source.sharpness = sharpness;
  return source;
}

}  // namespace

TEST_CASE("a text's bytes are cut into rows, each with the byte behind it as its target") {
  const Dataset set = read("abcdefgh", 3);
  CHECK(set.rows == 2);
  CHECK(set.columns == 3);
  CHECK(set.vocabulary == 256);
  CHECK(set.classes == 0);
  CHECK(set.features == Numbers{97, 98, 99, 100, 101, 102});
  CHECK(set.targets == Numbers{100, 103});
  // (8 - 1) / 3 = 2 rows; with one byte less there are still two: a row's target may be the last byte.
  CHECK(read("abcdefg", 3).rows == 2);
  CHECK(read("abcdef", 3).rows == 1);
}

TEST_CASE("bytes beyond 127 are tokens 128 to 255") {
  const Dataset set = read("\xFF\x80z", 2);
  CHECK(set.features == Numbers{255, 128});
  CHECK(set.targets == Numbers{122});
}

TEST_CASE("characters are numbered by their code points, those alone that occur") {
  // c a é b, and a character of four bytes: a = 0, b = 1, c = 2, é (U+E9) = 3, U+1F600 = 4.
  const Dataset set = read(
      "ca\xC3\xA9"
      "b\xF0\x9F\x98\x80",
      4, Text::Tokens::characters);
  CHECK(set.vocabulary == 5);
  CHECK(set.features == Numbers{2, 0, 3, 1});
  CHECK(set.targets == Numbers{4});
}

TEST_CASE("a text that is too short, or no UTF-8, is refused with its place") {
  CHECK_THAT(fault([] { return read("abc", 3); }),
             ContainsSubstring("t.txt:1: 3 tokens, but a row takes 4") && ContainsSubstring("a smaller sequence"));
  using enum Text::Tokens;
  // The second line's third byte.
  CHECK_THAT(fault([] { return read("ab\ncd\xC3(", 2, characters); }),
             ContainsSubstring("t.txt:2:3: byte 0xC3 is not UTF-8"));
  CHECK_THAT(fault([] { return read("ab\x80", 1, characters); }), ContainsSubstring("t.txt:1:3: byte 0x80"));
  CHECK_THAT(fault([] { return read("ab\xED\xA0\x80", 1, characters); }),
             ContainsSubstring("byte 0xED"));  // a surrogate
  CHECK_THAT(fault([] { return read("ab\xC0\xAF", 1, characters); }),
             ContainsSubstring("byte 0xC0"));  // too long a form
  CHECK_THAT(fault([] { return read("aaaa", 1, characters); }), ContainsSubstring("one character only"));
  Text missing;
  missing.path = "/nowhere/t.txt";
  CHECK_THROWS_AS(missing.load({.task = Task::text, .features = 2}), base::EnvironmentError);
}

TEST_CASE("a text is neither standardised nor given a bias, and its rows can be held out") {
  const Folder folder;
  data::Options options;
  options.source.choose("text");
  static_cast<Text*>(options.source.object())->path = folder.file("t.txt", "the quick brown fox jumps over it");
  options.features = 4;
  options.test_fraction = 0.25;
  const data::Split split = data::load(options, {.task = Task::text, .shuffle = false});
  // 33 bytes: (33 - 1) / 4 = 8 rows, two of them for testing.
  CHECK(split.train.rows == 6);
  CHECK(split.test.rows == 2);
  CHECK(split.train.vocabulary == 256);
  CHECK(split.test.vocabulary == 256);
  for (const double token : split.train.features) CHECK((token == std::floor(token) && token >= 32.0));
}

TEST_CASE("the tasks of a text and of other sources are kept apart") {
  data::Options options;
  options.source.choose("text");
  CHECK_THAT(data::task_refusal(options, Task::regression), ContainsSubstring("[model] kind = \"transformer\""));
  CHECK(data::task_refusal(options, Task::text).empty());
  options.source.choose("csv");
  CHECK_THAT(data::task_refusal(options, Task::text), ContainsSubstring("use \"text\" or \"markov\""));
  CHECK_THAT(fault([] { return chain(4, 1, 1.0).load({.task = Task::regression, .samples = 2, .features = 3}); }),
             ContainsSubstring("makes sequences of tokens, but the model predicts a number"));
  options.source.choose("blobs");
  CHECK_THAT(fault([&] { return options.source->load({.task = Task::text, .samples = 2, .features = 3}); }),
             ContainsSubstring("predicts tokens of a text; use \"markov\" or \"text\""));
}

TEST_CASE("a Markov source without sharpness has the entropy ln(vocabulary)") {
  const Dataset set = made(chain(7, 2, 0.0), 10, 5);
  CHECK(set.vocabulary == 7);
  CHECK(*set.loss_floor == Approx(std::log(7.0)).epsilon(1e-12));
}

TEST_CASE("a Markov source's floor is the entropy of its next token, as its rows show") {
  for (const std::int64_t order : {1, 2}) {
    CAPTURE(order);
    const Markov source = chain(4, order, 1.5);
    const std::int64_t T = 3;
    const Dataset set = made(source, 200'000, T);
    // Conditional entropies H(x_(t+1) | x_1 .. x_t) = H(t + 1 tokens) - H(t tokens), of the rows' frequencies. An
    // entropy of k cells is estimated k / (2 rows) too low: 256 / 400000 = 6e-4.
    const auto block_entropy = [&](std::int64_t length) {
      std::map<std::vector<double>, double> counts;
      for (std::int64_t row = 0; row < set.rows; ++row) {
        std::vector<double> tokens(set.row(row).begin(), set.row(row).end());
        tokens.push_back(set.targets[static_cast<std::size_t>(row)]);
        tokens.resize(static_cast<std::size_t>(length));
        counts[tokens] += 1.0 / static_cast<double>(set.rows);
      }
      double sum = 0.0;
      for (const auto& [tokens, p] : counts) sum -= p * std::log(p);
      return sum;
    };
    // The mean over T predictions telescopes.
    CHECK((block_entropy(T + 1) - block_entropy(1)) / static_cast<double>(T) == Approx(*set.loss_floor).margin(3e-3));
    CHECK(*set.loss_floor < std::log(4.0));
  }
}

TEST_CASE("a Markov source's rows depend on the seed and their number, not on how many there are") {
  const Markov source = chain(5, 1, 2.0);
  const Dataset few = made(source, 3, 4), many = made(source, 30, 4), other = made(source, 3, 4, 2);
  CHECK(Numbers(many.features.begin(), many.features.begin() + 12) == few.features);
  CHECK(*many.loss_floor == *few.loss_floor);
  CHECK(other.features != few.features);
  for (const double token : many.features) CHECK((token >= 0.0 && token < 5.0));
}

}  // namespace text_test

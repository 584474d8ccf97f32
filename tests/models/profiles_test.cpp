// Models that are known by their layers, against the published totals and a count by hand; tables of layers.
#include "base/errors.h"
#include "catch.h"
#include "models/profiles/bert_large.h"
#include "models/profiles/image_networks.h"
#include "models/profiles/layer_table.h"
#include "scratch.h"

namespace profiles_test {

using namespace simgrad;
using namespace simgrad::models;

namespace {

const Layer& layer(const std::vector<Layer>& all, std::string_view name) {
  for (const Layer& one : all)
    if (one.name == name) return one;
  throw std::runtime_error("no such layer");
}

/// Multiply-adds of a sample's forward pass, in thousands of millions.
double giga(const ProfiledModel& model) { return totals(model.profile()).forward_flops / 2e9; }

/// The refusal of a file of this text, from the file's name on.
std::string refused(const std::string& text) {
  const tests::Scratch scratch;
  try {
    read_layers(scratch.write("layers.csv", text));
  } catch (const base::ScenarioError& error) {
    const std::string message = error.what();
    return message.substr(message.find("layers.csv"));
  }
  return "no refusal";
}

}  // namespace

TEST_CASE("image networks have the published parameters and multiply-adds") {
  // torchvision's weights, to the last one; multiply-adds as published, rounded to the digits printed.
  CHECK(ResNet50().parameters({}) == 25'557'032);
  CHECK(ResNet152().parameters({}) == 60'192'808);
  CHECK(InceptionV3().parameters({}) == 23'834'568);
  CHECK(Vgg16().parameters({}) == 138'357'544);
  CHECK(AlexNet().parameters({}) == 61'100'840);
  CHECK(giga(ResNet50()) == Approx(4.09).margin(0.005));
  CHECK(giga(ResNet152()) == Approx(11.51).margin(0.005));
  CHECK(giga(InceptionV3()) == Approx(5.71).margin(0.005));
  CHECK(giga(Vgg16()) == Approx(15.47).margin(0.005));
  CHECK(giga(AlexNet()) == Approx(0.71).margin(0.005));
}

TEST_CASE("a network of other classes and images differs in its last layer and its places") {
  ResNet50 network;
  network.classes = 10;
  CHECK(network.parameters({}) == 25'557'032 - 990 * (2048 + 1));
  network.image_size = 448;  // four times the places of each convolution; one last layer
  network.classes = 1000;
  CHECK(giga(network) == Approx(4.0 * (giga(ResNet50()) - 2048e-6) + 2048e-6).epsilon(1e-12));
}

TEST_CASE("layers of networks follow each other in w, and units follow each other") {
  for (const std::vector<Layer>& all : {ResNet50().profile(), ResNet152().profile(), InceptionV3().profile(),
                                        Vgg16().profile(), AlexNet().profile(), BertLarge().profile()}) {
    std::int64_t next = 0, unit = 0;
    for (const Layer& one : all) {
      CHECK(one.first == next);
      CHECK((one.unit == unit || one.unit == unit + 1));
      CHECK(one.rows * one.columns <= one.count);
      next += one.count;
      unit = one.unit;
    }
  }
}

TEST_CASE("a convolution is a product by hand") {
  const std::vector<Layer> all = ResNet50().profile();
  const Layer& stem = layer(all, "stem");
  // 112^2 places, 64 channels, 7 x 7 x 3 inputs each; gains and biases of the batch norm
  CHECK((stem.products[0].m == 112 * 112 && stem.products[0].n == 64 && stem.products[0].k == 147));
  CHECK(stem.count == 64 * 147 + 2 * 64);
  CHECK(stem.backward_flops == stem.forward_flops);  // images need no gradient
  // batch norm 3, relu 2, the pool's input and output
  CHECK(stem.elementwise == 5.0 * 64 * 112 * 112 + 64 * 112 * 112 + 64 * 56 * 56);
  // the image, the batch norm's input, the pool's input and places
  CHECK(stem.kept.numbers == 3.0 * 224 * 224 + 2.0 * 64 * 112 * 112);
  CHECK(stem.kept.bytes == 8.0 * 64 * 56 * 56);
  const Layer& strided = layer(all, "stage 2 block 1: 3 x 3");
  CHECK((strided.products[0].m == 28 * 28 && strided.products[0].n == 128 && strided.products[0].k == 9 * 128));
  CHECK(strided.backward_flops == 2.0 * strided.forward_flops);
  CHECK(strided.kept.numbers == 128.0 * 56 * 56 + 128.0 * 28 * 28);
  const Layer& shortcut = layer(all, "stage 2 block 1: shortcut");
  CHECK((shortcut.products[0].m == 28 * 28 && shortcut.products[0].n == 512 && shortcut.products[0].k == 256));
  CHECK(shortcut.kept.numbers == 512.0 * 28 * 28);  // its input is the block's, which the first convolution keeps
  CHECK(layer(all, "stage 2 block 1: 1 x 1").entrance == 256.0 * 56 * 56);
  CHECK(all.back().unit == 17);  // stem, 16 blocks, classes
}

TEST_CASE("BERT-large has the published parameters") {
  BertLarge bert;
  CHECK(bert.parameters({}) == 336'226'108);  // with the heads of the pretraining, as the published weights have it
  bert.heads = false;
  CHECK(bert.parameters({}) == 335'141'888);  // without
  // A short sequence has as many parameters. Flops: 24 layers of 24 s h^2 + 4 s^2 h, and the pooler's 2 h^2.
  bert.sequence = 128;
  CHECK(bert.parameters({}) == 335'141'888);
  const double s = 128, h = 1024;
  CHECK(totals(bert.profile()).forward_flops ==
        Approx(24.0 * (24.0 * s * h * h + 4.0 * s * s * h) + 2.0 * h * h).epsilon(1e-12));
  bert.heads = true;  // 2 s h^2 + 2 s h V + 4 h more
  CHECK(totals(bert.profile()).forward_flops == Approx(24.0 * (24.0 * s * h * h + 4.0 * s * s * h) + 2.0 * h * h +
                                                       2.0 * s * h * h + 2.0 * s * h * 30522 + 4.0 * h)
                                                    .epsilon(1e-12));
}

TEST_CASE("models that are known by their layers have no numbers") {
  CHECK(ResNet50().numbers_refusal() ==
        "resnet50 is known by its layers alone, so that its runs are timed and compute no numbers; set "
        "training.numbers = false");
  std::vector<double> w(3), g(3);
  CHECK_THROWS_AS(Vgg16().gradient({}, {}, w, 1.0, 1.0, g), base::InvariantError);
  CHECK_THROWS_AS(Vgg16().score({}, {}, w), base::InvariantError);
}

TEST_CASE("a table of layers is read with its units") {
  const tests::Scratch scratch;
  const std::vector<Layer> all =
      read_layers(scratch.write("layers.csv",
                                "name, parameters, backward_flops, forward_flops, activation_bytes, unit\n"
                                "embedding, 1000, 0, 0, 64, 0\n\nfirst, 20, 4e3, 2e3, 128, 1\r\nsecond,5,1,0.5,0,1"))
          .layers;
  REQUIRE(all.size() == 3);
  CHECK((all[0].name == "embedding" && all[0].first == 0 && all[0].count == 1000 && all[0].unit == 0));
  CHECK((all[1].first == 1000 && all[1].count == 20 && all[1].forward_flops == 2e3 && all[1].backward_flops == 4e3));
  CHECK((all[1].kept.bytes == 128 && all[1].unit == 1));
  CHECK((all[2].first == 1020 && all[2].count == 5 && all[2].forward_flops == 0.5 && all[2].unit == 1));
}

TEST_CASE("a table of layers may have seconds instead of flops") {
  const tests::Scratch scratch;
  const std::vector<Layer> all =
      read_layers(scratch.write("layers.csv", "name,parameters,forward_s,backward_s\na,7,1e-3,2e-3\nb,8,0,3e-3\n"))
          .layers;
  REQUIRE(all.size() == 2);
  CHECK((all[0].forward_s == 1e-3 && all[0].backward_s == 2e-3 && all[0].forward_flops == 0.0 && all[0].unit == 0));
  CHECK((all[1].forward_s == 0.0 && all[1].backward_s == 3e-3 && all[1].unit == 1));
}

TEST_CASE(
    "a table of layers may have the weights' part of the backward pass, the bytes of a hop, and a line for many") {
  const tests::Scratch scratch;
  const LayerTable table =
      read_layers(scratch.write("layers.csv",
                                "name,parameters,forward_s,backward_s,weights_s,activation_bytes,entrance_bytes,times\n"
                                "first,7,1e-3,2e-3,5e-4,64,0,1\nblock,8,1,3,1,32,100,3\nloss,0,1,1,0,16,50,1\n"));
  REQUIRE(table.layers.size() == 5);
  CHECK(table.entrance_bytes == std::vector<double>{0, 100, 100, 100, 50});
  CHECK((table.layers[0].weights_s == 5e-4 && table.layers[3].weights_s == 1.0 && table.layers[4].weights_s == 0.0));
  CHECK((table.layers[3].name == "block" && table.layers[3].first == 7 + 2 * 8 && table.layers[3].unit == 3));
  CHECK((table.layers[4].first == 7 + 3 * 8 && table.layers[4].unit == 4));
  CHECK(read_layers(scratch.write("in_a_unit.csv", "name,parameters,forward_s,backward_s,unit,times\na,7,1,2,0,4\n"))
            .layers[3]
            .unit == 0);
}

TEST_CASE("a table of layers with wrong columns or cells is refused with line and column") {
  CHECK(refused("") ==
        "layers.csv:1:1: no layer; expected a line of columns, "
        "name,parameters,forward_flops,backward_flops or the like, and a line for each layer");
  CHECK(refused("name,parameters,forward_flops\n") ==
        "layers.csv:1:1: no column backward_flops; expected one in addition to the other pass's");
  CHECK(refused("name,parameters\n") ==
        "layers.csv:1:1: no times and no flops; expected the columns forward_flops and "
        "backward_flops, or forward_s and backward_s");
  CHECK(refused("name,forward_s,backward_s\n") == "layers.csv:1:1: no column parameters; expected one");
  CHECK(refused("name,paramaters,forward_s,backward_s\n")
            .starts_with("layers.csv:1:6: unknown column \"paramaters\"; did you mean \"parameters\"?"));
  CHECK(refused("name,name,forward_s,backward_s\n") == "layers.csv:1:6: the column name a second time");
  const std::string header = "name,parameters,forward_s,backward_s,unit\n";
  CHECK(refused(header + "a,10,-1,2,0\n") == "layers.csv:2:6: forward_s must be a number of at least 0, found \"-1\"");
  CHECK(refused(header + "a,10,1,2,0\n\nb,10,x,2,0\n") ==
        "layers.csv:4:6: forward_s must be a number of at least 0, found \"x\"");
  CHECK(refused(header + "a,10,,2,0\n") ==
        "layers.csv:2:6: forward_s must be a number of at least 0, found an empty cell");
  CHECK(refused(header + "a,10,inf,2,0\n") ==
        "layers.csv:2:6: forward_s must be a number of at least 0, found \"inf\"");
  CHECK(refused(header + "a,1.5,1,2,0\n") == "layers.csv:2:3: parameters must be a whole number, found \"1.5\"");
  CHECK(refused(header + "a,10,1,2\n") == "layers.csv:2:1: 4 cells, expected 5 as in the first line");
  CHECK(refused(header + "a,10,1,2,2\n") ==
        "layers.csv:2:10: unit = 2 behind unit 0; expected 0 or 1, since the layers of a unit follow each other");
  CHECK(refused(header + "\"a\",10,1,2,0\n") == "layers.csv:2:1: a quote; expected plain cells between commas");
  CHECK(refused("name,parameters,forward_flops,backward_flops,weights_s\n") ==
        "layers.csv:1:1: no column backward_s; expected one, of which weights_s is a part");
  const std::string weights = "name,parameters,forward_s,backward_s,weights_s\n";
  CHECK(
      refused(weights + "a,10,1,2,2.5\n") ==
      "layers.csv:2:10: weights_s = 2.5 is more than backward_s = 2, of which it is a part; expected at most as much");
  CHECK(refused(weights + "a,10,1,2,0\n")
            .starts_with(
                "layers.csv:2:10: weights_s = 0 in a layer with parameters; expected the seconds of backward_s"));
  CHECK(refused(header + "a,10,1,2,x\n") == "layers.csv:2:10: unit must be a number of at least 0, found \"x\"");
  CHECK(refused("name,parameters,forward_s,backward_s,entrance_bytes\na,10,1,2,-3\n") ==
        "layers.csv:2:10: entrance_bytes must be a number of at least 0, found \"-3\"");
  const std::string many = "name,parameters,forward_s,backward_s,times\n";
  CHECK(refused(many + "a,10,1,2,0\n") ==
        "layers.csv:2:10: times = 0; expected 1 or more, and at most 1e+05 layers in all");
  CHECK(refused(many + "a,10,1,2,2\nb,10,1,2,99999\n") ==
        "layers.csv:3:10: times = 99999; expected 1 or more, and at most 1e+05 layers in all");
  CHECK(refused(many + "a,10,1,2,1.5\n") == "layers.csv:2:10: times must be a whole number, found \"1.5\"");
  CHECK_THROWS_AS(read_layers("no/such/layers.csv"), base::EnvironmentError);
}

}  // namespace profiles_test

#include "models/profiles/image_networks.h"

#include <fmt/format.h>

#include <array>

#include "models/profiles/convolutions.h"

namespace simgrad::models {

void ImageNetwork::describe(base::Describer& d) {
  d.integer("image_size", image_size, "places in a row and in a column of an image",
            base::Bounds::between(smallest(), 1e4));
  d.integer("classes", classes, "classes of images", base::Bounds::between(2, 1e7));
}

namespace {

struct ResNetStage {
  std::int64_t blocks, channels, stride;
};

/// 1 x 1, 3 x 3 and 1 x 1, the last with four times the channels, beside the block's input or a convolution of it.
void add_bottleneck(ConvolutionalLayers& network, const std::string& name, const ResNetStage& stage, bool first) {
  const Image in = network.image();
  const std::int64_t stride = first ? stage.stride : 1;
  network.begin_unit();
  network.convolve(name + ": 1 x 1", {.kernel = 1, .channels = stage.channels, .batch_norm = true});
  network.convolve(name + ": 3 x 3",
                   {.kernel = 3, .channels = stage.channels, .stride = stride, .padding = 1, .batch_norm = true});
  network.convolve(name + ": 1 x 1 out",
                   {.kernel = 1, .channels = 4 * stage.channels, .batch_norm = true, .relu = false});
  if (first)
    network.convolve(name + ": shortcut",
                     {.kernel = 1, .channels = 4 * stage.channels, .stride = stride, .batch_norm = true, .relu = false},
                     in);
  network.add_residual();
}

using ResNetStages = std::array<ResNetStage, 4>;

std::vector<Layer> residual_network(std::int64_t image_size, std::int64_t classes, const ResNetStages& stages) {
  ConvolutionalLayers network({.channels = 3, .size = image_size});
  network.begin_unit();
  network.convolve("stem", {.kernel = 7, .channels = 64, .stride = 2, .padding = 3, .batch_norm = true});
  network.pool(3, 2, 1, true);
  for (std::size_t i = 0; i < stages.size(); ++i)
    for (std::int64_t block = 0; block < stages[i].blocks; ++block)
      add_bottleneck(network, fmt::format("stage {} block {}", i + 1, block + 1), stages[i], block == 0);
  network.average_to(1);
  network.begin_unit();
  network.dense("classes", classes, false);
  return network.take();
}

/// Two dense layers of 4096 units, and one output a class.
void add_classifier(ConvolutionalLayers& network, std::int64_t classes) {
  for (const char* name : {"dense 6", "dense 7"}) {
    network.begin_unit();
    network.dense(name, 4096, true);
  }
  network.begin_unit();
  network.dense("classes", classes, false);
}

}  // namespace

std::vector<Layer> ResNet50::profile() const {
  return residual_network(image_size, classes, {{{3, 64, 1}, {4, 128, 2}, {6, 256, 2}, {3, 512, 2}}});
}

std::vector<Layer> ResNet152::profile() const {
  return residual_network(image_size, classes, {{{3, 64, 1}, {8, 128, 2}, {36, 256, 2}, {3, 512, 2}}});
}

std::vector<Layer> Vgg16::profile() const {
  // Convolutions a stage, and their channels.
  constexpr std::array<std::array<std::int64_t, 2>, 5> stages{{{2, 64}, {2, 128}, {3, 256}, {3, 512}, {3, 512}}};
  ConvolutionalLayers network({.channels = 3, .size = image_size});
  for (std::size_t i = 0; i < stages.size(); ++i) {
    for (std::int64_t j = 0; j < stages[i][0]; ++j) {
      network.begin_unit();
      network.convolve(fmt::format("convolution {}.{}", i + 1, j + 1),
                       {.kernel = 3, .channels = stages[i][1], .padding = 1});
    }
    network.pool(2, 2, 0, true);
  }
  network.average_to(7);
  add_classifier(network, classes);
  return network.take();
}

std::vector<Layer> AlexNet::profile() const {
  struct Convolved {
    Convolution convolution;
    bool pools;
  };
  const std::array<Convolved, 5> steps{{{{.kernel = 11, .channels = 64, .stride = 4, .padding = 2}, true},
                                        {{.kernel = 5, .channels = 192, .padding = 2}, true},
                                        {{.kernel = 3, .channels = 384, .padding = 1}, false},
                                        {{.kernel = 3, .channels = 256, .padding = 1}, false},
                                        {{.kernel = 3, .channels = 256, .padding = 1}, true}}};
  ConvolutionalLayers network({.channels = 3, .size = image_size});
  for (std::size_t i = 0; i < steps.size(); ++i) {
    network.begin_unit();
    network.convolve(fmt::format("convolution {}", i + 1), steps[i].convolution);
    if (steps[i].pools) network.pool(3, 2, 0, true);
  }
  network.average_to(6);
  add_classifier(network, classes);
  return network.take();
}

}  // namespace simgrad::models

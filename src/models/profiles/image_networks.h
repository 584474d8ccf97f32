/// ResNet-50, ResNet-152, Inception v3, VGG-16 and AlexNet, layer by layer as torchvision has them, for timing-only
/// runs.
#pragma once

#include "models/profiles/profiled_model.h"

namespace simgrad::models {

/// A network that classifies images of image_size x image_size places and three colours.
class ImageNetwork : public ProfiledModel {
 public:
  std::int64_t image_size = 224;
  std::int64_t classes = 1000;

  void describe(base::Describer& d) override;
  /// A byte a colour of a place: the images as they are decoded.
  std::int64_t sample_bytes(const Problem&) const override { return 3 * image_size * image_size; }

 protected:
  /// The smallest images whose places last through all layers.
  virtual double smallest() const = 0;
};

/// A stem, 16 bottleneck blocks of three convolutions (the 3 x 3 one has the stride), a dense layer. A block is a unit.
class ResNet50 final : public ImageNetwork {
 public:
  static constexpr base::About about{
      .kind = "resnet50",
      .summary = "ResNet-50 on images, timing only: 25.6 M parameters, 4.09 G multiply-adds an image of 224 x 224.",
      .cost = "24.3 GFLOP an image of 224 x 224, two thirds of them backward",
      .source = "K. He et al., Deep Residual Learning for Image Recognition, 2016; strides as torchvision's"};
  std::vector<Layer> profile() const override;

 protected:
  double smallest() const override { return 32; }
  std::string_view kind() const override { return about.kind; }
};

/// As ResNet-50, with 50 blocks.
class ResNet152 final : public ImageNetwork {
 public:
  static constexpr base::About about{
      .kind = "resnet152",
      .summary = "ResNet-152 on images, timing only: 60.2 M parameters, 11.5 G multiply-adds an image of 224 x 224.",
      .cost = "68.9 GFLOP an image of 224 x 224, two thirds of them backward",
      .source = "K. He et al., Deep Residual Learning for Image Recognition, 2016; strides as torchvision's"};
  std::vector<Layer> profile() const override;

 protected:
  double smallest() const override { return 32; }
  std::string_view kind() const override { return about.kind; }
};

/// A stem of five convolutions, eleven blocks of three or four branches, a dense layer. A block is a unit. Without the
/// classifier beside it, which helps training.
class InceptionV3 final : public ImageNetwork {
 public:
  static constexpr base::About about{
      .kind = "inception_v3",
      .summary = "Inception v3 on images, timing only: 23.8 M parameters, 5.7 G multiply-adds an image of 299 x 299.",
      .cost = "34.2 GFLOP an image of 299 x 299, two thirds of them backward",
      .source = "C. Szegedy et al., Rethinking the Inception Architecture for Computer Vision, 2016; as torchvision's"};
  InceptionV3() { image_size = 299; }
  std::vector<Layer> profile() const override;

 protected:
  double smallest() const override { return 75; }
  std::string_view kind() const override { return about.kind; }
};

class Vgg16 final : public ImageNetwork {
 public:
  static constexpr base::About about{
      .kind = "vgg16",
      .summary = "VGG-16 on images, timing only: 138 M parameters, 15.5 G multiply-adds an image of 224 x 224.",
      .cost = "92.6 GFLOP an image of 224 x 224, two thirds of them backward",
      .source = "K. Simonyan, A. Zisserman, Very Deep Convolutional Networks for Large-Scale Image Recognition, 2015"};
  std::vector<Layer> profile() const override;

 protected:
  double smallest() const override { return 32; }
  std::string_view kind() const override { return about.kind; }
};

class AlexNet final : public ImageNetwork {
 public:
  static constexpr base::About about{
      .kind = "alexnet",
      .summary = "AlexNet in one tower, timing only: 61.1 M parameters, 0.71 G multiply-adds an image of 224 x 224.",
      .cost = "4.1 GFLOP an image of 224 x 224, two thirds of them backward",
      .source = "A. Krizhevsky, One Weird Trick for Parallelizing Convolutional Neural Networks, 2014"};
  std::vector<Layer> profile() const override;

 protected:
  double smallest() const override { return 63; }
  std::string_view kind() const override { return about.kind; }
};

}  // namespace simgrad::models

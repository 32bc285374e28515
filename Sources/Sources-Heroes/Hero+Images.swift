import AggregatorKit

extension Hero {
  /// The addresses of the picture in a size, best first.
  ///
  /// Comic Vine keeps each picture in nine sizes, whose addresses differ in one part of the path. Of
  /// those, `small_url`, `medium_url` and `super_url` are taken; ``image`` is the second. An address of
  /// another form is the only one that is known.
  func images(_ size: ImageSize) -> [String] {
    guard let image else { return [] }
    let part =
      switch size {
      case .small: "scale_small"
      case .medium: "scale_medium"
      case .large: "scale_large"
      }
    return [image.replacing("/scale_medium/", with: "/\(part)/", maxReplacements: 1), image]
  }
}

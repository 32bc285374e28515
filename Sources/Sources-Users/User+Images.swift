import AggregatorKit

extension User {
  /// The addresses of the portrait in a size, best first.
  ///
  /// randomuser.me keeps each portrait in three sizes, whose addresses differ in one part of the path:
  /// `portraits/thumb/men/7.jpg`, `portraits/med/men/7.jpg` and, the largest, `portraits/men/7.jpg`. An
  /// address of another form is the only one that is known.
  func images(_ size: ImageSize) -> [String] {
    guard let picture else { return [] }
    let part =
      switch size {
      case .small: "thumb/"
      case .medium: "med/"
      case .large: ""
      }
    let sized = picture.replacing(/\/portraits\/(?=(men|women|lego)\/[0-9]+\.jpg$)/) { match in
      "\(match.0)\(part)"
    }
    return [sized, picture]
  }
}

/// A step from a JSON value to those inside.
public enum JSONPathComponent: Hashable, Sendable {
  /// A member of an object, or an element of an array if the name is a list position.
  case member(String)
  /// All elements of an array, or the values of all members of an object.
  case each

  package var description: String {
    guard case .member(let name) = self else { return "*" }
    let isPlain =
      !name.isEmpty && !["*", "$", "#"].contains(name) && !name.contains { ".\"".contains($0) }
    return isPlain ? name : JSON.string(name).text
  }
}

extension [JSONPathComponent] {
  /// The names if all steps are members of objects whose names mean the same in every language of paths; otherwise
  /// `nil`.
  package var plainNames: [String]? {
    var names: [String] = []
    for component in self {
      guard case .member(let name) = component, Int(name) == nil, !name.isEmpty,
        !name.contains(where: { ".\"\\\0".contains($0) })
      else { return nil }
      names.append(name)
    }
    return names
  }
}

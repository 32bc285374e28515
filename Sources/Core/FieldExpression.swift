/// A value that a store computes from the stored JSON of a record, each store in its dialect of SQL.
///
/// With it a store shows a computed ``Field`` to other programs. A title that may be missing drops together with its
/// space:
///
/// ```swift
/// .joined([.coalesce(.joined([.member("title"), .text(" ")]), .text("")), .member("lastName")])
/// ```
public indirect enum FieldExpression: Hashable, Sendable {
  /// The value at a path, as text in joined values; null if there is none.
  ///
  /// A path to several values leads to the array of those that are not null; null if there is none.
  case value(at: [JSONPathComponent])

  case text(String)

  /// The texts of values, one after the other; null if one of them is null.
  case joined([FieldExpression])

  /// The first value, or the second one if it is null.
  case coalesce(FieldExpression, FieldExpression)

  /// The age today (UTC) in whole years, 0 to 150, of who was born on a day such as `1967-07-23`; null for another
  /// text or age.
  ///
  /// A birthday on 29 February counts as 1 March in other years.
  case age(bornOn: FieldExpression)

  /// The value of a member: `.member("location", "city")`.
  public static func member(_ names: String...) -> FieldExpression {
    .value(at: names.map(JSONPathComponent.member))
  }
}

/// A step from a JSON value to those inside.
public enum JSONPathComponent: Hashable, Sendable {
  /// A member of an object, or an element of an array if the name is a list position.
  case member(String)
  /// All elements of an array, or the values of all members of an object.
  case each
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

package import AggregatorKit

/// A value of the document that is neither array nor object, and the path to it.
package struct Scalar: Sendable {
  package let path: JSONPath
  package let value: JSON

  /// The last name of the path.
  package var name: String {
    guard case .member(let name)? = path.components.last else { return "*" }
    return name
  }

  package var integer: Int? { value.integerValue }

  package var text: String? { value.string }
}

extension JSON {
  /// The scalars of an object, down to `depth` objects inside, in the order of the text; not those in arrays.
  package func scalars(below path: JSONPath = .root, depth: Int) -> [Scalar] {
    guard isObject || array != nil else { return [Scalar(path: path, value: self)] }
    guard depth >= 0 else { return [] }
    return members.flatMap { $0.value.scalars(below: path.appending($0.name), depth: depth - 1) }
  }

  /// The URL of a link to the next page: `{"rel": "next", "href": …}`, `{"relation": "next", "url": …}`.
  package var nextHref: String? {
    guard self["rel"] == "next" || self["relation"] == "next" else { return nil }
    return (self["href"] ?? self["url"])?.string
  }

  /// The text of a scalar that can be part of an ID.
  package var idText: String {
    switch self {
    case .string(let text): text
    case .integer(let integer): String(integer)
    case .number(let number): String(number)
    case .bool(let bool): bool ? "true" : "false"
    default: ""
    }
  }

  /// True for a text or a whole number that can be part of an ID.
  package var isIdentifying: Bool {
    switch self {
    case .integer: true
    case .string(let text): !text.isEmpty && text.utf8.count <= 512
    default: false
    }
  }
}

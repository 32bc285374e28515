package import AggregatorKit

/// A path to values in a JSON document: member names, list positions from 0, and `*` for each element or
/// member, joined by dots; `$` is the document itself.
///
/// `data.items`, `0.total`, `labels.*.name`. A name that contains a dot, or would read as something else, is
/// quoted as in JSON: `a."b.c".d`.
package struct JSONPath: Hashable, Sendable, LosslessStringConvertible {
  package typealias Component = JSONPathComponent

  /// Longer paths are refused: a manifest is untrusted.
  package static let maxComponents = 32

  package let components: [Component]

  /// The document itself.
  package static let root = JSONPath([])

  package init(_ components: [Component]) { self.components = components }

  /// Parses a path; `nil` if it is invalid.
  package init?(_ description: String) {
    guard description != "$" else {
      self = .root
      return
    }
    var components: [Component] = []
    var rest = description[...]
    while true {
      guard components.count < Self.maxComponents, let component = Component(from: &rest) else {
        return nil
      }
      components.append(component)
      guard !rest.isEmpty else { break }
      guard rest.removeFirst() == "." else { return nil }
    }
    self.components = components
  }

  package var description: String {
    components.isEmpty ? "$" : components.map(\.description).joined(separator: ".")
  }

  /// True if the path may lead to several values.
  package var isMultiple: Bool { components.contains(.each) }

  package func appending(_ name: String) -> JSONPath { JSONPath(components + [.member(name)]) }

  /// The values that the path leads to, in the order of the document.
  package func values(in document: JSON) -> [JSON] { components.values(in: document) }

  /// The value that the path leads to; for a path to several values an array of those that are not null;
  /// `nil` for none.
  package func value(in document: JSON) -> JSON? {
    guard isMultiple else {
      // Called for each field of each record, so without intermediate arrays.
      var value = document
      for case .member(let name) in components {
        guard let inner = value.element(name) else { return nil }
        value = inner
      }
      return value
    }
    let values = values(in: document).filter { $0 != .null }
    return values.isEmpty ? nil : .array(values)
  }
}

extension JSONPath {
  /// This path with `*` where it goes on by a name from a list, such as `labels.*.name` for `labels.name`; `nil` if no row
  /// has a value there.
  package func throughLists(in rows: [JSON]) -> JSONPath? {
    for row in rows {
      var (path, values): ([Component], [JSON]) = ([], [row])
      for component in components {
        if case .member(let name) = component, Int(name) == nil,
          values.contains(where: { $0.array != nil })
        {
          path.append(.each)
          values = values.flatMap { $0.array ?? [] }
        }
        path.append(component)
        values = values.flatMap { [component].values(in: $0) }
      }
      if !values.isEmpty { return JSONPath(path) }
    }
    return nil
  }

  package var lastName: String {
    if case .member(let name)? = components.last { name } else { "" }
  }

  /// The name of a field at this path: its members joined by dots; that of a member `*` is in quotes, as no field may
  /// have that name.
  package var fieldName: String {
    let name = components.compactMap { if case .member(let name) = $0 { name } else { nil } }
      .joined(separator: ".")
    return name == "*" ? description : name
  }
}

extension JSONPathComponent {
  /// Takes a component from the start of a text.
  fileprivate init?(from rest: inout Substring) {
    if rest.first == "\"" {
      guard let quoted = rest.firstMatch(of: /^"(?:[^"\\]|\\.)*"/),
        let name = JSON(reading: Data(quoted.output.utf8))?.string
      else { return nil }
      rest = rest[quoted.range.upperBound...]
      self = .member(name)
      return
    }
    let name = rest.prefix { $0 != "." && $0 != "\"" }
    guard !name.isEmpty else { return nil }
    rest = rest[name.endIndex...]
    self = name == "*" ? .each : .member(String(name))
  }
}

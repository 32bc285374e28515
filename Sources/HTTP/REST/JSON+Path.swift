package import AggregatorCore

extension [JSONPathComponent] {
  /// The values that the path leads to, in the order of the document.
  package func values(in document: JSON) -> [JSON] {
    reduce([document]) { values, component in values.flatMap { $0.values(at: component) } }
  }
}

extension JSON {
  fileprivate func values(at component: JSONPathComponent) -> [JSON] {
    switch (component, self) {
    case (.member(let name), _): element(name).map { [$0] } ?? []
    case (.each, .array(let elements)): elements
    case (.each, .object(let members)): members.map(\.value)
    case (.each, _): []
    }
  }

  /// The member of an object with this name, or the element of an array at this position.
  package func element(_ name: String) -> JSON? {
    guard case .array(let elements) = self else { return self[name] }
    guard let index = Int(name), elements.indices.contains(index), String(index) == name else {
      return nil
    }
    return elements[index]
  }
}

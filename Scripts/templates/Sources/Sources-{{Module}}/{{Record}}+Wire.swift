import AggregatorKit

extension {{Record}} {
  /// A row as the service sends it.
  struct Wire: Decodable {
    let id: String
    let name: String?
  }

  /// What a row tells.
  init(_ wire: Wire) {
    id = wire.id
    name = wire.name?.nonBlank
  }
}

import AggregatorKit

extension {{Record}} {
  /// A row of the service.
  struct Wire: Decodable {
    let id: String
    let name: String?
  }

  init(_ wire: Wire) {
    id = wire.id
    name = wire.name?.nonBlank
  }
}

import AggregatorKit

extension {{Record}} {
  /// A row of the service.
  struct Wire: Decodable {
    let id: String
    @Lenient var name: String?
{{if images}}
    @Lenient var image: String?
{{end}}
  }

  init(_ wire: Wire) {
    id = wire.id
    name = wire.name
{{if images}}
    image = wire.image
{{end}}
  }
}

/// A page of the service.
struct {{Record}}List: Decodable {
  let items: LossyArray<{{Record}}.Wire>
{{if page offset}}
  let total: Int?
{{end}}
{{if link}}
  /// The URL of the next page; `nil` at the end.
  let next: String?
{{end}}
{{if cursor}}
  /// The cursor of the next page; `nil` at the end.
  let next: String?
{{end}}
}

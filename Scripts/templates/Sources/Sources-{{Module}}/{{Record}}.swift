public import AggregatorKit

/// One of the {{name}}.
public struct {{Record}}: Record {
  /// The ID assigned by the service.
  public let id: String

  /// `nil` if unknown.
  public let name: String?
{{if images}}

  /// The URL of an image; `nil` if there is none.
  public let image: String?
{{end}}
}

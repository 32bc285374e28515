public import AggregatorKit

/// One of the {{name}}, as the service sends it.
///
/// Details that may be missing are optional.
public struct {{Record}}: SourceRecord {
  public let id: String
  public let name: String?
{{if images}}
  /// The URL of an image.
  public let image: String?
{{end}}
}

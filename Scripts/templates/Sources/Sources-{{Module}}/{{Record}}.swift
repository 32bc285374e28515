public import AggregatorKit

/// One of the {{name}}.
public struct {{Record}}: Record {
  /// The service's id.
  public let id: String

  /// What it is called; `nil` where the service does not say.
  public let name: String?
}

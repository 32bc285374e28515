public import AggregatorKit

/// The {{name}} as a source.
public struct {{Module}}Plugin: Plugin {
  /// The word `{{name}}`.
  public let name = "{{name}}"

  /// What there is.
  public let summary = "{{name}} of an example"

  /// One of the bundled {{name}}.
  public let example = PluginExample(query: "sample", id: "1")

  /// Where the service is.
  public static let address = Setting(
    "{{NAME}}_URL", .url, default: "https://{{name}}.example", about: "where the {{name}} service is")

  /// The address.
  public let settings = [address]

  /// What is known of a record.
  public let fields: [Field<{{Record}}>] = [
    Field("id", "Id", \.id, about: "The service's id."),
    Field("name", "Name", \.name, about: "What it is called.", isSearchable: true),
  ]

  /// A table; alone, a card of all that is known.
  public let layout = Layout<{{Record}}>(card: ["id", "name"])

  /// At most 100 records a page, fresh for a minute.
  public let policy = Policy()

  /// The {{name}} in the binary.
  public let bundled: any DataSource<{{Record}}>

  /// The plugin.
  public init() { bundled = BundledSource("{{name}}", json: bundled{{Module}}, fields: fields) }

  /// The service at `{{NAME}}_URL`.
  public func remote(
    in environment: PluginEnvironment
  ) throws(SourceError) -> any DataSource<{{Record}}> {
    {{Record}}Service(
      url: try environment.settings.url(Self.address), transport: environment.transport,
      now: environment.now)
  }
}

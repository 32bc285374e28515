public import AggregatorKit

/// The {{name}} as a source.
public struct {{Module}}Plugin: Plugin {
  public let name = "{{name}}"
  public let summary = "{{name}} of an example"
  public let example = PluginExample(query: "sample", id: "1")

  public static let address = Setting(
    "{{NAME}}_URL", .url, default: "https://{{name}}.example", about: "URL of the {{name}} service")

  public let settings = [address]

  public let fields: [Field<{{Record}}>] = [
    Field("id", "ID", \.id, about: "ID assigned by the service."),
    Field("name", "Name", \.name, about: "Name.", isSearchable: true),
  ]

  public let layout = Layout<{{Record}}>(card: ["id", "name"])

  /// The defaults: at most 100 records per page, fresh for a minute.
  public let policy = Policy()

  public let bundled: any DataSource<{{Record}}>

  public init() { bundled = BundledSource("{{name}}", json: bundled{{Module}}, fields: fields) }

  public func remote(
    in environment: PluginEnvironment
  ) throws(SourceError) -> any DataSource<{{Record}}> {
    {{Record}}Service(
      url: try environment.settings.url(Self.address), transport: environment.transport,
      now: environment.now)
  }
}

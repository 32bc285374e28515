public import AggregatorKit

/// The {{name}} as a source.
public struct {{Module}}Plugin: Plugin {
  public let name = "{{name}}"
  public let summary = "{{name}} of an example"
  public let example = PluginExample(query: "sample", id: "1")

{{if secret}}
  public static let key = Setting(
    "{{NAME}}_KEY", .secret, about: "API key of the {{name}} service")

{{end}}
  public static let url = Setting(
    "{{NAME}}_URL", .url, default: "https://{{name}}.example", about: "URL of the {{name}} service")

{{if secret}}
  public let settings = [key, url]
{{end}}
{{if !secret}}
  public let settings = [url]
{{end}}

  public let fields: [Field<{{Record}}>] = [
    Field("id", "ID", \.id, about: "ID assigned by the service."),
    Field("name", "Name", \.name, about: "Name.", isSearchable: true),
{{if images}}
    Field("image", "Image", \.image, about: "URL of an image.", isShown: false),
{{end}}
  ]

{{if images}}
  public let layout = Layout<{{Record}}>(
    card: ["id", "name", "image"], images: { record, _ in [record.image].compactMap(\.self) })
{{end}}
{{if !images}}
  public let layout = Layout<{{Record}}>(card: ["id", "name"])
{{end}}

  /// Records are requested in pages of the service and are fresh for a minute.
  public let policy = Policy(upstreamPageSize: .fixed(pageSize))

  private static let pageSize = 100

  public let bundled: any DataSource<{{Record}}>

  public init() { bundled = BundledSource("{{name}}", json: bundled{{Module}}, fields: fields) }

  public func remote(
    in environment: PluginEnvironment
  ) throws(SourceError) -> any DataSource<{{Record}}> {
    let url = try environment.settings.url(Self.url).appending(path: "items")
{{if secret}}
    let key = try environment.settings.required(Self.key)
{{end}}
    let paging = RESTPaging(
{{if page}}
      .page(.query("page"), start: 1), size: (.query("limit"), Self.pageSize), honorsSize: true)
{{end}}
{{if offset}}
      .offset(.query("skip"), start: 0), size: (.query("limit"), Self.pageSize), honorsSize: true)
{{end}}
{{if link}}
      .link, size: (.query("limit"), Self.pageSize))
{{end}}
{{if cursor}}
      .token(.query("cursor"), start: nil), size: (.query("limit"), Self.pageSize))
{{end}}
    return RESTSource(
{{if secret}}
      name, list: HTTPRequest(.get, url, headers: [.bearer(key)]), paging: paging,
{{end}}
{{if !secret}}
      name, list: HTTPRequest(.get, url), paging: paging,
{{end}}
      transport: environment.transport, now: environment.now, decoding: {{Record}}List.self
    ) { list in
{{if page offset}}
      RESTResponse(list.items, total: list.total, record: {{Record}}.init)
{{end}}
{{if link}}
      RESTResponse(list.items, next: list.next.map { .link($0) }, record: {{Record}}.init)
{{end}}
{{if cursor}}
      RESTResponse(list.items, next: list.next.map { .token($0) }, record: {{Record}}.init)
{{end}}
    }
    .searching(by: .query("q"))
    .item(below: url, decoding: {{Record}}.Wire.self, record: {{Record}}.init)
  }
}

public import AggregatorKit

/// The {{name}} as a source.
public struct {{Module}}Plugin: Plugin {
  public let name = "{{name}}"
  public let summary = "{{name}} of an example"
  public let example = PluginExample(query: "sample", id: "1")

{{if secret}}
  public let settings = [key, url]
{{end}}
{{if !secret}}
  public let settings = [url]
{{end}}
  public let fields: [Field<{{Record}}>] = [
    Field(\.id, about: "ID assigned by the service."),
    Field(\.name, isSearchable: true),
{{if images}}
    Field(\.image, about: "URL of an image.", isShown: false),
{{end}}
  ]
{{if images}}
  public let layout = RecordLayout<{{Record}}>(image: \.image)
{{end}}
  public let bundled: any DataSource<{{Record}}>

{{if secret}}
  public static let key = Setting(
    "{{NAME}}_KEY", .secret, about: "API key of the {{name}} service")
{{end}}
  public static let url = Setting(
    "{{NAME}}_URL", .url, default: "https://{{name}}.example", about: "URL of the {{name}} service")

  public init() { bundled = BundledSource("{{name}}", json: bundled{{Module}}, fields: fields) }

  public func remote(
    in environment: PluginEnvironment
  ) throws(SourceError) -> any DataSource<{{Record}}> {
    let url = try environment.settings.url(Self.url).appending(path: "items")
{{if secret}}
    let key = try environment.settings.required(Self.key)
{{end}}
    return RESTSource(
{{if secret}}
      name, in: environment, list: HTTPRequest(.get, url, headers: [.bearer(key)]),
{{end}}
{{if !secret}}
      name, in: environment, list: HTTPRequest(.get, url),
{{end}}
{{if page}}
      paging: RESTPaging(
        .page(.query("page"), start: 1), size: (.query("limit"), 100), honorsSize: true),
      rows: "items", total: .member("total"))
{{end}}
{{if offset}}
      paging: RESTPaging(
        .offset(.query("skip"), start: 0), size: (.query("limit"), 100), honorsSize: true),
      rows: "items", total: .member("total"))
{{end}}
{{if link}}
      paging: RESTPaging(.link, size: (.query("limit"), 100)), rows: "items", next: .member("next"))
{{end}}
{{if cursor}}
      paging: RESTPaging(.token(.query("cursor"), start: nil), size: (.query("limit"), 100)),
      rows: "items", next: .member("next"))
{{end}}
    .searching(by: .query("q"))
    .item(below: url)
  }
}

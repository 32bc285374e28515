import AggregatorKit

/// A file of the pages, served at `/assets/NAME` with a long cache lifetime, as its address changes with it.
struct Asset: Sendable {
  let name: String
  let type: String
  let body: String

  /// The address with the version.
  let address: String

  private init(_ name: String, _ type: String, _ body: String) {
    self.name = name
    self.type = type
    self.body = body
    address = "/assets/\(name)?v=\(String(body.fnv1a, radix: 36))"
  }

  static let stylesheet = Asset("style.css", "text/css; charset=utf-8", bundledStyle.description)
  static let script = Asset(
    "script.js", "text/javascript; charset=utf-8", bundledScript.description)
  static let icon = Asset("icon.svg", "image/svg+xml", Icon.application)

  static let all = [stylesheet, script, icon]
}

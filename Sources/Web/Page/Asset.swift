import AggregatorKit

/// A file of the pages, served at `/assets/NAME` with a long cache lifetime, as its address changes with it.
struct Asset: Sendable {
  let name: String
  let type: String
  let address: String

  /// In the format of gzip, in Base64, as `aggregator-embed-json` leaves them.
  private let parts: [StaticString]

  private init(_ name: String, _ type: String, _ parts: StaticString...) {
    self.name = name
    self.type = type
    self.parts = parts
    let version = parts.map(\.description).joined().fnv1a
    address = "/assets/\(name)?v=\(String(version, radix: 36))"
  }

  /// The parts one after another; an error if zlib is not installed.
  var body: [UInt8] {
    get throws(FormatError) {
      var body: [UInt8] = []
      for part in parts {
        let bytes = [UInt8](Data(base64Encoded: part.description) ?? Data())
        var inflation = try Inflation()
        var position = 0
        var count: Int
        repeat {
          count = body.count
          try inflation.decompress(bytes, from: &position, into: &body, room: 1 << 16)
        } while body.count > count
      }
      return body
    }
  }

  static let stylesheet = Asset("style.css", "text/css; charset=utf-8", bundledStyle)
  static let script = Asset(
    "script.js", "text/javascript; charset=utf-8", bundledBase, bundledScript, bundledPalette)
  /// Of the page for SQL alone.
  static let sqlScript = Asset(
    "sql.js", "text/javascript; charset=utf-8", bundledBase, bundledSql)
  static let icon = Asset("icon.svg", "image/svg+xml", bundledIcon)
  /// The land of the world in degrees, made by `Scripts/make-outlines`.
  static let land = Asset("land.svg", "image/svg+xml", bundledLand)

  static let all = [stylesheet, script, sqlScript, icon, land]
}

/// Pictures of the pages, as outlines of 24 × 24 units.
enum Icon: String {
  case search = "M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13ZM15.3 15.3 20 20"
  case database = """
    M4 6c0-1.7 3.6-3 8-3s8 1.3 8 3-3.6 3-8 3-8-1.3-8-3ZM4 6v12c0 1.7 3.6 3 8 3s8-1.3 8-3V6M4 12c0 1.7 3.6 3 8 3s8-1.3 8-3
    """
  case menu = "M4 7h16M4 12h16M4 17h16"
  case add = "M12 5v14M5 12h14"
  case copy = "M9 9h10v11H9ZM15 9V4H5v11h4"
  case close = "M6 6l12 12M18 6 6 18"
  case back = "M14 5l-7 7 7 7"
  case forward = "M9 5l7 7-7 7"
  case external = "M9 5H5v14h14v-4M13 5h6v6M19 5l-9 9"
  case delete = "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13M10.5 11v5M13.5 11v5"
  case download = "M12 4v11M7.5 10.5 12 15l4.5-4.5M5 20h14"
  case refresh = "M19 12a7 7 0 1 1-2.3-5.2M17 3v4h-4"
  case offline = "M4 4l16 16M8.5 8A6 6 0 0 0 7 19h10M12 6.5A6 6 0 0 1 17.8 11 4 4 0 0 1 20.5 17"
  case warning = "M12 4 2.8 20h18.4ZM12 10v5M12 17.4v.2"
  case information = "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16ZM12 11v5M12 8v.2"

  var html: HTML {
    """
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">\
    <path d="\(rawValue)"/></svg>
    """
  }
}

import AggregatorKit
import DeclaredSource

/// The URLs of a manifest: the setting of the service's address, and what is below it.
struct Addresses {
  /// A URL that requests complete: a setting, and the path below it.
  struct Address {
    /// The name of the setting in Swift.
    let setting: String
    /// The URL as the setting has it by default.
    let standard: String
    /// Empty for the URL of the setting itself.
    let path: String

    var code: String {
      path.isEmpty ? setting : "\(setting).appending(path: \(path.swiftLiteral))"
    }
  }

  /// A URL with a placeholder, such as `{id}`.
  struct Template {
    let address: Address
    /// The segment with the placeholder, and the path after it; `nil` if the placeholder is in the query.
    let segment: String?
    let rest: String
    let query: Substring

    /// True if nothing but the ID follows the address.
    var isBelow: Bool { segment == "{id}" && rest.isEmpty }
  }

  let list: Address
  private(set) var item: Template?
  private(set) var search: Template?

  /// The settings, each once.
  var settings: [Address] {
    var seen: Set<String> = []
    return [list, item?.address, search?.address].compactMap(\.self).filter {
      seen.insert($0.setting).inserted
    }
  }

  init(of manifest: Manifest) {
    let list = Self.parts(manifest.url).path
    let item = manifest.item.map { Self.divided($0, at: "{id}") }
    var search: (parent: String, segment: String?, rest: String, query: Substring)?
    if case .url(let url)? = manifest.search { search = Self.divided(url, at: "{query}") }
    var base = list
    for other in [item?.parent, search?.parent].compactMap(\.self) {
      base = Self.common(base, other) ?? base
    }
    if Self.path(of: list, below: base) == nil { base = list }
    self.list = Address(
      setting: "url", standard: base, path: Self.path(of: list, below: base) ?? "")
    func template(
      _ parts: (parent: String, segment: String?, rest: String, query: Substring), _ setting: String
    ) -> Template {
      let path = Self.path(of: parts.parent, below: base)
      let address =
        path.map { Address(setting: "url", standard: base, path: $0) }
        ?? Address(setting: setting, standard: parts.parent, path: "")
      return Template(
        address: address, segment: parts.segment, rest: parts.rest, query: parts.query)
    }
    self.item = item.map { template($0, "itemURL") }
    self.search = search.map { template($0, "searchURL") }
  }

  /// The URL without its query and fragment, and the query.
  static func parts(_ url: String) -> (path: String, query: Substring) {
    let parts = url.prefix { $0 != "#" }
      .split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    return (parts.first.map(String.init) ?? "", parts.count > 1 ? parts[1] : "")
  }

  private static func divided(
    _ url: String, at placeholder: String
  ) -> (parent: String, segment: String?, rest: String, query: Substring) {
    let (path, query) = parts(url)
    let segments = path.split(separator: "/", omittingEmptySubsequences: false)
    guard let index = segments.firstIndex(where: { $0.contains(placeholder) }) else {
      return (path, nil, "", query)
    }
    return (
      segments[..<index].joined(separator: "/"), String(segments[index]),
      segments[(index + 1)...].joined(separator: "/"), query
    )
  }

  /// The URL that both are below; `nil` if they are of different hosts.
  private static func common(_ one: String, _ other: String) -> String? {
    let segments = one.split(separator: "/", omittingEmptySubsequences: false)
    let shared = zip(segments, other.split(separator: "/", omittingEmptySubsequences: false))
      .prefix { $0 == $1 }.map(\.0)
    // `https:`, nothing, the host.
    return shared.count >= 3 ? shared.joined(separator: "/") : nil
  }

  /// The path that leads from one URL to another one below it; `nil` if code cannot say it.
  private static func path(of url: String, below base: String) -> String? {
    guard url != base else { return "" }
    guard url.hasPrefix(base + "/"),
      let path = url.dropFirst(base.count + 1).percentDecoded,
      URL(string: base)?.appending(path: path).absoluteString == url
    else { return nil }
    return path
  }
}

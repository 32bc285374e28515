package import AggregatorKit

extension Manifest {
  /// The way to ask for changed records alone: the manifest's `since`.
  package struct Changes: Hashable, Sendable {
    package var tracking: ChangeTracking
    /// The parameter of a request; `nil` for a list that only has the latest changes first.
    package var parameter: String?
    /// Where a row says when it was changed.
    package var field: JSONPath

    /// The mark of a row; `nil` if it has none.
    package func mark(of row: JSON) -> String? {
      switch field.value(in: row) {
      case .string(let text): text.nonBlank
      case .integer(let number): "\(number)"
      default: nil
      }
    }
  }
}

extension ManifestReader {
  private static let changesKeys = ["parameter", "field", "format", "order", "lookback", "full"]

  /// The `since` of a manifest.
  func changes() throws(SourceError) -> Manifest.Changes? {
    guard let json = values["since"], json != .null else { return nil }
    guard json.isObject else {
      throw failure(
        "since", "an object such as {\"parameter\": \"since\", \"field\": \"updated_at\"}")
    }
    for member in json.members {
      try requireKnown(
        member.name, among: Self.changesKeys, at: offset(of: ["since", member.name]))
    }
    func read<Value>(
      _ key: String, _ rule: String, _ parse: (String) -> Value?
    ) throws(SourceError) -> Value? {
      guard let value = json[key], value != .null else { return nil }
      guard let read = value.string.flatMap(parse) else {
        throw failure(at: offset(of: ["since", key]), "\"since.\(key)\" must be \(rule)")
      }
      return read
    }
    let field = try read("field", "a path such as \"updated_at\"") { text in
      JSONPath(text).flatMap { $0.isMultiple ? nil : $0 }
    }
    guard let field else { throw failure("since", "an object with a \"field\"") }
    let parameter = try read("parameter", "the name of a parameter", \.nonBlank)
    var tracking = ChangeTracking(parameter ?? "\(field)")
    tracking.field = "\(field)"
    tracking.order = try read(
      "order", "\"ascending\" or \"descending\"", ChangeTracking.Order.init(rawValue:))
    guard parameter != nil || tracking.order == .descending else {
      throw failure(
        "since", "an object with a \"parameter\", unless the \"order\" is \"descending\"")
    }
    tracking.format = try read(
      "format", "\"iso8601\", \"date\", \"unix\" or \"unixms\"",
      ChangeTracking.Format.init(rawValue:))
    let duration = "a duration such as \"10m\", \"1h\" or \"7d\""
    tracking.lookback =
      try read("lookback", duration, Duration.init(manifest:)) ?? tracking.lookback
    tracking.fullEvery = try read("full", duration, Duration.init(manifest:)) ?? tracking.fullEvery
    return Manifest.Changes(tracking: tracking, parameter: parameter, field: field)
  }
}

extension Manifest.Changes {
  var json: JSON {
    let standard = ChangeTracking("")
    let units = Duration.manifestUnits
    var members: [JSON.Member] = []
    func add(_ name: String, _ text: String?) {
      if let text { members.append(JSON.Member(name, .string(text))) }
    }
    add("parameter", parameter)
    add("field", "\(field)")
    add("format", tracking.format?.rawValue)
    add("order", tracking.order?.rawValue)
    if tracking.lookback != standard.lookback { add("lookback", tracking.lookback.text(in: units)) }
    if tracking.fullEvery != standard.fullEvery { add("full", tracking.fullEvery.text(in: units)) }
    return .object(members)
  }
}

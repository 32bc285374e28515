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
    func mark(of row: JSON) -> String? {
      switch field.value(in: row) {
      case .string(let text): text.nonBlank
      case .integer(let number): "\(number)"
      default: nil
      }
    }
  }
}

extension Prober {
  /// A time after all changes.
  private static let future = "2999-12-31T00:00:00Z"

  /// Leaves out `since` if the service ignores its parameter: after all changes there must be no rows, and after one of the
  /// first page no older ones.
  func proveChanges(
    _ proposal: inout Proposal, _ first: Sample
  ) async throws(SourceError) {
    guard let changes = proposal.manifest.changes, let name = changes.parameter,
      !proposal.hasNoRows
    else { return }
    let marks = first.rows.compactMap(changes.mark).sorted {
      changes.tracking.isEarlier($0, than: $1)
    }
    func leaveOut(_ reason: String) {
      proposal.manifest.changes = nil
      proposal.note("since", "–", reason)
      proposal.warnings.append("every sync will read everything: \(reason)")
    }
    guard !marks.isEmpty else {
      return leaveOut("no row has a time or a number at \"\(changes.field)\"")
    }
    var future = changes.tracking
    // A number that grows with each change has no far future.
    let isTime = ChangeTracking.isTime(marks[0])
    if isTime, future.format == nil, Int(marks[0]) != nil {
      future.format = marks[0].utf8.count > 10 ? .unixMilliseconds : .unix
    }
    let manifest = proposal.manifest
    let last = isTime ? future.parameter(for: Self.future) : "999999999999999"
    let none = try await fetch(manifest, at: .first, &proposal, setting: (name, last))
    switch none {
    case .success(let sample) where !sample.rows.isEmpty:
      return leaveOut(
        "the service ignores \"\(name)\": \(sample.rows.count.of("row")) for \(last)")
    case .failure(let error) where error.code != SourceError.Code.rejected:
      let reason = "not proved: \(error.message)"
      proposal.note("since", name, reason)
      return proposal.warnings.append("\"since\" is \(reason)")
    case .success, .failure: break
    }
    let asked = future.parameter(for: marks[marks.count / 2])
    let some = try await fetch(manifest, at: .first, &proposal, setting: (name, asked))
    if proposal.isOutOfTime, case .failure(let error) = some {
      let reason = "not proved: \(error.message)"
      proposal.note("since", name, reason)
      return proposal.warnings.append("\"since\" is \(reason)")
    }
    let rows = (try? some.get())?.rows ?? []
    guard
      rows.compactMap(changes.mark).allSatisfy({
        !changes.tracking.isEarlier($0, thanAskedBy: asked)
      })
    else {
      return leaveOut("the service sent rows that are older than \"\(name)\" asked for")
    }
    proposal.note("since", name, "no rows for \(last), \(rows.count) since \(asked)")
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

import AggregatorCore

/// Turns the assignments of one layer into values.
///
/// `$(KEY)` means the layer's own last assignment of `KEY`, else, for a setting that is no secret,
/// its value in the layers below; `$(inherited)` means the assignment before this one, else the
/// same. A key that nobody sets is nothing, as in Xcode. Keys that are no settings are private to
/// their layer.
///
/// Secrets stay where they are: what a secret is made of (its own key, and every key that any of
/// its assignments refers to) can be used by secrets and by such parts of the same layer, never by
/// another setting, and the layers below never give theirs.
package struct SettingsExpansion {
  /// The longest value, in bytes: doubling a text forty times is written in forty lines.
  package static let longestValue = 8192

  /// How many references deep a value may be.
  package static let deepestReference = 64

  private let assignments: [SettingsLayer.Assignment]
  private let byKey: [String: [Int]]
  private let settings: [String: Setting]
  private let confidential: Set<String>
  private let below: (Setting) -> String?
  private var known: [Int: String] = [:]
  private var open: [Int] = []

  /// An expansion.
  ///
  /// - Parameters:
  ///   - layer: What is assigned.
  ///   - settings: The settings by key.
  ///   - below: The value of a setting in the layers below; not asked for secrets.
  package init(
    of layer: SettingsLayer, settings: [String: Setting], below: @escaping (Setting) -> String?
  ) {
    assignments = layer.assignments
    self.settings = settings
    self.below = below
    byKey = Dictionary(
      grouping: assignments.indices.filter { !layer.assignments[$0].statement.isConditional },
      by: { layer.assignments[$0].statement.key })
    confidential = Self.confidentialKeys(of: assignments, settings: settings)
  }

  /// The assignment that counts for a key.
  ///
  /// - Parameter key: The key.
  /// - Returns: The last one without a condition; `nil` if there is none.
  package func assignment(of key: String) -> SettingsLayer.Assignment? {
    byKey[key]?.last.map { assignments[$0] }
  }

  /// Whether a secret is made of this key's values.
  package func isConfidential(_ key: String) -> Bool { confidential.contains(key.uppercased()) }

  /// The value of a key in this layer.
  ///
  /// - Parameter key: The key.
  /// - Returns: The value, everything expanded; `nil` if the layer does not assign it.
  /// - Throws: What is wrong with one of the lines that the value is made of.
  package mutating func value(
    of key: String
  ) throws(SettingsLayer.Complaint) -> String? {
    guard let index = byKey[key]?.last else { return nil }
    let value = try expand(index)
    // Xcode hands quotes on as a part of the value, where they do nothing but harm here.
    if value.utf8.count > 1, let first = value.first, first == value.last, "\"'".contains(first) {
      throw complaint(
        index, "the value of \(key) stands in quotes, which would belong to it", "remove the quotes"
      )
    }
    return value
  }

  private mutating func expand(_ index: Int) throws(SettingsLayer.Complaint) -> String {
    if let value = known[index] { return value }
    let key = assignments[index].statement.key
    guard !open.contains(index) else {
      throw complaint(index, "\(key) refers to itself", "write $(inherited) for its earlier value")
    }
    guard open.count < Self.deepestReference else {
      throw complaint(index, "references lead more than \(Self.deepestReference) deep from one key")
    }
    open.append(index)
    defer { open.removeLast() }
    if assignments[index].statement.isCut {
      throw complaint(
        index, "the address in \(key) is cut, because // starts a comment",
        "write https:/$()/host for https://host")
    }
    var value = ""
    for piece in try pieces(index) {
      switch piece {
      case .text(let text): value += text
      case .inherited: value += try inherited(index)
      case .reference(let name): value += try referred(name, from: index)
      }
      guard value.utf8.count <= Self.longestValue else {
        throw complaint(index, "the value of \(key) is longer than \(Self.longestValue) bytes")
      }
    }
    known[index] = value
    return value
  }

  private mutating func referred(
    _ name: String, from index: Int
  ) throws(SettingsLayer.Complaint) -> String {
    let key = assignments[index].statement.key
    if isConfidential(name), settings[key].map({ !$0.isSecret }) ?? !isConfidential(key) {
      throw complaint(
        index, "\(key) uses $(\(name)), which is secret, and no other setting may",
        "write the text itself, without $(\(name))")
    }
    if let last = byKey[name]?.last { return try expand(last) }
    return try fromBelow(name, for: index)
  }

  private mutating func inherited(_ index: Int) throws(SettingsLayer.Complaint) -> String {
    let key = assignments[index].statement.key
    if let earlier = byKey[key]?.last(where: { $0 < index }) { return try expand(earlier) }
    return try fromBelow(key, for: index)
  }

  private func fromBelow(
    _ name: String, for index: Int
  ) throws(SettingsLayer.Complaint) -> String {
    guard let setting = settings[name] else { return "" }
    guard !setting.isSecret else {
      throw complaint(
        index, "$(\(name)) is not set in this file, and a secret is never taken from another",
        "remove the line: \(name) keeps the value that is set elsewhere")
    }
    return below(setting) ?? ""
  }

  private func pieces(_ index: Int) throws(SettingsLayer.Complaint) -> [Xcconfig.Piece] {
    do throws(XcconfigFault) {
      return try Xcconfig.pieces(of: assignments[index].statement.value)
    } catch {
      throw SettingsLayer.Complaint(place: assignments[index].place, fault: error)
    }
  }

  private func complaint(
    _ index: Int, _ what: String, _ remedy: Remedy? = nil
  ) -> SettingsLayer.Complaint {
    SettingsLayer.Complaint(
      place: assignments[index].place, fault: XcconfigFault(what, remedy: remedy))
  }

  /// The secrets' keys and all keys that they are made of, in upper case: a key that was written in
  /// another case by mistake holds a secret too.
  private static func confidentialKeys(
    of assignments: [SettingsLayer.Assignment], settings: [String: Setting]
  ) -> Set<String> {
    // Few assignments refer to anything; only they matter.
    var references: [String: [String]] = [:]
    for assignment in assignments where assignment.statement.value.utf8.contains(dollar) {
      guard let pieces = try? Xcconfig.pieces(of: assignment.statement.value) else { continue }
      for case .reference(let name) in pieces {
        references[assignment.statement.key.uppercased(), default: []].append(name.uppercased())
      }
    }
    var keys: Set<String> = []
    var open = settings.values.filter(\.isSecret).map { $0.key.uppercased() }
    while let key = open.popLast() {
      if keys.insert(key).inserted { open += references[key] ?? [] }
    }
    return keys
  }

  private static let dollar = UInt8(ascii: "$")
}

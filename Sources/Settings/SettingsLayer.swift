package import AggregatorCore

/// The assignments of a settings file and its includes, in order.
package struct SettingsLayer: Sendable {
  /// A line of a file.
  package struct Location: Hashable, Sendable, CustomStringConvertible {
    package let file: String
    /// The line, 1-based; `nil` for the file as a whole.
    package let line: Int?

    /// The location as text: `Configuration/Debug.xcconfig:3`.
    package var description: String { line.map { "\(file):\($0)" } ?? file }

    /// A fault with this location, unless its message names the file because it cannot be read.
    func locating(_ fault: SourceError) -> SourceError {
      var located = fault
      if line != nil || fault.code != .storage { located.message = "\(self): \(fault.message)" }
      return located
    }
  }

  package struct Assignment: Sendable {
    package let statement: Xcconfig.Assignment
    package let location: Location
    /// `true` if other users of this machine may read or write the file.
    package let isOpenToOthers: Bool
  }

  /// The deepest nesting of includes.
  package static let maxIncludeDepth = 16

  /// The most files of a layer.
  package static let maxFiles = 32

  /// The most diagnostics that are stored: a binary file has one for each line.
  package static let maxDiagnostics = 3

  /// All assignments; later ones win.
  package private(set) var assignments: [Assignment] = []

  /// The first ``maxDiagnostics``, in order.
  package private(set) var diagnostics: [SourceError] = []

  package private(set) var diagnosticCount = 0

  private var files = 0

  /// Parses a file and its includes.
  ///
  /// - Parameter read: Reads an included file by its path: absolute, or relative like `root`'s own path.
  package init(_ root: SettingsText, read: (String) -> SettingsReading) {
    add(root, above: [], read)
  }

  private mutating func add(
    _ text: SettingsText, above: [String], _ read: (String) -> SettingsReading
  ) {
    files += 1
    for line in Xcconfig(text.bytes).lines {
      let location = Location(file: text.path, line: line.number)
      switch line.statement {
      case .assignment(let statement):
        assignments.append(
          Assignment(statement: statement, location: location, isOpenToOthers: text.isOpenToOthers))
      case .unreadable(let fault):
        report(fault, at: location)
      case .include(let path, let isOptional):
        do throws(SourceError) {
          let above = above + [text.realPath]
          try include(path, isOptional: isOptional, in: text, above: above, read)
        } catch {
          report(error, at: location)
        }
      }
    }
  }

  private mutating func report(_ fault: SourceError, at location: Location) {
    diagnosticCount += 1
    if diagnostics.count < Self.maxDiagnostics {
      diagnostics.append(location.locating(fault))
    }
  }

  private mutating func include(
    _ path: String, isOptional: Bool, in text: SettingsText, above: [String],
    _ read: (String) -> SettingsReading
  ) throws(SourceError) {
    guard above.count <= Self.maxIncludeDepth else {
      throw .fault("includes are nested more than \(Self.maxIncludeDepth) levels deep")
    }
    guard files < Self.maxFiles else {
      throw .fault("more than \(Self.maxFiles) files are included")
    }
    let directory = text.path.lastIndex(of: "/").map { text.path[...$0] } ?? ""
    switch read(path.hasPrefix("/") ? path : "\(directory)\(path)") {
    case .text(let included) where above.contains(included.realPath):
      throw .fault(
        "circular include of \(included.path)", remedy: "remove one #include")
    case .text(let included):
      add(included, above: above, read)
    case .missing where isOptional:
      break
    case .missing:
      throw .fault(
        "file not found: \(path)", remedy: "create it, or write #include? \"\(path)\"")
    case .refused(let fault):
      throw SourceError(
        fault.code, fault.code == .storage ? fault.message : "\(path) \(fault.message)",
        remedy: fault.remedy)
    }
  }
}

// MARK: - Expansion

/// Expands the assignments of a layer to values.
///
/// `$(KEY)` is the last assignment of `KEY` in the layer, else, unless it is a secret, its value in the
/// layers below; `$(inherited)` is the previous assignment of the same key, else the same. An unset key
/// is empty, as in Xcode. Keys that are not settings are private to their layer.
///
/// Secrets do not leave their layer, nor get into other settings: the keys that make up a secret (its own
/// key, and every key that any of its assignments refers to) can be used only by each other.
package struct SettingsExpansion {
  /// The longest value, in bytes: forty lines could double a text forty times.
  package static let maxValueLength = 8192

  /// The deepest nesting of references.
  package static let maxReferenceDepth = 64

  private let assignments: [SettingsLayer.Assignment]
  private let byKey: [String: [Int]]
  private let settings: [String: Setting]
  private let confidential: Set<String>
  private let below: (Setting) -> String?
  private var expanded: [Int: String] = [:]
  private var open: [Int] = []

  /// `below` returns the value of a setting in the layers below; it is not called for secrets.
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

  /// The last assignment of a key without a condition; `nil` if there is none.
  package func assignment(of key: String) -> SettingsLayer.Assignment? {
    byKey[key]?.last.map { assignments[$0] }
  }

  /// `true` if the key is a part of a secret.
  package func isConfidential(_ key: String) -> Bool { confidential.contains(key.uppercased()) }

  /// The expanded value of a key; `nil` if the layer does not assign it.
  package mutating func value(
    of key: String
  ) throws(SourceError) -> String? {
    guard let index = byKey[key]?.last else { return nil }
    let value = try expand(index)
    // In Xcode, quotes are a part of the value, which is never wanted here.
    if value.utf8.count > 1, let first = value.first, first == value.last, "\"'".contains(first) {
      throw diagnostic(
        index, "the value of \(key) is quoted; quotes would become part of the value",
        "remove the quotes"
      )
    }
    return value
  }

  private mutating func expand(_ index: Int) throws(SourceError) -> String {
    if let value = expanded[index] { return value }
    let key = assignments[index].statement.key
    guard !open.contains(index) else {
      throw diagnostic(index, "\(key) refers to itself", "write $(inherited) for its earlier value")
    }
    guard open.count < Self.maxReferenceDepth else {
      throw diagnostic(
        index, "references are nested more than \(Self.maxReferenceDepth) levels deep")
    }
    open.append(index)
    defer { open.removeLast() }
    if assignments[index].statement.isCut {
      // Not quoted: the line may contain a secret.
      let isStore = assignments[index].statement.value.lowercased().contains("postgres")
      let scheme = isStore ? "postgresql:" : "https:"
      throw diagnostic(
        index, "the URL in \(key) is cut off, because // starts a comment",
        "write \(scheme)/$()/host for \(scheme)//host")
    }
    var value = ""
    for piece in try pieces(index) {
      switch piece {
      case .text(let text): value += text
      case .inherited: value += try inherited(index)
      case .reference(let name): value += try referred(name, from: index)
      }
      guard value.utf8.count <= Self.maxValueLength else {
        throw diagnostic(index, "the value of \(key) is longer than \(Self.maxValueLength) bytes")
      }
    }
    expanded[index] = value
    return value
  }

  private mutating func referred(
    _ name: String, from index: Int
  ) throws(SourceError) -> String {
    let key = assignments[index].statement.key
    if isConfidential(name), settings[key].map({ !$0.isConfidential }) ?? !isConfidential(key) {
      throw diagnostic(
        index, "\(key) must not refer to the secret $(\(name))",
        "write the value itself instead of $(\(name))")
    }
    if let last = byKey[name]?.last { return try expand(last) }
    return try fromBelow(name, for: index)
  }

  private mutating func inherited(_ index: Int) throws(SourceError) -> String {
    let key = assignments[index].statement.key
    if let earlier = byKey[key]?.last(where: { $0 < index }) { return try expand(earlier) }
    return try fromBelow(key, for: index)
  }

  private func fromBelow(
    _ name: String, for index: Int
  ) throws(SourceError) -> String {
    guard let setting = settings[name] else { return "" }
    guard !setting.isConfidential else {
      throw diagnostic(
        index, "$(\(name)) is not set in this file; secrets are not inherited from other files",
        "remove the line: \(name) keeps the value that is set elsewhere")
    }
    return below(setting) ?? ""
  }

  private func pieces(_ index: Int) throws(SourceError) -> [Xcconfig.Piece] {
    do { return try Xcconfig.pieces(of: assignments[index].statement.value) } catch {
      throw assignments[index].location.locating(error)
    }
  }

  private func diagnostic(
    _ index: Int, _ what: String, _ remedy: Remedy? = nil
  ) -> SourceError {
    assignments[index].location.locating(.fault(what, remedy: remedy))
  }

  /// The keys of secrets and all keys that they refer to, in upper case: a key in the wrong case may hold a
  /// secret too.
  private static func confidentialKeys(
    of assignments: [SettingsLayer.Assignment], settings: [String: Setting]
  ) -> Set<String> {
    var references: [String: [String]] = [:]
    for statement in assignments.map(\.statement) {
      for name in statement.references {
        references[statement.key.uppercased(), default: []].append(name.uppercased())
      }
    }
    var keys: Set<String> = []
    var open = settings.values.filter(\.isConfidential).map { $0.key.uppercased() }
    while let key = open.popLast() {
      if keys.insert(key).inserted { open += references[key] ?? [] }
    }
    return keys
  }
}

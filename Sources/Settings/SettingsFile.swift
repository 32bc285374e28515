package import AggregatorCore
import AggregatorFiles

/// The user's own settings file, which `config set` writes.
package struct SettingsFile: Sendable {
  /// The absolute path; neither the file nor its directory need exist.
  package let path: String

  private let settings: [Setting]

  /// A file.
  ///
  /// - Parameters:
  ///   - path: The absolute path.
  ///   - settings: Everything that can be set.
  package init(_ path: String, settings: [Setting]) {
    self.path = path
    self.settings = settings
  }

  /// Gives a setting a value, and leaves the rest of the file as it is, byte for byte.
  ///
  /// The value is taken literally, not expanded. Afterwards only the owner can read the file.
  ///
  /// - Parameters:
  ///   - key: The key of one of the settings.
  ///   - value: One line of text in the setting's form; blanks around it are dropped.
  /// - Throws: ``SourceError`` with code `badUsage` for a key or a value that makes no sense,
  ///   `badSettings` if the file, once changed, would not give the value back, and `storage` if it
  ///   cannot be read or written. Nothing has been written then.
  package func set(_ key: String, to value: String) throws(SourceError) {
    guard let setting = settings.first(where: { $0.key == key }) else {
      throw SourceError(
        .badUsage, "there is no setting \(key)",
        remedy: nearest(to: key, in: settings.map(\.key)).map { "did you mean \($0)?" })
    }
    let text = try Self.checked(value, for: setting)
    try edit { bytes throws(SourceError) in
      let edited = Xcconfig.setting(key, to: text, in: bytes)
      try check(edited, gives: text, for: setting)
      return edited
    }
  }

  /// Takes a setting's value away, and leaves the rest of the file as it is, byte for byte.
  ///
  /// - Parameter key: The key.
  /// - Returns: Whether the file set it; if not, the file was not touched.
  /// - Throws: ``SourceError`` with code `storage` or `badSettings` if the file cannot be read or
  ///   written. It is as it was then.
  package func unset(_ key: String) throws(SourceError) -> Bool {
    guard case .text(let text) = SettingsReader(in: "/")(path),
      Xcconfig.removing(key, from: text.bytes) != text.bytes
    else { return false }
    try edit { Xcconfig.removing(key, from: $0) }
    return true
  }

  private func edit(
    _ change: ([UInt8]) throws(SourceError) -> [UInt8]
  ) throws(SourceError) {
    do { try PrivateFile(path: path).replace(atMost: SettingsReader.largestFile, change) } catch {
      guard error.code == .malformed else { throw error }
      throw SourceError(.badSettings, error.message, remedy: error.remedy)
    }
  }

  private static func checked(_ value: String, for setting: Setting) throws(SourceError) -> String {
    guard let text = value.singleLine else {
      throw SourceError(
        .badUsage, "the value of \(setting.key) holds a line break or a control character",
        remedy: "give one line of text")
    }
    guard !text.isEmpty, !setting.isSecret || !Settings.isPlaceholder(text) else {
      throw SourceError(
        .badUsage, "the value of \(setting.key) is \(text.isEmpty ? "empty" : "a placeholder")",
        remedy: "give the value itself")
    }
    try Settings([setting.key: text]).check(setting)
    return text
  }

  /// Reads the file as the next start will.
  private func check(
    _ bytes: [UInt8], gives text: String, for setting: Setting
  ) throws(SourceError) {
    guard bytes.count <= SettingsReader.largestFile else {
      throw SourceError(.badSettings, "\(path) would become too large", remedy: "make it smaller")
    }
    let reader = SettingsReader(in: "/")
    let layer = SettingsLayer(SettingsText(path, bytes: bytes), read: reader.callAsFunction)
    if let complaint = layer.complaints.first { throw complaint.error }
    let byKey = Dictionary(settings.map { ($0.key, $0) }) { first, _ in first }
    var expansion = SettingsExpansion(of: layer, settings: byKey, below: \.defaultValue)
    let found: String?
    do throws(SettingsLayer.Complaint) {
      found = try expansion.value(of: setting.key)
    } catch {
      throw error.error
    }
    guard found == text else {
      let place = expansion.assignment(of: setting.key)?.place.description ?? path
      throw SourceError(
        .badSettings, "\(place): another line sets \(setting.key) too", remedy: "remove that line")
    }
  }
}

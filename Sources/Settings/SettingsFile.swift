package import AggregatorCore
import AggregatorFiles
import AggregatorFoundation
import AggregatorText

/// The contents of a settings file.
package struct SettingsText: Sendable {
  /// The path as the user wrote it, for messages.
  package let path: String
  /// The absolute path without symbolic links, which identifies the file.
  package let realPath: String
  package let bytes: [UInt8]
  /// `true` if other users of this machine may read or write it.
  package let isOpenToOthers: Bool

  package init(
    _ path: String, realPath: String? = nil, bytes: [UInt8], isOpenToOthers: Bool = false
  ) {
    self.path = path
    self.realPath = realPath ?? path
    self.bytes = bytes
    self.isOpenToOthers = isOpenToOthers
  }
}

/// The result of reading a settings file.
package enum SettingsReading: Sendable {
  case text(SettingsText)
  case missing
  /// The file cannot or must not be read.
  case refused(SourceError)
}

/// Reads settings files.
package struct SettingsReader: Sendable {
  /// The largest file that is read, in bytes.
  package static let maxFileSize = 65_536

  private let workingDirectory: String
  private let directory: String?

  /// With `directory`, `Configuration` or `.` in the working directory, files outside of it are refused,
  /// also if a symbolic link or `..` leads there; `nil` allows all files.
  package init(in workingDirectory: String, confinedTo directory: String? = nil) {
    self.workingDirectory = workingDirectory
    self.directory = directory
  }

  /// Reads a regular file; the path is absolute or relative to the working directory.
  package func callAsFunction(_ path: String) -> SettingsReading {
    guard !path.utf8.contains(0) else { return .missing }
    do throws(SystemFailure) {
      let absolute = path.hasPrefix("/") ? path : "\(workingDirectory)/\(path)"
      let file = try OpenFile(reading: absolute)
      let realPath = Self.realPath(of: absolute) ?? absolute
      // By bytes: as strings, canonically equivalent names of different directories are equal.
      if let confinement, !realPath.utf8.starts(with: confinement.utf8) {
        return .refused(
          .fault(
            "lies outside \(confinement) and is not read",
            remedy: Remedy("copy it there", .nameSettingsFile)))
      }
      return try read(file, shownAs: path, realPath: realPath)
    } catch {
      return error.isMissing
        ? .missing : .refused(SourceError(.storage, "cannot read \(path): \(error.words)"))
    }
  }

  private func read(
    _ file: borrowing OpenFile, shownAs path: String, realPath: String
  ) throws(SystemFailure) -> SettingsReading {
    let isOpenToOthers = try file.isOpenToOthers()
    do throws(FileReadFailure) {
      let bytes = try file.contents(atMost: Self.maxFileSize)
      return .text(
        SettingsText(path, realPath: realPath, bytes: bytes, isOpenToOthers: isOpenToOthers))
    } catch {
      switch error {
      case .system(let failure): throw failure
      case .notRegular:
        return .refused(SourceError(.storage, "cannot read \(path): not a regular file"))
      case .tooLarge:
        return .refused(.fault("is larger than \(Self.maxFileSize / 1024) KiB"))
      }
    }
  }

  /// The required prefix of real paths.
  ///
  /// It is computed only if a file exists, which is rare.
  private var confinement: String? {
    directory.map { directory in
      let real = Self.realPath(of: workingDirectory) ?? workingDirectory
      let root = real.utf8.last == UInt8(ascii: "/") ? real : real + "/"
      return directory == "." ? root : "\(root)\(directory)/"
    }
  }

  /// The absolute path without symbolic links.
  private static func realPath(of path: String) -> String? {
    guard let real = realpath(path, nil) else { return nil }
    defer { free(real) }
    return String(cString: real)
  }
}

// MARK: - Writing

/// Edits the user's own settings file, as `config set` does.
package struct SettingsFile: Sendable {
  /// The absolute path; neither the file nor its directory need exist.
  package let path: String

  private let settings: [Setting]

  package init(_ path: String, settings: [Setting]) {
    self.path = path
    self.settings = settings
  }

  /// Sets a value, and preserves the rest of the file, byte for byte.
  ///
  /// The value is taken literally, not expanded. Afterwards only the owner can read the file.
  ///
  /// - Throws: ``SourceError`` with code `invalidRequest` for an unknown key or an invalid value, `invalidSettings`
  ///   if the changed file would not yield the value, and `storage` or `busy` if it cannot be read or
  ///   written. The file is unchanged then.
  package func set(_ key: String, to value: String) throws(SourceError) {
    guard let setting = settings.first(where: { $0.key == key }) else {
      throw SourceError(
        .invalidRequest, "unknown setting \(key)",
        remedy: nearest(to: key, in: settings.map(\.key)).map { "did you mean \"\($0)\"?" })
    }
    let text = try Self.checked(value, for: setting)
    try edit { bytes throws(SourceError) in
      let edited = Xcconfig.setting(key, to: text, in: bytes)
      try check(edited, gives: text, for: setting)
      return edited
    }
  }

  /// Removes a value, and preserves the rest of the file, byte for byte.
  ///
  /// - Returns: `false` if the file does not set it; the file is unchanged then.
  /// - Throws: ``SourceError`` with code `storage`, `busy` or `invalidSettings` if the file cannot be read or
  ///   written. The file is unchanged then.
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
    do { try PrivateFile(path: path).replace(atMost: SettingsReader.maxFileSize, change) } catch {
      guard error.code == .malformed else { throw error }
      throw SourceError(.invalidSettings, error.message, remedy: error.remedy)
    }
  }

  /// The text of a value.
  ///
  /// - Throws: ``SourceError`` with code `invalidRequest` for one that no file can set.
  @discardableResult
  package static func checked(
    _ value: String, for setting: Setting
  ) throws(SourceError) -> String {
    guard let text = value.singleLine else {
      throw SourceError(
        .invalidRequest, "the value of \(setting.key) contains a line break or a control character",
        remedy: "use a single line of text")
    }
    guard !text.isEmpty, !setting.isSecret || !SourceSettings.isPlaceholder(text) else {
      throw SourceError(
        .invalidRequest,
        "the value of \(setting.key) is \(text.isEmpty ? "empty" : "a placeholder")",
        remedy: "use the actual value")
    }
    try SourceSettings([setting.key: text]).check(setting)
    return text
  }

  /// Parses the file as the loader will, and checks the value.
  private func check(
    _ bytes: [UInt8], gives text: String, for setting: Setting
  ) throws(SourceError) {
    guard bytes.count <= SettingsReader.maxFileSize else {
      throw SourceError(
        .invalidSettings, "\(path) would become too large", remedy: "make it smaller")
    }
    let reader = SettingsReader(in: "/")
    let layer = SettingsLayer(SettingsText(path, bytes: bytes), read: reader.callAsFunction)
    if let diagnostic = layer.diagnostics.first { throw diagnostic }
    let byKey = Dictionary(settings.map { ($0.key, $0) }) { first, _ in first }
    var expansion = SettingsExpansion(of: layer, settings: byKey, below: \.defaultValue)
    guard try expansion.value(of: setting.key) == text else {
      let location = expansion.assignment(of: setting.key)?.location.description ?? path
      throw SourceError(
        .invalidSettings, "\(location): another line sets \(setting.key) too",
        remedy: "remove that line")
    }
  }
}

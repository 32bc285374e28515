import AggregatorCore

/// The work of one ``SettingsLoader/load(options:configFile:)``: layers are added from below.
struct SettingsLoading {
  private let loader: SettingsLoader

  /// The values so far.
  private(set) var entries: [String: Settings.Entry] = [:]

  /// What the reader should be told.
  private(set) var warnings: [Warning] = []

  init(_ loader: SettingsLoader) { self.loader = loader }

  /// Adds variables or options, which are taken literally.
  mutating func add(
    _ values: [String: Secret], from origin: Settings.Origin
  ) throws(SourceError) {
    for setting in loader.settings {
      guard let value = values[setting.key] else { continue }
      guard let text = value.reveal(\.singleLine) else {
        throw SourceError(
          .badSettings, "\(origin): \(setting.key) holds a line break or a control character",
          remedy: "set it to one line of text")
      }
      put(text, for: setting, from: origin)
    }
  }

  /// Adds the files that exist, given the highest first; one that is two layers is the higher one.
  mutating func add(_ files: [SettingsLoader.File]) throws(SourceError) {
    var texts: [(file: SettingsLoader.File, text: SettingsText)] = []
    for file in files {
      guard let text = try read(file) else { continue }
      if texts.allSatisfy({ $0.text.realPath != text.realPath }) { texts.append((file, text)) }
    }
    for (file, text) in texts.reversed() { try add(file, text) }
  }

  private mutating func read(_ file: SettingsLoader.File) throws(SourceError) -> SettingsText? {
    switch file.reader(file.path) {
    case .text(let text):
      return text
    case .missing:
      guard file.isRequired else { return nil }
      throw SourceError(
        .badSettings, "settings file not found: \(file.path)",
        remedy: "create it, or name another one")
    case .refused(let fault):
      let complaint = SettingsLayer.Complaint(
        place: SettingsLayer.Place(file: file.path, line: nil), fault: fault)
      guard file.isLenient else { throw complaint.error }
      warn("settings", complaint.description)
      return nil
    }
  }

  /// Adds a file with its includes.
  private mutating func add(
    _ file: SettingsLoader.File, _ text: SettingsText
  ) throws(SourceError) {
    let layer = SettingsLayer(text, read: file.reader.callAsFunction)
    try report(layer, of: file)
    var expansion = expansion(of: layer)
    for setting in loader.settings {
      guard let assignment = expansion.assignment(of: setting.key) else { continue }
      if file.isGuarded, let reason = guarding(setting) {
        warn("guarded", "\(assignment.place): \(setting.key) is ignored: \(reason)")
        continue
      }
      do throws(SettingsLayer.Complaint) {
        let value = try expansion.value(of: setting.key) ?? ""
        put(value, for: setting, from: assignment.place.origin)
      } catch {
        guard file.isLenient else { throw error.error }
        warn("settings", error.description)
      }
    }
    warnOfOpenFiles(layer, expansion)
    if !file.isLenient { warnOfUnknownKeys(layer) }
  }

  /// Tells which settings have a value only in the file of the other build.
  mutating func lookIntoOtherBuild() {
    let file = loader.workingFile(for: loader.build == .debug ? .release : .debug)
    guard case .text(let text) = file.reader(file.path) else { return }
    var expansion = expansion(of: SettingsLayer(text, read: file.reader.callAsFunction))
    for setting in loader.settings where !isSet(setting) && guarding(setting) == nil {
      guard let value = try? expansion.value(of: setting.key), isReal(value, for: setting) else {
        continue
      }
      let build = loader.build
      warn(
        "otherBuild",
        "\(setting.key) is set in \(file.path), but this is a \(build) build, which reads "
          + "\(build.rawValue).xcconfig")
    }
  }

  private func expansion(of layer: SettingsLayer) -> SettingsExpansion {
    let below = entries
    return SettingsExpansion(of: layer, settings: loader.byKey) { setting in
      Settings(entries: below).text(setting)
    }
  }

  /// A value that sets nothing leaves the layers below alone, and so does a placeholder.
  private mutating func put(_ text: String, for setting: Setting, from origin: Settings.Origin) {
    guard isReal(text, for: setting) || (!text.isEmpty && !isSet(setting)) else { return }
    entries[setting.key] = Settings.Entry(text, origin: origin)
  }

  private func isSet(_ setting: Setting) -> Bool {
    entries[setting.key] != nil && !Settings(entries: entries).isPlaceholder(setting)
  }

  private func isReal(_ text: String, for setting: Setting) -> Bool {
    !text.isEmpty && !(setting.isSecret && Settings.isPlaceholder(text))
  }

  /// Why a file that somebody else may have written must not set this; `nil` if it may.
  private func guarding(_ setting: Setting) -> String? {
    let elsewhere =
      "set it in the environment, or in \(loader.userFile ?? "your own file")"
    if let secret = loader.guarded[setting.key] {
      return "the working directory must not choose where \(secret.key) is sent (\(elsewhere))"
    }
    guard setting.form == .directory else { return nil }
    return "the working directory must not choose where files are written (\(elsewhere))"
  }

  private mutating func warn(_ code: String, _ message: String) {
    let warning = Warning(code, message)
    if !warnings.contains(warning) { warnings.append(warning) }
  }
}

extension SettingsLoading {
  /// Throws the first line that cannot be read, or warns of the first few.
  private mutating func report(
    _ layer: SettingsLayer, of file: SettingsLoader.File
  ) throws(SourceError) {
    if let complaint = layer.complaints.first, !file.isLenient { throw complaint.error }
    for complaint in layer.complaints { warn("settings", complaint.description) }
    let more = layer.complaintCount - layer.complaints.count
    if more > 0 { warn("settings", "\(file.path): \(more) more lines cannot be read") }

    var told: Set<String> = []
    for assignment in layer.assignments where assignment.statement.isConditional {
      let key = assignment.statement.key
      guard !file.isLenient || loader.byKey[key] != nil, told.insert(key).inserted else { continue }
      warn(
        "settings",
        "\(assignment.place): \(key)[…] is ignored, because it has a condition (write \(key) = value)"
      )
    }
  }

  private mutating func warnOfOpenFiles(_ layer: SettingsLayer, _ expansion: SettingsExpansion) {
    for assignment in layer.assignments where assignment.isOpenToOthers {
      let (key, value) = (assignment.statement.key, assignment.statement.value)
      guard expansion.isConfidential(key), !value.isEmpty, !Settings.isPlaceholder(value) else {
        continue
      }
      let file = assignment.place.file
      warn("exposed", "\(file) holds a secret, and others can read it (chmod 600 \(file))")
    }
  }

  /// A key that resembles none of ours is somebody else's, and one that a value refers to has its
  /// use.
  private mutating func warnOfUnknownKeys(_ layer: SettingsLayer) {
    var told: Set<String> = []
    for assignment in layer.assignments {
      let key = assignment.statement.key
      guard loader.byKey[key] == nil, told.insert(key).inserted,
        let near = nearest(to: key, in: loader.settings.map(\.key)),
        !layer.assignments.contains(where: { $0.statement.refers(to: key) })
      else { continue }
      warn(
        "unknownSetting", "\(assignment.place): there is no setting \(key) (did you mean \(near)?)")
    }
  }
}

extension Xcconfig.Assignment {
  fileprivate func refers(to key: String) -> Bool {
    value.utf8.contains(UInt8(ascii: "$"))
      && (try? Xcconfig.pieces(of: value))?.contains(.reference(key)) == true
  }
}

extension SettingsLayer.Place {
  fileprivate var origin: Settings.Origin { .file(path: file, line: line ?? 1) }
}

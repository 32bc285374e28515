extension SettingsLoader {
  /// A settings file that a layer is made of.
  struct File {
    /// The path as people know it.
    let path: String
    /// What reads it and its includes.
    let reader: SettingsReader
    /// Whether somebody else may have written it: no guarded address, no directory.
    let isGuarded: Bool
    /// Whether it may belong to an app: what cannot be read is passed over.
    let isLenient: Bool
    /// Whether its absence is an error, because it was named for this run.
    let isRequired: Bool
  }

  /// The file of the working directory that belongs to a build.
  ///
  /// - Parameter build: The build.
  /// - Returns: The file, which need not exist.
  func workingFile(for build: Build) -> File {
    File(
      path: "Configuration/\(build.rawValue).xcconfig",
      reader: SettingsReader(in: workingDirectory, confinedTo: "Configuration"),
      isGuarded: true, isLenient: true, isRequired: false)
  }

  /// The file that was named for this run, if any.
  ///
  /// - Parameter configFile: The file that the caller names.
  /// - Returns: That file, else the one of `AGGREGATOR_CONFIG`.
  private func file(namedBy configFile: String?) -> File? {
    if let configFile { return ownFile(configFile, isRequired: true) }
    guard let path = namedFile else { return nil }
    if path.hasPrefix("/") { return ownFile(path, isRequired: true) }
    return File(
      path: path, reader: SettingsReader(in: workingDirectory, confinedTo: "."), isGuarded: true,
      isLenient: false, isRequired: true)
  }

  private func ownFile(_ path: String, isRequired: Bool = false) -> File {
    File(
      path: path, reader: SettingsReader(in: workingDirectory), isGuarded: false, isLenient: false,
      isRequired: isRequired)
  }

  /// The file layers, highest first, whether they exist or not.
  ///
  /// - Parameter configFile: The file that the caller names.
  /// - Returns: The file named for this run, the working directory's, the user's.
  func files(configFile: String?) -> [File] {
    [file(namedBy: configFile), workingFile(for: build), userFile.map { ownFile($0) }].compactMap(
      \.self)
  }
}

import AggregatorFiles
package import AggregatorKit
package import AggregatorTerminal
package import DeclaredSource

extension ManifestFolder {
  /// The folder of the program's added sources, beside its settings file.
  ///
  /// The option `--manifests` or the variable `AGGREGATOR_MANIFESTS` names another; only the option may be relative to
  /// the working directory.
  package init?(of program: ProgramName, variables: [String: String], arguments: [String]) {
    if let path = Self.option(in: arguments) {
      let directory = FileManager.default.currentDirectoryPath
      self.init(path.hasPrefix("/") ? path : "\(directory)/\(path)")
      return
    }
    if let path = variables[program.variable("MANIFESTS")], path.hasPrefix("/") {
      self.init(path)
      return
    }
    let loader = SettingsLoader(
      [], environment: variables, workingDirectory: "/", build: .release, program: program.text)
    guard let file = loader.userFile else { return nil }
    self.init("\(PrivateFile.directory(of: file))/sources")
  }

  /// The value of `--manifests`, which must be known before there is a command tree of all sources.
  private static func option(in arguments: [String]) -> String? {
    let spelling = Option.manifests.spelling
    let words = Array(arguments.prefix { $0 != "--" })
    guard let index = words.lastIndex(where: { $0 == spelling || $0.hasPrefix("\(spelling)=") })
    else { return nil }
    let value =
      words[index] == spelling
      ? words.dropFirst(index + 1).first : String(words[index].dropFirst(spelling.count + 1))
    // The parser reports a missing value.
    return value.flatMap { $0.isEmpty ? nil : $0 }
  }
}

extension CommandContext {
  /// The folder of added sources.
  package func manifestFolder() throws(CommandError) -> ManifestFolder {
    guard let folder = catalog.manifests else {
      throw CommandError(
        .settings, "no directory for added sources", hint: "set HOME or XDG_CONFIG_HOME")
    }
    return folder
  }

  /// The folder, if it has a source of this name.
  package func manifestFolder(of name: String) throws(CommandError) -> ManifestFolder {
    let folder = try manifestFolder()
    guard folder.names.contains(name) else {
      throw CommandError(
        .notFound, "no source named \"\(name)\" was added",
        suggestion: nearest(to: name, in: folder.names), hint: .command("sources"))
    }
    return folder
  }
}

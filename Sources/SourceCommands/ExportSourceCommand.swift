import AggregatorArguments
import AggregatorExport
import AggregatorKit
import AggregatorQueries
import AggregatorTerminal
import DeclaredSource

extension Command {
  private static let swift = Option("swift", about: "write a Swift module, with its test")
  private static let type = Option(
    "type", .text, "TYPE", about: "the Swift type of a record: Issue (default: the singular)")
  private static let package = Option.outputFile.with(
    about: "the package to write to (default: the working directory)")

  static let exportSource = Command(
    "NAME --swift", words: CompletionSource.addedSource,
    options: [swift, type, package, .timeout, .record, .replay],
    notes: [
      "Writes the module NAMESource and its test, for a source that needs more than a manifest can say. Requests the "
        + "first page and one record: the types of the properties are those of their values, and the first records "
        + "become bundled data. Existing files are not replaced. \"swift format\" formats the code, if it is installed.",
      "A warning names each part of the manifest that the module does not have, and where to write it.",
    ],
    examples: [
      ("sources export issues --swift", "write Sources/Sources-Issues and Tests/IssuesTests"),
      ("sources export issues --swift --type Ticket -o ../tickets", "in another package"),
    ],
    run: exportSource)

  private static func exportSource(
    _ invocation: Invocation, _ context: CommandContext
  ) async throws -> ExitCode {
    let name = try invocation.argument("NAME")
    guard invocation.has(swift) else {
      throw CommandError(
        .usage, "missing option \(swift.spelling)", hint: .command("sources export \(name) --swift")
      )
    }
    let type = invocation.text(type)
    if let type, !SwiftModule.isRecordName(type) {
      throw CommandError(
        .usage, "invalid type \"\(type)\"",
        hint: "use letters and digits, beginning with a capital, and no name of AggregatorKit")
    }
    let folder = try context.manifestFolder(of: name)
    guard try CommandError.wrapping(try folder.json(of: name))["auth"] == nil else {
      throw CommandError(
        .notFound, "\(name) signs in by \"auth\", which cannot be exported",
        hint: "remove \"auth\" from a copy of the manifest, and see the guide \"Adding an API\"")
    }
    let plugin = try context.catalog.plugin(named: name)
    guard plugin.policy.readOrder != .storedOnly else {
      throw CommandError(.usage, "\(name) is a program already, which cannot be exported")
    }
    guard (plugin as? DeclaredPlugin)?.manifest.file == nil else {
      throw CommandError(.usage, "\(name) is a file, which cannot be exported")
    }
    let environment = try context.environment()
    context.progress.say { "Requesting \(name)…" }
    let module: SwiftModule
    do throws(SourceError) {
      module = try await SwiftModule(
        of: name, in: folder, record: type ?? plugin.noun.singular, environment: environment)
    } catch {
      throw CommandError(error, of: plugin)
    }
    let directory = invocation.text(package) ?? "."
    let files = module.files.map { (path: "\(directory)/\($0.path)", text: $0.text) }
    for file in files where access(file.path, F_OK) == 0 {
      throw CommandError(
        .usage, "\(file.path) exists already", hint: "remove it, or write to another package")
    }
    for file in files {
      try FileManager.default.createDirectory(
        at: URL(filePath: file.path).deletingLastPathComponent(), withIntermediateDirectories: true)
      let new = try NewFile(replacing: file.path, in: context)
      try new.output.write(file.text)
      try new.finish()
      try context.output.write("\(file.path)\n")
    }
    context.format(files.map(\.path).filter { $0.hasSuffix(".swift") })
    for note in module.notes { context.diagnostics.warning(note) }
    context.diagnostics.note(
      "Add the targets \(module.module)Source and \(module.module)Tests to Package.swift, and \(module.module)Plugin() "
        + "to the sources of your program")
    return .success
  }
}

extension CommandContext {
  /// Breaks the lines of Swift code as the formatter of the toolchain does, if that is installed.
  fileprivate func format(_ paths: [String]) {
    guard let swift = ExternalProgram.path(of: "swift", variables) else { return }
    let null = open("/dev/null", O_RDWR)
    guard null >= 0 else { return }
    defer { close(null) }
    _ = ExternalProgram.run(
      [swift, "format", "--in-place"] + paths, variables, descriptors: [0: null, 1: null, 2: null])
  }
}

import Foundation
import PackagePlugin

/// Compiles every JSON file in a target's `Resources/` into it: `heroes.json` becomes the constant
/// `bundledHeroes`, a `StaticString`.
///
/// The binary stays a single file, and the data stays JSON. Style sheets, scripts and drawings of pages are
/// compiled in, too, compressed.
@main
struct EmbedJSON: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    let resources = target.directoryURL.appending(path: "Resources", directoryHint: .isDirectory)
    let tool = try context.tool(named: "aggregator-embed-json").url
    return try FileManager.default
      .contentsOfDirectory(at: resources, includingPropertiesForKeys: nil)
      .filter { ["css", "js", "json", "svg"].contains($0.pathExtension) }
      .sorted { $0.path < $1.path }
      .map { file in
        let name = file.deletingPathExtension().lastPathComponent
        let output = context.pluginWorkDirectoryURL.appending(path: "Bundled-\(name).swift")
        return .buildCommand(
          displayName: "Embedding \(file.lastPathComponent)", executable: tool,
          arguments: [file.path, output.path], inputFiles: [file], outputFiles: [output])
      }
  }
}

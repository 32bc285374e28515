import AggregatorFuzzing
import Foundation

/// Feeds parsers with millions of inputs, and prints what came of it.
@main struct FuzzProgram {
  static func main() async throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.first == "--child", arguments.count == 2 {
      let errand = try JSONDecoder().decode(Errand.self, from: Data(arguments[1].utf8))
      guard let outcome = await errand.run() else { exit(64) }
      print(String(decoding: try JSONEncoder().encode(outcome), as: UTF8.self))
      return
    }
    do {
      let options = try Options(arguments)
      if options.wantsHelp { return print(Options.help) }
      exit(try Report(options).run() ? 0 : 1)
    } catch let mistake as Options.Mistake {
      FileHandle.standardError.write(
        Data("error: \(mistake.words)\nhint: \(mistake.hint)\n".utf8))
      exit(64)
    }
  }
}

import AggregatorKit
import Foundation

/// A directory of its own for one test, with a home and a working directory in it; it goes away
/// with the test.
final class Sandbox: Sendable {
  /// Without symbolic links.
  let root: String

  init() throws {
    let name = "settings-\(UUID().uuidString)"
    let url = FileManager.default.temporaryDirectory.appending(path: name)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    root = url.resolvingSymlinksInPath().path
    for directory in ["home", "work/Configuration"] { try makeDirectory(directory) }
  }

  deinit { try? FileManager.default.removeItem(atPath: root) }

  var home: String { "\(root)/home" }
  var work: String { "\(root)/work" }
  var userFile: String { "\(home)/.config/aggregator/config.xcconfig" }

  func makeDirectory(_ path: String) throws {
    try FileManager.default.createDirectory(
      atPath: "\(root)/\(path)", withIntermediateDirectories: true)
  }

  /// Writes a file below the root; its mode is 0600 by default.
  func write(_ text: String, to path: String, mode: Int = 0o600) throws {
    let file = "\(root)/\(path)"
    try FileManager.default.createDirectory(
      atPath: (file as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: URL(filePath: file))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
  }

  func writeUserFile(_ text: String, mode: Int = 0o600) throws {
    try write(text, to: "home/.config/aggregator/config.xcconfig", mode: mode)
  }

  func link(_ path: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(
      atPath: "\(root)/\(path)", withDestinationPath: target)
  }

  func bytes(of path: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
  }

  func mode(of path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }

  /// Loads the settings of ``Keys`` with this home and working directory.
  func load(
    _ environment: [String: String] = [:], options: [String: String] = [:],
    configFile: String? = nil, build: SettingsLoader.Build = .debug
  ) throws(SourceError) -> SettingsLoader.Loaded {
    try SettingsLoader(
      Keys.groups, environment: ["HOME": home].merging(environment) { $1 },
      workingDirectory: work, build: build
    ).load(options: options, configFile: configFile)
  }
}

/// Settings like those of the program.
enum Keys {
  static let countriesURL = Setting("COUNTRIES_URL", .url, default: "https://host/c", about: "")
  static let heroesURL = Setting("COMIC_VINE_URL", .url, default: "https://vine/api", about: "")
  static let apiKey = Setting("COMIC_VINE_API_KEY", .secret, about: "")
  static let rate = Setting("COMIC_VINE_RATE", .rate, default: "1/s 200/h", about: "")
  static let pageSize = Setting("COMIC_VINE_PAGE_SIZE", .count(1...100), default: "100", about: "")
  static let home = Setting("AGGREGATOR_HOME", .directory, about: "")

  static let groups = [[countriesURL], [heroesURL, apiKey, rate, pageSize], [home]]
  static let all = groups.flatMap(\.self)
  static let byKey = Dictionary(uniqueKeysWithValues: all.map { ($0.key, $0) })
}

extension SourceSettings {
  /// The text of the API key, for comparisons.
  var apiKey: String? { secret(Keys.apiKey)?.reveal(\.self) }
}

import Foundation
import Testing

/// The privacy manifest names the functions of Apple systems that need a reason.
///
/// https://developer.apple.com/documentation/bundleresources/describing-use-of-required-reason-api
@Suite struct PrivacyManifestTests {
  /// The functions by category, as calls or names in a source.
  static let categories: [String: String] = [
    "FileTimestamp":
      #"\b(f|l)?stat(at)?\(|\bf?getattrlist(at|bulk)?\(|(creation|[mM]odification)Date|attributesOfItem"#,
    "SystemBootTime": #"systemUptime|mach_absolute_time"#,
    "DiskSpace":
      #"volume(Available|Total)Capacity|systemFreeSize|systemSize|\bf?statv?fs\(|attributesOfFileSystem"#,
    "ActiveKeyboards": #"activeInputModes"#,
    "UserDefaults": #"UserDefaults|AppStorage"#,
  ]

  /// Targets that no app on an Apple device uses: tools, tests and servers.
  static let excluded = [
    "AggregatorCommand", "Arguments", "Queries", "SQL", "Server", "SourceTesting", "Terminal",
    "Web",
    "aggregator",
  ]

  private func manifest() throws -> [String: Any] {
    let text = try SourceTree.text(of: "Sources/Files/PrivacyInfo.xcprivacy")
    let list = try PropertyListSerialization.propertyList(from: Data(text.utf8), format: nil)
    return try #require(list as? [String: Any])
  }

  @Test func `declares no tracking and no collected data`() throws {
    let manifest = try manifest()
    #expect(manifest["NSPrivacyTracking"] as? Bool == false)
    #expect((manifest["NSPrivacyTrackingDomains"] as? [Any])?.isEmpty == true)
    #expect((manifest["NSPrivacyCollectedDataTypes"] as? [Any])?.isEmpty == true)
    #expect(
      manifest.keys.sorted() == [
        "NSPrivacyAccessedAPITypes", "NSPrivacyCollectedDataTypes", "NSPrivacyTracking",
        "NSPrivacyTrackingDomains",
      ])
  }

  @Test func `declares exactly the functions that the sources call`() throws {
    var called: [String: [String]] = [:]
    let paths = try SourceTree.files(endingWith: ".swift", ".c", ".h").filter { path in
      !Self.excluded.contains { path.hasPrefix("Sources/\($0)/") }
    }
    for path in paths {
      let text = try SourceTree.text(of: path)
      for (category, pattern) in Self.categories where try text.contains(Regex(pattern)) {
        called["NSPrivacyAccessedAPICategory\(category)", default: []].append(path)
      }
    }
    let entries = try #require(
      manifest()["NSPrivacyAccessedAPITypes"] as? [[String: Any]])
    let declared = Dictionary(
      uniqueKeysWithValues: entries.map { entry in
        (
          entry["NSPrivacyAccessedAPIType"] as? String ?? "",
          entry["NSPrivacyAccessedAPITypeReasons"] as? [String] ?? []
        )
      })
    #expect(declared.keys.sorted() == called.keys.sorted(), "\(called)")
    // C617.1: files in the containers of the app.
    #expect(declared == ["NSPrivacyAccessedAPICategoryFileTimestamp": ["C617.1"]])
  }

  @Test func `each pattern finds its function`() throws {
    let samples = [
      "FileTimestamp": ["lstat(path, &status)", "fstat(1, &s)", "var status = stat()"],
      "SystemBootTime": ["ProcessInfo.processInfo.systemUptime"],
      "DiskSpace": [".volumeAvailableCapacityKey", "statvfs(path, &s)"],
      "ActiveKeyboards": ["UITextInputMode.activeInputModes"],
      "UserDefaults": ["UserDefaults.standard"],
    ]
    for (category, pattern) in Self.categories {
      for sample in try #require(samples[category]) {
        #expect(try sample.contains(Regex(pattern)), "\(sample)")
      }
    }
  }
}

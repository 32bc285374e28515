import AggregatorKit
import Foundation
import Testing

@testable import DeclaredSource

/// A folder of added sources that cannot be read is no folder without sources.
@Suite struct ManifestFolderFailureTests {
  @Test func `says why, unless it is not there`() throws {
    let root = FileManager.default.temporaryDirectory.appending(path: "folder-\(UUID())")
    try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: root) }
    #expect(ManifestFolder(root.path).failure == nil)
    #expect(ManifestFolder("\(root.path)/none").failure == nil)
    let file = root.appending(path: "file")
    try Data().write(to: file)
    #expect(ManifestFolder(file.path).failure == "\(file.path) is no directory")
    // Root may read everything.
    guard geteuid() != 0 else { return }
    try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: root.path)
    #expect(ManifestFolder(root.path).failure?.hasPrefix("cannot read \(root.path): ") == true)
  }
}

import AggregatorFiles
import AggregatorKit
import Foundation
import Testing

@Suite struct PrivateFileTests {
  private let directory: StoreDirectory

  init() throws { directory = try StoreDirectory() }

  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory.root).sorted()
  }

  @Test func `removes what a killed process left, and nothing else`() throws {
    let path = "\(directory.root)/config.xcconfig"
    // The name of the temporary file, kept as by `kill -9` before it is renamed.
    try OpenFile.replace(path, with: Array("KEY = old".utf8)) { _ throws(SystemFailure) in
      for name in (try? names()) ?? [] {
        try SystemFailure.check { link("\(directory.root)/\(name)", "\(directory.root)/left") }
        try SystemFailure.check {
          rename(
            "\(directory.root)/left", "\(directory.root)/\(name.replacing(/[0-9]+/, with: "12"))")
        }
      }
    }
    let others = [
      "config.xcconfig.1", "config.xcconfig.12.new.old", "config.xcconfig.new",
      "config.xcconfig.a1.new", "my.config.xcconfig.12.new",
    ]
    for name in others { try Data().write(to: URL(filePath: "\(directory.root)/\(name)")) }
    #expect(try names().count == others.count + 2)
    try PrivateFile(path: path).replace(atMost: 100) { $0 + Array("!".utf8) }
    #expect(try names() == (others + ["config.xcconfig"]).sorted())
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "KEY = old!")
  }

  @Test func `stops waiting for a lock when the task is cancelled`() async throws {
    let path = "\(directory.root)/file"
    let lock = try OpenFile(directory: directory.root)
    #expect(try lock.lock(.exclusive, within: .zero))
    let task = Task {
      await withCheckedContinuation { $0.resume() }
      do throws(SourceError) {
        try PrivateFile(path: path).replace(atMost: 100) { $0 }
        return SourceError?.none
      } catch {
        return error
      }
    }
    task.cancel()
    #expect(await task.value?.code == .cancelled)
    lock.unlock()
  }
}

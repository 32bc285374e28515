import Foundation
import Testing

@testable import AggregatorProgramTesting

/// The screens of `browse` as a real terminal shows them: tmux.
@Suite(.timeLimit(.minutes(10)))
struct BrowseTmuxTests {
  private static let path = "/usr/bin/tmux"
  private static let isInstalled = FileManager.default.isExecutableFile(atPath: path)

  private let home: TestHome

  init() throws { home = try TestHome() }

  private func tmux(_ arguments: [String]) async throws -> String {
    let output = home.sandbox.root.appending(path: UUID().uuidString)
    try Data().write(to: output)
    let file = try FileHandle(forWritingTo: output)
    let child = try Child(
      [Self.path, "-S", home.sandbox.root.appending(path: "t").path, "-f", "/dev/null"] + arguments,
      environment: ["HOME": home.sandbox.home.path, "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"],
      directory: home.sandbox.work.path,
      descriptors: [nil, file.fileDescriptor, file.fileDescriptor])
    _ = await child.ending()
    return try String(contentsOf: output, encoding: .utf8)
  }

  /// The screen once it satisfies a condition.
  ///
  /// Twice the same: tmux may have read a part of what is drawn.
  private func screen(_ isReady: (String) -> Bool) async throws -> String {
    let end = ContinuousClock.now + .seconds(600)
    var screen = ""
    while ContinuousClock.now < end {
      let last = screen
      screen = try await tmux(["capture-pane", "-p"])
      if isReady(screen), screen == last { return screen }
      await Task.yield()
    }
    Issue.record("\(screen)")
    return screen
  }

  @Test(.enabled(if: isInstalled, "requires tmux"), arguments: BrowseViewTests.sizes)
  func `the screen of tmux`(width: Int, height: Int) async throws {
    let program = try Binary.path
    _ = try await tmux([
      "new-session", "-d", "-x", "\(width)", "-y", "\(height)",
      "exec env SWIFT_BACKTRACE=enable=no '\(program)' browse heroes spi --offline --sort name",
    ])
    // The last that is drawn: the search for more in the store has ended.
    let note = "Showing bundled sam"
    var screens = [try await screen { $0.contains("Spider-") && $0.contains(note) }]
    for key in ["Down", "Enter"] {
      _ = try await tmux(["send-keys", key])
      screens.append(try await screen { $0 != screens.last })
    }
    _ = try await tmux(["send-keys", "q"])
    _ = try? await tmux(["kill-server"])
    try expectGolden("browse-tmux-\(width)x\(height)", screens.joined())
  }

  @Test(.enabled(if: isInstalled, "requires tmux"))
  func `what is copied is in a buffer of tmux, which takes no text from a terminal by default`()
    async throws
  {
    let program = try Binary.path
    _ = try await tmux([
      "new-session", "-d", "-x", "80", "-y", "24",
      "exec env SWIFT_BACKTRACE=enable=no '\(program)' browse heroes --offline",
    ])
    _ = try await screen { $0.contains("Wolverine") && $0.contains("Showing bundled sam") }
    _ = try await tmux(["send-keys", "y"])
    _ = try await screen { $0.contains("Copied the ID of \"Wolverine\"") }
    #expect(try await tmux(["show-buffer"]).split(separator: "\n") == ["1440"])
    _ = try await tmux(["send-keys", "q"])
    _ = try? await tmux(["kill-server"])
  }
}

public import AggregatorKit
import Foundation
import Synchronization

/// A recording of a service beside a test, from which the test is answered: `Recordings/NAME`.
///
/// ```swift
/// try await expectLaws(ofRemoteOf: plugin, in: Fixture("laws").environment(for: plugin))
/// ```
///
/// The same line makes the recording: run the test with `AGGREGATOR_RECORD_FIXTURES=live` in its environment, beside the
/// settings of the source. Then the requests are sent to the service, each once and with a pause between them, and
/// replace the recording. Secrets are removed.
public struct Fixture: Sendable {
  public let directory: URL

  /// The service to record; `nil` to replay.
  private let service: (any Transport)?
  private let pause: Duration

  /// The recording with this name in `Recordings/` beside the test.
  public init(_ name: String, beside file: String = #filePath) {
    let isLive = ProcessInfo.processInfo.environment["AGGREGATOR_RECORD_FIXTURES"] == "live"
    self.init(
      in: URL(filePath: file).deletingLastPathComponent().appending(path: "Recordings/\(name)"),
      recording: isLive ? HTTPTransport.standard : nil, pause: .milliseconds(500))
  }

  package init(
    in directory: URL, recording service: (any Transport)? = nil, pause: Duration = .zero
  ) {
    self.directory = directory
    self.service = service
    self.pause = pause
  }

  /// The contents of the files by name; none if nothing is recorded.
  public func files() throws -> [String: String] {
    guard FileManager.default.fileExists(atPath: directory.path) else { return [:] }
    let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
    return try names.reduce(into: [:]) { files, name in
      files[name] = String(
        decoding: try Data(contentsOf: directory.appending(path: name)), as: UTF8.self)
    }
  }

  /// An environment of a plugin that replays this recording, or makes it; see ``Fixture``.
  ///
  /// `settings` are added to those of the process's environment while recording, and are all that there are in a replay.
  ///
  /// - Throws: `SourceError` with code `storage` or `malformed` if the recording cannot be read or written.
  public func environment(
    for plugin: some Plugin, with settings: [String: String] = [:]
  ) throws(SourceError) -> PluginEnvironment {
    guard let service else {
      guard (try? files().isEmpty) == false else {
        throw SourceError(
          .storage, "no recording in \(directory.path)",
          remedy: "make it with AGGREGATOR_RECORD_FIXTURES=live")
      }
      return PluginEnvironment(
        settings: SourceSettings(settings), transport: HTTPTransport.standard
      )
      .replaying(try Recording(directory), knowing: plugin.settings)
    }
    try removeEarlierRecording()
    let keys = Set(plugin.settings.map(\.key))
    let own = ProcessInfo.processInfo.environment.filter { keys.contains($0.key) }
    var environment = try PluginEnvironment(
      settings: SourceSettings(own.merging(settings) { $1 }),
      transport: PausingTransport(base: service, pause: pause)
    ).recording(into: directory, hiding: plugin.settings)
    environment.transport = OnceTransport(environment.transport)
    return environment
  }

  /// The recordings that this process has begun, which its tests may share.
  private static let begun = Mutex<Set<String>>([])

  private func removeEarlierRecording() throws(SourceError) {
    guard Self.begun.withLock({ $0.insert(directory.path).inserted }) else { return }
    do {
      for name in try files().keys where name.hasSuffix(".http") {
        try FileManager.default.removeItem(at: directory.appending(path: name))
      }
    } catch {
      throw SourceError(.storage, "cannot replace the recording \(directory.path): \(error)")
    }
  }
}

/// Sends each request once, and repeats its reply: a service need not say again what it has said, and a recording is
/// as small as that.
package final class OnceTransport: Transport {
  private typealias Reply = Task<Result<HTTPResponse, SourceError>, Never>

  private let base: any Transport
  private let replies = Mutex<[String: Reply]>([:])

  package init(_ base: any Transport) { self.base = base }

  package func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
    let body = request.body.map { String(decoding: $0, as: UTF8.self) } ?? ""
    let key = "\(request.method.rawValue) \(request.shownAddress)\n\(body)"
    let reply = replies.withLock { replies in
      if let reply = replies[key] { return reply }
      let reply = Reply { [base] in
        await Result { () async throws(SourceError) in try await base.send(request) }
      }
      replies[key] = reply
      return reply
    }
    let result = await reply.value
    guard !Task.isCancelled else { throw .cancelled }
    return try result.get()
  }
}

/// Sends one request after the other, with a pause between them.
private actor PausingTransport: Transport {
  private let base: any Transport
  private let pause: Duration
  private var next = ContinuousClock.now

  init(base: any Transport, pause: Duration) {
    self.base = base
    self.pause = pause
  }

  func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
    let start = max(next, .now)
    next = start + pause
    do { try await Task.sleep(until: start, clock: .continuous) } catch { throw .cancelled }
    return try await base.send(request)
  }
}

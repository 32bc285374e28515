import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10)))
struct CancellationTests {
  @Test(arguments: Engine.allCases)
  func `sends nothing for a cancelled task`(engine: Engine) async throws {
    try await withServer({ _ in .json("{}") }) { server in
      let task = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return try await engine.transport().send(HTTPRequest(.get, server.baseURL))
      }
      let error = await #expect(throws: SourceError.self) { try await task.value }
      #expect(error?.code == .cancelled)
      #expect(server.connectionCount == 0)
    }
  }

  static let stalls: [LoopbackReply] = [
    .stalled, .stalled(after: Data("{".utf8), of: 100),
    .dripping(Data(count: 100_000), every: .milliseconds(1)),
  ]

  @Test(arguments: Engine.allCases, stalls.indices)
  func `ends immediately while the server responds`(engine: Engine, index: Int) async throws {
    try await withServer(replies: Self.stalls[index]) { server in
      let limits = HTTPLimits(
        bodyBytes: .max, connect: .seconds(10), idle: .seconds(60), overall: .seconds(60))
      let task = Task {
        try await engine.transport().send(HTTPRequest(.get, server.baseURL, limits: limits))
      }
      #expect(await server.requests(atLeast: 1).count == 1)
      task.cancel()
      let error = await #expect(throws: SourceError.self) { try await task.value }
      #expect(error?.code == .cancelled)
    }
  }

  @Test(arguments: Engine.allCases)
  func `survives cancellation at any moment`(engine: Engine) async throws {
    let body = Data(repeating: 0x61, count: 50_000)
    try await withServer({ request in
      switch request.path {
      case "/redirect": .redirect(to: "/")
      case "/stall": .stalled
      default: .ok(body)
      }
    }) { server in
      let transport = engine.transport()
      await withTaskGroup(of: Void.self) { group in
        for number in 0..<600 {
          if number >= 8 { await group.next() }
          group.addTask {
            let path = ["", "redirect", "stall"][number % 3]
            let task = Task {
              try await transport.send(HTTPRequest(.get, server.baseURL.appending(path: path)))
            }
            // The progress of the request before its cancellation is deliberately random.
            for _ in 0..<(number % 40) { await Task.yield() }
            if number % 3 == 2 || number.isMultiple(of: 2) { task.cancel() }
            switch await task.result {
            case .success(let response): #expect(response.body == body)
            case .failure(let error): #expect((error as? SourceError)?.code == .cancelled)
            }
          }
        }
      }
      let response = try await transport.send(HTTPRequest(.get, server.baseURL))
      #expect(response.body == body)
    }
  }
}

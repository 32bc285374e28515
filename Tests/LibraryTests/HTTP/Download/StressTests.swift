import AggregatorCore
import AggregatorFakeServices
import AggregatorHTTP
import Foundation
import Testing

@Suite(.enabled(if: ProcessInfo.processInfo.environment["STRESS_URL"] != nil))
struct DownloadStressTests {
  func memory() -> String {
    let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    return text.split(separator: "\n").filter { $0.hasPrefix("VmHWM") || $0.hasPrefix("VmRSS") }
      .joined(separator: " ")
  }
  @Test func stress() async throws {
    let env = ProcessInfo.processInfo.environment
    let url = try #require(URL(string: env["STRESS_URL"] ?? ""))
    print("before", memory())
    var request = HTTPRequest(.get, url)
    if let key = env["STRESS_KEY"] {
      request.query.append(.init("key", .secret(Secret(key))))
    }
    let clock = ContinuousClock()
    let begin = clock.now
    let download = Download(
      request, over: HTTPTransport.standard, into: env["STRESS_DIR"] ?? "/tmp/stressdl",
      maxBytes: 4 << 30)
    var offset = 0
    var errors = 0
    var sum: UInt64 = 0
    let head = try await download.head()
    print("head", head.response.status, head.length ?? -1, head.isRestarted)
    while true {
      do {
        let bytes = try await download.bytes(at: offset, atMost: 1 << 20, of: head.version)
        if bytes.isEmpty { break }
        bytes.withUnsafeBytes { raw in
          for i in stride(from: 0, to: raw.count - 7, by: 4096) { sum &+= UInt64(raw[i]) }
        }
        offset += bytes.count
        if env["STRESS_SLOW"] != nil, offset & 0xFFFFFF < bytes.count { print(offset, memory()) }
      } catch {
        errors += 1
        print("error at", offset, error)
        if errors > 5 { break }
      }
    }
    print("read", offset, "in", clock.now - begin, "errors", errors, "sum", sum)
    print("after", memory())
  }
}

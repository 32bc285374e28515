import AggregatorKit
import Foundation

/// Files of recordings, which people edit.
extension FuzzTarget {
  static let recordings = [recording]

  private static let recording = FuzzTarget(
    "recording",
    samples: ["Countries", "Heroes", "Products", "Users"].flatMap(Samples.recordings),
    tokens: [
      "# aggregator recording 1\n", "# 2026-01-05T09:12:44Z\n", "GET http://h/?a=b\n", "\n", "###",
      "### HTTP 200\n", "### failed timedOut\n", "### silent\n", "# body: base64\n", "a: b\n",
      "retry-after: 1e99\n", "message: x\n",
    ], cost: .medium
  ) { bytes in
    let exchange: RecordedExchange
    do throws(RecordedExchange.Fault) { exchange = try RecordedExchange(Data(bytes)) } catch {
      let lines = bytes.count { $0 == UInt8(ascii: "\n") } + 1
      return try expect(1...lines ~= error.line, "a fault in line \(error.line) of \(lines)")
    }
    let text = exchange.text
    guard let again = try? RecordedExchange(text) else {
      throw BrokenPromise("what was written cannot be read: \(Array(text).escaped)")
    }
    try expect(again.text == text, "written again it is another text")
    let differences = again.request.differences(from: exchange.request)
    try expect(differences.isEmpty, "read again it \(differences.first ?? "")")
  }
}

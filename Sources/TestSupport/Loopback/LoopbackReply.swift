public import Foundation

/// A reply of a ``LoopbackServer``, including every fault of a network.
public struct LoopbackReply: Sendable {
  enum Step: Sendable {
    /// Sends bytes repeatedly; endlessly if `times` is `nil`.
    case send(Data, times: Int? = 1)
    case wait(Duration)
    /// Calls a function, which may block.
    case perform(@Sendable () -> Void)
    /// Waits until the client leaves or the server stops.
    case stall
    case close
    /// Closes the connection with RST instead of FIN.
    case reset
  }

  var steps: [Step]

  /// A head, valid or not, with a body of ``sending(_:times:)``.
  package static func begin(
    _ status: Int = 200, headers: [(String, String)] = []
  ) -> LoopbackReply {
    LoopbackReply(steps: [.send(head(status, headers))])
  }

  package func sending(_ data: Data, times: Int = 1) -> LoopbackReply {
    LoopbackReply(steps: steps + [.send(data, times: times)])
  }

  /// Calls a function, which may block.
  package func performing(_ body: @escaping @Sendable () -> Void) -> LoopbackReply {
    LoopbackReply(steps: steps + [.perform(body)])
  }

  package var closing: LoopbackReply { LoopbackReply(steps: steps + [.close]) }

  /// Then sends another, unsolicited reply, once `condition` has returned.
  package func followed(
    by stray: LoopbackReply, after condition: @escaping @Sendable () -> Void
  ) -> LoopbackReply {
    LoopbackReply(steps: steps + [.perform(condition)] + stray.steps)
  }

  public func after(_ latency: Duration) -> LoopbackReply {
    LoopbackReply(steps: [.wait(latency)] + steps)
  }

  /// With `Content-Length`; other header fields are sent as they are, valid or not.
  public static func status(
    _ status: Int, _ body: Data = Data(), headers: [(String, String)] = []
  ) -> LoopbackReply {
    let head = head(status, headers + [("Content-Length", String(body.count))])
    return LoopbackReply(steps: [.send(head + body)])
  }

  public static func status(
    _ status: Int, _ body: String, headers: [(String, String)] = []
  ) -> LoopbackReply {
    .status(status, Data(body.utf8), headers: headers)
  }

  public static func ok(_ body: Data, headers: [(String, String)] = []) -> LoopbackReply {
    .status(200, body, headers: headers)
  }

  /// JSON, with other header fields beside its content type; `text` may be invalid.
  public static func json(
    _ text: String, status: Int = 200, headers: [(String, String)] = []
  ) -> LoopbackReply {
    .status(
      status, text, headers: [("Content-Type", "application/json; charset=utf-8")] + headers)
  }

  /// A page as proxies and error handlers send it instead of JSON; `title` is markup.
  public static func html(title: String, status: Int = 200) -> LoopbackReply {
    let page = "<!DOCTYPE html>\n<html><head><title>\(title)</title></head><body></body></html>"
    return .status(status, page, headers: [("Content-Type", "text/html")])
  }

  /// A redirect; `location` is sent as it is.
  public static func redirect(to location: String, status: Int = 302) -> LoopbackReply {
    .status(status, "moved", headers: [("Location", location)])
  }

  /// Status 200 with `count` chunks; endlessly many if `nil`.
  public static func chunked(_ chunk: Data, times count: Int?) -> LoopbackReply {
    let wrapped = Data("\(String(chunk.count, radix: 16))\r\n".utf8) + chunk + Data("\r\n".utf8)
    return LoopbackReply(steps: [
      .send(head(200, [("Transfer-Encoding", "chunked")])), .send(wrapped, times: count),
      .send(Data("0\r\n\r\n".utf8)),
    ])
  }

  /// Status 200 with a body that is already compressed, or claims to be.
  public static func gzipped(_ bytes: Data) -> LoopbackReply {
    .ok(bytes, headers: [("Content-Encoding", "gzip"), ("Content-Type", "application/json")])
  }

  /// A compressed body that expands about a thousandfold, to `count` zeros.
  public static func gzipBomb(of count: Int = 1 << 30) -> LoopbackReply {
    .gzipped(Gzip.zeros(count))
  }

  /// The head of a reply, including its blank line.
  static func head(_ status: Int, _ headers: [(String, String)]) -> Data {
    let fields = headers.map { "\($0): \($1)\r\n" }.joined()
    return Data("HTTP/1.1 \(status) Loopback\r\n\(fields)\r\n".utf8)
  }

  /// Sends any bytes, then closes the connection.
  public static func raw(_ bytes: Data) -> LoopbackReply {
    LoopbackReply(steps: [.send(bytes), .close])
  }

  public static let closed = LoopbackReply(steps: [.close])

  public static let reset = LoopbackReply(steps: [.reset])

  /// Sends nothing until the client leaves or the server stops.
  public static let stalled = LoopbackReply(steps: [.stall])

  /// Resets the connection in the middle of a body of `announced` bytes.
  public static func reset(after body: Data, of announced: Int) -> LoopbackReply {
    begun(body, of: announced, then: .reset)
  }

  /// Stalls in the middle of a body of `announced` bytes.
  public static func stalled(after body: Data, of announced: Int) -> LoopbackReply {
    begun(body, of: announced, then: .stall)
  }

  /// Sends `body` with a `Content-Length` of `announced`, then closes the connection.
  public static func cut(after body: Data, of announced: Int) -> LoopbackReply {
    begun(body, of: announced, then: .close)
  }

  /// Sends a complete body in pieces of `size` bytes, waiting before each.
  public static func dripping(_ body: Data, every pace: Duration, size: Int = 1) -> LoopbackReply {
    let pieces = stride(from: 0, to: body.count, by: size).flatMap { start -> [Step] in
      [.wait(pace), .send(body.dropFirst(start).prefix(size))]
    }
    let head = head(200, [("Content-Length", String(body.count))])
    return LoopbackReply(steps: [.send(head)] + pieces)
  }

  /// Status 200 with an endless head that repeats a header field, given with its line end.
  public static func endlessHead(_ field: Data) -> LoopbackReply {
    LoopbackReply(steps: [.send(Data("HTTP/1.1 200 OK\r\n".utf8)), .send(field, times: nil)])
  }

  private static func begun(_ body: Data, of announced: Int, then step: Step) -> LoopbackReply {
    let head = head(200, [("Content-Length", String(announced))])
    return LoopbackReply(steps: [.send(head + body), step])
  }
}

/// A minimal gzip encoder (RFC 1952).
package enum Gzip {
  /// A file with these bytes as they are (RFC 1951, section 3.2.4).
  package static func file(_ bytes: Data) -> Data {
    var file = header
    var rest = bytes[...]
    repeat {
      let block = rest.prefix(Int(UInt16.max))
      rest = rest.dropFirst(block.count)
      let count = UInt16(block.count)
      file.append(rest.isEmpty ? 1 : 0)
      for number in [count, ~count] { file += withUnsafeBytes(of: number.littleEndian, Array.init) }
      file += block
    } while !rest.isEmpty
    for number in [checksum(of: bytes), UInt32(truncatingIfNeeded: bytes.count)] {
      file += withUnsafeBytes(of: number.littleEndian, Array.init)
    }
    return file
  }

  /// The CRC-32 (RFC 1952, section 8).
  private static func checksum(of bytes: Data) -> UInt32 {
    var sum = ~UInt32(0)
    for byte in bytes {
      sum ^= UInt32(byte)
      for _ in 0..<8 { sum = sum &>> 1 ^ (sum & 1 == 1 ? 0xEDB8_8320 : 0) }
    }
    return ~sum
  }

  /// Zeros, compressed as tightly as deflate allows: two bits for each 258 of them.
  ///
  /// One block with dynamic codes (RFC 1951, section 3.2.7): literal 0 is `10`, the end is `11`, a
  /// match of 258 bytes is `0`, and so is its distance of 1. Four matches are one zero byte. The
  /// checksum is wrong: a client that reads that far has read too much.
  static func zeros(_ count: Int) -> Data {
    var bits = Bits()
    bits.append(1, 1)  // the last block
    bits.append(2, 2)  // with codes of its own,
    bits.append(29, 5)  // 286 for literals and lengths,
    bits.append(0, 5)  // 1 for distances,
    bits.append(14, 4)  // whose lengths are written in 18 codes:
    for symbol in [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1] {
      bits.append([18: 1, 1: 2, 2: 2][symbol] ?? 0, 3)
    }
    bits.append(0b11, 2)  // literal 0 has 2 bits,
    bits.appendZeroLengths(138)
    bits.appendZeroLengths(117)
    bits.append(0b11, 2)  // the end has 2 bits,
    bits.appendZeroLengths(28)
    bits.append(0b01, 2)  // length 258 has 1 bit,
    bits.append(0b01, 2)  // distance 1 has 1 bit
    for _ in 0...count % 258 { bits.append(0b01, 2) }
    let matches = count / 258
    let inBytes = matches / 4
    for _ in 0..<(matches - inBytes * 4) { bits.append(0, 2) }
    return header + bits.finished(withZeroBytes: inBytes, end: 0b11) + Data(count: 8)
  }

  private static let header = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF])

  /// Bits in deflate's order: the lowest of each byte first.
  private struct Bits {
    private var bytes: [UInt8] = []
    private var current: UInt8 = 0
    private var used = 0

    mutating func append(_ value: Int, _ count: Int) {
      for bit in 0..<count {
        current |= UInt8(value >> bit & 1) << used
        used += 1
        if used == 8 {
          bytes.append(current)
          (current, used) = (0, 0)
        }
      }
    }

    /// A run of 11 to 138 zero lengths.
    mutating func appendZeroLengths(_ count: Int) {
      append(0, 1)
      append(count - 11, 7)
    }

    /// All bytes, with a run of zero bytes before the last two-bit code.
    consuming func finished(withZeroBytes count: Int, end: Int) -> Data {
      // The run of zero bits may begin within a byte.
      let tail = current
      let shift = used
      var data = Data(bytes)
      if count > 0 {
        data.append(tail)
        data.append(Data(count: count - 1))
        (current, used, bytes) = (0, shift, [])
      } else {
        bytes = []
      }
      append(end, 2)
      if used > 0 { append(0, 8 - used) }
      return data + Data(bytes)
    }
  }
}

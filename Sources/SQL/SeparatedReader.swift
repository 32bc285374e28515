import AggregatorFiles
import AggregatorFormats
import AggregatorKit
import AggregatorQueries
import AggregatorTerminal

/// A reader of the records of a file of separated values, one at a time.
struct SeparatedReader: ~Copyable {
  private let source: NamedFile
  private let file: OpenFile
  private let time: QueryTime
  private let separator: Character
  private let maxSize: Int
  private var reader: DelimitedReader
  private var chunk: [UInt8] = []
  private var next = 0
  private var isAtStart = true

  /// - Parameter maxSize: The most bytes of a record.
  init(
    _ source: NamedFile, separator: Character, maxSize: Int, within time: QueryTime
  ) throws(CommandError) {
    let opened = try source.open()
    self.source = source
    self.time = time
    self.separator = separator
    self.maxSize = maxSize
    reader = DelimitedReader(
      separator: separator.asciiValue ?? UInt8(ascii: ","), maxSize: maxSize,
      replacesEscapes: separator == "\t")
    file = opened
  }

  /// Reads the next record; `nil` at the end.
  mutating func read() throws(CommandError) -> DelimitedReader.Values? {
    if isAtStart {
      isAtStart = false
      try fill()
      if chunk.starts(with: [0xEF, 0xBB, 0xBF]) { next = 3 }
      if separator == "," {
        // Spreadsheets write semicolons where the comma is that of decimals.
        reader = DelimitedReader(separator: chunk.csvSeparator, maxSize: maxSize)
      }
    }
    var isRead = false
    do throws(FormatError) { isRead = try reader.next(in: chunk, from: &next) } catch {
      throw source.malformed(error)
    }
    while !isRead, !chunk.isEmpty {
      try fill()
      do throws(FormatError) {
        isRead = try chunk.isEmpty ? reader.finish() : reader.next(in: chunk, from: &next)
      } catch {
        throw source.malformed(error)
      }
    }
    guard isRead else { return nil }
    let values = reader.values
    // Most files are ASCII.
    let isASCII = values.bytes.allSatisfy { $0 < 0x80 }
    guard isASCII || String(validating: values.bytes, as: UTF8.self) != nil else {
      var error = source.malformed("invalid UTF-8", at: values.line)
      error.hint = "convert it first, for example with iconv -f latin1 -t utf-8"
      throw error
    }
    return values
  }

  /// Reads the next piece of the file; an empty one at the end.
  private mutating func fill() throws(CommandError) {
    next = 0
    chunk = [UInt8](repeating: 0, count: 64 << 10)
    do throws(SystemFailure) {
      while time.left > .zero {
        guard file.waitForInput(within: time.left) else { continue }
        do throws(SystemFailure) {
          let descriptor = file.descriptor
          let end = try SystemFailure.check {
            AggregatorFoundation.read(descriptor, &chunk, chunk.count)
          }
          chunk.removeLast(chunk.count - end)
          return
        } catch let error where error.code == EAGAIN {
          // Another reader of the pipe was first.
        }
      }
    } catch {
      throw source.unreadable(error.words)
    }
    throw source.timedOut
  }
}

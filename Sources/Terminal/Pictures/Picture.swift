import AggregatorFoundation

/// A picture for a terminal, as another program printed it.
///
/// Bytes of an unknown image shaped the output of that program, so it is accepted only if it is a picture
/// and nothing else: no other escape sequence, no text, no larger than it should be.
package struct Picture: Hashable, Sendable {
  /// The ways to draw a picture, under the names that `chafa` has for them.
  package enum Format: String, CaseIterable, Sendable {
    /// https://sw.kovidgoyal.net/kitty/graphics-protocol
    case kitty
    /// https://iterm2.com/documentation-images.html
    case iterm
    /// Pixels in columns of six, as on the VT340.
    case sixels
    /// Block elements (U+2580 to U+259F), one a cell.
    case symbols
  }

  /// A size in cells.
  package struct Size: Hashable, Sendable {
    package var columns: Int
    package var rows: Int

    package init(columns: Int, rows: Int) {
      self.columns = columns
      self.rows = rows
    }

    fileprivate init?(_ columns: Int?, _ rows: Int?, within limit: Size) {
      guard let columns, let rows, 1...max(1, limit.columns) ~= columns,
        1...max(1, limit.rows) ~= rows
      else { return nil }
      self.init(columns: columns, rows: rows)
    }
  }

  package let format: Format

  package let size: Size

  /// Without line breaks: a line for each row of symbols, or one escape sequence after another for pixels.
  package let lines: [String]

  /// Reads a picture; `nil` for anything else, or if it is larger than `limit`.
  ///
  /// - Parameter cell: The size of a cell in pixels, without which sixels have no size.
  package init?(
    _ bytes: [UInt8], as format: Format, within limit: Size, cell: (width: Int, height: Int)? = nil
  ) {
    var reader = PictureReader(bytes)
    let read: (lines: [String], size: Size?)?
    switch format {
    case .symbols:
      read = reader.symbols().map { ($0.lines, Size($0.width, $0.lines.count, within: limit)) }
    case .kitty: read = reader.kitty().map { ($0.lines, Size($0.columns, $0.rows, within: limit)) }
    case .iterm: read = reader.iterm().map { ([$0.text], Size($0.columns, $0.rows, within: limit)) }
    case .sixels:
      read = reader.sixels().map { picture in
        func count(_ pixels: Int, _ cell: Int?) -> Int? {
          cell.flatMap { $0 > 0 ? (pixels + $0 - 1) / $0 : nil }
        }
        let size = Size(
          count(picture.width, cell?.width), count(picture.height, cell?.height), within: limit)
        return ([picture.text], size)
      }
    }
    guard let read, let size = read.size else { return nil }
    self.format = format
    self.size = size
    lines = read.lines
  }
}

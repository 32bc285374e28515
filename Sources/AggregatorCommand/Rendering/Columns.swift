/// How wide the columns of a table are.
struct Columns {
  /// What a column would like.
  struct Wish {
    /// The cells of its widest text.
    var natural: Int
    /// Whether it is never cut: ids and numbers.
    var isRigid: Bool
    /// Whether it is never left out.
    var isKept: Bool

    fileprivate var least: Int { isRigid ? natural : min(natural, Columns.leastWidth) }
  }

  /// The columns that have room, by their index, from left to right.
  let shown: [Int]

  /// Their widths.
  let widths: [Int]

  /// The cells between two columns.
  static let gap = 2

  /// A column that could show less than this is left out.
  private static let leastWidth = 8

  /// Shares a width out: first trailing columns that have no room are left out, then the widest are
  /// cut, all to the same width.
  ///
  /// - Parameters:
  ///   - wishes: What each column would like.
  ///   - width: The cells there are. The sum of the columns is wider only if the kept ones alone are.
  init(_ wishes: [Wish], in width: Int) {
    var shown = Array(wishes.indices)
    func taken() -> Int { shown.reduce(Self.gap * (shown.count - 1)) { $0 + wishes[$1].least } }
    while shown.count > 1, taken() > width,
      let last = shown.lastIndex(where: { !wishes[$0].isKept })
    {
      shown.remove(at: last)
    }
    self.shown = shown

    var widths = shown.map { wishes[$0].natural }
    let soft = shown.indices.filter { !wishes[shown[$0]].isRigid }
    let rigid = shown.reduce(0) { $0 + (wishes[$1].isRigid ? wishes[$1].natural : 0) }
    var room = width - Self.gap * (shown.count - 1) - rigid
    // The narrow ones first: what they do not need is shared by the others.
    let ascending = soft.sorted { (widths[$0], $0) < (widths[$1], $1) }
    for (done, column) in ascending.enumerated() {
      widths[column] = min(widths[column], max(1, room / (soft.count - done)))
      room -= widths[column]
    }
    self.widths = widths
  }
}

import AggregatorFilters
import AggregatorKit
import Synchronization

/// The value of a field of each row, in the order of the rows; each different value is there once.
///
/// Conditions, orders and counts look at the different values, and then at the number of each row's value.
final class Column: Sendable {
  /// The index in `values` of the value of each row.
  let codes: [UInt32]
  let values: [JSON]

  private let order = Mutex<Order?>(nil)
  private let shape = Mutex<FacetShape?>(nil)

  /// The place of each value in an ascending order; equal values share one.
  struct Order: Sendable {
    var ranks: [Int]
    /// The number of different ranks; a value that is missing has this as its rank.
    var count: Int
  }

  fileprivate init(codes: [UInt32], values: [JSON]) {
    self.codes = codes
    self.values = values
  }

  struct Builder {
    private var codes: [UInt32] = []
    private var values: [JSON] = []
    private var known: [JSON: UInt32] = [:]

    mutating func append(_ value: JSON) {
      if let code = known[value] { return codes.append(code) }
      let code = UInt32(values.count)
      known[value] = code
      values.append(value)
      codes.append(code)
    }

    var column: Column { Column(codes: codes, values: values) }
  }

  /// This column with other rows: those at these indices, and of an index `~n` the value at `n` of `added`.
  func rearranged(_ rows: [Int], adding added: [JSON]) -> Column {
    var codesOfAdded: [JSON: UInt32] = [:]
    let wanted = Set(added)
    if !wanted.isEmpty {
      for (code, value) in values.enumerated() where wanted.contains(value) {
        codesOfAdded[value] = UInt32(code)
      }
    }
    // As if they were read in this order; values that no row has any more are left out.
    var numbers = [UInt32?](repeating: nil, count: values.count)
    var (codes, kept, new) = ([UInt32](), [JSON](), [JSON: UInt32]())
    codes.reserveCapacity(rows.count)
    for row in rows {
      if let old = row < 0 ? codesOfAdded[added[~row]] : self.codes[row] {
        if numbers[Int(old)] == nil {
          numbers[Int(old)] = UInt32(kept.count)
          kept.append(values[Int(old)])
        }
        codes.append(numbers[Int(old)] ?? 0)
      } else {
        let value = added[~row]
        if new[value] == nil {
          new[value] = UInt32(kept.count)
          kept.append(value)
        }
        codes.append(new[value] ?? 0)
      }
    }
    return Column(codes: codes, values: kept)
  }

  /// The order, which is made on first use.
  var ascending: Order {
    order.withLock { order in
      if let order { return order }
      let sorted = values.enumerated().map { (code: $0.offset, value: SortValue($0.element)) }
        .sorted { $0.value < $1.value }
      var made = Order(ranks: Array(repeating: 0, count: values.count), count: 0)
      var last: SortValue?
      for (code, value) in sorted where value != .missing {
        if last != value { made.count += 1 }
        last = value
        made.ranks[code] = made.count - 1
      }
      for (code, value) in sorted where value == .missing { made.ranks[code] = made.count }
      order = made
      return made
    }
  }

  /// The shape of the facet of a field with this name, found on first use.
  func facetShape(of name: String) -> FacetShape {
    shape.withLock { shape in
      let found =
        shape ?? FacetShape(of: values, in: codes.count, areCodes: name.namesCodes)
      shape = found
      return found
    }
  }

  /// Sorts rows by the value, stably; missing values are last.
  func sort(_ rows: inout [Int], isDescending: Bool) {
    let order = ascending
    // Counting takes as long as reading the rows.
    var starts = Array(repeating: 0, count: order.count + 2)
    func place(of row: Int) -> Int {
      let rank = order.ranks[Int(codes[row])]
      return isDescending && rank < order.count ? order.count - 1 - rank : rank
    }
    for row in rows { starts[place(of: row) + 1] += 1 }
    for index in starts.indices.dropFirst() { starts[index] += starts[index - 1] }
    var sorted = rows
    for row in rows {
      let place = place(of: row)
      sorted[starts[place]] = row
      starts[place] += 1
    }
    rows = sorted
  }

  /// The number of rows with each value, by its index.
  func counts(in rows: [Int]) -> [Int] {
    var counts = Array(repeating: 0, count: values.count)
    for row in rows { counts[Int(codes[row])] += 1 }
    return counts
  }
}

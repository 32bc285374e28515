import AggregatorTerminal

/// The columns of a list that fit, with their places; none if there is room for names only.
struct ShownColumns: Equatable, Sendable {
  struct Column: Equatable, Sendable {
    /// Its number among those of the list.
    let index: Int
    let start: Int
    let width: Int
  }

  /// Narrower lists have no room for times of day.
  private static let minWidthOfTimes = 48

  private(set) var columns: [Column] = []
  /// True if others follow at the right.
  private(set) var hasMore = false
  /// True if no value is cut, and no column follows.
  private(set) var isWhole = true

  init(of list: ListState, in room: Int) {
    guard room >= BrowseLayout.minColumnsWidth else { return }
    let fixed = list.idColumn ?? 0
    let passed = list.columns.indices.filter { $0 != fixed }.prefix(list.left)
    let indices = list.columns.indices.filter { !passed.contains($0) }
    var requirements = indices.map { index in
      let (cell, _, word) = list.extents[index]
      // The sign of the order follows the label.
      let hasSign = list.columns[index].name == list.request.orderField
      let natural = max(cell, list.columns[index].label.displayWidth + (hasSign ? 1 : 0))
      // Beside an ID, which is what is picked or copied, another column is narrowed first.
      let isID = index == list.idColumn && !list.hasUUIDs
      return Columns.Requirement(
        natural: isID ? min(natural, room - Columns.gap - Columns.minWidth) : natural, word: word,
        isRigid: isID || list.columns[index].isNumeric && natural <= room / 3,
        isRequired: index == indices.first || isID)
    }
    let isTight =
      requirements.reduce(Columns.gap * (requirements.count - 1)) { $0 + $1.natural } > room
    if isTight {
      let lengths = String.timeLengths
      let length = lengths[room < Self.minWidthOfTimes ? lengths.count - 1 : 0]
      for (place, index) in indices.enumerated() where list.areTimes[index] == true {
        let least = max(length, list.columns[index].label.displayWidth + 1)
        requirements[place].natural = min(requirements[place].natural, least)
        requirements[place].word = min(requirements[place].word, length)
        // A part of a date is no use.
        requirements[place].isRigid = true
      }
      // One long value is cut before other columns are, or left out.
      for (place, index) in indices.enumerated() where !requirements[place].isRigid {
        let usual = max(list.extents[index].usual, list.columns[index].label.displayWidth + 1)
        requirements[place].natural = min(requirements[place].natural, usual)
      }
      if list.hasUUIDs, let place = indices.firstIndex(where: { $0 == list.idColumn }) {
        let least = max(list.shortIDs.length, list.columns[indices[place]].label.displayWidth + 1)
        requirements[place] = Columns.Requirement(natural: least, isRigid: true, isRequired: true)
      }
    }
    var fitting = Columns(requirements, in: room)
    if let place = indices.firstIndex(where: { $0 == list.nameColumn }) {
      // Records are told apart by their names: these are cut last, up to a part of the room. For a single cell more it is
      // not worth to cut others.
      let others = requirements.indices.reduce(0) { sum, other in
        guard other != place, requirements[other].isRequired else { return sum }
        let natural = requirements[other].natural
        return sum + Columns.gap
          + (requirements[other].isRigid ? natural : min(natural, Columns.minWidth))
      }
      let most = max(Columns.minWidth, min(max(Columns.minName, room * 2 / 5), room - others))
      let least = min(requirements[place].natural, most)
      let width = zip(fitting.shown, fitting.widths).first { $0.0 == place }?.1 ?? 0
      if width < least - 1 {
        requirements[place] = Columns.Requirement(natural: least, isRigid: true, isRequired: true)
        fitting = Columns(requirements, in: room)
      }
    }
    var start = 0
    // Room that no column needs for its words is for those that are cut.
    var rest = room - fitting.widths.reduce(Columns.gap * (fitting.widths.count - 1), +)
    columns = zip(fitting.shown, fitting.widths).map { place, width in
      let index = indices[place]
      let missing = list.extents[index].cell - width
      // A part of the time of day, or of the rest of a UUID, is no use.
      let isWholeOrShort = list.areTimes[index] == true || index == list.idColumn && list.hasUUIDs
      let more = isWholeOrShort && missing > rest ? 0 : max(0, min(rest, missing))
      rest -= more
      defer { start += width + more + Columns.gap }
      return Column(index: index, start: start, width: width + more)
    }
    hasMore = columns.count < indices.count
    isWhole = !hasMore && columns.allSatisfy { $0.width >= list.extents[$0.index].cell }
  }
}

import AggregatorTerminal

/// The place of the record while the list is shown.
package enum Preview: Int, Sendable { case beside, below, off }

/// The choices of a person among the places that a screen has for its parts.
package struct Panes: Sendable {
  /// `nil` for what suits the size of the terminal.
  package var preview: Preview?
  package var hidesSources = false
  /// The steps by which the border between list and record was moved to the record.
  package var shift = 0
}

/// The places of everything on the screen, by its size.
///
/// Wide: sources, list and record side by side. Then the record goes below the list, then the sources show only in the
/// place of the list, and at last the record as well.
package struct BrowseLayout: Equatable, Sendable {
  private(set) var sources: Area?
  /// With its title, and the labels of the columns if there is room.
  private(set) var list: Area?
  private(set) var card: Area?
  private(set) var picture: Area?
  private(set) var notice: Area?
  private(set) var keys: Area
  /// The room for the content of a box over the list.
  private(set) var box: Area
  /// True if a box has a frame.
  private(set) var hasFrame: Bool
  /// The columns and rows with a line between two areas.
  private(set) var dividers: [Area] = []
  /// The place of the record.
  private(set) var preview = Preview.off
  /// The columns that the record beside the list has because this does not need them: up to half of the room.
  private(set) var spare = 0
  /// The rows of the list above its records: the title, and the labels of the columns.
  private(set) var head = 0

  /// The number of rows for records.
  private(set) var rows: Int

  private static let sourcesWidth = 20
  private static let maxCardWidth = 100
  private static let maxPictureColumns = 40
  static let maxNotice = 3
  /// The width of a list on a terminal of 80 columns, which a record beside it leaves to it.
  private static let minListWidth = 59
  /// A narrower record is below the list, if there is room.
  private static let minCardWidth = 30
  /// Neither the list nor the record beside or below it becomes smaller.
  private static let (minPartWidth, minPartHeight) = (20, 4)
  /// Narrower records of a list are names only.
  static let minColumnsWidth = 36

  init(_ state: BrowseState) {
    let (width, height) = (state.width, state.height)
    keys = Area(0, height - 1, width, 1)
    hasFrame = width >= 20 && height >= 6
    box = hasFrame ? Area(2, 1, width - 4, height - 2) : Area(0, 0, width - 1, height)
    // A message about a line that is being typed is shown as a whole, and so is what went wrong.
    let isWhole = state.prompt != nil || height >= 8 && state.notice?.kind != .note
    let isRemarkWhole = height >= 8 && (state.picking != nil || state.showsValues)
    let remark = isRemarkWhole ? state.remark() : nil
    let pause = state.progress == nil ? state.pauseText : nil
    let message =
      isWhole
      ? ((state.notice ?? state.conditionPreview)?.text ?? pause ?? remark?.text)?.safeLine : nil
    let wanted = message.map { Wrap(width - 2).lines(of: $0).count } ?? (height >= 8 ? 1 : 0)
    let below = max(0, min(wanted, Self.maxNotice, height - 1))
    notice = below > 0 ? Area(0, height - 1 - below, width, below) : nil
    var rest = Area(0, 0, width, height - 1 - below)
    if width >= 60, state.picking == nil, !state.panes.hidesSources {
      let part = width >= 120 ? Self.sourcesWidth + 8 : Self.sourcesWidth
      sources = Area(0, 0, part, rest.height)
      dividers.append(Area(part, 0, 1, rest.height))
      rest = Area(part + 1, 0, width - part - 1, rest.height)
    }
    rows = rest.height
    if sources == nil, state.pane == .sources {
      sources = rest
    } else if state.isCardOpen {
      card = rest
    } else {
      divide(rest, state.panes, needing: state.list.neededWidth, isWide: width >= 100)
    }
    if let list {
      let hasLabels = height >= 8 && list.width - 2 >= Self.minColumnsWidth
      // The only row is for a record.
      head = hasLabels ? 2 : min(1, list.height / 2)
      rows = max(0, list.height - head)
    }
    guard state.hasPictures, state.list.selected?.hasImage == true, let area = card,
      area.width >= 30, area.height >= 8
    else { return }
    let columns = min(Self.maxPictureColumns, area.width * 2 / 5)
    let lines = min(columns / 2, area.height - 1)
    let place = Area(area.endColumn - columns, area.row, columns, lines)
    // There is none, as is known now.
    if case .some(nil) = state.request(ofPictureIn: place).flatMap({ state.pictures[$0] }) {
      return
    }
    picture = place
  }

  /// Divides the room between the list and the record.
  ///
  /// - Parameter width: The width that the columns of the list need; `nil` if it is not known.
  private mutating func divide(
    _ rest: Area, _ panes: Panes, needing width: Int?, isWide: Bool
  ) {
    let hasRoom = isWide && rest.width > Self.minListWidth + Self.minCardWidth
    let usual: Preview = hasRoom ? .beside : rest.height >= 16 ? .below : .off
    preview = panes.preview ?? usual
    if preview == .beside, rest.width <= 2 * Self.minPartWidth { preview = usual }
    if preview == .below, rest.height < 2 * Self.minPartHeight { preview = .off }
    switch preview {
    case .beside:
      let least = Self.minPartWidth
      let usual = min(
        Self.maxCardWidth, rest.width * 2 / 5, max(least, rest.width - Self.minListWidth - 1))
      // A narrower list would have no room for its title.
      let list = rest.width - usual - 1
      // Beyond the width of a text that is read with ease, or half of the room, it would be as empty as the list.
      let most = max(usual, min(Self.maxCardWidth, rest.width / 2))
      spare = min(width.map { max(0, list - max($0 + 2, Self.minListWidth)) } ?? 0, most - usual)
      let part = max(least, min(usual + spare - 4 * panes.shift, rest.width - least - 1))
      card = Area(rest.endColumn - part, 0, part, rest.height)
      dividers.append(Area(rest.endColumn - part - 1, 0, 1, rest.height))
      self.list = Area(rest.column, 0, rest.width - part - 1, rest.height)
    case .below:
      let least = Self.minPartHeight
      let part = max(
        least, min(rest.height * 2 / 5 - 2 * panes.shift, rest.height - least - 1))
      card = Area(rest.column, rest.height - part, rest.width, part)
      dividers.append(Area(rest.column, rest.height - part - 1, rest.width, 1))
      list = Area(rest.column, 0, rest.width, rest.height - part - 1)
    case .off: list = rest
    }
  }

  /// The number of those of the sources that are before the first one on the screen.
  func firstSource(_ state: BrowseState) -> Int {
    let room = max(1, (sources?.height ?? 1) - 1)
    return max(0, (state.shownSources.firstIndex(of: state.opened) ?? 0) - room + 1)
  }

  /// The lines of the selected record.
  func cardLines(_ state: BrowseState) -> [CardLine] {
    guard let area = card, let row = state.list.selected else { return [] }
    return Self.lines(
      of: row.card, in: area.width - 1, besides: picture.map { $0.width + 2 } ?? 0,
      for: linesBesidePicture(state))
  }

  /// The number of lines of the record beside its picture, after that with the name; the others have the full width.
  func linesBesidePicture(_ state: BrowseState) -> Int {
    let request = picture.flatMap { state.request(ofPictureIn: $0) }
    let shown = request.flatMap { state.pictures[$0] ?? nil }
    return picture.map { max(0, min($0.height, shown?.size.rows ?? $0.height) - 1) } ?? 0
  }

  /// The lines of the help.
  var helpLines: [CardLine] { Self.lines(of: BrowseKeys.all, in: box.width) }

  /// Labels beside their texts, or above them where these would be narrow.
  ///
  /// - Parameters:
  ///   - taken: The part of the room that something else has beside the first lines.
  ///   - count: The number of these.
  private static func lines(
    of rows: [BrowsedRow.Line], in room: Int, besides taken: Int = 0, for count: Int = 0
  ) -> [CardLine] {
    let longest = rows.reduce(0) { max($0, $1.label.displayWidth) }
    let narrow = room - taken
    let isBeside = narrow >= 28 && longest <= narrow / 3
    let margin = isBeside ? longest + 2 : 2
    return rows.reduce(into: [CardLine]()) { lines, line in
      let wrap = Wrap(
        narrow - margin, rest: room - margin, count: count - lines.count - (isBeside ? 0 : 1))
      let texts = wrap.lines(of: line.text.wholeMinute ?? line.text)
      guard !texts.isEmpty else { return }
      if !isBeside { lines.append(CardLine(label: line.label, text: "", margin: margin)) }
      for (index, text) in texts.enumerated() {
        lines.append(
          CardLine(
            label: isBeside && index == 0 ? line.label : "", text: text, margin: margin))
      }
    }
  }

  struct CardLine: Equatable, Sendable {
    let label: String
    let text: String
    /// The column of the text.
    let margin: Int
  }
}

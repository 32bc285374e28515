package import AggregatorKit
import AggregatorQueries
package import AggregatorTerminal

/// Everything that is shown: it changes by events, and says what is to be done for them.
///
/// It knows neither a terminal nor a source.
package struct BrowseState: Sendable {
  package struct Source: Sendable {
    package let name: String
    /// The fields by which it can be sorted and filtered, and which its list can show.
    package let fields: [BrowsedColumn]
    /// The number of pages that "sync" fetches; `nil` for all.
    package let syncPages: Int?
    /// The most pages that a search reads; `nil` if the service has a search.
    package let scannedPages: Int?
    package var status = SourceStatus()
    /// The last answer of the chain.
    package var refreshed: Refreshed?
    package var list: ListState
    /// The end of the last sync of this session.
    package var syncEnd = SyncEnd()
    package var isRefreshing = false {
      didSet { if !isRefreshing { (responses, askedAt) = (nil, nil) } }
    }
    /// The time at which a key asked the service; `nil` unless its answer is awaited.
    package var askedAt: Date?
    package var hasAsked = false
    /// The number of responses of the service to a search up to now; `nil` if there is none.
    package var responses: Int?
    /// The progress of a running sync.
    package var sync: String?
    /// The start of a sync that has fetched nothing so far: Esc stops it.
    var syncStart: Date?
    package var pause: Pause?
    /// True while the records that a picker's query is matched with are being read.
    package var isIndexing = false
    /// The command that gives records web pages; `nil` if they have some, or cannot.
    package var linkCommand: String?
    /// The conditions that have been made narrower, to which Esc returns, the last one first.
    fileprivate var wider: [String] = []
    /// The reason for which the condition of a request is refused, if it is.
    fileprivate let refusal: @Sendable (ListRequest) -> String?

    /// The origin of the list, and why it is not live.
    package var badge: OriginBadge? {
      guard let refreshed else { return list.badge }
      if refreshed.badge.kind == .live {
        return refreshed.covers(list) ? refreshed.badge : list.badge
      }
      return refreshed.badge.cause == nil
        ? list.badge ?? refreshed.badge : refreshed.badge.covering(list.badge)
    }

    /// The number of records of the service, if it is known.
    package var total: Int? { status.total ?? syncEnd.total }

    /// True if records of the service are not cached, or may not be.
    package var hasGap: Bool { status.count ?? 0 > 0 && status.gap != nil }

    /// True if the list may lack records that the service has.
    package var isPart: Bool {
      guard let refreshed, refreshed.badge.kind == .live else { return hasGap }
      return hasGap
        && (refreshed.hasMore || refreshed.badge.cause != nil || !refreshed.covers(list))
    }

    /// The progress of a sync, or of a refresh or a search that a key has asked for.
    package func progress(at now: Date) -> String? {
      if let sync {
        return syncStart.map { BrowseState.progress(sync, since: $0, at: now) } ?? sync
      }
      guard let askedAt else { return nil }
      guard let responses else {
        return BrowseState.progress("\(name): refreshing", since: askedAt, at: now)
      }
      let text = "\(name): request \(responses + 1)"
      guard let total, let scannedPages, let rows = status.pageRows, rows > 0 else { return text }
      let pages = min((total + rows - 1) / rows, scannedPages)
      // There may be one more, which is empty.
      return responses < pages ? "\(text) of about \(pages)" : text
    }

    /// Forgets the time before which the service was not to be asked; a request that waits for its turn goes on.
    fileprivate mutating func endRefusal() {
      if pause?.isWait == false { pause = nil }
    }

    package init(
      _ name: String, fields: [BrowsedColumn], syncPages: Int? = nil, scannedPages: Int? = nil,
      refusal: @escaping @Sendable (ListRequest) -> String? = { _ in nil }
    ) {
      self.name = name
      self.fields = fields
      self.syncPages = syncPages
      self.scannedPages = scannedPages
      self.refusal = refusal
      list = ListState(ListRequest(name))
    }
  }

  package enum Pane: Sendable { case sources, list, card }

  package enum Prompt: Hashable, Sendable {
    case filter, condition, query, pick, file, source

    /// True if Tab completes it.
    var isCompleted: Bool { self == .condition || self == .query }
  }

  /// Work beside the input that keys have asked for, and that Esc stops.
  package enum Work: String, Sendable {
    case query = "Running the query"
    case values = "Counting"
    case write = "Writing"
  }

  /// A choice of records of one source, amid another command.
  package struct Picking: Sendable {
    package let takesSeveral: Bool
    /// True if deleted records are picked, not those that are there.
    package let areDeleted: Bool
    /// The IDs of the records that are marked, in the order of marking.
    package var marked: [String] = []

    package init(takesSeveral: Bool, areDeleted: Bool = false) {
      self.takesSeveral = takesSeveral
      self.areDeleted = areDeleted
    }
  }

  package enum Overlay: Equatable, Sendable {
    case help(top: Int)
    case order(selection: Int)
    case columns(selection: Int)
  }

  package private(set) var sources: [Source]
  package private(set) var opened = 0
  package private(set) var pane = Pane.list
  package private(set) var prompt: (kind: Prompt, line: LineInput)?
  package private(set) var overlay: Overlay?
  package private(set) var notice: Notice?
  /// The result so far of the condition that is being typed.
  private var preview: (condition: String, notice: Notice)?
  /// The list with the condition that was entered last, and the condition before it, until rows answer that.
  private var tried: (request: ListRequest, earlier: String)?
  /// The path of a file that exists, which the person has been asked to replace.
  private var replaced: String?
  /// The text that was sent to the terminal last, and its name.
  private var sent = (text: "", what: "")
  /// The text that is typed in a box of fields.
  package private(set) var typedField = LineInput()
  /// True if the field that is chosen in the box of orders is one whose values are counted.
  package private(set) var isCounting = false
  /// The answer to a query in SQL, in the place of the list.
  package private(set) var answer: ListState?
  /// All rows of that answer.
  private var answerRows: QueryAnswer?
  /// The running works, with the times of their starts; the last one is shown.
  private var works: [(work: Work, start: Date)] = []
  /// True if the card has the place of the list.
  package private(set) var isCardOpen = false
  package private(set) var cardTop = 0
  package private(set) var panes = Panes()
  /// `nil` for the browser itself.
  package private(set) var picking: Picking?
  package private(set) var pictures: [PictureRequest: Picture?] = [:]
  package private(set) var width = 80
  package private(set) var height = 24
  package var now: Date

  /// The records that the cache lacks, or may lack, unless the service has just sent all of the list.
  private func gapNote(_ separator: String = " · ") -> Notice? {
    guard source.isPart, let gap = source.status.gap else { return nil }
    let parts = [gap, source.syncEnd.reason].compactMap(\.self)
    return Notice(.note, parts.joined(separator: separator))
  }

  /// The reason for which the list is not, or may not be, that of the service.
  private func doubt(_ separator: String = " · ") -> Notice? {
    let isSearch = !source.list.request.query.isEmpty
    if let badge = source.badge, badge.kind != .live || isSearch, let note = badge.notes.first {
      // Which search has answered is no failure, and of a part of the records, that it is one says it, too.
      guard badge.cause == nil else { return Notice(.warning, note) }
      return gapNote(separator) ?? Notice(.note, note)
    }
    return gapNote(separator)
  }

  /// The message about what is shown, as long as there is no other: about the values of a field, also that of the records
  /// that are counted.
  func remark(_ separator: String = " · ") -> Notice? {
    let warning = list.warnings.first
    guard showsValues else {
      return warning.map { Notice(.warning, $0) } ?? (answer == nil ? doubt(separator) : nil)
    }
    let reason = doubt(separator)
    let text = Self.joined([reason?.text, warning], separator)
    return text.isEmpty ? nil : Notice(reason?.kind ?? .note, text)
  }

  private static func joined(_ texts: [String?], _ separator: String = " · ") -> String {
    texts.compactMap(\.self).joined(separator: separator)
  }

  /// True if nothing may ask a service.
  package let isOffline: Bool
  /// True if pictures can be drawn.
  package let hasPictures: Bool

  /// The records of a source that are marked, in the order of marking.
  private var marks: (source: String, rows: [BrowsedRow]) = ("", [])
  private var deletions: [Deletion] = []
  /// Keys and pasted texts that were typed ahead of the rows that they are about.
  private var waiting: [Input] = []
  /// The source of which a record is deleted or restored, until its list shows that.
  private var changed: String?
  private var isChanging = false
  /// The lines up to now, each once, the newest last: those of earlier sessions, too.
  package var history: [Prompt: [String]] = [:]
  /// The number of the one that was recalled last.
  private var recalled = 0
  /// The columns of each source that are kept for later sessions.
  private var keptColumns: [String: [String]] = [:]
  private var pictureOrder: [PictureRequest] = []
  /// The texts that the line can become, of which a further Tab shows the next one; `index` is that of the one shown.
  private var candidates: (line: TypedStart, texts: [String], index: Int)?

  private static let maxPictures = 30

  package init(_ sources: [Source], isOffline: Bool, hasPictures: Bool = false, now: Date) {
    self.sources = sources
    self.isOffline = isOffline
    self.hasPictures = hasPictures
    self.now = now
  }

  /// Shows the fields of a source that an earlier session chose, unless there are none.
  package mutating func show(_ names: [String], of source: String) {
    keptColumns[source] = names
    change(source) { source in
      let fields = names.compactMap { name in source.fields.first { $0.name == name } }
      source.list.show(fields.isEmpty ? nil : fields)
    }
  }

  /// Opens a source with a query, a condition and an order, which may be empty.
  package mutating func start(_ name: String?, _ change: (inout ListRequest) -> Void)
    -> [BrowseEffect]
  {
    opened = sources.firstIndex { $0.name == name } ?? 0
    if name == nil { pane = .sources }
    sources[opened].list.ask(change)
    return sources.map { .status($0.name) } + settled()
  }

  /// Opens the only source as a picker, with a query and a condition that may be empty.
  package mutating func start(
    _ picking: Picking, matching query: String, where condition: String = ""
  ) -> [BrowseEffect] {
    self.picking = picking
    prompt = (.pick, LineInput(query))
    sources[opened].list.ask {
      ($0.isFuzzy, $0.query, $0.condition) = (true, query, condition)
    }
    sources[opened].isIndexing = true
    // It tells which part of the records is searched.
    let status: [BrowseEffect] = picking.areDeleted ? [] : [.status(source.name)]
    return [.index(source.name, condition: condition)] + status + settled()
  }

  package var source: Source { sources[opened] }

  /// The indices of the sources whose names have the words that are typed for that; else of all.
  var shownSources: [Int] {
    sources(matching: prompt?.kind == .source ? prompt?.line.text ?? "" : "")
  }

  private func sources(matching text: String) -> [Int] {
    let words = text.split(separator: " ").map { FoldedText(String($0)).text }
    return sources.indices.filter { index in
      let name = FoldedText(sources[index].name).text
      return words.allSatisfy { name.contains($0) }
    }
  }

  package var list: ListState { answer ?? source.list }

  package var layout: BrowseLayout { BrowseLayout(self) }

  /// The words by which the answer to a query is filtered.
  package var answerFilter: String { answer == nil ? "" : answerRows?.filter ?? "" }

  /// The marked records of the list.
  package var marked: [BrowsedRow] {
    answer == nil && marks.source == source.name ? marks.rows : []
  }

  /// The result so far of the condition that is being typed; `nil` for another line.
  var conditionPreview: Notice? { prompt?.kind == .condition ? preview?.notice : nil }

  /// True if the values of a field have the place of the list.
  var showsValues: Bool { answer?.request.query.isEmpty ?? false }

  func isMarked(_ id: String) -> Bool {
    picking?.marked.contains(id) ?? marked.contains { $0.id == id }
  }

  /// The fields by which the list can be sorted.
  package var orderFields: [BrowsedColumn] {
    answer == nil ? source.fields : answerRows?.window.columns ?? []
  }

  /// True while the box of columns is open.
  var isChoosingColumns: Bool { if case .columns? = overlay { true } else { false } }

  /// True while the box of orders is open.
  var isSorting: Bool { if case .order? = overlay { !isCounting } else { false } }

  /// The fields of the box that is open.
  var offeredFields: [BrowsedColumn] { isChoosingColumns ? source.fields : orderFields }

  /// The order without a field, in words.
  static let unsorted = "not sorted"

  /// The numbers of these fields, from 1, with 0 for no order: those that match what is typed, as in the picker.
  var choices: [Int] {
    let numbers = Array((isSorting ? 0 : 1)..<offeredFields.count + 1)
    guard typedField.text.nonBlank != nil else { return numbers }
    var texts = FuzzyList()
    for number in numbers {
      let field = number > 0 ? offeredFields[number - 1] : nil
      texts.append(field.map { "\($0.label)\t\($0.name)" } ?? Self.unsorted)
    }
    let matches = texts.matches(of: FuzzyPattern(typedField.text)) { false } ?? []
    return matches.map { numbers[$0] }
  }

  package var canUndo: Bool { !deletions.isEmpty }

  package var canRecall: Bool { history[.query]?.isEmpty == false }

  /// The pause of the source that has not ended.
  package var pause: Pause? { source.pause.flatMap { $0.end > now ? $0 : nil } }

  /// The reason of the ``pause``, and the time that is left of it.
  var pauseText: String? {
    pause.map { pause in
      let seconds = pause.end.timeIntervalSince(now).rounded(.up)
      return "\(pause.text) \(Duration.seconds(max(1, seconds)).text)"
    }
  }

  /// True if the service is asked for the records that match a filter: it may have more.
  var searchesService: Bool { !isOffline && !source.status.answersSearches }

  package var isAnswering: Bool { isRunning(.query) }

  private func isRunning(_ work: Work) -> Bool { works.contains { $0.work == work } }

  /// The progress of what a key has asked for, and the key that stops it.
  var progress: (text: String, stop: String?)? {
    let takesKeys = prompt == nil && overlay == nil
    if let (work, start) = works.last {
      return (Self.progress(work.rawValue, since: start, at: now), takesKeys ? "Esc stops" : nil)
    }
    let isKeyOfSync = source.sync != nil && source.askedAt == nil && !escapeStopsSync
    let stop = isKeyOfSync ? answer == nil ? "S stops" : nil : "Esc stops"
    return source.progress(at: now).map { ($0, takesKeys ? stop : nil) }
  }

  /// True if Esc has nothing to go back from but a sync, or that has fetched nothing so far.
  private var escapeStopsSync: Bool {
    let request = source.list.request
    let isBack =
      !isCardOpen && pane != .card && answer == nil && marked.isEmpty && request.query.isEmpty
      && request.condition.isEmpty
    return source.syncStart != nil || source.sync != nil && isBack
  }

  private static func progress(_ text: String, since start: Date, at now: Date) -> String {
    let seconds = now.timeIntervalSince(start).rounded(.down)
    return "\(text)…" + (seconds > 0 ? " \(Duration.seconds(seconds).text)" : "")
  }

  /// True if the screen changes with the time.
  package var hasCountdown: Bool {
    pause != nil || source.askedAt != nil || source.syncStart != nil || !works.isEmpty
  }

  /// The request of the picture of the selected record, in the size that there is room for.
  package var picture: PictureRequest? {
    layout.picture.flatMap { request(ofPictureIn: $0) }
  }

  func request(ofPictureIn area: Area) -> PictureRequest? {
    guard hasPictures, answer == nil, let row = list.selected, row.hasImage else { return nil }
    return PictureRequest(source: source.name, id: row.id, columns: area.width, rows: area.height)
  }

  // MARK: - Events

  package mutating func handle(_ event: BrowseEvent) -> [BrowseEffect] {
    var effects: [BrowseEffect] = []
    switch event {
    case .input(let input): effects = takeInTurn(input)
    case .resized(let width, let height):
      (self.width, self.height) = (width, height)
      // A cell may have another number of pixels now.
      for (request, picture) in pictures where picture.map({ $0.format != .symbols }) ?? false {
        pictures[request] = nil
      }
    case .status(let name, let status): change(name) { $0.status = status }
    case .window(let request, let start, let result):
      if takeBack(request, result) { break }
      change(request.source) { _ = $0.list.take(result, of: request, at: start) }
      let list = source.list
      // Conditions are counted by their index, and bundled records by their first part.
      let isCounted = start > 0 && source.status.count ?? 0 == 0 || !request.condition.isEmpty
      if list.request == request, list.hasRows, list.total == nil, !isCounted {
        effects = [.count(request)]
      }
    case .counted(let request, let count):
      change(request.source) { $0.list.take(count: count, of: request) }
    case .refreshed(let name, let result): effects = refreshed(name, result)
    case .indexed(let name, let isComplete): effects = indexed(name, isComplete)
    case .received(let name): change(name) { $0.responses? += 1 }
    case .paused(let name, let pause): paused(name, pause)
    case .record(let name, let row): change(name) { $0.list.replace(row) }
    case .picture(let request, let picture): keep(picture, request)
    case .deleted(let deletion):
      isChanging = false
      deletions.append(deletion)
      let restores = deletion.ids.count == 1 ? "u restores it" : "u restores them"
      notice = Notice(.note, "Deleted \(deletion.text) · \(restores) · only on this machine")
      effects = reload(deletion.source)
    case .restored(let deletion):
      isChanging = false
      deletions.removeAll { $0 == deletion }
      notice = Notice(.note, "Restored \(deletion.text)")
      effects = reload(deletion.source, selecting: deletion.ids.first)
    case .notChanged(let notice): (isChanging, self.notice) = (false, notice)
    case .syncing(let name, let progress):
      change(name) { ($0.sync, $0.syncStart) = (progress, nil) }
    case .synced(let name, let notice, let end):
      change(name) { ($0.sync, $0.syncStart, $0.syncEnd) = (nil, nil, end) }
      // A pause says why, and how long.
      self.notice = end.isPaused && name == source.name && pause != nil ? nil : notice
      effects = reload(name)
    case .answered(let query, let result): answered(query, result)
    case .completed(let start, let completions): effects = completed(start, completions)
    case .previewed(let request, let notice):
      guard source.name == request.source else { break }
      if prompt?.line.text == request.condition { preview = (request.condition, notice) }
      // Enter was faster.
      if prompt == nil, self.notice == nil, source.list.request.condition == request.condition {
        warn(as: notice)
      }
    case .values(let request, let result):
      guard end(.values), prompt == nil, overlay == nil else { break }
      guard case .success(let window) = result else {
        if case .failure(let failure) = result { notice = Notice(.error, failure.message) }
        break
      }
      guard request.unversioned == source.list.request.unversioned, !window.rows.isEmpty else {
        let reason = doubt()
        notice = window.warnings.first.map {
          Notice(reason == nil ? .note : .warning, Self.joined([$0, reason?.text]))
        }
        break
      }
      notice = nil
      let rows = QueryAnswer(window, to: "")
      (answerRows, answer) = (rows, rows.list)
      (pane, isCardOpen, cardTop) = (.list, false, 0)
    case .written(let list, let count, let missing):
      end(.write)
      let lack: String? =
        missing > 0
        ? "\(missing.of("record")) could not be read, or the list has changed"
        : list.rows.isEmpty
          ? incompleteness
          : answer?.isCut == true ? "others were not read" : showsValues ? doubt()?.text : nil
      let all = list.rows.isEmpty ? "complete" : "all of them"
      let fetched = list.rows.isEmpty ? source.status.fetchedAt : nil
      let age = fetched.map { LastSync.fetchWords($0, newest: nil, at: now) }
      notice = Notice(
        lack == nil ? .note : .warning,
        Self.joined(["Wrote \(count.of("record")) to \(list.path)", lack ?? all, age]))
    case .notWritten(let list, let notice, let isThere):
      end(.write)
      self.notice = notice
      guard prompt == nil, overlay == nil else { break }
      // To be mended, or confirmed.
      prompt = (.file, LineInput(list.path))
      replaced = isThere ? list.path : nil
    case .copied(let text):
      guard sent.text == text, notice == Self.notice(sending: sent.what) else { break }
      notice = Notice(.note, "Copied \(sent.what)")
    case .notice(let notice): self.notice = notice
    }
    return effects + takeWaiting() + settled()
  }

  /// The rows and the picture that are missing now.
  private mutating func settled() -> [BrowseEffect] {
    var effects: [BrowseEffect] = []
    let height = layout.rows
    if answer != nil {
      _ = answer?.settle(height: height)
      return []
    }
    let layout = layout
    if picking == nil, let area = layout.list {
      sources[opened].list.fill(area.width + layout.spare - 2, from: source.fields)
    }
    let missing = sources[opened].list.settle(height: height)
    if picking == nil, let area = layout.list {
      sources[opened].list.widen(in: area.width + layout.spare - 2, height: height)
    }
    if let range = missing {
      let request = source.list.request
      effects.append(.window(request, start: range.lowerBound, count: range.count))
    }
    if !source.hasAsked, !isOffline {
      sources[opened].hasAsked = true
      sources[opened].isRefreshing = true
      effects.append(.refresh(source.name, query: "", isForced: false))
    }
    if let request = picture, pictures[request] == nil { effects.append(.picture(request)) }
    return effects
  }

  private mutating func change(_ name: String, _ body: (inout Source) -> Void) {
    guard let index = sources.firstIndex(where: { $0.name == name }) else { return }
    body(&sources[index])
  }

  private mutating func reload(_ name: String, selecting id: String? = nil) -> [BrowseEffect] {
    change(name) { $0.list.reload(selecting: id) }
    return [.status(name)]
  }

  private mutating func refreshed(
    _ name: String, _ result: Result<Refreshed?, BrowseFailure>
  ) -> [BrowseEffect] {
    let isAwaited = sources.contains { $0.name == name && $0.askedAt != nil }
    change(name) { $0.isRefreshing = false }
    switch result {
    case .success(nil):
      change(name) { $0.hasAsked = $0.refreshed != nil }
      return []
    case .success(let refreshed?):
      change(name) { source in
        source.refreshed = refreshed
        if refreshed.badge.kind == .live { source.endRefusal() }
      }
      if isAwaited { notice = refreshed.notice(of: name) }
      if let failure = refreshed.failure { notice = Notice(.warning, "\(name): \(failure)") }
    case .failure(let failure):
      // A pause says why, and how long.
      if pause == nil { notice = Notice(.error, "\(name): \(failure.message)") }
    }
    guard picking != nil else { return reload(name) }
    return reload(name) + [.index(name, condition: source.list.request.condition)]
  }

  private mutating func indexed(_ name: String, _ isComplete: Bool) -> [BrowseEffect] {
    change(name) { source in
      if isComplete { source.isIndexing = false }
      if !source.list.request.query.isEmpty { source.list.reload() }
    }
    return []
  }

  private mutating func paused(_ name: String, _ pause: Pause?) {
    change(name) { source in
      // The end of a wait is not that of a refusal.
      if pause != nil || source.pause?.isWait == true { source.pause = pause }
    }
  }

  /// Returns to the list before a condition that records refuse, and to its line; false for another answer.
  private mutating func takeBack(
    _ request: ListRequest, _ result: Result<BrowsedWindow, BrowseFailure>
  ) -> Bool {
    guard let (asked, earlier) = tried, request.unversioned == asked.unversioned else {
      return false
    }
    tried = nil
    guard case .failure(let failure) = result, source.list.request == request else { return false }
    sources[opened].list.ask { $0.condition = earlier }
    if source.wider.last == earlier { sources[opened].wider.removeLast() }
    notice = Notice(.error, failure.message)
    if prompt == nil, overlay == nil { prompt = (.condition, LineInput(request.condition)) }
    return true
  }

  private mutating func keep(_ picture: Picture?, _ request: PictureRequest) {
    pictures.updateValue(picture, forKey: request)
    pictureOrder.append(request)
    if pictureOrder.count > Self.maxPictures { pictures[pictureOrder.removeFirst()] = nil }
  }

  private mutating func answered(_ query: String, _ result: Result<BrowsedWindow, BrowseFailure>) {
    guard query == history[.query]?.last, end(.query) else { return }
    switch result {
    case .success(let window):
      let selection = answer?.request.query == query ? answer?.selection ?? 0 : 0
      var rows = QueryAnswer(window, to: query)
      if answer != nil { rows.showAs(answerRows) }
      (answerRows, answer) = (rows, rows.list)
      answer?.select(selection)
      (pane, isCardOpen, cardTop) = (.list, false, 0)
      notice = window.warnings.first.map { Notice(.warning, $0) }
    case .failure(let failure):
      notice = Notice(.error, failure.message)
      // To be mended.
      prompt = (.query, LineInput(query))
      recalled = (history[.query]?.count ?? 0) - 1
    }
  }

  // MARK: - Input

  private static let maxWaiting = 1000

  /// Takes what was typed after all that was typed before.
  private mutating func takeInTurn(_ input: Input) -> [BrowseEffect] {
    switch input {
    // It leaves a picker at once.
    case .key(let key) where picking != nil && Self.leaving.contains(key): return take(input)
    // The mouse points at what is on the screen now.
    case .click, .wheel: return take(input)
    case .key, .paste: break
    }
    guard !waiting.isEmpty || mustWait(input) else { return take(input) }
    guard waiting.count < Self.maxWaiting else {
      notice = Notice(.warning, "Too many keys at once: the last ones were ignored")
      return []
    }
    waiting.append(input)
    return []
  }

  private func mustWait(_ input: Input) -> Bool {
    if case .key(let key) = input, picking != nil { return mustWaitInPicker(key) }
    return isAwaitingChange
  }

  /// True while the list does not show the record that comes after a deletion or restoration.
  private var isAwaitingChange: Bool {
    guard let changed, !isChanging else { return isChanging }
    let list = source.list
    guard source.name == changed, answer == nil, list.failure == nil else { return false }
    return !list.isCurrent || list.selected == nil && list.count > 0
  }

  private mutating func takeWaiting() -> [BrowseEffect] {
    if !isAwaitingChange { changed = nil }
    var effects: [BrowseEffect] = []
    while let input = waiting.first, !mustWait(input) {
      waiting.removeFirst()
      effects += take(input)
    }
    return effects
  }

  private mutating func take(_ input: Input) -> [BrowseEffect] {
    switch input {
    case .key(let key) where picking != nil: return takeInPicker(key)
    // A terminal may send a line feed for Enter.
    case .key(.control("j")): return take(.key(.enter))
    case .key(let key):
      if overlay != nil { return takeInOverlay(key) }
      if prompt != nil { return takeInPrompt(key) }
      return take(key)
    case .paste(let text):
      guard prompt != nil else { return [] }
      prompt?.line.insert(text)
      return typed()
    case .click(let column, let row): return click(column, row)
    case .wheel(let column, let row, let isUp): return wheel(column, row, isUp ? -3 : 3)
    }
  }

  /// The keys that are about the records of a source.
  private static let recordKeys = Set("fFcdunS".map { Key.character($0) } + [.delete])

  private mutating func take(_ key: Key) -> [BrowseEffect] {
    // What went wrong stays while one moves.
    if notice?.kind == .note { notice = nil }
    if key == .character(" "), pane == .list, answer == nil { return mark() }
    if let effects = takeMovement(key) { return effects }
    notice = nil
    if answer != nil, Self.recordKeys.contains(key) {
      notice = Notice(.note, "Not available for query results; Esc returns to \(source.name)")
      return []
    }
    switch key {
    case .character("q"): return [.quit]
    case .character("<"), .character(">"), .character("v"), .character("b"): arrange(by: key)
    case .character("?"): overlay = .help(top: 0)
    case .character("/"):
      prompt =
        pane == .sources
        ? (.source, LineInput())
        : (.filter, LineInput(answer == nil ? source.list.request.query : answerFilter))
    case .character("f"):
      prompt = (.condition, LineInput(source.list.request.condition))
      preview = nil
    case .character("s"), .character("F"): openOrders(isCounting: key == .character("F"))
    case .character("w"):
      replaced = nil
      if isRunning(.write) {
        notice = Notice(.note, "Another file is being written")
      } else if list.count == 0 {
        notice = Notice(.note, "Nothing written: no record is listed")
      } else {
        let name = answer == nil ? source.name : showsValues ? "values" : "query"
        prompt = (.file, LineInput("\(name).csv", isProposal: true))
      }
    case .character("c"):
      guard source.list.hasRows else { break }
      // Fields that are columns while it is scrolled are not chosen.
      scrollColumns(by: -source.list.left)
      (overlay, typedField) = (.columns(selection: 0), LineInput())
    case .character(":"): prompt = (.query, LineInput(""))
    case .character("r"): return refresh()
    case .character("n"): return loadMore()
    case .character("S"): return sync(pages: source.syncPages)
    case .character("d"), .delete: return delete()
    case .character("u"): return undo()
    case .character("o"): return openPage()
    case .character("y"): return copy(asJSON: false)
    case .character("Y"): return copy(asJSON: true)
    case .control("l"): return [.redraw]
    case .enter: return openCard()
    case .escape, .backspace: return goBack()
    default: break
    }
    return []
  }

  /// `nil` for a key that does not move.
  private mutating func takeMovement(_ key: Key) -> [BrowseEffect]? {
    let page = (pane == .card ? layout.card?.height : layout.rows) ?? 1
    if let count = Self.distance(key, page: page) { return move(by: count) }
    switch key {
    case .character("H"), .shiftLeft: scrollColumns(by: -1)
    case .character("L"), .shiftRight: scrollColumns(by: 1)
    case .character("J"), .shiftDown: return moveBeside(by: 1)
    case .character("K"), .shiftUp: return moveBeside(by: -1)
    case .tab: turn(by: 1)
    case .backTab: turn(by: -1)
    case .left, .character("h"): if !isCardOpen { pane = pane == .card ? .list : .sources }
    case .right, .character("l"):
      if pane == .sources { pane = .list } else if layout.card != nil { pane = .card }
    default: return nil
    }
    return []
  }

  /// Moves the border between list and record, or shows these or the sources elsewhere or not.
  private mutating func arrange(by key: Key) {
    let before = layout
    let old = panes
    switch key {
    case .character("b"): panes.hidesSources.toggle()
    case .character("v"):
      panes.shift = 0
      var next = before.preview
      // Past places for which there is no room.
      repeat {
        next = Preview(rawValue: (next.rawValue + 1) % 3) ?? .off
        panes.preview = next
      } while layout.preview != next
    case .character("<"): panes.shift -= 1
    default: panes.shift += 1
    }
    guard layout != before else {
      panes = old
      notice = Notice(.note, "No room for that on this terminal")
      return
    }
    if pane != .list, !isCardOpen { pane = .list }
    cardTop = 0
  }

  private mutating func scrollColumns(by step: Int) {
    guard let area = layout.list else { return }
    let shown = ShownColumns(of: list, in: area.width - 2)
    guard !shown.columns.isEmpty, step < 0 || !shown.isWhole || hasOtherColumns else { return }
    if answer != nil {
      answer?.scroll(by: step)
    } else {
      sources[opened].list.scroll(by: step, among: picking == nil ? source.fields : [])
    }
  }

  /// True if there are fields that become columns once the list is scrolled.
  var hasOtherColumns: Bool {
    answer == nil && picking == nil && list.hasOthers(of: source.fields)
  }

  /// The number of lines that a key moves by, also in a box over the list; `nil` for another key.
  private static func distance(_ key: Key, page: Int) -> Int? {
    switch key {
    case .up, .character("k"): -1
    case .down, .character("j"): 1
    case .pageUp, .control("b"): -max(1, page)
    case .pageDown, .control("f"), .character(" "): max(1, page)
    case .control("u"): -max(1, page / 2)
    case .control("d"): max(1, page / 2)
    case .home, .character("g"): -1_000_000_000
    case .end, .character("G"): 1_000_000_000
    default: nil
    }
  }

  private mutating func move(by count: Int) -> [BrowseEffect] {
    switch pane {
    case .sources:
      let shown = shownSources
      guard !shown.isEmpty else { break }
      // From one that does not match, the first is the next.
      let place = shown.firstIndex(of: opened) ?? -1
      open(shown[max(0, min(place + max(-place, min(count, shown.count)), shown.count - 1))])
    case .list:
      cardTop = 0
      if answer != nil { answer?.move(by: count) } else { sources[opened].list.move(by: count) }
    case .card: scrollCard(by: count)
    }
    return []
  }

  private mutating func open(_ index: Int) { (opened, answer, cardTop) = (index, nil, 0) }

  /// Scrolls the record, up to its last line at the end of its place.
  private mutating func scrollCard(by count: Int) {
    let layout = layout
    let room = max(1, (layout.card?.height ?? 1) - 1)
    cardTop = max(0, min(cardTop + count, layout.cardLines(self).count - room))
  }

  /// Scrolls the record beside the list, or shows the next one where it is the record that other keys scroll.
  private mutating func moveBeside(by count: Int) -> [BrowseEffect] {
    guard pane == .card else {
      scrollCard(by: count)
      return []
    }
    pane = .list
    defer { pane = .card }
    _ = move(by: count)
    return isCardOpen ? recordEffects : []
  }

  /// Asks for the details of the selected record.
  private var recordEffects: [BrowseEffect] {
    guard answer == nil, let row = list.selected else { return [] }
    return [.record(source: source.name, id: row.id)]
  }

  /// Selects a row by its number, from 1.
  private mutating func select(row number: Int) -> [BrowseEffect] {
    if !isCardOpen { pane = .list }
    cardTop = 0
    let index = max(0, number - 1)
    if answer != nil { answer?.select(index) } else { sources[opened].list.select(index) }
    return isCardOpen ? recordEffects : []
  }

  private mutating func turn(by step: Int) {
    guard !isCardOpen else { return }
    let panes: [Pane] = layout.card == nil ? [.sources, .list] : [.sources, .list, .card]
    let index = panes.firstIndex(of: pane) ?? 0
    pane = panes[(index + step + panes.count) % panes.count]
  }

  private mutating func openCard() -> [BrowseEffect] {
    guard pane != .sources else {
      pane = .list
      return []
    }
    if showsValues, let row = list.selected {
      answer = nil
      return select(where: row.id, isNarrower: true)
    }
    guard list.selected != nil, !isCardOpen else { return [] }
    (isCardOpen, pane, cardTop) = (true, .card, 0)
    return recordEffects
  }

  /// - Parameter isNarrower: True for a condition of which the present one is a part: Esc takes back the rest alone.
  private mutating func select(where condition: String, isNarrower: Bool) -> [BrowseEffect] {
    if isNarrower { sources[opened].wider.append(source.list.request.condition) }
    sources[opened].wider.removeAll { $0 == condition || condition.isEmpty }
    sources[opened].list.ask { $0.condition = condition }
    return remember(.condition, condition)
  }

  /// One step: out of what is running, the card, the answer, the filter.
  private mutating func goBack() -> [BrowseEffect] {
    if let work = works.popLast()?.work {
      notice = Notice(.note, work == .write ? "Stopped: no file was written" : "Stopped")
      return [.stop(work)]
    }
    if source.askedAt != nil { return stopRefresh() }
    if escapeStopsSync { return [.stopSync(source.name)] }
    if isCardOpen {
      (isCardOpen, pane, cardTop) = (false, .list, 0)
    } else if pane == .card {
      pane = .list
    } else if !answerFilter.isEmpty {
      changeAnswer { $0.filter = "" }
    } else if answer != nil {
      answer = nil
    } else if !marked.isEmpty {
      marks.rows = []
    } else if !source.list.request.query.isEmpty {
      sources[opened].list.ask { $0.query = "" }
    } else {
      let condition = sources[opened].wider.popLast() ?? ""
      sources[opened].list.ask { $0.condition = condition }
    }
    return []
  }

  // MARK: - The line at the bottom

  private mutating func takeInPrompt(_ key: Key) -> [BrowseEffect] {
    guard let (kind, line) = prompt else { return [] }
    if key == .up || key == .down, recallLine(by: key == .up ? -1 : 1) { return typed() }
    switch key {
    case .enter:
      (prompt, notice) = (nil, nil)
      return entered(kind, line.text)
    case .escape, .control("c"):
      (prompt, notice) = (nil, nil)
      if kind == .filter { filter("") }
      return []
    case .tab where kind.isCompleted, .backTab where kind.isCompleted:
      if showCandidate(by: key == .tab ? 1 : -1) { return typed() }
      let start = TypedStart(kind: kind, source: source.name, text: line.start)
      return key == .tab ? [.complete(start)] : []
    case .up where kind == .query, .down where kind == .query: break
    // The list moves beside the filter.
    case .up, .down, .pageUp, .pageDown, .shiftUp, .shiftDown, .shiftLeft, .shiftRight:
      if kind != .source { pane = .list }
      return takeMovement(key) ?? []
    default:
      if key == .backspace, line.characters.isEmpty {
        prompt = nil
        return []
      }
      (notice, candidates) = (nil, nil)
      guard prompt?.line.take(key) == true else { return [] }
      return typed()
    }
    return []
  }

  /// Shows the next or the previous of the texts that the line can become; false if there are none, or not of this line.
  private mutating func showCandidate(by step: Int) -> Bool {
    guard let (start, texts, index) = candidates, let (kind, line) = prompt,
      start == TypedStart(kind: kind, source: source.name, text: line.start)
    else { return false }
    let next = (step > 0 ? index + 1 : max(0, index) + texts.count - 1) % texts.count
    prompt?.line.complete(with: texts[next])
    remember(texts, next)
    return true
  }

  /// Keeps the texts that the line can become.
  private mutating func remember(_ texts: [String], _ index: Int) {
    candidates = prompt.map { kind, line in
      (TypedStart(kind: kind, source: source.name, text: line.start), texts, index)
    }
  }

  /// Recalls an earlier line, of filters and conditions beginning in an empty one; false if a key has another meaning.
  private mutating func recallLine(by step: Int) -> Bool {
    guard let (kind, line) = prompt, var lines = history[kind] else { return false }
    if kind == .condition {
      // Those of other sources may name fields that this one lacks.
      var request = source.list.request
      lines.removeAll {
        request.condition = $0
        return source.refusal(request) != nil
      }
    }
    guard !lines.isEmpty else { return false }
    let isShown = lines.indices.contains(recalled) && lines[recalled] == line.text
    guard isShown || kind == .query || line.characters.isEmpty else { return false }
    let index = max(0, (isShown ? recalled : lines.count) + step)
    guard index <= lines.count else { return false }
    recalled = index
    prompt = (kind, LineInput(index < lines.count ? lines[index] : ""))
    return true
  }

  /// Keeps a filter or a condition, unless it is empty.
  private mutating func remember(_ kind: Prompt, _ text: String) -> [BrowseEffect] {
    guard text.nonBlank != nil else { return [] }
    add(text, to: kind)
    return [.remember(kind, text)]
  }

  private mutating func add(_ text: String, to kind: Prompt) {
    history[kind] = (history[kind] ?? []).filter { $0 != text } + [text]
  }

  private static let maxCandidates = 60

  /// Completes the line as far as all candidates agree, and shows them if they are several.
  private mutating func completed(
    _ start: TypedStart, _ completions: [String]
  ) -> [BrowseEffect] {
    guard let (kind, line) = prompt, kind == start.kind, source.name == start.source,
      line.start == start.text
    else { return [] }
    guard let first = completions.first else {
      notice = Notice(.note, "No completions")
      return []
    }
    let common = completions.dropFirst().reduce(first) { common, other in
      String(zip(common, other).prefix { $0 == $1 }.map { $0.0 })
    }
    // Names in SQL may differ from what is typed in their case, or begin with a quote.
    if common.count >= start.text.count { prompt?.line.complete(with: common) }
    candidates = nil
    // What was told of the shorter line says nothing of this one.
    let effects = prompt?.line.text == line.text ? [] : typed()
    guard completions.count > 1 else { return effects }
    // The text that is there already is not the next one.
    remember(completions, first == prompt?.line.start ? 0 : -1)
    let head = start.text.lastIndex { " (,=~<>!".contains($0) }
    let length = head.map { start.text[...$0].count } ?? 0
    let words = completions.map { String($0.dropFirst(length)) }
    func text(_ count: Int) -> String {
      let more = words.count > count ? ["\(words.count - count) more"] : []
      return (Array(words.prefix(count)) + more).joined(separator: " · ")
    }
    var count = min(words.count, Self.maxCandidates)
    while count > 1, Wrap(width - 2).lines(of: text(count)).count > BrowseLayout.maxNotice {
      count -= 1
    }
    notice = Notice(.note, text(count))
    return effects
  }

  private mutating func typed() -> [BrowseEffect] {
    guard let (kind, line) = prompt else { return [] }
    if kind == .condition {
      preview = nil
      var request = source.list.request
      request.condition = line.text
      return line.text.nonBlank == nil ? [] : [.preview(request)]
    }
    guard kind == .filter || kind == .pick else { return [] }
    cardTop = 0
    filter(line.text)
    return []
  }

  /// Shows beside the list what its condition has told while it was typed, with near values, if it selects nothing.
  private mutating func warn(as preview: Notice) {
    if preview.kind == .warning { notice = preview }
  }

  private mutating func filter(_ text: String) {
    if answer == nil {
      sources[opened].list.ask { $0.query = text }
    } else {
      changeAnswer { $0.filter = text }
    }
  }

  /// Shows other rows of the answer to a query, or in another order.
  private mutating func changeAnswer(_ change: (inout QueryAnswer) -> Void) {
    guard var rows = answerRows else { return }
    change(&rows)
    (answerRows, answer, cardTop) = (rows, rows.list, 0)
    guard rows.window.isCut else { return }
    notice = Notice(
      .warning, "only the first \(rows.window.rows.count) rows were read; SQL selects among all")
  }

  private mutating func entered(_ kind: Prompt, _ text: String) -> [BrowseEffect] {
    switch kind {
    case .filter:
      pane = .list
      let effects = answer == nil ? remember(kind, text) : []
      guard answer == nil, searchesService, text.nonBlank != nil else { return effects }
      return effects + ask(text, isForced: false)
    case .condition:
      let condition = text.nonBlank == nil ? "" : text
      var request = source.list.request
      request.condition = condition
      if let reason = source.refusal(request) {
        notice = Notice(.error, reason)
        // To be mended.
        prompt = (.condition, LineInput(text))
        return []
      }
      pane = .list
      let earlier = source.list.request.condition
      let effects = select(where: condition, isNarrower: condition.hasPrefix(earlier))
      if let preview, preview.condition == condition { warn(as: preview.notice) }
      tried = earlier == condition ? nil : (source.list.request, earlier)
      return effects
    case .query:
      guard text.nonBlank != nil else { return [] }
      if let number = Int(text) { return select(row: number) }
      return run(text) + [.remember(kind, text)]
    case .file:
      guard text.nonBlank != nil else { return [] }
      begin(.write)
      let rows = answer.map { answer in (0..<answer.count).compactMap { answer[$0] } } ?? marked
      return [
        .write(
          WrittenList(
            request: source.list.request, fields: orderFields, rows: rows, path: text,
            replaces: replaced == text, origin: writtenOrigin))
      ]
    case .source:
      let matching = sources(matching: text)
      guard let first = matching.first else {
        notice = Notice(.note, "No source matches")
        break
      }
      if !matching.contains(opened) { open(first) }
      pane = .list
    case .pick: break
    }
    return []
  }

  private var writtenOrigin: WrittenList.Origin {
    if answer == nil { return marked.isEmpty ? .list : .marked }
    return showsValues ? .list : .query(answerRows?.window.summary.warnings ?? [])
  }

  /// The part of the records of the service that the list is of, in words; `nil` for all of them.
  private var incompleteness: String? {
    if source.status.isComplete { return nil }
    return source.status.gap
      ?? (source.status.count ?? 0 > 0 ? "only what is cached" : "only bundled sample data")
  }

  // MARK: - The picker

  /// The keys that leave the picker at once.
  private static let leaving: Set<Key> = [
    .escape, .control("c"), .control("g"), .control("q"),
  ]
  private mutating func takeInPicker(_ key: Key) -> [BrowseEffect] {
    Self.leaving.contains(key) ? [.quit] : takePicking(key)
  }

  /// True if a key is about rows that are not there yet: those on the screen are of an earlier query.
  private func mustWaitInPicker(_ key: Key) -> Bool {
    switch key {
    case .enter, .tab, .backTab, .up, .down, .control("p"), .control("k"), .control("n"),
      .control("j"):
      !list.answersQuery || list.count == 0 && (source.isIndexing || !list.isCurrent)
    default: false
    }
  }

  /// The keys are those of fzf.
  private mutating func takePicking(_ key: Key) -> [BrowseEffect] {
    switch key {
    case .enter: return pick()
    case .up, .control("p"), .control("k"): return move(by: -1)
    case .down, .control("n"), .control("j"): return move(by: 1)
    case .pageUp, .pageDown, .shiftUp, .shiftDown, .shiftLeft, .shiftRight:
      return takeMovement(key) ?? []
    // At the ends of the line, where they move nothing in it.
    case .home where prompt?.line.cursor == 0, .end where prompt?.line.isAtEnd == true:
      return takeMovement(key) ?? []
    case .tab: return mark(andMoveBy: 1)
    case .backTab: return mark(andMoveBy: -1)
    case .control("r"): return askService()
    case .control("l"): return [.redraw]
    default:
      notice = nil
      let before = prompt?.line.text
      guard prompt?.line.take(key) == true, prompt?.line.text != before else { return [] }
      return typed()
    }
  }

  /// The marked records, or else the selected one.
  private mutating func pick() -> [BrowseEffect] {
    if let marked = picking?.marked, !marked.isEmpty { return [.pick(marked)] }
    if let row = list.selected { return [.pick([row.id])] }
    notice = Notice(.note, Self.joined(["Nothing picked: no record matches", searchedPart]))
    return []
  }

  /// The part of the records with which a query of the picker was compared, in words; `nil` for all of them, and where the
  /// service has answered it.
  var searchedPart: String? {
    let isAnswered = searched.map { $0.badge.cause == nil } ?? false
    guard source.isPart, picking?.areDeleted != true, !isAnswered else { return nil }
    return source.status.gap
  }

  private mutating func mark(andMoveBy step: Int) -> [BrowseEffect] {
    guard picking?.takesSeveral == true else {
      notice = Notice(.note, "Only one record can be picked (several: pick --multi)")
      return []
    }
    guard let id = list.selected?.id else { return [] }
    if let index = picking?.marked.firstIndex(of: id) {
      picking?.marked.remove(at: index)
    } else {
      picking?.marked.append(id)
    }
    return move(by: step)
  }

  /// The search of the service for what is typed, if it was the last answer of the service.
  var searched: Refreshed? {
    let words = typedWords
    return source.refreshed.flatMap {
      $0.badge.kind == .live && words.nonBlank != nil && $0.query == words ? $0 : nil
    }
  }

  private var typedWords: String { FuzzyPattern.words(of: prompt?.line.text ?? "") }

  /// Asks the service for the records that match what is typed.
  private mutating func askService() -> [BrowseEffect] {
    guard !isOffline else {
      notice = Notice(.warning, "Offline: no service is asked")
      return []
    }
    // As promised, also if the cache has an answer, or in spite of a pause after failures.
    sources[opened].endRefusal()
    return ask(typedWords, isForced: true)
  }

  // MARK: - Over the list

  /// - Parameter isCounting: True if the values of the field are counted.
  private mutating func openOrders(isCounting: Bool) {
    (self.isCounting, typedField) = (isCounting, LineInput())
    let name = list.request.orderField
    let index = orderFields.firstIndex { $0.name == name }
    // Only fields are counted.
    overlay = .order(selection: index.map { $0 + (isCounting ? 0 : 1) } ?? 0)
  }

  private mutating func takeInOverlay(_ key: Key) -> [BrowseEffect] {
    let choices = choices
    switch (overlay, key) {
    case (.order, .escape) where !typedField.characters.isEmpty,
      (.columns, .escape) where !typedField.characters.isEmpty:
      narrow { $0 = LineInput() }
    case (.columns, .escape), (.columns, .enter):
      overlay = nil
      let names = source.list.chosenNames
      guard names != keptColumns[source.name] ?? [] else { break }
      keptColumns[source.name] = names
      return [.keepColumns(source.name, names)]
    case (_, .escape), (.help, .character("q")), (.help, .enter), (.help, .character("?")):
      overlay = nil
    case (.columns(let index), .tab):
      if choices.indices.contains(index) { toggleColumn(choices[index] - 1) }
    // No name begins with a space.
    case (.columns, .character(" ")) where typedField.characters.isEmpty:
      return takeInOverlay(.tab)
    case (.columns, .control("r")): sources[opened].list.show(nil)
    case (.order(let index), .enter):
      guard choices.indices.contains(index) else { break }
      overlay = nil
      guard isCounting else {
        sort(by: choices[index])
        break
      }
      begin(.values)
      return [.values(source.list.request, orderFields[choices[index] - 1])]
    case (.order, .character), (.order, .backspace), (.order, .control("u")),
      (.order, .control("w")), (.columns, .character), (.columns, .backspace),
      (.columns, .control("u")), (.columns, .control("w")):
      narrow { _ = $0.take(key) }
    default:
      if let count = Self.distance(key, page: layout.box.height) { moveInOverlay(by: count) }
    }
    return []
  }

  /// Changes what is typed in a box of fields, of which the best match is selected then.
  private mutating func narrow(_ change: (inout LineInput) -> Void) {
    let before = typedField
    change(&typedField)
    guard typedField != before else { return }
    if isChoosingColumns {
      overlay = .columns(selection: 0)
    } else if typedField.characters.isEmpty {
      openOrders(isCounting: isCounting)
    } else {
      overlay = .order(selection: 0)
    }
  }

  private mutating func moveInOverlay(by count: Int) {
    let last = max(0, choices.count - 1)
    switch overlay {
    case .help(let top)?:
      let last = layout.helpLines.count - layout.box.height
      overlay = .help(top: max(0, min(top + count, last)))
    case .order(let index)?:
      overlay = .order(selection: max(0, min(index + count, last)))
    case .columns(let index)?:
      overlay = .columns(selection: max(0, min(index + count, last)))
    case nil: break
    }
  }

  /// By a field, or as the records are cached for 0; the same one again turns it round.
  private mutating func sort(by index: Int) {
    pane = .list
    guard answer == nil else { return changeAnswer { $0.sort(by: index > 0 ? index - 1 : nil) } }
    let field = index > 0 ? source.fields[index - 1].name : nil
    sources[opened].list.ask { request in
      request.order = field.map { request.order == $0 ? "-\($0)" : $0 }
    }
  }

  /// Shows a field in the list, or not any more; the columns are in the order of the fields.
  private mutating func toggleColumn(_ index: Int) {
    guard source.fields.indices.contains(index) else { return }
    let name = source.fields[index].name
    let shown = Set(source.list.columns.map(\.name)).symmetricDifference([name])
    guard !shown.isEmpty else {
      notice = Notice(.note, "One column stays")
      return
    }
    sources[opened].list.show(source.fields.filter { shown.contains($0.name) })
  }

  // MARK: - Actions

  private mutating func run(_ statement: String) -> [BrowseEffect] {
    add(statement, to: .query)
    begin(.query)
    return [.query(statement)]
  }

  private mutating func begin(_ work: Work) {
    end(work)
    works.append((work, now))
  }

  /// False if it was stopped.
  @discardableResult private mutating func end(_ work: Work) -> Bool {
    defer { works.removeAll { $0.work == work } }
    return isRunning(work)
  }

  private mutating func refresh() -> [BrowseEffect] {
    if let answer { return showsValues ? [] : run(answer.request.query) }
    guard !isOffline else {
      notice = Notice(.warning, "Offline (--offline): no service is asked")
      return []
    }
    guard !source.isRefreshing else {
      // Its end is awaited now.
      if source.askedAt == nil { sources[opened].askedAt = now }
      return []
    }
    // It is asked in spite of a pause after failures.
    sources[opened].endRefusal()
    return ask(source.list.request.query, isForced: true)
  }

  /// Asks the service for the list, or for the records that match a query.
  private mutating func ask(_ query: String, isForced: Bool) -> [BrowseEffect] {
    sources[opened].isRefreshing = true
    sources[opened].askedAt = now
    sources[opened].responses = query.nonBlank.map { _ in 0 }
    return [.refresh(source.name, query: query, isForced: isForced)]
  }

  private mutating func stopRefresh() -> [BrowseEffect] {
    let words =
      source.responses == nil ? "refresh stopped" : "search stopped · Esc clears the filter"
    sources[opened].isRefreshing = false
    if source.pause?.isWait == true { sources[opened].pause = nil }
    notice = Notice(.note, "\(source.name): \(words)")
    return [.stopRefresh(source.name)]
  }

  private mutating func loadMore() -> [BrowseEffect] {
    let isAtEnd = source.status.isComplete || source.syncEnd.isAtEnd
    guard isAtEnd, source.sync == nil, !isOffline else { return sync(pages: 1) }
    let (count, name) = (source.status.count ?? 0, source.name)
    let words =
      source.status.isComplete
      ? count == 1
        ? "the only record of \(name) is cached"
        : "all \(RecordNoun(name).count(count)) are cached"
      : "the sync has read \(name) to the end"
    notice = Notice(.note, "No more: \(words) · S reads them again")
    return []
  }

  private mutating func sync(pages: Int?) -> [BrowseEffect] {
    guard !isOffline else {
      notice = Notice(.warning, "Offline (--offline): no service is asked")
      return []
    }
    guard source.sync == nil else { return [.stopSync(source.name)] }
    (sources[opened].sync, sources[opened].syncStart) = ("\(source.name): starting", now)
    return [.sync(source.name, pages: pages)]
  }

  private mutating func mark() -> [BrowseEffect] {
    notice = nil
    guard let row = list.selected else { return [] }
    if marks.source != source.name { marks = (source.name, []) }
    if let index = marks.rows.firstIndex(where: { $0.id == row.id }) {
      marks.rows.remove(at: index)
    } else {
      marks.rows.append(row)
    }
    return move(by: 1)
  }

  /// The records that a key is about: the marked ones, or else the one that is selected or open.
  private var targets: [BrowsedRow] {
    isCardOpen || marked.isEmpty ? [list.selected].compactMap(\.self) : marked
  }

  private mutating func delete() -> [BrowseEffect] {
    guard pane != .sources else {
      notice = Notice(.note, "Tab goes to the records, of which one can be deleted")
      return []
    }
    let rows = targets
    guard let first = rows.first else {
      notice = Notice(.note, "Nothing deleted: no record is selected")
      return []
    }
    if isCardOpen { (isCardOpen, pane) = (false, .list) }
    (changed, isChanging) = (source.name, true)
    let ids = rows.map(\.id)
    marks.rows.removeAll { ids.contains($0.id) }
    return [.delete(Deletion(source: source.name, ids: ids, name: first.name))]
  }

  private mutating func undo() -> [BrowseEffect] {
    guard let last = deletions.last else {
      notice = Notice(.note, "Nothing to restore")
      return []
    }
    (changed, isChanging) = (last.source, true)
    return [.restore(last)]
  }

  private mutating func openPage() -> [BrowseEffect] {
    let rows = targets
    let links = rows.compactMap(\.link)
    guard let first = links.first else {
      let remedy = source.linkCommand.map { ": name the field with its URL by \($0)" }
      notice = Notice(.note, "No web page\(remedy ?? "")")
      return []
    }
    guard links.count <= Self.maxOpened else {
      notice = Notice(.warning, "At most \(Self.maxOpened) web pages are opened at once")
      return []
    }
    let words = "\(links.count) web pages of \(rows.count) records"
    notice = Notice(.note, "Opening \(rows.count == 1 ? first : words)")
    return links.map { .open($0) }
  }

  private static let maxOpened = 10
  /// Terminals refuse to copy more, in bytes.
  private static let maxCopied = 48 << 10

  /// No terminal says whether it has put a text on its clipboard.
  private static func notice(sending what: String) -> Notice {
    Notice(.note, "Sent \(what) to the terminal's clipboard")
  }

  /// Copies records, or the row of a query, which has no ID.
  private mutating func copy(asJSON: Bool) -> [BrowseEffect] {
    let rows = targets
    guard let row = rows.first else {
      notice = Notice(.note, "Nothing copied: no record is selected")
      return []
    }
    let isAnswer = answer != nil
    let text = rows.map { asJSON ? $0.object.text : isAnswer ? $0.tabSeparated : $0.id }
      .joined(separator: "\n")
    guard text.utf8.count <= Self.maxCopied else {
      notice = Notice(.warning, "Too much to copy: more than \(Self.maxCopied >> 10) KB")
      return []
    }
    let what =
      if answer != nil {
        "row \(list.selection + 1) as \(asJSON ? "JSON" : "TSV")"
      } else if rows.count > 1 {
        asJSON ? "\(rows.count) records as lines of JSON" : "\(rows.count) IDs"
      } else {
        "\(asJSON ? "the record as JSON" : "the ID") of \"\(row.name)\""
      }
    (sent, notice) = ((text, what), Self.notice(sending: what))
    return [.copy(text)]
  }

  // MARK: - The mouse

  private mutating func click(_ column: Int, _ row: Int) -> [BrowseEffect] {
    if notice?.kind == .note { notice = nil }
    guard overlay == nil, prompt == nil || picking != nil else {
      (overlay, prompt) = (nil, nil)
      return []
    }
    let layout = layout
    if let area = layout.sources, area.contains(column, row) {
      let index = layout.firstSource(self) + row - area.row - 1
      pane = .sources
      if sources.indices.contains(index) { open(index) }
    } else if let area = layout.list, area.contains(column, row) {
      pane = .list
      let index = list.top + row - area.row - layout.head
      if layout.head > 1, row == area.row + 1 { sort(byColumnAt: column - area.column - 1, area) }
      guard row >= area.row + layout.head, index < list.count else { return [] }
      // A second click opens.
      if index == list.selection { return picking == nil ? openCard() : pick() }
      return move(by: index - list.selection)
    } else if picking == nil, let area = layout.card, area.contains(column, row) {
      pane = .card
    }
    return []
  }

  /// Sorts by the column of which the label is at a place of the list.
  private mutating func sort(byColumnAt place: Int, _ area: Area) {
    guard picking == nil else { return }
    let shown = ShownColumns(of: list, in: area.width - 2).columns
    guard let column = shown.last(where: { $0.start <= place }) else { return }
    guard answer == nil else { return sort(by: column.index + 1) }
    let name = list.columns[column.index].name
    if let index = source.fields.firstIndex(where: { $0.name == name }) { sort(by: index + 1) }
  }

  private mutating func wheel(_ column: Int, _ row: Int, _ count: Int) -> [BrowseEffect] {
    guard overlay == nil else { return takeInOverlay(count < 0 ? .up : .down) }
    let layout = layout
    let pointed: Pane? =
      layout.sources?.contains(column, row) == true
      ? .sources
      : layout.list?.contains(column, row) == true
        ? .list : layout.card?.contains(column, row) == true ? .card : nil
    guard let pointed, prompt == nil || pointed == .list || picking != nil else { return [] }
    let before = pane
    pane = pointed
    defer { if pointed == .card { pane = before } }
    return move(by: pointed == .sources ? count.signum() : count)
  }
}

/// Typed words, in the syntax of fzf, that a text of several fields matches if one of its fields matches each of them.
///
/// The letters of a word are in a short field in this order, with others between them, and in a long one side by side.
/// `'word`, and a word without letters, such as a number, is side by side in any field, `^word` at its beginning, `word$`
/// at its end, `!word` in none, and `one | other` is either. The scores are those of fzf: runs of letters and the beginnings of words count more, gaps less. A word
/// matches in any case unless it has a capital, and always in spite of diacritics.
///
/// The first field is the ID of a record, and the second one its name: what is typed is rather looked for in them.
package struct FuzzyPattern: Hashable, Sendable {
  /// All groups must match, by any of their words.
  private var groups: [[FuzzyWord]] = []
  /// All words side by side; `nil` for a single one.
  private var phrase: FuzzyWord?

  private static let maxWords = 16

  package init(_ text: String) {
    var isAlternative = false
    let parts = text.split(whereSeparator: \.isWhitespace).prefix(Self.maxWords)
    for part in parts {
      if part == "|", !groups.isEmpty {
        isAlternative = true
        continue
      }
      let word = FuzzyWord(term: part)
      guard !word.letters.isEmpty else { continue }
      if isAlternative {
        groups[groups.count - 1].append(word)
      } else {
        groups.append([word])
      }
      isAlternative = false
    }
    if groups.count > 1 { phrase = FuzzyWord(term: "'\(parts.joined(separator: " "))") }
  }

  /// True if every text matches.
  package var isEmpty: Bool { groups.isEmpty }

  /// The place and the score of a text, whose fields are separated by tabs; `nil` if it does not match.
  func score(
    of text: UnsafeBufferPointer<UInt32>, _ scratch: inout FuzzyScratch
  ) -> (place: FuzzyPlace, score: Int)? {
    var (score, place) = (0, FuzzyPlace.id)
    (scratch.length, scratch.fit) = (0, 0)
    for group in groups {
      var part: Int?
      for word in group where part == nil { part = word.best(in: text, &scratch) }
      guard let part else { return nil }
      score += part
      place = max(place, scratch.place)
    }
    guard let phrase else { return (place, score) }
    // The words count, and are marked.
    let (length, findsPositions) = (scratch.length, scratch.findsPositions)
    let fit = scratch.fit
    (scratch.findsPositions, scratch.fit) = (false, 0)
    defer { (scratch.length, scratch.findsPositions) = (length, findsPositions) }
    place = place <= .named ? .words : .apart
    let isPhrase = phrase.best(in: text, &scratch) != nil
    if !isPhrase { scratch.fit = fit }
    return (isPhrase ? min(place, scratch.place) : place, score)
  }

  /// The words of a text without the signs, for a search that knows none of them; empty if it has alternatives.
  package static func words(of text: String) -> String {
    let parts = text.split(whereSeparator: \.isWhitespace)
    guard !parts.contains("|") else { return "" }
    return parts.filter { $0.first != "!" }.map { part in
      var word = part.drop { $0 == "'" || $0 == "^" }
      if word.last == "$" { word.removeLast() }
      return String(word)
    }.joined(separator: " ")
  }

  /// The score of a text, and the numbers of its characters that match; `nil` if it does not match.
  package func match(in text: FuzzyText) -> (score: Int, characters: Set<Int>)? {
    var scratch = FuzzyScratch()
    scratch.findsPositions = true
    guard let found = text.letters.withUnsafeBufferPointer({ score(of: $0, &scratch) })
    else { return nil }
    return (found.score, Set(scratch.positions.map { text.characters[$0] }))
  }
}

/// The place of what is typed in a record, the best first.
enum FuzzyPlace: UInt64, Comparable {
  /// All of the ID, all of the name, or a part of one with the score of letters side by side.
  case id, name, named
  /// Parts of the ID and the name, each with one of the words.
  case words
  /// A part of another field, with such a score.
  case other
  /// Letters far apart, or words in several fields.
  case apart

  static func < (left: FuzzyPlace, right: FuzzyPlace) -> Bool { left.rawValue < right.rawValue }
}

/// Memory that comparisons share.
struct FuzzyScratch {
  /// The place of the last word that matches.
  fileprivate(set) var place = FuzzyPlace.id
  var findsPositions = false
  /// The letters of the text that match.
  var positions: [Int] = []
  /// The number of letters of the fields that match.
  var length = 0
  /// 0 if all that match are whole words, 1 for beginnings of words; 2 and 3 for others, and 3 if one ends within a word.
  var fit: UInt64 = 0
  /// The place of the field in the text.
  fileprivate var offset = 0
  /// The number of the letter after the match in its field.
  fileprivate var end = 0

  fileprivate var first: [Int] = []
  fileprivate var scores: [Int32] = []
  fileprivate var runs: [Int32] = []
}

private struct FuzzyWord: Hashable, Sendable {
  let letters: [UInt32]
  private var isExact = false
  private var isAtStart = false
  private var isAtEnd = false
  private var isAbsent = false
  /// The bits of a letter that are compared.
  private let mask: UInt32

  private static let maxLength = 64
  /// In a longer field nearly any letters are in some order.
  private static let maxFuzzyLength = 80
  private static let tab: UInt32 = 9
  /// The product of letters of a text and a word above which a match is not the best one, but found in linear time.
  private static let maxCells = 1 << 14

  private static let match: Int32 = 16
  private static let gapStart: Int32 = -3
  private static let gapExtension: Int32 = -1
  private static let boundary: Int32 = 8
  private static let consecutive: Int32 = 4
  /// The bonus of the first letter counts more.
  private static let firstFactor: Int32 = 2

  /// A word with the signs of fzf.
  init(term: Substring) {
    var text = term
    let isAbsent = text.first == "!" && text.count > 1
    if isAbsent { text.removeFirst() }
    let isAtEnd = text.last == "$" && text.count > 1
    if isAtEnd { text.removeLast() }
    let sign = text.count > 1 ? text.first : nil
    if sign == "'" || sign == "^" { text.removeFirst() }
    self.init(String(text))
    self.isAbsent = isAbsent
    self.isAtEnd = isAtEnd
    isAtStart = sign == "^"
    // fzf has letters apart after "!'". The digits of a short number are, with others between them, in many long ones.
    isExact =
      (sign == "'") != isAbsent || isAtStart || isAtEnd || !text.contains(where: \.isLetter)
  }

  private init(_ text: String) {
    let letters = FuzzyText(text).letters.prefix(Self.maxLength)
    let hasCapital = letters.contains { $0 & FuzzyText.capital != 0 }
    let mask = FuzzyText.scalarMask | (hasCapital ? FuzzyText.capital : 0)
    self.mask = mask
    self.letters = letters.map { $0 & mask }
  }

  /// The bonuses by the kinds of two neighbors: `before * 8 + kind`.
  private static let bonuses: [Int32] = (0..<64 as Range<UInt32>).map { pair in
    guard let before = FuzzyText.Kind(rawValue: pair / 8),
      let kind = FuzzyText.Kind(rawValue: pair % 8)
    else { return 0 }
    switch (before, kind) {
    case (_, .white): return boundary + 2
    case (.white, .delimiter), (.white, .lower), (.white, .upper), (.white, .letter),
      (.white, .number):
      return boundary + 2
    case (.delimiter, .lower), (.delimiter, .upper), (.delimiter, .letter), (.delimiter, .number),
      (.delimiter, .delimiter):
      return boundary + 1
    case (_, .punctuation), (.punctuation, _), (_, .delimiter): return boundary
    // camelCase and number2.
    case (.lower, .upper): return boundary + gapExtension
    case (.number, .number): return 0
    case (_, .number): return boundary + gapExtension
    default: return 0
    }
  }

  private func bonus(_ text: UnsafeBufferPointer<UInt32>, _ index: Int) -> Int32 {
    let before = index > 0 ? text[index - 1] >> FuzzyText.kindShift : 0
    return Self.bonuses[Int(before << 3 | text[index] >> FuzzyText.kindShift)]
  }

  /// The score of the best field, or of the ID or the name if it is good there; `nil` if the text does not match.
  func best(in text: UnsafeBufferPointer<UInt32>, _ scratch: inout FuzzyScratch) -> Int? {
    let findsPositions = scratch.findsPositions
    scratch.findsPositions = false
    defer { scratch.findsPositions = findsPositions }
    // Letters side by side have at least this score.
    let good = letters.count * Int(Self.match + Self.consecutive) - Int(Self.consecutive)
    scratch.place = isAbsent ? .id : .apart
    var best: (score: Int, field: Range<Int>, end: Int)?
    var (start, number) = (0, 0)
    while start <= text.count, number < 2 || scratch.place > .named || isAbsent {
      var end = start
      while end < text.count, text[end] & FuzzyText.scalarMask != Self.tab { end += 1 }
      let field = UnsafeBufferPointer(rebasing: text[start..<end])
      if let score = found(in: field, &scratch) {
        if isAbsent { return nil }
        let isWhole = field.count == letters.count
        let place: FuzzyPlace =
          number > 1 ? .other : !isWhole ? .named : number == 0 ? .id : .name
        if score >= good { scratch.place = min(scratch.place, place) }
        if score > best?.score ?? -1 { best = (score, start..<end, start + scratch.end) }
      }
      (start, number) = (end + 1, number + 1)
    }
    guard let best else { return isAbsent ? 0 : nil }
    scratch.length += best.field.count
    let field = UnsafeBufferPointer(rebasing: text[best.field])
    let end = best.end - best.field.lowerBound
    let first = end - letters.count
    let isBeginning =
      bonus(field, first) >= Self.boundary
      && letters.indices.allSatisfy { field[first + $0] & mask == letters[$0] }
    let endsWithinWord = end < field.count && FuzzyText.isInWord(field[end])
    scratch.fit = max(scratch.fit, (isBeginning ? 0 : 2) + (endsWithinWord ? 1 : 0))
    if findsPositions {
      (scratch.findsPositions, scratch.offset) = (true, best.field.lowerBound)
      _ = found(in: field, &scratch)
    }
    return best.score
  }

  private func found(
    in field: UnsafeBufferPointer<UInt32>, _ scratch: inout FuzzyScratch
  ) -> Int? {
    guard isExact || field.count > Self.maxFuzzyLength else { return score(of: field, &scratch) }
    let last = field.count - letters.count
    guard last >= 0, last == 0 || !(isAtStart && isAtEnd) else { return nil }
    var found: Int?
    for place in (isAtEnd ? last : 0)...(isAtStart ? 0 : last)
    where letters.indices.allSatisfy({ field[place + $0] & mask == letters[$0] }) {
      // The beginning of a word is better than what comes before.
      let isBeginning = bonus(field, place) >= Self.boundary
      if found == nil || isBeginning { found = place }
      if isBeginning { break }
    }
    return found.map { shortest(in: field, endingAt: $0 + letters.count, &scratch) }
  }

  /// The score of the best match, which is at the end of a chain of the first places where each letter can be.
  func score(of text: UnsafeBufferPointer<UInt32>, _ scratch: inout FuzzyScratch) -> Int? {
    scratch.first.removeAll(keepingCapacity: true)
    var index = 0
    for letter in letters {
      while index < text.count, text[index] & mask != letter { index += 1 }
      guard index < text.count else { return nil }
      scratch.first.append(index)
      index += 1
    }
    let start = scratch.first[0]
    var end = text.count
    while end > index, text[end - 1] & mask != letters[letters.count - 1] { end -= 1 }
    let width = end - start
    guard width * letters.count <= Self.maxCells else {
      return shortest(in: text, endingAt: index, &scratch)
    }
    return best(in: text, start, width, &scratch)
  }

  // MARK: - The best match

  /// Fills a row of scores for each letter, as in an alignment of sequences.
  private func best(
    in text: UnsafeBufferPointer<UInt32>, _ start: Int, _ width: Int, _ scratch: inout FuzzyScratch
  ) -> Int {
    let size = width * letters.count
    if scratch.scores.count < size {
      scratch.scores += repeatElement(0, count: size - scratch.scores.count)
      scratch.runs += repeatElement(0, count: size - scratch.runs.count)
    }
    var best = (score: Int32(-1), column: 0)
    for row in letters.indices {
      let first = scratch.first[row] - start
      for column in row * width..<row * width + first {
        scratch.scores[column] = 0
        scratch.runs[column] = 0
      }
      var isGap = false
      var left: Int32 = 0
      for column in first..<width {
        let cell = row * width + column
        let skipped = max(0, left + (isGap ? Self.gapExtension : Self.gapStart))
        var (taken, run): (Int32, Int32) = (0, 0)
        if text[start + column] & mask == letters[row] {
          let diagonal = cell - width - 1
          let before = row > 0 ? (scratch.scores[diagonal], scratch.runs[diagonal]) : nil
          (taken, run) = take(text, start + column, after: before, against: skipped)
        }
        isGap = row == 0 ? run == 0 : taken < skipped
        left = row == 0 && run > 0 ? taken : max(taken, skipped)
        scratch.scores[cell] = left
        scratch.runs[cell] = run
        guard row == letters.count - 1, left > best.score else { continue }
        best = (left, column)
        // A single letter at the beginning of a word is good enough.
        if row == 0, left >= Self.match + Self.boundary * Self.firstFactor { break }
      }
    }
    scratch.end = start + best.column + 1
    if scratch.findsPositions { trace(from: best.column, start, width, &scratch) }
    return Int(best.score)
  }

  /// The score with a letter at a place where it fits, after that of the letter before, and the length of the run that
  /// it ends; no run if the letter is better left for a later place.
  private func take(
    _ text: UnsafeBufferPointer<UInt32>, _ index: Int, after before: (score: Int32, run: Int32)?,
    against skipped: Int32
  ) -> (score: Int32, run: Int32) {
    let own = bonus(text, index)
    guard let before else { return (Self.match + own * Self.firstFactor, 1) }
    let score = before.score + Self.match
    var run = before.run + 1
    var bonus = own
    if run > 1 {
      let first = self.bonus(text, index - Int(run) + 1)
      if own >= Self.boundary, own > first {
        run = 1
      } else {
        bonus = max(own, Self.consecutive, first)
      }
    }
    return score + bonus < skipped ? (score + own, 0) : (score + bonus, run)
  }

  private func trace(
    from column: Int, _ start: Int, _ width: Int, _ scratch: inout FuzzyScratch
  ) {
    var (row, column) = (letters.count - 1, column)
    var prefersMatch = true
    while column >= 0 {
      let first = scratch.first[row] - start
      let cell = row * width + column
      let score = scratch.scores[cell]
      let diagonal = row > 0 && column > 0 && column >= first ? scratch.scores[cell - width - 1] : 0
      let left = column > first ? scratch.scores[cell - 1] : 0
      let isMatch = score > diagonal && (score > left || score == left && prefersMatch)
      if isMatch {
        scratch.positions.append(scratch.offset + start + column)
        if row == 0 { return }
      }
      let below = cell + width + 1
      prefersMatch =
        scratch.runs[cell] > 1
        || row + 1 < letters.count && column + 1 < width && scratch.runs[below] > 0
      if isMatch { row -= 1 }
      column -= 1
    }
  }

  // MARK: - A match in linear time

  /// The score of the first match, from its last possible beginning on.
  private func shortest(
    in text: UnsafeBufferPointer<UInt32>, endingAt end: Int, _ scratch: inout FuzzyScratch
  ) -> Int {
    scratch.end = end
    var start = end
    for letter in letters.reversed() {
      repeat { start -= 1 } while text[start] & mask != letter
    }
    var (score, run, firstBonus): (Int32, Int32, Int32) = (0, 0, 0)
    var isGap = false
    var row = 0
    for index in start..<end {
      guard row < letters.count, text[index] & mask == letters[row] else {
        score += isGap ? Self.gapExtension : Self.gapStart
        (isGap, run, firstBonus) = (true, 0, 0)
        continue
      }
      var bonus = bonus(text, index)
      if run == 0 || bonus >= Self.boundary && bonus > firstBonus { firstBonus = bonus }
      if run > 0 { bonus = max(bonus, firstBonus, Self.consecutive) }
      score += Self.match + bonus * (row == 0 ? Self.firstFactor : 1)
      if scratch.findsPositions { scratch.positions.append(scratch.offset + index) }
      (isGap, run, row) = (false, run + 1, row + 1)
    }
    return Int(max(0, score))
  }
}

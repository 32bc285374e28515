/// The candidate most similar to a typed word, the first of several; `nil` if none is near.
///
/// Case is ignored. Inserting, omitting or changing a letter, or swapping two neighbors, counts one; a
/// candidate is near if the sum is at most a third of the longer word's letters. Words of more than 64
/// letters are near to nothing, so that hostile input costs nothing. Nor is a number near to another one, whose digits are
/// no misspelling.
package func nearest(to word: String, in candidates: some Sequence<String>) -> String? {
  let maxLength = 64
  guard !word.isEmpty, word.unicodeScalars.prefix(maxLength + 1).count <= maxLength else {
    return nil
  }
  let typed = Array(word.lowercased().unicodeScalars)
  let isNumber = word.allSatisfy(\.isNumber)
  var best: (candidate: String, distance: Int, isAlike: Bool)?
  for candidate in candidates {
    let letters = Array(candidate.lowercased().unicodeScalars.prefix(maxLength + 1))
    let allowed = min(max(typed.count, letters.count) / 3, best?.distance ?? .max)
    guard letters.count <= maxLength, abs(letters.count - typed.count) <= allowed,
      !isNumber || !candidate.allSatisfy(\.isNumber)
    else { continue }
    let distance = distance(from: typed, to: letters)
    // Of two as near, the one with the typed first letter: `fish` for `fsh`, and not `zsh`.
    let isAlike = letters.first == typed.first
    let isBetter =
      best.map { distance < $0.distance || distance == $0.distance && isAlike && !$0.isAlike }
    if distance <= allowed, isBetter ?? true { best = (candidate, distance, isAlike) }
  }
  return best?.candidate
}

/// The Damerau–Levenshtein distance in its restricted form (optimal string alignment).
private func distance(from word: [Unicode.Scalar], to other: [Unicode.Scalar]) -> Int {
  var beforeLast: [Int] = []
  var last = Array(0...other.count)
  for (row, letter) in word.enumerated() {
    var current = [row + 1]
    for (column, target) in other.enumerated() {
      var cost = min(
        last[column] + (letter == target ? 0 : 1), last[column + 1] + 1, current[column] + 1)
      if row > 0, column > 0, letter == other[column - 1], word[row - 1] == target {
        cost = min(cost, beforeLast[column - 1] + 1)
      }
      current.append(cost)
    }
    (beforeLast, last) = (last, current)
  }
  return last[other.count]
}

extension String {
  /// True for the name of a field of identifiers or codes, which are not spread over ranges: `userId`, `zip_code`.
  package var namesCodes: Bool { Self.namesOfCodes.contains(words.last ?? "") }

  /// True for the name of a field of numbers that are written without separators of thousands: codes and years.
  package var namesNoAmounts: Bool {
    namesCodes || Self.namesOfNumbers.contains(words.last ?? "") || words.contains("year")
  }

  /// True for the name of a field whose numbers are years: `founded`.
  package var namesYears: Bool { Self.namesOfYears.contains(words.last ?? "") }

  /// True for the name of a field of amounts, which grow by a part of themselves: `price`, `unitPriceEUR` and `stock`, but
  /// not `priceRank`.
  package var namesAmounts: Bool {
    !Self.namesOfOrdinals.contains(words.last ?? "") && !Self.namesOfAmounts.isDisjoint(with: words)
  }

  /// True for the name of a coordinate or a size, such as `location.lat` and `image_width`.
  package var namesMeasures: Bool { Self.namesOfMeasures.contains(words.last ?? "") }

  /// In lower case: `user` and `id` of `userId`.
  private var words: [String] {
    var words = [""]
    var isAfterCapital = true
    for character in self {
      if !character.isLetter && !character.isNumber || character.isUppercase && !isAfterCapital {
        words.append("")
      }
      isAfterCapital = character.isUppercase
      if character.isLetter || character.isNumber {
        words[words.count - 1] += character.lowercased()
      }
    }
    return words
  }

  private static let namesOfCodes = Set(
    """
    id ids key code zip postcode phone fax tel mobile isbn issn ean upc gtin asin sku imei iban uuid guid hash serial
    """.split(whereSeparator: \.isWhitespace).map(String.init))

  private static let namesOfYears: Set = [
    "born", "built", "debut", "died", "established", "founded", "opened", "published", "released",
    "since",
  ]

  private static let namesOfAmounts = Set(
    """
    amount amounts area balance budget bytes comments cost costs count counts distance downloads duration fee fees \
    followers forks income likes members mileage population price prices profit quantity revenue salary sales size \
    spent stargazers stars stock sum total turnover users value views visitors volume votes weight
    """.split(whereSeparator: \.isWhitespace).map(String.init))

  private static let namesOfOrdinals: Set = [
    "index", "level", "order", "place", "position", "rank",
  ]

  private static let namesOfMeasures: Set = [
    "height", "lat", "latitude", "lng", "lon", "longitude", "width", "x", "y", "z",
  ]

  private static let namesOfNumbers: Set = [
    "build", "epoch", "nr", "no", "number", "port", "timestamp", "unix", "version",
  ]
}

extension [String] {
  /// These names of columns, where the second `name` is `name_2`.
  package var madeUnique: [String] {
    var used = Set(self)
    var seen: Set<String> = []
    return map { name in
      if seen.insert(name).inserted { return name }
      var number = 2
      while !used.insert("\(name)_\(number)").inserted { number += 1 }
      return "\(name)_\(number)"
    }
  }
}

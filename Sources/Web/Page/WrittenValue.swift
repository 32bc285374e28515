import AggregatorAPI
import AggregatorFilters
import AggregatorKit
import AggregatorTerminal

// Values as people write them: `4 Mar 2024, 09:12 UTC`, `20,000` and `yes`. Pages show them so, in an element that keeps
// the exact value; addresses, files and copies have that one alone.

extension HTML {
  init(_ line: ServedRecord.Line, in numbers: FieldSample) {
    self = line.written(in: numbers) ?? "\(line.value.oneLine(atMost: 200).safeLine)"
  }

  /// A value on one line.
  ///
  /// - Parameter field: The name of its field, which says whether a number is an amount.
  init(_ value: JSON, of field: String, atMost length: Int = 200) {
    self = value.html(in: field) ?? "\(value.cell.oneLine(atMost: length).safeLine)"
  }
}

extension HTML {
  /// A web address as a link; `nil` for any other text.
  ///
  /// - Parameter length: The most characters that are shown of it.
  static func external(_ text: String, atMost length: Int = 200) -> HTML? {
    text.webAddress.map { address in
      #"<a href="\#(address)" rel="noopener noreferrer external" referrerpolicy="no-referrer">\#(text.oneLine(atMost: length).safeLine)</a>"#
    }
  }

  /// A text of any lines, in which web addresses are links.
  static func paragraphs(_ text: String) -> HTML {
    let text = text.safeParagraphs
    // Expressions take their time.
    guard text.contains("://"), text.utf8.count <= 100_000 else { return "\(text)" }
    var (parts, end): ([HTML], String.Index) = ([], text.startIndex)
    for match in text.matches(of: /https?:\/\/[^\s<>"]*[A-Za-z0-9\/]/) {
      guard let link = external(String(match.0), atMost: .max) else { continue }
      parts.append("\(String(text[end..<match.range.lowerBound]))\(link)")
      end = match.range.upperBound
    }
    return "\(parts)\(String(text[end...]))"
  }

  /// An ID without words, such as a UUID or a hash, whose middle the style cuts: it is selected, read and found as a whole;
  /// `nil` for any other text.
  static func opaque(_ text: String) -> HTML? {
    guard text.isOpaque else { return nil }
    let (start, end) = (String(text.dropLast(4)), String(text.suffix(4)))
    return #"<span class="opaque" title="\#(text)"><span>\#(start)</span>\#(end)</span>"#
  }
}

extension String {
  /// True for a UUID, and for 20 or more letters and digits that are no word.
  var isOpaque: Bool {
    guard 20...200 ~= utf8.count,
      utf8.allSatisfy({ $0.isASCIIAlphanumeric || $0 == UInt8(ascii: "-") }),
      contains(where: \.isNumber)
    else { return false }
    return !contains("-") || UUID(uuidString: self) != nil
  }
}

extension FieldSample {
  /// This sample with the records that are shown: the numbers of a field are written alike, so that they can be compared at a
  /// glance.
  func with(_ records: [ServedRecord]) -> FieldSample {
    var sample = self
    for line in records.lazy.flatMap({ $0.cells + $0.summary + $0.card }) {
      if let json = line.json { sample.add(json, of: line.field) }
    }
    return sample
  }
}

extension ServedRecord.Line {
  /// The value as people write it; `nil` if that is the value itself.
  func written(in numbers: FieldSample) -> HTML? {
    json?.html(in: field, decimals: numbers.decimals[field])
  }
}

extension JSON {
  fileprivate func html(in field: String, decimals: Int? = nil) -> HTML? {
    let (exact, words) = (cell, written(in: field, decimals: decimals))
    if case .string = self {
      return words.map { #"<time datetime="\#(exact)" title="\#(exact)">\#($0)</time>"# }
    }
    let isNegative = exact.first == "-" && !field.namesNoAmounts
    return (words ?? (isNegative ? exact : nil)).map {
      #"<data value="\#(exact)" title="\#(exact)">\#($0.withMinus)</data>"#
    }
  }

  /// The value as people write it; `nil` if that is the value itself.
  ///
  /// - Parameters:
  ///   - field: Its name alone says whether a number is a year: beside other numbers, the same one must not change.
  ///   - decimals: The number of decimals; `nil` for those that the value has.
  func written(in field: String, decimals: Int? = nil) -> String? {
    switch self {
    case .bool(let isTrue): isTrue ? "yes" : "no"
    case .integer, .number:
      if field.namesNoAmounts || field.namesYears {
        nil
      } else if let decimals {
        rounded(to: decimals)
      } else {
        text.writtenAmount
      }
    case .string(let text): field.namesNoAmounts ? nil : text.writtenDate
    case .null, .array, .object: nil
    }
  }
}

extension JSON {
  /// The part by which an amount grows to a new one: `+10%`, `−2.5%`; `nil` for other values, such as ranks, and zero, and for
  /// less than a tenth of a percent or more than 999 percent.
  func growth(to new: JSON, in field: String) -> String? {
    guard field.namesAmounts, !field.namesNoAmounts, let old = asDouble, let new = new.asDouble,
      old > 0, new >= 0
    else { return nil }
    let percent = (new / old - 1) * 100
    let tenths = (abs(percent) * 10).rounded()
    guard 1..<9_995 ~= tenths else { return nil }
    let isWhole = tenths >= 100 || tenths.remainder(dividingBy: 10) == 0
    let size = isWhole ? "\(Int(abs(percent).rounded()))" : "\(tenths / 10)"
    return "\(percent < 0 ? "−" : "+")\(size)%"
  }

  /// With a number of decimals; `nil` for a number that is too large for them, or too small to be more than zero, and if
  /// that is the value itself.
  private func rounded(to decimals: Int) -> String? {
    let number: Double
    switch self {
    case .integer(let integer): number = Double(integer)
    case .number(let real): number = real
    case .null, .bool, .string, .array, .object: return nil
    }
    let scale = pow(10, Double(decimals))
    let scaled = (abs(number) * scale).rounded()
    guard scaled < 1e15, scaled > 0 || number == 0 else { return nil }
    let (whole, rest) = Int(scaled).quotientAndRemainder(dividingBy: Int(scale))
    let fraction = decimals == 0 ? "" : "." + String(Int(scale) + rest).dropFirst()
    let text = (number < 0 ? "-" : "") + whole.grouped + fraction
    return text == cell ? nil : text
  }
}

extension String {
  /// A number with a minus sign in the place of a hyphen.
  var withMinus: String { first == "-" ? "−\(dropFirst())" : self }

  /// `20,000.5` of `20000.5`; `nil` for what has no thousands.
  fileprivate var writtenAmount: String? {
    guard let match = wholeMatch(of: /(-?[0-9]{4,18})(\.[0-9]+)?/), let whole = Int(match.1)
    else { return nil }
    return whole.grouped + (match.2 ?? "")
  }

  /// `4 Mar 2024` of `2024-03-04`, and `4 Mar 2024, 09:12 UTC` of `2024-03-04T09:12:44Z`: at the time of the zone that it
  /// names; `nil` for what is not a date.
  var writtenDate: String? {
    guard Period(self)?.isDate == true,
      let month = Int(dropFirst(5).prefix(2)), let day = Int(dropFirst(8).prefix(2))
    else { return nil }
    let name = "JanFebMarAprMayJunJulAugSepOctNovDec".dropFirst(3 * (month - 1)).prefix(3)
    let date = "\(day) \(name) \(prefix(4))"
    guard utf8.count > 10 else { return date }
    let zone = dropFirst(16).drop { $0.isNumber || [":", ".", ","].contains($0) }
    let isUTC = ["Z", "z", "+00:00", "+0000"].contains(zone)
    return "\(date), \(dropFirst(11).prefix(5)) \(isUTC ? "UTC" : zone)".trimmed
  }

  /// This text with its times in UTC as people write them.
  var withWrittenDates: String {
    replacing(/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?Z/) { match in
      String(match.output.0).writtenDate ?? String(match.output.0)
    }
  }

  /// The time of day of a date and time in UTC: `09:12`; `nil` for what is no such text.
  var writtenTime: String? {
    writtenDate.flatMap { $0.hasSuffix(" UTC") ? String($0.dropLast(4).suffix(5)) : nil }
  }

  /// The day of a date and time in UTC: `4 Mar 2024`.
  var writtenDay: String { String(prefix(10)).writtenDate ?? self }
}

extension Date {
  /// `4 Mar 2024, 09:12 UTC`.
  var written: String { iso8601.writtenDate ?? iso8601 }
}

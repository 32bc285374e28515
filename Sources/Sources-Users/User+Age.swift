public import Foundation

extension User {
  /// How old the person is.
  ///
  /// - Parameter now: When it is asked.
  /// - Returns: Whole years, by the calendar of Greenwich; `nil` if the day of birth is not known.
  public func age(at now: Date) -> Int? {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    guard let birthDate, let birth = try? Date(birthDate, strategy: .iso8601.year().month().day()),
      let years = calendar.dateComponents([.year], from: birth, to: now).year
    else { return nil }
    return 0...150 ~= years ? years : nil
  }
}

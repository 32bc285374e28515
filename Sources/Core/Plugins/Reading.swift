/// Which tiers a caller is willing to be answered by.
public struct Reading: Hashable, Sendable {
  /// Whether the service may be asked; if not, no socket is opened.
  public var mayAskService = true

  /// Whether the service is asked even if it has failed so often that it would be left alone.
  public var passesBreaker = false

  /// Whether what is at hand may answer in the service's place.
  public var mayFallBack = true

  /// The service, else what is at hand.
  public static let normal = Reading()

  /// What is at hand; opens no socket.
  public static let offline = Reading(mayAskService: false)

  /// The service, even if it failed of late; else what is at hand.
  public static let refresh = Reading(passesBreaker: true)

  /// The service or nothing.
  public static let noFallback = Reading(mayFallBack: false)

  /// A reading.
  ///
  /// - Parameters:
  ///   - mayAskService: Whether the service may be asked.
  ///   - passesBreaker: Whether it is asked even if it failed of late.
  ///   - mayFallBack: Whether what is at hand may answer in its place.
  public init(mayAskService: Bool = true, passesBreaker: Bool = false, mayFallBack: Bool = true) {
    self.mayAskService = mayAskService
    self.passesBreaker = passesBreaker
    self.mayFallBack = mayFallBack
  }
}

extension ErrorTranslation {
  static let english = ErrorTranslation(
    of: "en",
    [
      .cancelled: Text("This was cancelled."),
      .invalidRequest: Text(
        "This cannot be asked for.",
        reason: "The request has no words to search for, or is not valid.",
        suggestion: "Change what you have entered, and try again."),
      .invalidCursor: Text(
        "The list cannot be continued here.", reason: "It has changed since it was loaded.",
        suggestion: "Load the list again."),
      .notFound: Text(
        "This is no longer there.", reason: "The service has no such record, or it was deleted."),
      .invalidSettings: Text("A setting is not valid.", suggestion: "Check the settings."),
      .offline: Text(
        "You are offline.", reason: "Nothing that was saved on this device answers this.",
        suggestion: "Connect to the internet, and try again."),
      .unreachable: Text(
        "The service cannot be reached.", reason: "There may be no connection to the internet.",
        suggestion: "Check the connection, and try again."),
      .connectionLost: Text("The connection was lost.", suggestion: "Try again."),
      .timedOut: Text("The service did not answer in time.", suggestion: "Try again in a moment."),
      .missingKey: Text(
        "A key for the service is missing.", suggestion: "Enter the key in the settings."),
      .invalidKey: Text(
        "The service does not accept the key.", reason: "It may be wrong, or no longer valid.",
        suggestion: "Check the key in the settings."),
      .rateLimited: Text(
        "Too many requests were made.",
        reason: "The service, or this app, limits how many there may be.",
        suggestion: "Wait a moment, and try again."),
      .rejected: Text("The service did not accept the request."),
      .serverError: Text("The service has a problem.", suggestion: "Try again later."),
      .circuitOpen: Text(
        "The service has failed several times.", reason: "It is not asked for a moment.",
        suggestion: "Try again in a moment."),
      .malformed: Text(
        "The answer of the service could not be read.", reason: "The service may have changed.",
        suggestion: "Try again later, or update the app."),
      .tooLarge: Text("The answer of the service is too large."),
      .noProgress: Text(
        "The list could not be loaded further.",
        reason: "The service sent the same records again and again.",
        suggestion: "Load the list again."),
      .storage: Text(
        "Saved data cannot be read or written.", reason: "The device may be full.",
        suggestion: "Make some room, and try again."),
      .busy: Text("Saved data is in use at the moment.", suggestion: "Try again in a moment."),
      .unusableStore: Text(
        "Saved data cannot be used.",
        reason: "It belongs to a newer version of the app, or is damaged.",
        suggestion: "Update the app."),
      .nothingCached: Text(
        "Nothing is saved on this device.", suggestion: "Connect to the internet, and try again."),
      .unsupported: Text("The service does not offer this."),
      .notRecorded: Text("This answer was not recorded."),
    ])
}

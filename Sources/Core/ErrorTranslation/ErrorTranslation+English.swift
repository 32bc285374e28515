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
        "This was not found.", reason: "The service does not have it, or it was deleted."),
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
        suggestion: "Wait a moment, and try again.",
        timedSuggestion: "Wait {time}, and try again."),
      .rejected: Text("The service did not accept the request."),
      .serverError: Text(
        "The service has a problem.", suggestion: "Try again later.",
        timedSuggestion: "Try again in {time}."),
      .circuitOpen: Text(
        "The service has failed several times.", reason: "It is not asked for a moment.",
        suggestion: "Try again in a moment.", timedSuggestion: "Try again in {time}."),
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
    ],
    warnings: [
      .bundled: "These are sample data.",
      .cached: "These are saved data.",
      .cachedOnly: "Only saved data were searched.",
      .cutOff: "The file seems to be incomplete.",
      .depthLimit: "The service lists only its first records.",
      .emptyField: "A detail that records usually have is missing from all.",
      .endedByRule: "The service names more records than its list has.",
      .estimated: "The number of matches is an estimate.",
      .guessed: "Some characters may be wrong.",
      .historyTrimmed: "Earlier changes are not known.",
      .incomplete: "Records may be missing.",
      .leftOut: "A source was not searched.",
      .mixedGenerations: "The list has changed meanwhile: records may be missing.",
      .movedAside: "Saved data were damaged, and had to be replaced.",
      .noMatches: "Nothing matches the search.",
      .notCached: "This is not saved on this device.",
      .notIncremental: "Everything was loaded anew.",
      .partlyCached: "Only a part of the records is saved on this device.",
      .redacted: "Some records contain a secret, which is not shown.",
      .reloaded: "The list was loaded anew, because it has changed.",
      .removedUpstream: "The list of the service no longer has this record.",
      .repeated: "Records came twice: others may be missing.",
      .restarted: "The list was started over: records may be missing.",
      .rounded: "Some large numbers are rounded.",
      .scanned: "Only the first records were searched.",
      .schemaChanged: "The service has changed what its records have.",
      .sentFewer: "The service has sent fewer records than it reports.",
      .skippedPartition: "A part of the list could not be loaded.",
      .stopped: "The list was not loaded to its end.",
      .syncFailed: "The data could not be updated.",
      .tooLarge: "Some records were too large, and are left out.",
      .unfetched: "Some details are not in the list.",
      .unknownSecret: "These may be the data of another account.",
      .unproved: "Further records may be missing.",
      .unreadable: "Some records could not be read.",
    ])
}

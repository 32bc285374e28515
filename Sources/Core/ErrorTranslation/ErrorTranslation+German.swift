extension ErrorTranslation {
  static let german = ErrorTranslation(
    of: "de",
    [
      .cancelled: Text("Das wurde abgebrochen."),
      .invalidRequest: Text(
        "Danach kann nicht gefragt werden.",
        reason: "Die Anfrage enthält keine Suchwörter oder ist ungültig.",
        suggestion: "Ändern Sie die Eingabe und versuchen Sie es noch einmal."),
      .invalidCursor: Text(
        "Die Liste kann hier nicht fortgesetzt werden.",
        reason: "Sie hat sich geändert, seit sie geladen wurde.",
        suggestion: "Laden Sie die Liste neu."),
      .notFound: Text(
        "Das wurde nicht gefunden.", reason: "Der Dienst hat es nicht, oder es wurde gelöscht."),
      .invalidSettings: Text(
        "Eine Einstellung ist ungültig.", suggestion: "Prüfen Sie die Einstellungen."),
      .offline: Text(
        "Sie sind offline.", reason: "Auf diesem Gerät ist dazu nichts gespeichert.",
        suggestion: "Stellen Sie eine Verbindung zum Internet her und versuchen Sie es noch einmal."
      ),
      .unreachable: Text(
        "Der Dienst ist nicht erreichbar.",
        reason: "Vielleicht besteht keine Verbindung zum Internet.",
        suggestion: "Prüfen Sie die Verbindung und versuchen Sie es noch einmal."),
      .connectionLost: Text(
        "Die Verbindung wurde unterbrochen.", suggestion: "Versuchen Sie es noch einmal."),
      .timedOut: Text(
        "Der Dienst hat nicht rechtzeitig geantwortet.",
        suggestion: "Versuchen Sie es gleich noch einmal."),
      .missingKey: Text(
        "Für den Dienst fehlt ein Schlüssel.",
        suggestion: "Tragen Sie den Schlüssel in den Einstellungen ein."),
      .invalidKey: Text(
        "Der Dienst nimmt den Schlüssel nicht an.",
        reason: "Er ist vielleicht falsch oder nicht mehr gültig.",
        suggestion: "Prüfen Sie den Schlüssel in den Einstellungen."),
      .rateLimited: Text(
        "Es wurden zu viele Anfragen gestellt.",
        reason: "Der Dienst oder diese App begrenzt ihre Zahl.",
        suggestion: "Warten Sie einen Moment und versuchen Sie es noch einmal.",
        timedSuggestion: "Warten Sie {time} und versuchen Sie es dann noch einmal."),
      .rejected: Text("Der Dienst hat die Anfrage nicht angenommen."),
      .serverError: Text(
        "Der Dienst hat eine Störung.", suggestion: "Versuchen Sie es später noch einmal.",
        timedSuggestion: "Versuchen Sie es in {time} noch einmal."),
      .circuitOpen: Text(
        "Beim Dienst ist mehrmals ein Fehler aufgetreten.",
        reason: "Er wird für einen Moment nicht gefragt.",
        suggestion: "Versuchen Sie es gleich noch einmal.",
        timedSuggestion: "Versuchen Sie es in {time} noch einmal."),
      .malformed: Text(
        "Die Antwort des Dienstes ist nicht lesbar.",
        reason: "Vielleicht hat sich der Dienst geändert.",
        suggestion: "Versuchen Sie es später noch einmal oder aktualisieren Sie die App."),
      .tooLarge: Text("Die Antwort des Dienstes ist zu groß."),
      .noProgress: Text(
        "Die Liste konnte nicht weiter geladen werden.",
        reason: "Der Dienst hat immer wieder dieselben Einträge gesendet.",
        suggestion: "Laden Sie die Liste neu."),
      .storage: Text(
        "Gespeicherte Daten können nicht gelesen oder geschrieben werden.",
        reason: "Vielleicht ist das Gerät voll.",
        suggestion: "Schaffen Sie Platz und versuchen Sie es noch einmal."),
      .busy: Text(
        "Die gespeicherten Daten werden gerade benutzt.",
        suggestion: "Versuchen Sie es gleich noch einmal."),
      .unusableStore: Text(
        "Die gespeicherten Daten können nicht benutzt werden.",
        reason: "Sie gehören zu einer neueren Version der App oder sind beschädigt.",
        suggestion: "Aktualisieren Sie die App."),
      .nothingCached: Text(
        "Auf diesem Gerät ist nichts gespeichert.",
        suggestion: "Stellen Sie eine Verbindung zum Internet her und versuchen Sie es noch einmal."
      ),
      .unsupported: Text("Der Dienst bietet das nicht an."),
      .notRecorded: Text("Diese Antwort wurde nicht aufgezeichnet."),
    ],
    warnings: [
      .bundled: "Das sind Beispieldaten.",
      .cached: "Das sind gespeicherte Daten.",
      .cachedOnly: "Nur gespeicherte Daten wurden durchsucht.",
      .cutOff: "Die Datei ist wohl unvollständig.",
      .depthLimit: "Der Dienst listet nur seine ersten Einträge auf.",
      .emptyField: "Eine Angabe, die Einträge sonst haben, fehlt bei allen.",
      .endedByRule: "Der Dienst nennt mehr Einträge, als seine Liste hat.",
      .estimated: "Die Zahl der Treffer ist geschätzt.",
      .guessed: "Manche Zeichen sind vielleicht falsch.",
      .historyTrimmed: "Frühere Änderungen sind nicht bekannt.",
      .incomplete: "Vielleicht fehlen Einträge.",
      .leftOut: "Eine Quelle wurde nicht durchsucht.",
      .mixedGenerations: "Die Liste hat sich inzwischen geändert: Vielleicht fehlen Einträge.",
      .movedAside: "Gespeicherte Daten waren beschädigt und mussten ersetzt werden.",
      .noMatches: "Nichts passt zur Suche.",
      .notCached: "Das ist auf diesem Gerät nicht gespeichert.",
      .notIncremental: "Alles wurde neu geladen.",
      .partlyCached: "Nur ein Teil der Einträge ist auf diesem Gerät gespeichert.",
      .redacted: "Manche Einträge enthalten ein Geheimnis, das nicht gezeigt wird.",
      .reloaded: "Die Liste wurde neu geladen, weil sie sich geändert hat.",
      .removedUpstream: "Die Liste des Dienstes hat diesen Eintrag nicht mehr.",
      .repeated: "Einträge kamen doppelt: Vielleicht fehlen andere.",
      .restarted: "Die Liste wurde von vorn begonnen: Vielleicht fehlen Einträge.",
      .rounded: "Manche große Zahlen sind gerundet.",
      .scanned: "Nur die ersten Einträge wurden durchsucht.",
      .schemaChanged: "Der Dienst hat geändert, was seine Einträge enthalten.",
      .sentFewer: "Der Dienst hat weniger Einträge gesendet, als er nennt.",
      .skippedPartition: "Ein Teil der Liste konnte nicht geladen werden.",
      .stopped: "Die Liste wurde nicht bis zum Ende geladen.",
      .syncFailed: "Die Daten konnten nicht aktualisiert werden.",
      .tooLarge: "Manche Einträge waren zu groß und fehlen.",
      .unfetched: "Manche Angaben stehen nicht in der Liste.",
      .unknownSecret: "Das sind vielleicht die Daten eines anderen Kontos.",
      .unproved: "Vielleicht fehlen weitere Einträge.",
      .unreadable: "Manche Einträge konnten nicht gelesen werden.",
    ])
}

package import AggregatorKit
package import AggregatorQueries
package import AggregatorTerminal
import DeclaredSource

/// One thing that was examined.
package struct Finding: Entry {
  package enum State: String {
    case ok
    /// Something optional is not there.
    case missing
    /// Records of the service are not cached, or may not be.
    case incomplete
    /// Something that works as it is needs a decision.
    case warning
    case failed
  }

  package static let areas = [
    "paths", "store", "settings", "queries", "services", "programs", "libraries", "system",
  ]

  package let area: String
  package let id: String
  package let state: State
  package let found: String
  /// How to mend it; `nil` if nothing is wrong.
  package let remedy: String?

  package init(
    _ area: String, _ id: String, _ state: State, _ found: String, _ remedy: String? = nil
  ) {
    self.area = area
    self.id = id
    self.state = state
    self.found = found
    self.remedy = remedy
  }

  /// True for a cache of which the last sync, or a list since, said that it may lack records or have others.
  fileprivate var isOfIncompleteSync = false

  /// A saved query that does not run hinders nothing else.
  package var isProblem: Bool { state == .failed || area == "queries" || isOfIncompleteSync }

  fileprivate var isInOrder: Bool { state == .ok && !isProblem }

  package var isUnusableStore: Bool { state == .failed && id == "store" }

  package static let fields: [Field<Finding>] = [
    Field("area", "Area", \.area, about: "What it belongs to."),
    Field("name", "Name", \.id, about: "What was examined."),
    Field(
      "state", "State", \.state.rawValue,
      about: "ok, missing (optional), incomplete (records are not cached), warning or failed."),
    Field("found", "Found", \.found, about: "What there is, or what is wrong."),
    Field("remedy", "Remedy", \.remedy, about: "What mends it."),
  ]
}

extension CommandContext {
  /// The cached records of a source, and what they lack; `nil` if there are none.
  package func cache(
    of plugin: any Plugin, in store: any SourceStore
  ) async throws(SourceError) -> Finding? {
    let status = try await store.status(of: plugin.name)
    guard status.records > 0 else { return nil }
    // Another clock has written it, or this one is wrong.
    if let fetchedAt = status.fetchedAt, fetchedAt > Date().addingTimeInterval(300) {
      return Finding(
        "store", plugin.name, .failed, "records are of the future", "set the clock of this machine")
    }
    let fetch = try await plugin.oldestFetch(in: store).map {
      LastSync.fetchWords($0, newest: status.fetchedAt, at: Date())
    }
    let gap = try await plugin.gap(in: store)
    let reason = gap?.warning.warning.message
    let remedy = gap.map { gap in
      gap.hint.map(plain)
        ?? self.remedy(inServiceOf: plugin, hasUnreadableRows: gap.hasUnreadableRows)
    }
    let count =
      gap?.isOfChangedFile == false ? nil : "\(plugin.noun.count(status.records)) cached"
    let cached = [count, fetch].compactMap(\.self).joined(separator: ", ")
    let isUnfinished = gap?.command == nil ? false : try await plugin.hasUnfinishedSync(in: store)
    let end = isUnfinished ? "the last sync has not come to its end" : nil
    var finding = Finding(
      "store", plugin.name, gap == nil ? .ok : .incomplete,
      (count == nil ? [reason, cached, end] : [cached, reason, end]).compactMap(\.self)
        .joined(separator: "; "), remedy)
    let lacksRecords = try await store.coverage(of: plugin.name).gap != nil
    finding.isOfIncompleteSync = lacksRecords || isUnfinished
    return finding
  }

  /// One request to each service; what is wrong with a manifest is found among the settings.
  package func services(
    _ plugins: [any Plugin], in environment: PluginEnvironment, within time: Duration
  ) async -> [Finding] {
    let plugins = plugins.filter { ($0 as? DeclaredPlugin)?.failure == nil }
    return await plugins.concurrentMap { plugin in
      let check = await plugin.check(in: environment, within: time)
      if let failure = check.failure {
        // A missing key is one of the settings.
        return Finding(
          "services", plugin.name, failure.code == .missingKey ? .missing : .failed,
          failure.message, self.remedy(for: failure, of: plugin))
      }
      let verb =
        (plugin as? DeclaredPlugin)?.manifest.file == nil ? "first page answered" : "file read"
      let shortfall = check.shortfall.map {
        $0.isExcess ? $0.description : "the last sync may lack records"
      }
      let remarks = check.pageRemarks + [check.syncFailure ?? shortfall].compactMap(\.self)
      let found = check.violation ?? "\(verb) in \(check.milliseconds ?? 0) ms"
      // Another request would be answered alike.
      let lasting = check.pageShortfall.flatMap { $0.isFinal ? $0 : nil }
      let command: String? =
        !check.isSound
        ? "sources check \(plugin.name) --verbose"
        : check.syncFailure != nil
          ? "\(plugin.syncArguments) --verbose"
          : check.pageRemarks.isEmpty
            ? shortfall.map { _ in "sources check \(plugin.name)" }
            : lasting == nil ? "\(plugin.name) list --refresh" : nil
      return Finding(
        "services", plugin.name,
        !check.isSound || check.syncFailure != nil ? .failed : remarks.isEmpty ? .ok : .warning,
        ([found] + remarks).joined(separator: "; "),
        command.map(self.diagnostics.command) ?? lasting.map { self.remedy(for: $0, of: plugin) })
    }
  }

  /// The remedy of records that a service leaves out whenever it is asked.
  private func remedy(for shortfall: Shortfall, of plugin: any Plugin) -> String {
    let isUnreadable = shortfall.includes(.unreadable)
    if shortfall.isUnproved, plugin is DeclaredPlugin {
      return diagnostics.command("sources edit \(plugin.name)")
    }
    guard isUnreadable, let file = plugin.policy.file else {
      return remedy(inServiceOf: plugin, hasUnreadableRows: isUnreadable)
    }
    return "mend the file \(file.oneLine(atMost: 200))"
  }

  private func remedy(inServiceOf plugin: any Plugin, hasUnreadableRows: Bool) -> String {
    if !hasUnreadableRows, let start = (plugin as? DeclaredPlugin)?.manifest.laterStart {
      let edit = diagnostics.command("sources edit \(plugin.name)")
      return "its list begins at \(start), after other records: \(edit)"
    }
    let list = diagnostics.command("\(plugin.name) list --all --refresh")
    return "only its service can mend that\(hasUnreadableRows ? "; \(list) says where it is" : "")"
  }

  private func remedy(for failure: SourceError, of plugin: any Plugin) -> String {
    if let hint = failure.hint(settings: plugin.settings) { return plain(hint) }
    let name = catalog.manifests?.service(of: plugin.name) ?? plugin.name
    let edit = diagnostics.command("sources edit \(name)")
    guard let remedy = failure.remedyOfService else {
      return failure.code == .rejected && plugin is DeclaredPlugin
        ? "correct its URL, or sign in: \(edit)"
        : diagnostics.command("sources check \(plugin.name) --verbose")
    }
    guard failure.code == .unreachable else { return remedy }
    let place = plugin.settings.first { $0.key.hasSuffix("_URL") }?.key ?? edit
    return "\(remedy), or change its URL: \(place)"
  }

  package func plain(_ hint: Hint) -> String {
    diagnostics.texts(of: hint).joined(separator: "; ")
  }
}

extension SourceError {
  /// The remedy for a service that cannot be reached, does not answer in time, fails or refuses more requests; `nil` for other
  /// failures.
  package var remedyOfService: String? {
    switch code {
    case .unreachable where cause is UnknownHost:
      "check the name of the host, and the network"
    case .unreachable: "check that the service runs at this address"
    case .timedOut: "allow more time with --timeout, or try later"
    case .connectionLost, .rateLimited, .serverError: "try again later"
    default: nil
    }
  }
}

extension String {
  /// This text, in which a path that is wider than a line has line breaks after slashes.
  fileprivate func brokenAtSlashes(within room: Int) -> String {
    split(separator: " ", omittingEmptySubsequences: false).map { word in
      guard word.displayWidth > room else { return String(word) }
      var (lines, line) = (word.startIndex == startIndex ? "" : "\n", "")
      for (index, part) in word.split(separator: "/", omittingEmptySubsequences: false).enumerated()
      {
        let part = index == 0 ? String(part) : "/\(part)"
        if !line.isEmpty, line.displayWidth + part.displayWidth > room {
          lines += line + "\n"
          line = ""
        }
        line += part
      }
      return lines + line
    }.joined(separator: " ")
  }
}

extension [Finding] {
  /// Narrower columns would break most paths.
  private static var minRoom: Int { 30 }

  /// A paragraph for each area with what is in order, `✓ heroes    first page answered in 82 ms`, then the notes, and last the
  /// problems, which a person sees without scrolling.
  package func page(on layout: TerminalLayout, hasUTF8: Bool) -> String {
    // A service names its missing key, too.
    let shown = filter { finding in
      finding.area != "settings"
        || !contains { $0.area == "services" && $0.found == "\(finding.id) is not set" }
    }
    var paragraphs: [(name: String, findings: [Finding])] = Finding.areas.map { area in
      (area.capitalizedFirst, shown.filter { $0.area == area && $0.isInOrder })
    }
    paragraphs.append(("Notes", shown.filter { !$0.isProblem && !$0.isInOrder }))
    paragraphs.append(("Problems", shown.filter(\.isProblem)))
    var text = ""
    for (name, findings) in paragraphs where !findings.isEmpty {
      var heading = Line(on: layout)
      heading.add(name, as: .heading)
      text += "\(heading.text)\n\(findings.lines(on: layout, hasUTF8: hasUTF8))\n"
    }
    return text + "\(shown.summary)\n"
  }

  private func lines(on layout: TerminalLayout, hasUTF8: Bool) -> String {
    let widest = map(\.id.displayWidth).max() ?? 0
    // A finding is below its name where it would have no room beside it.
    let isNarrow = layout.width < widest + 4 + Self.minRoom
    let column = isNarrow ? 4 : widest + 4
    var text = ""
    for finding in self {
      let mark =
        switch finding.state {
        case .ok: hasUTF8 ? "✓" : "+"
        case .missing, .incomplete: hasUTF8 ? "–" : "-"
        case .warning: "!"
        case .failed: hasUTF8 ? "✗" : "x"
        }
      var line = Line(on: layout)
      line.add(mark, as: finding.state == .ok ? .id : finding.state == .failed ? .error : .label)
      line.move(to: 2)
      line.add(finding.id.safeLine)
      if isNarrow {
        text += line.text + "\n"
        line = Line(on: layout)
      }
      line.move(to: column)
      let wrap = Wrap(Swift.max(10, layout.width - column))
      for (index, words) in [finding.found, finding.remedy].compactMap(\.self).enumerated() {
        let broken = words.safeLine.brokenAtSlashes(within: layout.width - column)
        for (number, piece) in wrap.lines(of: broken).enumerated() {
          if index + number > 0 {
            text += line.text + "\n"
            line = Line(on: layout)
            line.move(to: column)
          }
          line.add(piece, as: index == 1 ? .label : finding.state == .failed ? .error : nil)
        }
      }
      text += line.text + "\n"
    }
    return text
  }

  /// The numbers of what does not work, and of what is missing or needs a decision.
  package var summary: String {
    let problems = count(where: \.isProblem)
    let notes = count { !$0.isProblem && !$0.isInOrder }
    guard problems + notes > 0 else { return "All is well" }
    return (problems > 0 ? problems.of("problem") : "No problems")
      + (notes > 0 ? ", \(notes.of("note"))" : "")
  }
}

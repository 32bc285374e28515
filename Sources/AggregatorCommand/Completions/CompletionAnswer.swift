import AggregatorKit
import Foundation

/// What the program says to a shell that asks how a command line can go on.
///
/// `aggregator __complete SHELL --line TEXT-UP-TO-THE-CURSOR` gives a line `word<TAB>about` for each
/// word. A line that begins with a tab says, in the shell's own terms, what else is to be done: complete
/// files, or put no space after the word. Whatever goes wrong, nothing is said.
package struct CompletionAnswer {
  /// The hidden command.
  static let command = "__complete"

  private static let longestAbout = 60

  private let shell: Shell
  private let line: TypedLine
  private let offer: Completer.Offer

  /// What there is to say.
  ///
  /// - Parameters:
  ///   - arguments: What follows the hidden command; `nil` comes of anything but a shell and a line.
  ///   - tree: All commands.
  ///   - variables: The variables of the process.
  package init?(
    _ arguments: some Collection<String>, _ tree: CommandTree, variables: [String: String]
  ) {
    let arguments = Array(arguments)
    guard arguments.count == 3, arguments[1] == "--line", let shell = Shell(rawValue: arguments[0])
    else { return nil }
    self.shell = shell
    let breaks = variables["COMP_WORDBREAKS"] ?? TypedLine.standardBreaks
    line = TypedLine(arguments[2], in: shell, breaks: breaks)
    let options = ArgumentParser(tree).options(of: Array(line.words.dropFirst()))
    offer = Completer(tree, .local(Session(options, tree: tree, variables: variables), options))
      .offer(line)
  }

  /// The lines for the shell.
  package var text: String { lines.map { "\($0)\n" }.joined() }

  private var lines: [String] {
    switch offer {
    case .words(let candidates, let isPart):
      let lines = candidates.compactMap(line(for:))
      return isPart && !lines.isEmpty ? noSpace + lines : lines
    case .file:
      return ["\t" + (shell == .bash ? "default" : shell == .zsh ? "_files" : "file")]
    case .directory:
      return ["\t" + (shell == .bash ? "dirnames" : shell == .zsh ? "_files -/" : "directory")]
    }
  }

  /// Fish has no way to say so.
  private var noSpace: [String] { shell == .fish ? [] : ["\tnospace"] }

  private func line(for candidate: Candidate) -> String? {
    var word = candidate.word
    if shell == .bash {
      word = BashWord.writing(
        String(word.unicodeScalars.dropFirst(line.kept.unicodeScalars.count)), inside: line.quote)
      // With nothing to add there is nothing to say.
      guard !word.isEmpty else { return nil }
    }
    let about = candidate.about.safeLine.fitted(to: Self.longestAbout)
    return about.isEmpty ? word : "\(word)\t\(about)"
  }
}

extension Completer.CompletionContext {
  /// More than these are not offered.
  private static let most = 200

  /// What is stored on this machine: looked at as it is, without waiting, and without a word if it
  /// cannot be read.
  ///
  /// - Parameters:
  ///   - session: The session.
  ///   - invocation: The options that were typed.
  /// - Returns: The memory.
  static func local(_ session: Session, _ invocation: Invocation) -> Self {
    func directories() -> Directories? {
      let loader = session.settingsLoader
      guard let loaded = try? loader.load(configFile: invocation.text(.config)) else { return nil }
      return try? Directories(loaded.settings, variables: session.variables)
    }
    return Self { source, beginning, areDeleted in
      guard let plugin = try? session.tree.plugin(named: source),
        let path = directories()?.storePath
      else { return [] }
      let readsWithoutWaiting = SQLiteStore(at: path, busyTimeout: .zero).glance(
        at: source, idsFrom: beginning, areDeleted: areDeleted, atMost: most)
      return plugin.candidates(readsWithoutWaiting)
    } sessions: {
      guard let state = directories()?.state else { return [] }
      let names = try? FileManager.default.contentsOfDirectory(atPath: "\(state)/positions")
      return (names ?? []).filter(SessionName.isSession).sorted().prefix(most).map(\.self)
    }
  }
}

extension Plugin {
  /// The ids of records, each with what the record is called.
  fileprivate func candidates(_ readsWithoutWaiting: [StoredID]) -> [Candidate] {
    let names = fields.filter(\.isShown)
    return readsWithoutWaiting.compactMap { glance in
      guard Item.ID(glance.id)?.description == glance.id else { return nil }
      let item = glance.json.flatMap { try? JSONText($0)?.read(Item.self) }
      for field in names {
        if let item, case .string(let text) = field[item], text != glance.id {
          return Candidate(glance.id, text)
        }
      }
      return Candidate(glance.id)
    }
  }
}

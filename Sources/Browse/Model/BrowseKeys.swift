/// The keys, as the help shows them.
package enum BrowseKeys {
  package static let all = text.split(separator: "\n").map { line in
    let parts = line.split(separator: " = ", maxSplits: 1)
    return BrowsedRow.Line(String(parts[0]), String(parts.dropFirst().joined()))
  }

  private static let text = """
    ↑ ↓ j k = move
    PgUp PgDn = a page up or down; Ctrl-U Ctrl-D half a page
    Home End g G = the first or last record
    ← → Tab = sources, list, record
    Enter = open the record, with all its details
    Space = mark the record: d, o and y are about those marked
    Esc = back; stops what runs; clears the marks, the filter
    J K = scroll the record; in it, the next or previous one
    / = filter as you type (' ^ $ ! are text, unlike in pick); Enter may ask the service, too
    f = filter by a condition: publisher=Marvel and name~man
    F = count the values of a field; Enter filters by one
    s = sort by a field; the same again reverses
    c = choose the columns of the list, for good; Ctrl-R resets them
    F s c = letters narrow the fields as in pick; Tab shows or hides a column
    < > = move the border between list and record
    v = the record beside the list, below it, or not shown
    b = hide or show the sources; among them, / filters them by name
    H L = scroll by a column to the left or right
    o = open the web page
    y Y = copy the ID, or the record as JSON
    w = write the marked records, or the list, to a file
    d u = delete on this machine, and undo
    r = ask the service now, or run the query again
    n = load the next page of the service
    S = sync everything; S or n again stops it
    : = SQL over the cached records; with a number: to that row
    Ctrl-L = draw again
    Ctrl-Z = suspend; fg returns
    q = quit
    """
}

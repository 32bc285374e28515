/// The keys, as the help shows them.
package enum BrowseKeys {
  package static let all: [BrowsedRow.Line] = [
    .init("↑ ↓ j k", "move"),
    .init("PgUp PgDn", "a page up or down; Ctrl-U Ctrl-D half a page"),
    .init("Home End g G", "the first or last record"),
    .init("← → Tab", "sources, list, record"),
    .init("Enter", "open the record, with all its details"),
    .init("Space", "mark the record: d, o and y are about those marked"),
    .init("Esc", "back; clears the marks, the filter"),
    .init("J K", "scroll the record; in it, the next or previous one"),
    .init("/", "filter as you type; Enter also asks the service"),
    .init("f", "filter by a condition: publisher=Marvel and name~man"),
    .init("s", "sort by a field; the same again reverses"),
    .init("c", "choose the columns of the list"),
    .init("H L", "scroll by a column to the left or right"),
    .init("o", "open the web page"),
    .init("y Y", "copy the ID, or the record as JSON"),
    .init("d u", "delete on this machine, and undo"),
    .init("r", "ask the service now, or run the query again"),
    .init("n", "load the next page of the service"),
    .init("S", "sync everything; S or n again stops it"),
    .init(":", "SQL over the cached records; with a number: to that row"),
    .init("Ctrl-L", "draw again"),
    .init("Ctrl-Z", "suspend; fg returns"),
    .init("q", "quit"),
  ]
}

extension Stylesheet {
  /// Galleries and rows.
  static let list = """
    #list[aria-busy=true] .records, #list[aria-busy=true] .state { opacity: .5; }
    .record { color: inherit; text-decoration: none; }
    .record .name { font-weight: 600; overflow-wrap: anywhere; }
    .record .name, .record .fact { text-align: left; }
    .record .fact { color: var(--muted); font-size: .9rem; overflow-wrap: anywhere; }

    .gallery { margin: 0 -.5rem; display: grid; gap: 1.25rem .6rem; grid-template-columns: repeat(auto-fill, minmax(10.5rem, 1fr)); }
    .gallery .record {
      display: block; height: 100%; padding: .5rem .5rem .8rem; border-radius: 18px;
    }
    .gallery .record:hover { background: var(--surface); box-shadow: var(--shadow); }
    .gallery .record[aria-current] { background: var(--accent-soft); }
    .gallery .record:focus-visible { border-radius: 18px; }
    .gallery .picture {
      position: relative; display: grid; place-items: center; aspect-ratio: 1; overflow: hidden;
      border-radius: var(--radius); background: var(--sunken);
    }
    .gallery .picture .initial { font-size: 2.75rem; font-weight: 600; color: var(--muted); opacity: .55; }
    .gallery .picture img {
      position: absolute; inset: 0; width: 100%; height: 100%; object-fit: cover;
      object-position: center 20%; background: var(--sunken);
    }
    .gallery .words { display: grid; gap: .1rem; padding: .65rem .3rem 0; }
    .gallery .name, .gallery .fact {
      display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden;
      line-height: 1.35;
    }
    .gallery .fact { -webkit-line-clamp: 1; }
    .gallery.small { grid-template-columns: repeat(auto-fill, minmax(8.5rem, 1fr)); }
    @container (max-width: 24rem) {
      .gallery, .gallery.small { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: .75rem .2rem; }
    }

    .rows { border: 1px solid var(--line); border-radius: var(--radius); background: var(--surface); }
    .rows li + li { border-top: 1px solid var(--line); }
    .rows .record {
      display: flex; flex-wrap: wrap; gap: .1rem 1rem; min-height: 3rem; padding: .7rem 1.1rem;
      align-items: baseline;
    }
    .rows li:first-child .record { border-radius: 13px 13px 0 0; }
    .rows li:last-child .record { border-radius: 0 0 13px 13px; }
    .rows li:only-child .record { border-radius: 13px; }
    .rows .record:hover { background: var(--background); }
    .rows .record[aria-current] { background: var(--accent-soft); }
    .rows .record:focus-visible { outline-offset: -3px; }
    .rows .name { flex: 1 0 100%; }
    .rows .fact:empty, .columns { display: none; }
    .rows .label { color: var(--muted); opacity: 1; }
    .rows .fact bdi { color: var(--text); }
    @container (min-width: 44rem) {
      .columns, .rows .record { display: grid; gap: 0 1.5rem; }
      .columns-1 .record, .columns.columns-1 { grid-template-columns: 1fr 1fr; }
      .columns-2 .record, .columns.columns-2 { grid-template-columns: minmax(0, 5fr) repeat(2, minmax(0, 3fr)); }
      .columns-3 .record, .columns.columns-3 { grid-template-columns: minmax(0, 5fr) repeat(3, minmax(0, 3fr)); }
      .columns-4 .record, .columns.columns-4 { grid-template-columns: minmax(0, 5fr) repeat(4, minmax(0, 3fr)); }
      .columns {
        padding: 0 calc(1.1rem + 1px) .4rem; color: var(--muted); font-size: .82rem; font-weight: 600;
      }
      .rows .fact:empty { display: block; }
      .rows .fact .label {
        position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
      }
    }

    .group { margin-top: 1.75rem; }
    .group h2 { font-size: 1.2rem; letter-spacing: -.01em; }
    .group h2 a { color: inherit; text-decoration: none; }
    .group h2 a:hover { text-decoration: underline; }
    .all { margin-top: .6rem; }
    .all a { display: inline-flex; align-items: center; gap: .2rem; min-height: 2rem; }
    .all .icon { width: 1rem; height: 1rem; }
    .more, .end, .beginning { margin-top: 1.5rem; text-align: center; }
    .beginning { margin: 0 0 1rem; }
    .end { color: var(--muted); font-size: .9rem; }
    .more .note { justify-content: center; }

    """

  /// A record beside the list.
  static let detail = """
    #detail { background: var(--surface); border-left: 1px solid var(--line); min-width: 0; }
    .detail-bar {
      position: sticky; top: 0; z-index: 11; display: flex; gap: .5rem; justify-content: space-between; align-items: center;
      padding: .9rem 1.5rem; background: var(--surface);
      border-bottom: 1px solid var(--line);
    }
    .detail-bar .button { padding-inline: .75rem; }
    .detail-bar .actions { justify-content: end; }
    .close .icon:first-child { display: none; }
    #detail article { padding: 1.5rem; }
    .portrait { margin-bottom: 1.25rem; border-radius: var(--radius); overflow: hidden; background: var(--sunken); }
    .portrait img { display: block; width: 100%; max-height: 26rem; object-fit: contain; }
    #detail h2 { font-size: 1.7rem; line-height: 1.2; letter-spacing: -.02em; overflow-wrap: anywhere; }
    #detail dl { margin-top: .5rem; }
    #detail article > dl > div {
      display: grid; grid-template-columns: minmax(6.5rem, 2fr) minmax(0, 5fr); gap: .15rem 1rem;
      padding: .65rem 0; border-top: 1px solid var(--line);
    }
    #detail article > dl > div.long { grid-template-columns: minmax(0, 1fr); }
    #detail article > dl dt { color: var(--muted); font-size: .925rem; overflow-wrap: anywhere; }
    #detail article > dl dd { white-space: pre-line; overflow-wrap: anywhere; }
    #detail dd.link a {
      display: block; overflow: hidden; text-overflow: ellipsis; white-space: nowrap;
    }
    #detail[aria-busy=true] > * { opacity: .45; }
    #detail[aria-busy=true]:empty::before {
      content: "Loading…"; display: block; padding: 4rem 1.5rem; text-align: center; color: var(--muted);
    }
    @media (min-width: 43.75rem) {
      .has-detail main { grid-template-columns: minmax(0, 1fr) minmax(20rem, 44%); }
      #detail { position: sticky; top: 0; height: 100dvh; overflow: auto; }
    }
    @media (min-width: 68.75rem) {
      .has-detail main { grid-template-columns: minmax(0, 1fr) clamp(24rem, 32vw, 32rem); }
    }
    @media (max-width: 68.74rem) {
      .close span { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
    }
    @media (max-width: 43.74rem) {
      #detail { border: 0; min-height: 100dvh; }
      .detail-bar, #detail article { padding-inline: 1rem; }
      .close .icon:first-child { display: block; }
      .close .icon:nth-child(2) { display: none; }
    }
    @media print { .side, .search, .detail-bar, .more, .toast { display: none !important; } }
    """
}

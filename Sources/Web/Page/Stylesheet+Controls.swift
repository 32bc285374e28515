extension Stylesheet {
  /// Buttons, the search field, badges, messages.
  static let controls = """
    .button {
      display: inline-flex; align-items: center; justify-content: center; gap: .45rem;
      min-height: 2.5rem; padding: .35rem .9rem; border: 1px solid var(--line); border-radius: 10px;
      background: var(--surface); color: var(--text); font: inherit; font-size: .925rem;
      font-weight: 550; text-decoration: none; cursor: pointer; white-space: nowrap;
    }
    .button .icon { width: 1.1rem; height: 1.1rem; color: var(--muted); }
    .button:hover { border-color: var(--strong-line); }
    .button.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
    .button.primary .icon { color: inherit; }
    .button.danger, .button.danger .icon { color: var(--danger); }
    .button:disabled { opacity: .6; cursor: default; }
    .actions { display: flex; flex-wrap: wrap; gap: .5rem; }

    .heading { display: flex; flex-wrap: wrap; align-items: flex-start; gap: .75rem 1.5rem; }
    .heading > div:first-child { flex: 1 1 10rem; min-width: 0; }
    h1 { font-size: clamp(1.6rem, 1.2rem + 1.6vw, 2.2rem); line-height: 1.15; letter-spacing: -.022em; }
    .summary { margin-top: .3rem; color: var(--muted); }
    .download { display: grid; gap: .35rem; justify-items: end; font-size: .875rem; color: var(--muted); }
    .download-state { display: flex; align-items: center; gap: .6rem; }
    progress { width: 8rem; height: .5rem; accent-color: var(--accent); }

    .search {
      position: sticky; top: 0; z-index: 10; margin: 0 -.5rem; padding: 1rem .5rem .75rem;
      background: var(--background);
    }
    .field {
      display: flex; align-items: center; gap: .6rem; height: 3.1rem; padding: 0 .35rem 0 1rem;
      border: 1px solid var(--strong-line); border-radius: var(--radius); background: var(--surface);
      box-shadow: var(--shadow);
    }
    .field:focus-within { outline: 3px solid var(--accent); outline-offset: -1px; }
    .field .icon { color: var(--muted); }
    .field input {
      flex: 1; min-width: 0; height: 100%; border: 0; padding: 0; background: none; color: inherit;
      font: inherit; font-size: 1.05rem; outline: none;
    }
    .field input::placeholder { color: var(--muted); opacity: 1; }
    .field kbd { margin-right: .6rem; }
    .field:focus-within kbd, .js .field .button { display: none; }
    .search.loading::after {
      content: ""; position: absolute; inset: auto 1.5rem .7rem; height: 2px;
      background: linear-gradient(90deg, transparent, var(--accent), transparent) 0 / 40% 100% no-repeat;
    }
    @media (prefers-reduced-motion: no-preference) {
      .search.loading::after { animation: slide 1.1s infinite linear; }
    }
    @keyframes slide { from { background-position: -60% 0; } to { background-position: 160% 0; } }

    .bar {
      display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between;
      gap: .35rem 1rem; min-height: 2.25rem; margin: .35rem 0 .75rem;
    }
    .count, .id { color: var(--muted); overflow-wrap: anywhere; min-width: 0; }
    .badge { position: relative; font-size: .875rem; margin-left: auto; }
    .badge summary {
      display: flex; align-items: center; gap: .5rem; min-height: 2rem; padding: .15rem .8rem;
      border: 1px solid var(--line); border-radius: 99px; background: var(--surface);
      color: var(--tone); font-weight: 600; cursor: pointer; list-style: none;
    }
    .badge summary::-webkit-details-marker { display: none; }
    .badge summary:hover { border-color: currentColor; }
    .badge summary:focus-visible { border-radius: 99px; }
    .badge summary::before {
      content: ""; width: .6rem; height: .6rem; border-radius: 50%; border: 2px solid currentColor;
    }
    .badge.live summary::before { background: currentColor; }
    .badge.bundled summary::before { border-radius: 2px; }
    .badge.offline summary::before { border-style: dotted; }
    .badge.live { --tone: var(--live); }
    .badge.cached { --tone: var(--cached); }
    .badge.bundled { --tone: var(--bundled); }
    .badge.offline { --tone: var(--offline); }
    .panel {
      position: absolute; right: 0; z-index: 12; width: min(21rem, 82vw); margin-top: .4rem;
      padding: 1rem; border: 1px solid var(--line); border-radius: var(--radius);
      background: var(--surface); box-shadow: var(--shadow); overflow-wrap: anywhere;
    }
    .panel > * + * { margin-top: .7rem; }
    .panel dl > div { display: flex; gap: .6rem; }
    .panel dt { flex: 0 0 4.2rem; color: var(--muted); }
    .note { margin: 0 0 1rem; color: var(--muted); font-size: .925rem; overflow-wrap: anywhere; }
    .note.failed { display: flex; align-items: center; gap: .5rem; color: var(--danger); }
    .notice, .toast:not(:empty) {
      display: flex; flex-wrap: wrap; align-items: center; gap: .5rem 1rem; padding: .7rem .7rem .7rem 1.1rem;
      border: 1px solid var(--line); border-radius: var(--radius); background: var(--surface);
    }
    .notice { margin: .5rem 0; }
    .notice p, .toast p { flex: 1 1 10rem; overflow-wrap: anywhere; }
    .toast:not(:empty) {
      position: fixed; z-index: 20; bottom: 1.25rem; left: 50%; width: max-content;
      max-width: min(36rem, calc(100vw - 2rem)); translate: -50% 0; border-color: var(--strong-line);
      box-shadow: var(--shadow);
    }
    .state {
      display: grid; justify-items: center; gap: .6rem; padding: clamp(2rem, 9vh, 6rem) 1rem;
      text-align: center;
    }
    .state > .icon {
      width: 3.5rem; height: 3.5rem; padding: .85rem; border-radius: 50%; background: var(--sunken);
      color: var(--muted);
    }
    .state h1, .state h2 { font-size: 1.35rem; letter-spacing: -.01em; overflow-wrap: anywhere; }
    .state p { max-width: 34rem; color: var(--muted); overflow-wrap: anywhere; }
    .state .actions { justify-content: center; margin-top: .6rem; }
    .examples { display: flex; flex-wrap: wrap; gap: .5rem; justify-content: center; }
    .examples a {
      display: block; padding: .35rem .9rem; border: 1px solid var(--line); border-radius: 99px;
      background: var(--surface); text-decoration: none;
    }

    """
}

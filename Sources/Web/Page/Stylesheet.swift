/// The look of the pages.
enum Stylesheet {
  static let text = base + controls + list + detail

  private static let base = """
    :root {
      color-scheme: light dark;
      --background: #f6f6f3;
      --surface: #ffffff;
      --sunken: #ecece7;
      --line: #deded8;
      --strong-line: #86888f;
      --text: #1b1d22;
      --muted: #585c66;
      --accent: #3646c0;
      --accent-soft: #e6e9fb;
      --on-accent: #ffffff;
      --danger: #ab2330;
      --live: #16794a;
      --cached: #2b62b5;
      --bundled: #8a5a00;
      --offline: #5d606a;
      --shadow: 0 1px 2px rgb(20 22 30 / .06), 0 6px 20px rgb(20 22 30 / .07);
      --radius: 14px;
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --background: #121317;
        --surface: #1b1d23;
        --sunken: #24272f;
        --line: #2f333d;
        --strong-line: #7c8290;
        --text: #eceef3;
        --muted: #a5abb8;
        --accent: #a9b4ff;
        --accent-soft: #282d4d;
        --on-accent: #14173a;
        --danger: #ff9a9f;
        --live: #6fd3a0;
        --cached: #8fbcff;
        --bundled: #f0c061;
        --offline: #b3b8c4;
        --shadow: 0 1px 2px rgb(0 0 0 / .4), 0 8px 24px rgb(0 0 0 / .35);
      }
    }
    * { box-sizing: border-box; }
    [hidden] { display: none !important; }
    html { scroll-padding-top: 6rem; -webkit-text-size-adjust: 100%; }
    body {
      margin: 0;
      min-height: 100dvh;
      display: grid;
      grid-template-columns: 15rem minmax(0, 1fr);
      background: var(--background);
      color: var(--text);
      font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
    }
    h1, h2, p, ol, ul, dl, dd { margin: 0; padding: 0; }
    ol, ul { list-style: none; }
    a { color: var(--accent); text-underline-offset: .2em; }
    :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 8px; }
    main:focus-visible, h2:focus-visible { outline: none; }
    .visually-hidden {
      position: absolute; width: 1px; height: 1px; overflow: hidden;
      clip-path: inset(50%); white-space: nowrap;
    }
    .skip {
      position: fixed; inset: .75rem auto auto .75rem; z-index: 30; padding: .6rem 1rem;
      border-radius: 10px; background: var(--accent); color: var(--on-accent);
      transform: translateY(-250%);
    }
    .skip:focus { transform: none; }
    .icon {
      width: 1.25rem; height: 1.25rem; flex: none; fill: none; stroke: currentColor;
      stroke-width: 1.8; stroke-linecap: round; stroke-linejoin: round;
    }

    .side {
      position: sticky; top: 0; height: 100dvh; overflow: auto; display: flex;
      flex-direction: column; gap: 1.25rem; padding: 1.5rem 1rem; border-right: 1px solid var(--line);
    }
    .brand {
      display: flex; align-items: center; gap: .65rem; padding: 0 .6rem; color: var(--text);
      font-weight: 650; font-size: 1.05rem; letter-spacing: -.01em; text-decoration: none;
    }
    .brand-mark {
      width: 1.5rem; height: 1.5rem; border-radius: 7px; background:
      radial-gradient(circle at 35% 35%, var(--on-accent) 0 16%, transparent 17%),
      radial-gradient(circle at 68% 68%, var(--on-accent) 0 10%, transparent 11%), var(--accent);
    }
    nav ul { display: grid; gap: 2px; }
    nav li:first-child { margin-bottom: .6rem; }
    nav a {
      display: flex; align-items: center; gap: .7rem; min-height: 2.6rem; padding: .3rem .6rem;
      border-radius: 10px; color: var(--text); text-decoration: none;
    }
    nav a span:last-child { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    nav a:hover { background: var(--sunken); }
    nav a[aria-current] { background: var(--accent-soft); color: var(--accent); font-weight: 600; }
    nav .icon { width: 1.65rem; padding: 0 .2rem; }
    nav .initial {
      flex: none; width: 1.65rem; height: 1.65rem; border-radius: 8px; display: grid;
      place-items: center; background: var(--sunken); font-size: .8rem; font-weight: 650;
    }
    nav a[aria-current] .initial { background: var(--accent); color: var(--on-accent); }
    .shortcuts { margin-top: auto; padding: 0 .6rem; font-size: .85rem; color: var(--muted); }
    .shortcuts label { display: flex; align-items: center; gap: .6rem; min-height: 1.75rem; }
    input[type=checkbox] { width: 1.1rem; height: 1.1rem; margin: 0; accent-color: var(--accent); }
    kbd {
      padding: 0 .4rem; border: 1px solid var(--line); border-bottom-width: 2px; border-radius: 6px;
      background: var(--surface); color: var(--muted); font: 600 .8rem/1.35rem ui-monospace, monospace;
    }
    main { display: grid; grid-template-columns: minmax(0, 1fr); outline-offset: -3px; }
    .column { container-type: inline-size; padding: 1.75rem clamp(1rem, 3vw, 2.5rem) 4rem; }

    @media (max-width: 68.74rem) {
      body { grid-template-columns: minmax(0, 1fr); grid-template-rows: auto 1fr; }
      .side {
        position: static; height: auto; flex-direction: row; align-items: center; gap: .5rem;
        padding: .5rem clamp(1rem, 3vw, 2.5rem); border: 0; border-bottom: 1px solid var(--line);
        overflow: hidden;
      }
      .brand { padding: 0; margin-right: .5rem; }
      .shortcuts { display: none; }
      nav { min-width: 0; overflow-x: auto; scrollbar-width: none; padding: 3px; }
      nav ul { display: flex; }
      nav li:first-child { margin: 0; }
      nav a { white-space: nowrap; }
      nav .initial { display: none; }
    }
    @media (max-width: 43.74rem) {
      .brand { font-size: 0; gap: 0; }
      .column { padding-top: 1.25rem; }
      .has-detail .side, .has-detail .column > :not(.heading), .has-detail .heading :not(:has(h1), h1) {
        display: none;
      }
      /* The heading of the page stays for those who do not see it. */
      .has-detail .column { position: absolute; padding: 0; }
      .has-detail h1 { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
    }
    @media (prefers-reduced-motion: no-preference) {
      a, button, .record, .skip { transition: background-color .15s, border-color .15s, transform .15s; }
      .record .picture img { transition: transform .3s; }
      .gallery .record:hover img { transform: scale(1.03); }
    }
    @media (forced-colors: active) {
      .record[aria-current], nav a[aria-current] { outline: 2px solid Highlight; }
    }

    """
}

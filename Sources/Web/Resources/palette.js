/* The palette, which Ctrl-K or ⌘K opens: pages, actions, earlier searches and cached records, by typing.

   It is a combo box with a list box (WAI-ARIA), as the completion of SQL is. */

/* The searches that were used, the latest first; this browser keeps them. */
const searches = () => kept("searches").filter(text => typeof text === "string" && text);

function remember(text) {
  const search = text.trim();
  const others = searches().filter(other => other.toLowerCase() !== search.toLowerCase());
  keep("searches", [search, ...others].filter(Boolean).slice(0, 8));
}

const options = make("ul", { id: "palette-options", role: "listbox", "aria-label": "Results" });
const wish = make("input", {
  type: "search", role: "combobox", "aria-label": "Go to a page, a record or an action",
  "aria-expanded": "true", "aria-controls": options.id, "aria-autocomplete": "list",
  placeholder: "Go to a page, a record or an action…", autocomplete: "off", spellcheck: "false", dir: "auto",
});
const palette = make("dialog", { id: "palette", "aria-label": "Go to", closedby: "any" }, wish, options);
document.body.append(palette);
let chosen = 0, finding, waiting, isAwaited;

const searchAddress = text => `/search?${new URLSearchParams({ query: text })}`;

/* The pages and actions, each with what it is and what it does: it leads to an address, or runs. */
function commands() {
  const pages = $$(".side nav a").map(link => ({
    name: $("span:not(.initial)", link).textContent, about: link.pathname === "/search" ? "All sources" : "Page", address: link.href,
  }));
  const tools = $$(".tools > .filter, .views a, .heading a.button, .actions > form button, thead a, .sort .panel a, .menu [download]").map(link => ({
    name: `${link.download ? "Download " : link.closest("thead, .sort li") ? "Sort by " : ""}${link.ariaLabel ?? link.textContent.trim()}`, about: heading, run: () => link.click(),
  }));
  const buttons = $$(".sync:not([hidden]) button").map(button => ({
    name: button.textContent.trim().replace(/\s+/g, " "), about: "Action", run: () => button.click(),
  }));
  // Where a page has no button for it, the bar of sources shows the progress.
  const others = $$("nav [data-sync]").filter(({ dataset }) => !syncBoxes(dataset).length).map(link => {
    const { source, sync } = link.dataset;
    const name = `${runs(syncs.get(source)) ? "Stop" : sync.includes("?") ? "Load more" : "Sync"} ${$("span:not(.initial)", link).textContent}`;
    return { name, about: "Action", run: () => changeSync(source, sync.split("?")[0], sync) };
  });
  return [{ name: "Home", about: "Page", address: "/" }, ...pages, ...tools, ...buttons, ...others];
}

const earlier = () => searches().map(name => ({ name, about: "Earlier search", address: searchAddress(name) }));

/* Shows results with the first one chosen, or the one that is chosen already. */
function show(found, isSame = false) {
  const before = isSame && options.children[chosen]?.dataset.key;
  options.replaceChildren(...found.map(({ name, about, address, run }, index) => {
    const go = () => { palette.close(); if (run) run(); else location.assign(address); };
    const point = () => { if (chosen !== index) choose(index); };
    return make("li", { id: `palette-${index}`, role: "option", "data-key": run ? name : address, onclick: go, onpointermove: point },
      make("span", { dir: "auto" }, name), make("small", {}, about));
  }));
  choose(Math.max(0, [...options.children].findIndex(({ dataset }) => dataset.key === before)));
}

function choose(index) { chosen = chooseOption(options, wish, index); }

/* True if a word has all typed letters but one, in their order, and begins with the first: “ctry”, “coutries”. */
function isNear(typed, word) {
  const has = letters => [...word].reduce((at, letter) => at + (letter === letters[at]), 0) === letters.length;
  return typed.length > 3 && typed[0] === word[0] && [...typed].some((_, at) => at && has(typed.slice(0, at) + typed.slice(at + 1)));
}

/* Shows what fits the words, names before all else, and the cached records as they arrive. Whatever is chosen stays so. */
function find() {
  clearTimeout(waiting);
  finding?.abort();
  isAwaited = false;
  const text = wish.value.trim();
  const words = folded(text).text.split(/\s+/);
  const fits = text => words.every(word => folded(text).text.includes(word));
  const ranked = items => items.toSorted((a, b) => fits(b.name) - fits(a.name));
  if (!text) return show([...earlier(), ...commands()]);
  const search = { name: `Search all sources for “${text}”`, about: "Search", run: () => { remember(text); location.assign(searchAddress(text)); } };
  const known = ranked([...commands(), ...earlier()].filter(({ name, about }) => fits(`${name} ${about}`))).slice(0, 8);
  show([...known, search]);
  waiting = setTimeout(async () => {
    const controller = finding = new AbortController();
    try {
      const results = await part(`${searchAddress(text)}&cache=offline`, "list", controller.signal);
      const records = ranked($$(".group", results).flatMap(group => ranked($$(".record", group).map(record => {
        const address = new URL(record.href);
        // Only finding it is for local data alone.
        address.searchParams.delete("cache");
        const name = $(".name", record)?.textContent ?? record.textContent.trim();
        const source = group.getAttribute("aria-label");
        const fact = !fits(name) && $$(".fact", record).map(fact => fact.textContent.trim()).find(fits);
        return { name, about: fact ? `${source} · ${fact}` : source, address };
      })).slice(0, 5)));
      const near = known.length ? [] : commands().filter(({ name }) => words.every(word => folded(name).text.split(" ").some(other => isNear(word, other)))).slice(0, 5);
      // Records come before the search, which stays chosen if the words are in none of their names.
      show([...known, ...records, search, ...near], known.length || !fits(records[0]?.name ?? ""));
      announce(`${options.children.length} results`);
    } catch {
      // The search itself says what is wrong.
    }
    if (controller.signal.aborted) return;
    waiting = undefined;
    if (isAwaited && palette.open) options.children[chosen]?.click();
  }, 150);
}

function openPalette() { wish.value = ""; if (!palette.open) palette.showModal(); find(); wish.focus(); }

$("#go-to")?.addEventListener("click", openPalette);
if ($("#go-to")) $("#go-to").parentElement.hidden = false;
/* The strip of sources ends where a name begins at its other end, too, so that none is cut beside SQL; once the button has its room. */
function fitStrip() {
  const [nav, names] = [$("nav"), $$("nav li:has([data-source])")];
  if (names.length) names.at(-1).style.marginRight = "";
  const [edge, room] = nav ? [nav.firstElementChild.offsetLeft - 3 + parseFloat(getComputedStyle(nav).scrollPaddingLeft), nav.scrollWidth - nav.clientWidth] : [];
  const end = room > 0 && names.map(each => each.offsetLeft - edge).find(start => start >= room);
  if (end) names.at(-1).style.marginRight = `${end - room}px`;
}
addEventListener("resize", fitStrip);
fitStrip();
for (const link of $$("nav [aria-current]")) link.scrollIntoView({ block: "nearest", inline: "center" });
wish.addEventListener("input", find);
wish.addEventListener("keydown", event => {
  if (event.isComposing) return;
  const actions = {
    ArrowDown: () => choose(chosen + 1), ArrowUp: () => choose(chosen - 1),
    Enter: () => {
      // What is found decides what Enter does; pressed again, it does not wait.
      if (waiting && options.children.length === 1 && !isAwaited) isAwaited = true;
      else options.children[chosen]?.click();
    },
    Escape: () => palette.close(),
  };
  if (!(event.key in actions)) return;
  event.preventDefault();
  actions[event.key]();
});
document.addEventListener("keydown", event => {
  if (event.key.toLowerCase() !== "k" || event.shiftKey || event.altKey || event.ctrlKey === event.metaKey) return;
  if ($("dialog[open]:not(#palette)")) return;
  event.preventDefault();
  openPalette();
});

/* A search is worth remembering once it was sent, or has led to a record. */
form?.addEventListener("submit", () => remember(field.value));
document.addEventListener("click", event => { if (field && event.target.closest(".record")) remember(field.value); });

const examples = $(".examples");
if (examples && searches().length) {
  examples.before(
    make("p", {}, "Searched before:"),
    make("ul", { class: "examples" }, ...searches().map(text => (
      make("li", {}, make("a", { href: searchAddress(text), dir: "auto" }, text))))),
    make("p", {}, "Examples:"));
}

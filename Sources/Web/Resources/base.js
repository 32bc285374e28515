/* What the scripts of all pages begin with. */

const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];

/* Returns an element with attributes and children; `on…` attributes are listeners. */
function make(name, attributes = {}, ...children) {
  const drawn = ["svg", "path", "rect", "circle", "text", "title", "g", "line", "image"].includes(name);
  const element = drawn
    ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

function announce(text) { $("#announcer").textContent = text; }

function sentence(text) {
  const words = /^(?:localhost\b|\S*[.:]\S)/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$|^$/.test(words) ? words : `${words}.`;
}

/* Browsers can be told to keep nothing. */
function attempt(run) { try { return run(); } catch { return undefined; } }

/* A list that this browser keeps under a name; empty if there is none. */
function kept(name) {
  const list = attempt(() => JSON.parse(localStorage.getItem(name)));
  return Array.isArray(list) ? list : [];
}
const keep = (name, list) => attempt(() => { localStorage.setItem(name, JSON.stringify(list)); return true; });

/* Chooses an option of the list box of a field, round and round; returns its number. */
function chooseOption(box, field, index) {
  const options = [...box.children];
  const chosen = options.at(index % options.length);
  for (const option of options) option.setAttribute("aria-selected", String(option === chosen));
  if (chosen) field.setAttribute("aria-activedescendant", chosen.id); else field.removeAttribute("aria-activedescendant");
  chosen?.scrollIntoView({ block: "nearest" });
  return Math.max(0, options.indexOf(chosen));
}

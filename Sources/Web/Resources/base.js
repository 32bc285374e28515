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

/* Browsers can be told to keep nothing. */
function attempt(run) { try { return run(); } catch { return undefined; } }

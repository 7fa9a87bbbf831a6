// Elements. Whatever comes from outside is put in as text, never as HTML. What is there is kept and changed, not made anew, so
// that neither the keyboard's place nor a selection is lost.

export const $ = (id) => document.getElementById(id);

/// An element with a class and a text.
export function make(tag, { text = "", of = "" } = {}) {
  const made = document.createElement(tag);
  if (text) made.textContent = text;
  if (of) made.className = of;
  return made;
}

/// A copy of what a template holds.
export const copy = (template) => $(template).content.firstElementChild.cloneNode(true);

/// Changes a text only where it differs.
export function put(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/// Makes the children of `list` those of `items`, in their order, and keeps what is there.
export function reconcile(list, items, key, build, change) {
  const known = new Map([...list.children].map((child) => [child.dataset.key, child]));
  let at = list.firstElementChild;
  for (const item of items) {
    const id = key(item);
    let child = known.get(id);
    if (child) known.delete(id);
    else {
      child = build(item);
      child.dataset.key = id;
    }
    change(child, item);
    if (child === at) at = at.nextElementSibling;
    else list.insertBefore(child, at);
  }
  for (const child of known.values()) child.remove();
}

/// Terms and what they are, in a list of definitions; a third text is set small.
export function define(list, pairs) {
  const build = ([term]) => {
    const pair = make("div");
    pair.append(make("dt", { text: term }), make("dd"));
    return pair;
  };
  reconcile(list, pairs, ([term]) => term, build, (pair, [, text, small = ""]) => {
    const said = pair.lastElementChild;
    if (said.dataset.said === `${text}\n${small}`) return;
    said.dataset.said = `${text}\n${small}`;
    said.replaceChildren(text);
    if (small) said.append(make("small", { text: small }));
  });
}

export function setProgress(bar, perMille, text, is) {
  bar.dataset.is = is;
  bar.setAttribute("aria-valuenow", Math.floor(perMille / 10));
  bar.setAttribute("aria-valuetext", text);
  bar.firstElementChild.style.width = `${perMille / 10}%`;
}

export function setState(chip, state) {
  chip.dataset.is = state;
  put(chip, state);
}

/// Tells those who do not see the page.
export function say(text) {
  $("said").textContent = text;
}

/// Says what could not be done, until that is read.
export function complain(text) {
  put($("trouble-text"), text);
  $("trouble").hidden = false;
}

export function calm() {
  $("trouble").hidden = true;
}

$("trouble-close").addEventListener("click", calm);

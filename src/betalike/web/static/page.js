// The page works without this script; with it, forms answer at once, jobs show how far they are, and the slider speaks.
"use strict";

const every = 700; // milliseconds between questions about a job
const leaving = 10000; // milliseconds that the next page may take to answer; a file to take away leaves this page here

let isPressed = false; // a part that is replaced while a button is pressed would lose the click
document.addEventListener("pointerdown", () => { isPressed = true; });
document.addEventListener("pointerup", () => window.setTimeout(() => { isPressed = false; }));
document.addEventListener("pointercancel", () => { isPressed = false; });

let left = -leaving; // when a link was followed or a form sent
window.addEventListener("beforeunload", () => { left = Date.now(); });

async function load(address, options) {
  const answer = await fetch(address, { credentials: "same-origin", ...options });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  page.isStale = answer.status === 409; // another tab was faster
  return page;
}

function replace(selector, page) {
  const old = document.querySelector(selector);
  const fresh = page.querySelector(selector);
  if (old && fresh) {
    const focused = document.activeElement && document.activeElement.id;
    old.replaceWith(fresh);
    prepare(fresh);
    const again = focused && document.getElementById(focused);
    if (again) again.focus({ preventScroll: true });
  }
}

function poll(part) {
  window.setTimeout(async () => {
    if (!document.contains(part)) return;
    try {
      const page = await load(part.dataset.poll);
      const fresh = page.getElementById(part.id);
      if (!fresh) return;
      if (isPressed || Date.now() - left < leaving) {
        poll(part); // a new page, or a part of one, would undo the click
        return;
      }
      if (fresh.dataset.next) {
        window.location.assign(fresh.dataset.next);
        return;
      }
      if (fresh.matches(".job") && !fresh.dataset.poll) {
        window.location.reload(); // it ended without a next page: show what can be done now
        return;
      }
      if (fresh.isEqualNode(part)) {
        poll(part);
        return;
      }
      replace(`#${part.id}`, page);
    } catch {
      poll(part); // the server may be busy, or gone for a moment
    }
  }, every);
}

function sent(form, extra) {
  const fields = new URLSearchParams(new FormData(form));
  for (const [name, value] of Object.entries(extra)) fields.set(name, value);
  return load(form.action, { method: "POST", body: fields });
}

// Save every change at once, one after the other: each is sent with the version that the one before made. A form that is
// sent on meanwhile waits for them.
function live(form) {
  let isSaving = false;
  let isChanged = false;
  let leaving = null;
  const save = async () => {
    isSaving = true;
    let page = null;
    try {
      do {
        isChanged = false;
        page = await sent(form, { go: "stay" });
        const version = page.querySelector("form[data-live] [name=version]");
        if (page.isStale || !version) break;
        form.elements.version.value = version.value;
        while (isPressed) await new Promise((go) => window.setTimeout(go, 20));
      } while (isChanged);
    } catch {
      page = null; // the server may be gone; the next change, or the button, sends everything again
    }
    isSaving = false;
    if (leaving && !(page && page.isStale)) form.requestSubmit(leaving);
    else if (page && document.contains(form)) replace(form.dataset.live, page);
  };
  form.addEventListener("submit", (event) => {
    if (!isSaving) return;
    event.preventDefault();
    leaving = event.submitter;
  });
  form.addEventListener("change", () => {
    isChanged = true;
    if (!isSaving && !leaving) save();
  });
}

function preview(form) {
  let timer = 0;
  let latest = 0;
  form.addEventListener("input", () => {
    const mine = ++latest;
    window.clearTimeout(timer);
    timer = window.setTimeout(async () => {
      const page = await sent(form, { do: "preview" });
      if (mine !== latest) return;
      const target = document.querySelector(form.dataset.preview);
      const fresh = page.querySelector(form.dataset.preview);
      if (target && fresh) target.replaceChildren(...fresh.childNodes);
    }, 300);
  });
}

// Show where the chosen beta is in the curve, which has a logarithmic axis.
function mark() {
  const number = document.getElementById("beta");
  const curve = document.querySelector("#curve svg");
  const line = curve && curve.querySelector(".chosen");
  const beta = number ? Number(number.value) : 0;
  if (!line || !(beta > 0)) return;
  const { least, most, left, right } = curve.dataset;
  const share = Math.log(Math.min(Math.max(beta, least), most) / least) / Math.log(most / least);
  const x = Number(left) + (right - left) * share;
  line.setAttribute("x1", x);
  line.setAttribute("x2", x);
}

function slide(slider) {
  const number = document.querySelector(slider.dataset.number);
  let latest = 0;
  const show = async (beta) => {
    const mine = ++latest;
    const page = await load(`${slider.dataset.meaning}?beta=${encodeURIComponent(beta)}`);
    if (mine === latest) replace("#meaning", page);
  };
  slider.addEventListener("input", () => {
    number.value = slider.value;
    mark();
    show(slider.value);
  });
  number.addEventListener("input", () => {
    slider.value = number.value;
    mark();
    show(number.value);
  });
  const changed = [number, slider].find((field) => field.value !== field.defaultValue); // before this script was there
  if (changed) changed.dispatchEvent(new Event("input", { bubbles: true }));
}

function prepare(part) {
  const all = (selector) => [...(part.matches(selector) ? [part] : []), ...part.querySelectorAll(selector)];
  all("[data-poll]").forEach(poll);
  all("form[data-live]").forEach(live);
  all("form[data-preview]").forEach(preview);
  all("[data-meaning]").forEach(slide);
  all("#curve").forEach(mark);
  all("form[data-confirm]").forEach((form) =>
    form.addEventListener("submit", (event) => {
      if (!window.confirm(form.dataset.confirm)) event.preventDefault();
    }),
  );
  all("input[data-most]").forEach((input) =>
    input.addEventListener("change", () => {
      const file = input.files[0];
      const isLarge = file && file.size > Number(input.dataset.most);
      input.setCustomValidity(isLarge ? "This file is larger than the limit for uploads. Open it by its path." : "");
      input.reportValidity();
    }),
  );
}

prepare(document.body);

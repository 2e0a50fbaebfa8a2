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

const stopped = "betalike has stopped, or does not answer. Start it again, and open the address that it shows.";
const shortly = 3000; // milliseconds that good news stays
let timer = 0;

// Write a line at the bottom of the window, which is in view wherever the page is scrolled to.
function say(words, kind) {
  const line = document.getElementById("said");
  window.clearTimeout(timer);
  line.textContent = words;
  line.className = kind;
  if (kind === "good") timer = window.setTimeout(() => say("", ""), shortly);
}

function sayStopped(words) {
  if (Date.now() - left >= leaving) say(`${words}${stopped}`, "bad"); // leaving a page ends its requests too
}

async function load(address, options) {
  const answer = await fetch(address, { credentials: "same-origin", ...options });
  const line = document.getElementById("said");
  if (line.textContent === stopped) say("", "");
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  page.isRefused = !answer.ok;
  return page;
}

function replace(selector, page) {
  const old = document.querySelector(selector);
  const fresh = page.querySelector(selector);
  if (!old || !fresh) return;
  const focused = document.activeElement;
  const { id, selectionStart, selectionEnd } = focused || {};
  const [opened, folded] = [old, fresh].map((part) => [...part.querySelectorAll("details")]);
  if (opened.length === folded.length) opened.forEach((details, place) => { folded[place].open = details.open; });
  old.replaceWith(fresh);
  prepare(fresh);
  const again = id && !document.contains(focused) && document.getElementById(id);
  if (!again) return;
  again.focus({ preventScroll: true });
  if (typeof selectionStart === "number") again.setSelectionRange(selectionStart, selectionEnd);
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
      sayStopped("");
      poll(part); // it may be gone for a moment
    }
  }, every);
}

const most = 60000; // characters of a form that a browser still sends for a page that is left

function sent(form, extra) {
  const fields = new URLSearchParams(new FormData(form));
  for (const [name, value] of Object.entries(extra)) fields.set(name, value);
  return load(form.action, { method: "POST", body: fields, keepalive: fields.toString().length < most });
}

const pause = (milliseconds) => new Promise((go) => { window.setTimeout(go, milliseconds); });
const calm = 200; // milliseconds without a change before a form is saved, so that a held key is one change

let saving = null; // what to do once the form is saved that is being saved; what leads away waits for it

function hold(event, go) {
  if (!saving) return;
  event.preventDefault();
  saving.go = go;
}

document.addEventListener("submit", (event) => hold(event, () => event.target.requestSubmit(event.submitter)), true);
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  const isHere = link && !(event.ctrlKey || event.metaKey || event.shiftKey || link.target);
  if (isHere) hold(event, () => window.location.assign(link.href));
});

// Return whether an answer says that a form was saved, and say so; every form of this page then has the new version.
function isSaved(page) {
  const version = page.querySelector("form[data-live] [name=version]");
  const problem = page.querySelector(".problem");
  if (page.isRefused) {
    say(`Not saved. ${(problem || page.body).textContent.trim()}`, "bad");
    return false;
  }
  if (version) document.querySelectorAll("[name=version]").forEach((field) => { field.value = version.value; });
  say(`Saved. ${problem ? problem.textContent.trim() : ""}`, problem ? "warn" : "good");
  return Boolean(version);
}

// Save every change at once, one after the other: each is sent with the version that the one before made.
function live(form) {
  let isChanged = false;
  let isTyping = false; // what is typed is a change when its field is left
  const save = async () => {
    saving = { go: null };
    let [page, isKept] = [null, false];
    try {
      do {
        for (; isChanged && !saving.go; await pause(calm)) isChanged = false;
        isChanged = false;
        const answer = await sent(form, { go: "stay" });
        page = answer.getElementById("page") ? answer : page;
        isKept = isSaved(answer);
        while (isPressed) await pause(20);
      } while (isChanged && isKept);
    } catch {
      isKept = false;
      sayStopped("Nothing was saved: ");
    }
    const { go } = saving;
    saving = null;
    if (go && isKept) go();
    else if (page && document.contains(form) && !(isKept && isTyping)) replace(form.dataset.live, page);
    else if (!page) form.reset(); // nothing looks done that is not
    mark();
  };
  const change = () => {
    [isChanged, isTyping] = [true, false];
    if (!saving) save();
  };
  form.addEventListener("input", () => { isTyping = true; });
  form.addEventListener("change", change);
  form.addEventListener("submit", (event) => {
    if (!event.submitter || event.submitter.value !== "stay") return;
    event.preventDefault();
    change();
  });
  window.addEventListener("pagehide", () => {
    if (document.contains(form) && (isTyping || isChanged)) sent(form, { go: "stay" }).catch(() => {});
  });
}

function preview(form) {
  let timer = 0;
  let latest = 0;
  form.addEventListener("input", () => {
    const mine = ++latest;
    window.clearTimeout(timer);
    timer = window.setTimeout(async () => {
      const page = await sent(form, { do: "preview" }).catch(() => sayStopped(""));
      if (!page || mine !== latest) return;
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
  const size = document.getElementById("k");
  let latest = 0;
  const show = async () => {
    const mine = ++latest;
    const typed = new URLSearchParams({ beta: number.value, k: size.value });
    const page = await load(`${slider.dataset.meaning}?${typed}`).catch(() => sayStopped(""));
    if (page && mine === latest) ["#meaning", "#size"].forEach((part) => replace(part, page));
  };
  size.addEventListener("input", show);
  slider.addEventListener("input", () => {
    number.value = slider.value;
    mark();
    show();
  });
  number.addEventListener("input", () => {
    slider.value = number.value;
    mark();
    show();
  });
  const changed = [number, slider, size].find((field) => field.value !== field.defaultValue); // before this script was there
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

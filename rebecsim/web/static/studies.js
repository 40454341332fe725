// Studies: the form and the text in step, and what a study says while it runs.
"use strict";

// --- the form ------------------------------------------------------------------------------------
// Each change is sent after the one before it has been answered, so none is lost.

let last = Promise.resolve();
const unsent = new Map(); // fields whose change has not been answered, and how often

function checkLater(changed, value, act = "") {
  unsent.set(changed, (unsent.get(changed) ?? 0) + 1);
  const answered = () => unsent.set(changed, unsent.get(changed) - 1);
  last = last
    .then(() => check(changed, value, act, answered))
    .catch(() => say("✗ The server does not answer.", false));
}

function typed(field) {
  return field.type === "checkbox" ? (field.checked ? field.value : "") : field.value;
}

// `act` is the name of a list that gets another table, or of a table that goes.
async function check(changed, value, act, answered) {
  const form = document.getElementById("study-form");
  if (!form) {
    return;
  }
  const text = form.elements.toml;
  const sent = text.value;
  const body = new URLSearchParams({ toml: sent });
  for (const name of ["builtin", "what", "over", "budget"]) {
    body.set(name, form.elements[name].value);
  }
  if (changed) {
    body.set("field", changed.dataset.field);
    body.set("value", value);
  }
  if (act) {
    body.set("act", act);
  }
  const answer = await fetch(form.dataset.check, { method: "POST", body }).finally(answered);
  if (!answer.ok) {
    say("✗ That cannot be checked: it is too long.", false);
    return;
  }
  const found = await answer.json();
  if ((changed || act) && text.value !== sent) {
    checkLater(changed, value, act); // the text was changed meanwhile: what it says now counts
    return;
  }
  if (changed || act) {
    text.value = found.text;
  }
  if (found.kind !== form.dataset.kind) {
    form.requestSubmit(document.getElementById("use-text")); // it has other fields
    return;
  }
  if (found.layout !== form.dataset.layout) {
    await layOut(form, found.layout, act, changed);
  }
  showFound(form, found, changed);
}

// Other fields, as the server lays them out; what is open, held and typed there stays.
async function layOut(form, layout, act, changed) {
  const body = new URLSearchParams({ toml: form.elements.toml.value, use: "text" });
  const answer = await fetch("/studies/form", { method: "POST", body });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const place = document.getElementById("options");
  const options = page.getElementById("options");
  for (const each of place.querySelectorAll("details[id]")) {
    options.querySelector(`[id="${CSS.escape(each.id)}"]`)?.toggleAttribute("open", each.open);
  }
  const held = place.contains(document.activeElement) ? document.activeElement : null;
  place.replaceChildren(...options.childNodes);
  form.dataset.layout = layout;
  const again = held && document.getElementById(held.id);
  if (again && again.matches("input, textarea")) {
    again.value = held.value;
  }
  if (act) {
    const place = whereItHappened(act);
    reveal(place);
    place?.focus();
  } else if (held) {
    (again ?? behind(changed))?.focus();
  }
}

// The field behind one that was changed: where Tab leads, if what it led to is no more.
function behind(changed) {
  const fields = [...document.querySelectorAll("#options [data-field]")];
  return fields[fields.findIndex((each) => each.id === changed?.id) + 1];
}

// The first field of the table that was added, or what adds another where one went.
function whereItHappened(act) {
  const list = document.getElementById(`g:${act}`)?.parentElement;
  const added = list?.querySelectorAll(":scope > .entry");
  const field = added?.[added.length - 1]?.querySelector("[data-field]");
  return field ?? document.getElementById(`a:${act.replace(/\[\d+\]$/, "")}`);
}

// Open what is folded around a place.
function reveal(place) {
  for (let each = place; each; each = each.parentElement?.closest("details")) {
    if (each.matches("details")) {
      each.open = true;
    }
  }
}

function showFound(form, found, changed) {
  for (const place of form.querySelectorAll(".problem[id]")) {
    place.textContent = (found.problems[place.id.slice(2)] ?? []).join("\n");
    if (place.textContent) {
      reveal(place);
    }
  }
  for (const field of form.querySelectorAll("[data-field]")) {
    const name = field.dataset.field;
    const problems = found.problems[name] ?? [];
    field.toggleAttribute("aria-invalid", problems.length > 0);
    const isHeld =
      field === document.activeElement ||
      unsent.get(field) > 0 ||
      (field === changed && problems.length > 0);
    if (isHeld) {
      continue;
    }
    if (field.type === "checkbox") {
      field.checked = found.values[name] !== "";
    } else {
      field.value = found.values[name];
    }
  }
  const general = document.getElementById("general");
  general.textContent = found.general.join("\n");
  general.hidden = !found.general.length;
  const isRight = found.said !== "";
  say(isRight ? `✓ ${found.said}` : "✗ Fix the fields marked below, then start the study.", isRight);
}

function say(text, isGood) {
  const place = document.getElementById("said");
  if (place) {
    place.textContent = text;
    place.className = isGood ? "good" : "bad";
  }
}

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("#study-form [data-act]");
  if (button) {
    event.preventDefault();
    checkLater(null, "", button.value);
  }
});
// Enter is for the field; it must not start the study.
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target.matches?.("#study-form input:is([data-field], [data-asked])")) {
    event.preventDefault();
    event.target.dispatchEvent(new Event("change", { bubbles: true }));
  }
});
// The text has what the fields say, and there may be very many of these.
document.addEventListener("formdata", (event) => {
  for (const name of [...event.formData.keys()].filter((each) => each.startsWith("f:"))) {
    event.formData.delete(name);
  }
});

let waiting = 0;

document.addEventListener("change", (event) => {
  if (event.target.closest?.("#study-form [data-field]")) {
    checkLater(event.target, typed(event.target));
  }
  if (event.target.matches?.("#study-form [data-asked]")) {
    checkLater(null, "");
  }
});
document.addEventListener("input", (event) => {
  if (event.target.matches?.("#study-form #toml")) {
    clearTimeout(waiting);
    waiting = setTimeout(() => checkLater(null, ""), 400);
  }
});

// --- a study that runs ---------------------------------------------------------------------------

const PARTS = ["controls", "status", "log", "figures"];
let stream = null;

function watchStudy() {
  const place = document.querySelector("[data-events]");
  if (stream && stream.place !== place) {
    stream.source.close();
    stream = null;
  }
  if (!place || stream) {
    return;
  }
  const source = new EventSource(place.dataset.events);
  stream = { place, source };
  for (const part of PARTS) {
    source.addEventListener(part, (event) => showPart(part, event.data));
  }
  source.addEventListener("end", () => source.close());
}

// The server has escaped what it sends.
function showPart(part, html) {
  const place = document.getElementById(`study-${part}`);
  if (!place || place.innerHTML === html) {
    return;
  }
  const held = place.contains(document.activeElement) ? document.activeElement.id : "";
  const opened = [...place.querySelectorAll("details[id][open]")].map((each) => each.id);
  place.innerHTML = html;
  for (const each of opened) {
    document.getElementById(each)?.setAttribute("open", "");
  }
  if (held) {
    (document.getElementById(held) ?? place.querySelector("button"))?.focus();
  }
  if (part === "log") {
    place.scrollTop = place.scrollHeight;
  }
}

document.addEventListener("DOMContentLoaded", watchStudy);
document.addEventListener("htmx:afterSettle", watchStudy);

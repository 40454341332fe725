// Studies: the form and the text in step, and what a study says while it runs.
"use strict";

// --- the form ------------------------------------------------------------------------------------
// Each change is sent after the one before it has been answered, so none is lost.

let last = Promise.resolve();
const unsent = new Map(); // fields whose change has not been answered, and how often

function checkLater(changed, value) {
  unsent.set(changed, (unsent.get(changed) ?? 0) + 1);
  const answered = () => unsent.set(changed, unsent.get(changed) - 1);
  last = last
    .then(() => check(changed, value, answered))
    .catch(() => say("✗ The server does not answer.", false));
}

function typed(field) {
  return field.type === "checkbox" ? (field.checked ? field.value : "") : field.value;
}

async function check(changed, value, answered) {
  const form = document.getElementById("study-form");
  if (!form) {
    return;
  }
  const text = form.elements.toml;
  const sent = text.value;
  const body = new URLSearchParams({ toml: sent, builtin: form.elements.builtin.value });
  if (changed) {
    body.set("field", changed.dataset.field);
    body.set("value", value);
  }
  const answer = await fetch(form.dataset.check, { method: "POST", body }).finally(answered);
  if (!answer.ok) {
    say("✗ That cannot be checked: it is too long.", false);
    return;
  }
  const found = await answer.json();
  if (changed && text.value !== sent) {
    checkLater(changed, value); // the text was changed meanwhile: what it says now counts
    return;
  }
  if (changed) {
    text.value = found.text;
  }
  if (found.kind !== form.dataset.kind) {
    form.requestSubmit(document.getElementById("use-text")); // it has other fields
    return;
  }
  showFound(form, found, changed);
}

function showFound(form, found, changed) {
  for (const field of form.querySelectorAll("[data-field]")) {
    const name = field.dataset.field;
    const problems = found.problems[name] ?? [];
    document.getElementById(`p:${name}`).textContent = problems.join("\n");
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
  say(isRight ? `✓ ${found.said}` : "✗ Something is to be mended first.", isRight);
}

function say(text, isGood) {
  const place = document.getElementById("said");
  if (place) {
    place.textContent = text;
    place.className = isGood ? "good" : "bad";
  }
}

let waiting = 0;

document.addEventListener("change", (event) => {
  if (event.target.closest?.("#study-form [data-field]")) {
    checkLater(event.target, typed(event.target));
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
  place.innerHTML = html;
  if (held) {
    (document.getElementById(held) ?? place.querySelector("button"))?.focus();
  }
  if (part === "log") {
    place.scrollTop = place.scrollHeight;
  }
}

document.addEventListener("DOMContentLoaded", watchStudy);
document.addEventListener("htmx:afterSettle", watchStudy);

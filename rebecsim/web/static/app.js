// Keys for what has a button or link, and the branches that this tab has been to.
"use strict";

const ARROWS = { ArrowLeft: "k", ArrowRight: "j" };
const MOST_BRANCHES = 30;

function isTyping(target) {
  return target.closest("input, textarea, select, [contenteditable], dialog[open]") !== null;
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || isTyping(event.target)) {
    return;
  }
  if (event.target.closest(".diagram") && event.key in ARROWS) {
    return; // the diagram is scrolled by these
  }
  if (event.key === "?") {
    document.getElementById("keys")?.showModal();
    return;
  }
  const key = ARROWS[event.key] ?? event.key;
  const found = document.querySelector(`[data-key="${CSS.escape(key)}"]`);
  if (found) {
    event.preventDefault();
    found.click();
  }
});

// --- branches ------------------------------------------------------------------------------------
// Runs that this tab has been to and that are no part of a longer one, as links.

function stored(model) {
  try {
    const found = JSON.parse(sessionStorage.getItem(`branches-${model}`) ?? "[]");
    return found.filter((each) => typeof each === "string" && /^[\d.]+$/.test(each));
  } catch {
    return [];
  }
}

function isBegin(short, long) {
  return long === short || long.startsWith(`${short}.`);
}

function showBranches() {
  const place = document.getElementById("branches");
  if (!place) {
    return;
  }
  const model = place.dataset.model;
  const here = location.pathname.split("/")[3] ?? "-";
  let runs = stored(model);
  if (here !== "-" && !runs.some((each) => isBegin(here, each))) {
    runs = [...runs.filter((each) => !isBegin(each, here)), here].slice(-MOST_BRANCHES);
    sessionStorage.setItem(`branches-${model}`, JSON.stringify(runs));
  }
  place.replaceChildren();
  if (runs.length < 2) {
    return;
  }
  const heading = document.createElement("h2");
  heading.textContent = "Ways you have been";
  const list = document.createElement("ul");
  list.className = "ways";
  for (const run of [...runs].sort()) {
    list.append(branchOf(run, here, model));
  }
  place.append(heading, list);
}

// A link to the end of a way, indented as far as it shares this one.
function branchOf(run, here, model) {
  const [steps, others] = [run.split("."), here === "-" ? [] : here.split(".")];
  let shared = 0;
  while (shared < steps.length && steps[shared] === others[shared]) {
    shared += 1;
  }
  const line = document.createElement("li");
  const link = document.createElement("a");
  link.href = `/x/${model}/${run}`;
  link.textContent = `${steps.length} steps`;
  const said = isBegin(here, run)
    ? " – this one"
    : shared
      ? ` – the same for ${shared}, then another way`
      : " – another way from the beginning";
  if (isBegin(here, run)) {
    link.setAttribute("aria-current", "true");
  }
  line.append(link, said);
  return line;
}

// Texts of the editor that this browser keeps and that are in no file.
function showTyped() {
  const place = document.getElementById("typed");
  const found = Object.keys(localStorage).filter((each) => /^rebecsim-text \/edit\?/.test(each));
  if (!place || !found.length) {
    return;
  }
  place.hidden = false;
  place.querySelector("ul").replaceChildren(...found.sort().map(typedOf));
}

function typedOf(key) {
  const line = document.createElement("li");
  const link = document.createElement("a");
  link.href = key.slice("rebecsim-text ".length);
  const asked = new URL(link.href).searchParams;
  link.textContent = asked.get("file") ?? `${asked.get("new")}.rebeca`;
  link.setAttribute("hx-boost", "false");
  line.append(link);
  return line;
}

function arrived() {
  showBranches();
  showTyped();
  const diagram = document.querySelector(".run .diagram");
  if (diagram) {
    diagram.scrollTop = diagram.scrollHeight;
  }
  const graph = document.querySelector(".graph"); // its first state is in the middle
  if (graph) {
    graph.scrollLeft = (graph.scrollWidth - graph.clientWidth) / 2;
  }
}

document.addEventListener("DOMContentLoaded", arrived);
document.addEventListener("htmx:afterSettle", (event) => {
  if (event.target === document.body || event.target.querySelector?.("#branches, .graph, #typed")) {
    arrived();
  }
});
// A form that is refused is shown with what is wrong.
document.addEventListener("htmx:beforeSwap", (event) => {
  if ([400, 404].includes(event.detail.xhr.status)) {
    event.detail.shouldSwap = true;
    event.detail.isError = false;
  }
});

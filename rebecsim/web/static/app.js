// Keys for what has a button or link, hints, and the branches that this tab has been to.
"use strict";

const ARROWS = { ArrowLeft: "k", ArrowRight: "j" };
const MOST_BRANCHES = 30;
const MOST_LABELS = 600;
const LONGEST_LABEL = 60;

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
  if (here !== "-") {
    keepLabel(model, here);
  }
  place.replaceChildren();
  if (runs.length < 2) {
    return;
  }
  const heading = document.createElement("h2");
  heading.textContent = "Ways you have been";
  const list = document.createElement("ul");
  list.className = "ways tree";
  const ways = [...runs].sort().map((each) => each.split("."));
  list.append(...branchesOf(ways, 0, { model, here, labels: storedLabels(model) }));
  place.append(heading, list);
}

// What the last step to a place was, for those that this tab has been to.
function storedLabels(model) {
  try {
    return new Map(JSON.parse(sessionStorage.getItem(`labels-${model}`) ?? "[]"));
  } catch {
    return new Map();
  }
}

function keepLabel(model, run) {
  const last = document.querySelector(".last code");
  const steps = document.getElementById("branches").dataset.at;
  if (!last || steps === "0") {
    return;
  }
  const labels = storedLabels(model);
  const wrong = document.querySelector(".banner") ? "✗ " : "";
  const text = last.textContent.replace(/\s+/g, " ").trim();
  labels.set(run.split(".").slice(0, Number(steps)).join("."), wrong + text.slice(0, LONGEST_LABEL));
  sessionStorage.setItem(`labels-${model}`, JSON.stringify([...labels].slice(-MOST_LABELS)));
}

// A line for each way on from a place; where ways part, those that do stand below it.
function branchesOf(ways, from, tab) {
  const groups = new Map();
  for (const way of ways) {
    groups.set(way[from], [...(groups.get(way[from]) ?? []), way]);
  }
  return [...groups.values()].map((group) => branchOf(group, from, tab));
}

function branchOf(ways, from, tab) {
  let to = from + 1;
  while (ways.every((way) => way.length > to && way[to] === ways[0][to])) {
    to += 1;
  }
  const { model, here, labels } = tab;
  const line = document.createElement("li");
  const link = document.createElement("a");
  const run = ways[0].slice(0, to).join(".");
  const first = labels.get(ways[0].slice(0, from + 1).join(".")) ?? `way ${ways[0][from]}`;
  link.href = `/x/${model}/${run}`;
  link.textContent = first;
  line.append(link, ` – ${to - from} ${to - from === 1 ? "step" : "steps"}`);
  const end = labels.get(run);
  if (to - from > 1 && end) {
    line.append(`, then ${end}`);
  }
  if (isBegin(here, run) || isBegin(run, here)) {
    link.setAttribute("aria-current", "true");
  } else if (ways.length === 1 && here !== "-") {
    const beside = document.createElement("a");
    beside.href = `/x/${model}/${here}/beside?with=${run}`;
    beside.textContent = "beside this one";
    line.append(" (", beside, ")");
  }
  if (ways.length > 1) {
    const below = document.createElement("ul");
    below.append(...branchesOf(ways, to, tab));
    line.append(below);
  }
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

// A hint is shown on one page of a visit, and stays away from the others.
function showHints() {
  for (const each of document.querySelectorAll("[data-hint]:not([data-shown])")) {
    const name = `hint-${each.dataset.hint}`;
    if (sessionStorage.getItem(name)) {
      each.remove();
    } else {
      each.dataset.shown = "";
      sessionStorage.setItem(name, "shown");
    }
  }
}

function arrived() {
  showHints();
  showBranches();
  showTyped();
  const diagram = document.querySelector(".run .diagram");
  if (diagram) {
    diagram.scrollTop = diagram.scrollHeight;
  }
  const source = document.querySelector(".source pre");
  const ran = source?.querySelector(".runs");
  if (ran) {
    source.scrollTop = ran.offsetTop - source.offsetTop - 60;
  }
  const graph = document.querySelector(".graph"); // its first state is in the middle
  if (graph) {
    graph.scrollLeft = (graph.scrollWidth - graph.clientWidth) / 2;
  }
}

document.addEventListener("DOMContentLoaded", arrived);
document.addEventListener("htmx:afterSettle", (event) => {
  if (event.target === document.body || event.target.querySelector?.("#branches, [data-hint], .graph, #typed")) {
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

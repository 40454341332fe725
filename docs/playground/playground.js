// The page asks a worker, which runs Python. The editor is that of the browser pages (editor.js).
const SHOWN = document.getElementById("shown");
const ANSWER = document.getElementById("answer");
const STATE = document.getElementById("state");
const MODEL = document.getElementById("model");
const STOP = document.getElementById("stop");
const SHEET = document.getElementById("sheet");
const PLACE = "playground ";
const NEWEST = 40; // lines that a model has printed

// --- the worker ----------------------------------------------------------------------------------

let worker;
let isReady = false;
let number = 0;
const waiting = new Map(); // number -> what takes the answer
let printed = [];

function begin() {
  isReady = false;
  worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
  worker.onmessage = ({ data }) => heard(data);
  worker.onerror = () => sayState("Python could not be loaded. Reload the page.");
}

function heard(data) {
  if (data.isReady) {
    isReady = true;
    sayState(waiting.size ? "Working…" : "Ready");
  } else if (data.failed) {
    sayState(`Python could not be loaded: ${data.failed}. Reload the page.`);
  } else if (data.printed !== undefined) {
    progress(data.printed);
  } else {
    waiting.get(data.number)?.(data.said);
    waiting.delete(data.number);
    sayState(waiting.size ? "Working…" : "Ready");
    if (data.said.isBroken) {
      restart("Python has ended.");
    }
  }
}

function ask(asked) {
  number += 1;
  worker.postMessage({ number, asked });
  return new Promise((resolve) => waiting.set(number, resolve));
}

function restart(why) {
  worker.terminate();
  for (const resolve of waiting.values()) {
    resolve({ error: why, isStopped: true });
  }
  waiting.clear();
  sayState("Loading Python again…");
  begin();
}

// A search prints how far it is; all else comes from the model.
function progress(line) {
  let said;
  try {
    said = JSON.parse(line);
  } catch {
    said = undefined;
  }
  if (Number.isInteger(said?.states)) {
    sayState(`Trying all orders: ${said.states.toLocaleString("en")} states…`);
  } else {
    printed = [...printed, line].slice(-NEWEST);
  }
}

function sayState(text) {
  STATE.textContent = text;
}

// --- what is asked -------------------------------------------------------------------------------

function sheet() {
  return { name: chosen().name, text: view.state.doc.toString() };
}

// The editor's questions; they wait until a search is over.
const EDITS = { "/edit/check": "problems", "/edit/format": "laid_out" };

globalThis.answered = async (path, fields) => {
  const said = await ask({ do: EDITS[path], name: chosen().name, text: fields.text });
  return said.isStopped ? [503, {}] : [said.error ? 400 : 200, said];
};

let asking = 0;

async function show(heading, asked, shown) {
  const mine = asking += 1;
  printed = [];
  STOP.disabled = false;
  ANSWER.setAttribute("aria-busy", "true");
  document.getElementById("answer-heading").textContent = heading;
  sayState(isReady ? "Working…" : "Loading Python…");
  const said = await ask({ ...sheet(), ...asked });
  if (mine !== asking) {
    return;
  }
  STOP.disabled = waiting.size === 0;
  ANSWER.setAttribute("aria-busy", "false");
  const parts = said.error ? [textOf(said.error, true)] : shown(said);
  if (printed.length) {
    parts.push(headingOf("Printed by the model"), textOf(printed.join("\n")));
  }
  const focused = SHOWN.contains(document.activeElement) && document.activeElement.id;
  SHOWN.replaceChildren(...parts);
  if (focused !== false) {
    (document.getElementById(focused) ?? document.getElementById("answer-heading")).focus();
  }
  SHOWN.querySelectorAll(".diagram").forEach(setApart);
  if (ANSWER.getBoundingClientRect().top > innerHeight / 2) { // below the text, in a small window
    ANSWER.scrollIntoView();
  }
  const ran = SHOWN.querySelector(".source .runs");
  if (ran) {
    ran.parentElement.scrollTop = ran.offsetTop - ran.parentElement.offsetTop - 60;
  }
}

function headingOf(text) {
  const heading = document.createElement("h3");
  heading.textContent = text;
  return heading;
}

function paragraphOf(text) {
  const place = document.createElement("p");
  place.textContent = text;
  return place;
}

function textOf(text, isWrong = false) {
  const place = document.createElement("pre");
  place.textContent = text;
  place.tabIndex = 0;
  if (isWrong) {
    place.className = "error";
    place.setAttribute("role", "alert");
  }
  return place;
}

// These parts are templates of ours, filled in by a program that escapes all that is a model's.
function partOf(html, className = "") {
  const place = document.createElement("div");
  place.className = className;
  place.innerHTML = html;
  return place;
}

function diagramOf(svg, label) {
  const place = partOf(svg, "diagram");
  place.tabIndex = 0;
  place.setAttribute("role", "region");
  place.setAttribute("aria-label", label);
  return place;
}

// The style sheets in two drawings would change each other.
function setApart(place) {
  const root = place.attachShadow({ mode: "open" });
  root.innerHTML = place.innerHTML;
  place.replaceChildren();
  const svg = root.querySelector("svg");
  if (svg) {
    svg.style.display = "block";
  }
  if (place.closest(".run")) {
    place.scrollTop = place.scrollHeight;
  }
  if (place.matches(".graph")) {
    place.scrollLeft = (place.scrollWidth - place.clientWidth) / 2;
  }
}

function check() {
  return show("Check", { do: "check" }, (said) => [
    textOf(said.text, said.wrong),
    ...said.diagram ? [headingOf("Who knows whom"), diagramOf(said.diagram, "Rebecs")] : [],
  ]);
}

function simulate() {
  const [seed, steps] = ["seed", "steps"].map((each) => document.getElementById(each).value);
  return show("Simulate", { do: "simulate", seed, steps }, (said) => [
    textOf(said.text, said.wrong),
    ...said.note ? [paragraphOf(said.note)] : [],
    ...said.diagram ? [diagramOf(said.diagram, "Sequence diagram")] : [],
  ]);
}

function step(address, go = false) {
  return show("Step", { do: "step", address, go }, (said) => [
    partOf(said.moves, "bar low"),
    ...said.breach ? [banner(said.breach)] : [],
    headingOf("What may happen next"),
    partOf(said.offers, "next"),
    headingOf("Rebecs"),
    partOf(said.cards, "rebecs"),
    headingOf("The run so far"),
    partOf(said.diagram, "run"),
    partOf(said.source),
  ]);
}

function banner(text) {
  const place = paragraphOf(`✗ ${text}`);
  place.className = "banner";
  place.setAttribute("role", "alert");
  return place;
}

function explore() {
  const never = document.getElementById("never").value;
  return show("Explore", { do: "explore", never }, (said) => [
    partOf(said.verdict),
    ...said.diagram ? [headingOf("The run"), diagramOf(said.diagram, "Sequence diagram")] : [],
    ...said.graph ? [headingOf("The first states"), partOf(said.graph)] : [],
  ]);
}

// --- the page ------------------------------------------------------------------------------------

let models = [];

function chosen() {
  return models[MODEL.value];
}

function choose() {
  const model = chosen();
  document.getElementById("question").textContent = model.question;
  SHEET.elements.name.value = model.name;
  openText(model.text, PLACE + model.name, model.name.endsWith(".py") ? inPython() : inRebeca);
  location.replace(`#${model.name}`);
}

function fill(found) {
  models = found.models;
  const groups = { "Models to learn from": [], "In Python": [], "Of your own": [] };
  models.forEach((model, place) => {
    const option = new Option(model.title, place);
    const isNew = model.name.startsWith("my_model");
    groups[isNew ? "Of your own" : model.name.endsWith(".py") ? "In Python" : "Models to learn from"].push(option);
  });
  for (const [label, options] of Object.entries(groups)) {
    const group = document.createElement("optgroup");
    group.label = label;
    group.append(...options);
    MODEL.append(group);
  }
  const named = (name) => models.findIndex((each) => each.name === name);
  const wanted = named(decodeURIComponent(location.hash.slice(1)));
  MODEL.value = wanted < 0 ? named("ticket_service.rebeca") : wanted;
}

// Links and forms of the explorer's parts lead to other steps.
function onClick(event) {
  const link = event.composedPath().find((each) => each.localName === "a");
  const address = link?.getAttribute("href") ?? link?.getAttribute("xlink:href") ?? "";
  if (address.startsWith("/x/")) {
    event.preventDefault();
    step(address);
  }
}

function onRandom(event) {
  event.preventDefault();
  step(event.target.getAttribute("action").replace("/on", ""), true);
}

function onSubmit(event) {
  event.preventDefault();
  explore();
}

function begins(found) {
  SHEET.dataset.words = JSON.stringify(found.words);
  fill(found);
  document.getElementById("text").value = chosen().text;
  SHEET.elements.editor.value = PLACE + chosen().name;
  const script = document.createElement("script");
  script.src = "editor.js";
  script.addEventListener("load", () => {
    choose();
    MODEL.addEventListener("change", choose);
    SHEET.addEventListener("submit", onSubmit);
    SHOWN.addEventListener("click", onClick);
    SHOWN.addEventListener("submit", onRandom);
    document.getElementById("check").addEventListener("click", check);
    document.getElementById("simulate").addEventListener("click", simulate);
    document.getElementById("step").addEventListener("click", () => step("/x/model/-"));
    STOP.addEventListener("click", () => {
      restart("Stopped.");
      CodeMirror.forceLinting(view);
    });
  });
  document.head.append(script);
}

// --- Python in colours ---------------------------------------------------------------------------

const KEYWORDS = new Set((
  "and as assert async await break case class continue def del elif else except finally for from "
  + "global if import in is lambda match nonlocal not or pass raise return try while with yield"
).split(" "));
const ATOMS = new Set(["True", "False", "None"]);

function pythonToken(stream, state) {
  if (state.quotes) {
    const ended = stream.skipTo(state.quotes) && stream.match(state.quotes);
    if (ended) {
      state.quotes = "";
    } else {
      stream.skipToEnd();
    }
    return "string";
  }
  if (stream.eatSpace()) {
    return null;
  }
  if (stream.match("#")) {
    stream.skipToEnd();
    return "comment";
  }
  const quotes = stream.match(/^[rbfuRBFU]{0,2}("""|''')/);
  if (quotes) {
    state.quotes = quotes[1];
    return "string";
  }
  if (stream.match(/^[rbfuRBFU]{0,2}("([^"\\]|\\.)*"?|'([^'\\]|\\.)*'?)/)) {
    return "string";
  }
  if (stream.match(/^@[\w.]+/)) {
    return "meta";
  }
  if (stream.match(/^(\d[\w.]*|\.\d+)/)) {
    return "number";
  }
  const word = stream.match(/^[^\W\d]\w*/);
  if (word) {
    return KEYWORDS.has(word[0]) ? "keyword" : ATOMS.has(word[0]) ? "atom" : "variableName";
  }
  stream.next();
  return "operator";
}

function inPython() {
  const language = CodeMirror.StreamLanguage.define({
    name: "python",
    startState: () => ({ quotes: "" }),
    token: pythonToken,
    languageData: { commentTokens: { line: "#" } },
  });
  return [language, CodeMirror.autocompletion({ override: [CodeMirror.completeAnyWord] })];
}

begin();
fetch("page.json").then((found) => found.json()).then(
  begins,
  () => sayState("This page is not built yet: run `make playground`."),
);

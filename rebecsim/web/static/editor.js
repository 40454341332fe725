// The editor: colours, problems as one types, and texts that stay in this browser until saved.
"use strict";

const SHEET = document.getElementById("sheet");
const FIELD = document.getElementById("text");
const CM = CodeMirror;
const KEPT = "rebecsim-text ";
const KEEP_AFTER = 250; // milliseconds without a key
const CHECK_AFTER = 400;

const served = { text: FIELD.value, version: SHEET.elements.version.value };
let address = SHEET.elements.editor.value;

// --- the language --------------------------------------------------------------------------------

const WORDS = JSON.parse(SHEET.dataset.words);
const KINDS = new Map([
  ...WORDS.declaration.map((word) => [word, "keyword"]),
  ...WORDS.statement.map((word) => [word, "keyword"]),
  ...WORDS.type.map((word) => [word, "typeName"]),
  ...WORDS.constant.map((word) => [word, "atom"]),
  ...WORDS.pseudo.map((word) => [word, "variableName.special"]),
]);

function commentOf(stream, state) {
  if (stream.skipTo("*/")) {
    stream.match("*/");
    state.comment = false;
  } else {
    stream.skipToEnd();
  }
  return "comment";
}

function tokenOf(stream, state) {
  if (state.comment) {
    return commentOf(stream, state);
  }
  if (stream.eatSpace()) {
    return null;
  }
  if (stream.match("//")) {
    stream.skipToEnd();
    return "comment";
  }
  if (stream.match("/*")) {
    state.comment = true;
    return commentOf(stream, state);
  }
  if (stream.match(/^"([^"\\]|\\.)*"?/) || stream.match(/^'([^'\\]|\\.)'/)) {
    return "string";
  }
  if (stream.match(/^@\w+/)) {
    return "meta";
  }
  if (stream.match(/^(0[xX][0-9a-fA-F_]+|0[bB][01_]+|(\d[\d_]*\.?\d*|\.\d+)([eE][-+]?\d+)?)[lLfFdD]?/)) {
    return "number";
  }
  const word = stream.match(/^[A-Za-z_]\w*/);
  if (word) {
    return KINDS.get(word[0]) ?? (/^currentMessage\w/.test(word[0]) ? "variableName.special" : "variableName");
  }
  const sign = stream.next();
  state.depth = Math.max(0, state.depth + (sign === "{" ? 1 : sign === "}" ? -1 : 0));
  return "+-*/%&|^<>=!~?:".includes(sign) ? "operator" : "punctuation";
}

const rebeca = CM.StreamLanguage.define({
  name: "rebeca",
  startState: () => ({ comment: false, depth: 0 }),
  token: tokenOf,
  indent: (state, behind, context) =>
    Math.max(0, state.depth - (/^\s*\}/.test(behind) ? 1 : 0)) * context.unit,
  languageData: {
    commentTokens: { line: "//", block: { open: "/*", close: "*/" } },
    indentOnInput: /^\s*\}$/,
    wordChars: "_@",
  },
});

const words = [...KINDS.keys()].map((label) => ({ label, type: "keyword" }));

function completed(context) {
  const word = context.matchBefore(/[A-Za-z_]\w*/);
  if (!word && !context.explicit) {
    return null;
  }
  const names = new Set(view.state.doc.toString().match(/[A-Za-z_]\w*/g) ?? []);
  const others = [...names].filter((each) => !KINDS.has(each) && each !== word?.text);
  return {
    from: word?.from ?? context.pos,
    options: [...words, ...others.map((label) => ({ label, type: "variable" }))],
    validFor: /^\w*$/,
  };
}

const inRebeca = [rebeca, CM.autocompletion({ override: [completed] })];

// --- the server ----------------------------------------------------------------------------------

// A digest of what is sent, where this browser makes one: only pages of this machine may.
async function digestOf(body) {
  const digest = await crypto.subtle?.digest("SHA-256", new TextEncoder().encode(body));
  const bytes = digest && String.fromCharCode(...new Uint8Array(digest));
  return bytes ? { "content-digest": `sha-256=:${btoa(bytes)}:` } : {};
}

async function post(path, fields) {
  if (globalThis.answered) { // the page has no server: see docs/playground
    return globalThis.answered(path, fields);
  }
  const body = new URLSearchParams(fields).toString();
  const headers = { "content-type": "application/x-www-form-urlencoded", ...await digestOf(body) };
  const answer = await fetch(path, { method: "POST", body, headers });
  if (answer.status === 413) {
    return [answer.status, { error: "This is too long." }];
  }
  if (!answer.headers.get("content-type")?.includes("json")) { // it was cut off, or there is no place
    return [answer.status, { error: (await answer.text()).slice(0, 200).trim() }];
  }
  return [answer.status, await answer.json()];
}

// --- problems ------------------------------------------------------------------------------------

// The server counts characters, the editor units of UTF-16.
function placeOf(doc, line, column) {
  const found = doc.line(Math.max(1, Math.min(line, doc.lines)));
  const before = [...found.text].slice(0, Math.max(0, column - 1));
  return Math.min(found.to, found.from + before.join("").length);
}

function markOf(doc, problem) {
  const from = placeOf(doc, problem.line, problem.column);
  const to = placeOf(doc, problem.end_line, problem.end_column);
  const { severity, message, hint } = problem;
  const end = Math.min(doc.length, Math.max(to, from + 1));
  return { from, to: end, severity, message: hint ? `${message}\nhint: ${hint}` : message };
}

let errors = 0;

async function check() {
  const doc = view.state.doc;
  let problems;
  try {
    [, { problems }] = await post("/edit/check", { text: doc.toString() });
  } catch {
    say("checked", "The server does not answer. What you type is kept in this browser.");
    return [];
  }
  if (!problems) {
    say("checked", "The server has no time to check this at the moment.");
    return [];
  }
  if (doc.eq(view.state.doc)) {
    showProblems(problems);
    return problems.map((each) => markOf(doc, each));
  }
  return []; // for a text that is there no more
}

function showProblems(problems) {
  errors = problems.filter((each) => each.severity === "error").length;
  const warnings = problems.length - errors;
  const counted = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;
  const found = [errors && counted(errors, "error"), warnings && counted(warnings, "warning")];
  say("checked", found.filter(Boolean).join(", ") || "✓ None.");
  document.getElementById("problems").replaceChildren(...problems.map(lineOf));
}

function lineOf(problem) {
  const line = document.createElement("li");
  const place = document.createElement("button");
  place.type = "button";
  place.textContent = `line ${problem.line}`;
  place.addEventListener("click", () => goTo(placeOf(view.state.doc, problem.line, problem.column)));
  const said = document.createElement("span");
  said.className = problem.severity === "error" ? "bad" : "";
  said.textContent = ` ${problem.severity}: ${problem.message}`;
  line.append(place, said);
  if (problem.hint) {
    const hint = document.createElement("span");
    hint.className = "hint";
    hint.textContent = `hint: ${problem.hint}`;
    line.append(hint);
  }
  return line;
}

function goTo(place) {
  view.dispatch({ selection: { anchor: place }, scrollIntoView: true });
  view.focus();
}

function say(id, text) {
  const place = document.getElementById(id);
  if (place.textContent !== text) {
    place.textContent = text;
  }
}

// --- what is typed is kept -----------------------------------------------------------------------

let keeping;

function keep() {
  clearTimeout(keeping);
  const text = view.state.doc.toString();
  try {
    if (text === served.text) {
      localStorage.removeItem(KEPT + address);
      say("kept", served.version ? "as on disk" : "");
    } else {
      const version = SHEET.elements.version.value;
      localStorage.setItem(KEPT + address, JSON.stringify({ text, version, at: Date.now() }));
      say("kept", "kept in this browser");
    }
  } catch {
    say("kept", "This browser keeps nothing: save or download the text.");
  }
}

function keptText() {
  try {
    const found = JSON.parse(localStorage.getItem(KEPT + address));
    return typeof found?.text === "string" && found.text !== served.text ? found : null;
  } catch {
    return null;
  }
}

function note(text, ...actions) {
  const place = document.getElementById("note");
  place.hidden = !text;
  place.replaceChildren(`${text} `);
  for (const [label, act] of actions) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = label;
    button.addEventListener("click", act);
    place.append(button, " ");
  }
}

function discard() {
  if (confirm("Give up what you have typed?")) {
    SHEET.elements.version.value = served.version;
    setText(served.text);
    note("");
    keep();
  }
}

function sayWhatIsKept(found) {
  const when = new Date(found.at).toLocaleString();
  const since = found.version === served.version ? "" : " The file has been changed since then.";
  note(`This is what you typed until ${when}, not saved.${since}`, [
    served.version ? "Take what is on disk" : "Begin again",
    discard,
  ]);
  if (since) {
    SHEET.elements.version.value = found.version; // so that saving is refused
  }
}

// --- what one does -------------------------------------------------------------------------------

function setText(text) {
  const old = view.state.doc.toString();
  let from = 0;
  while (from < old.length && old[from] === text[from]) {
    from += 1;
  }
  let end = 0;
  while (end < Math.min(old.length, text.length) - from && old.at(-1 - end) === text.at(-1 - end)) {
    end += 1;
  }
  const changes = { from, to: old.length - end, insert: text.slice(from, text.length - end) };
  view.dispatch({ changes, userEvent: "input" });
}

async function layOut() {
  const before = view.state.doc;
  try {
    const [status, said] = await post("/edit/format", { text: before.toString() });
    if (status === 200 && before.eq(view.state.doc)) {
      setText(said.text);
      note("");
    } else if (status !== 200) {
      note("It can be formatted when it has no errors of syntax.");
    }
  } catch {
    note("The server does not answer.");
  }
}

async function save() {
  if (!document.getElementById("save")) {
    return;
  }
  keep();
  const text = view.state.doc.toString();
  let status, said;
  try {
    [status, said] = await post("/edit/save", {
      text, editor: address, name: SHEET.elements.name.value, version: SHEET.elements.version.value,
    });
  } catch {
    note("The server does not answer. What you typed is kept in this browser.");
    return;
  }
  if (status === 200) {
    isSaved(text, said);
  } else if (said.changed && SHEET.elements.version.value) {
    note(`${said.error}.`, ["Take what is on disk", takeFile], ["Save under another name", rename]);
  } else {
    note(`Not saved: ${said.error}`);
  }
}

function isSaved(text, said) {
  localStorage.removeItem(KEPT + address);
  [served.text, served.version, address] = [text, said.version, said.address];
  SHEET.elements.version.value = said.version;
  SHEET.elements.editor.value = said.address;
  SHEET.elements.name.readOnly = true;
  history.replaceState(null, "", said.address);
  note("");
  keep(); // what was typed meanwhile
  say("kept", "saved");
}

function takeFile() {
  if (confirm("Give up what you have typed?")) {
    localStorage.removeItem(KEPT + address);
    isLeaving = true;
    location.reload();
  }
}

function rename() {
  SHEET.elements.version.value = "";
  SHEET.elements.name.readOnly = false;
  SHEET.elements.name.focus();
  note("Choose a name, and save.");
}

// Opens another text, with what was typed into it before; `place` is what it is kept under.
function openText(text, place, language = inRebeca) {
  keep();
  [served.text, served.version, address] = [text, "", place];
  const found = keptText();
  view.setState(CM.EditorState.create({ doc: found?.text ?? text, extensions }));
  const theme = CM.EditorView.darkTheme.of(dark.matches);
  view.dispatch({ effects: [written.reconfigure(language), colours.reconfigure(theme)] });
  CM.forceLinting(view);
  note("");
  if (found) {
    sayWhatIsKept(found);
  } else {
    keep();
  }
}

let isLeaving = false;

function explore() {
  if (errors) {
    document.querySelector("#problems button")?.focus();
    return;
  }
  SHEET.requestSubmit(document.getElementById("explore"));
}

function press(act) {
  return () => {
    act();
    return true;
  };
}

// --- the editor ----------------------------------------------------------------------------------

const dark = matchMedia("(prefers-color-scheme: dark)");
const colours = new CM.Compartment();
const written = new CM.Compartment(); // the language
const extensions = [
  CM.keymap.of([
    { key: "Mod-s", run: press(save), preventDefault: true },
    { key: "Mod-Enter", run: press(explore) },
    { key: "Mod-Shift-f", run: press(layOut), preventDefault: true },
  ]),
  CM.lineNumbers(),
  CM.lintGutter(),
  CM.highlightSpecialChars(),
  CM.history(),
  CM.drawSelection(),
  CM.indentOnInput(),
  CM.indentUnit.of("    "),
  CM.bracketMatching(),
  CM.closeBrackets(),
  CM.highlightActiveLine(),
  CM.highlightSelectionMatches(),
  CM.EditorView.lineWrapping,
  CM.EditorView.contentAttributes.of({ "aria-label": "Model", tabindex: "0" }),
  written.of(inRebeca),
  CM.syntaxHighlighting(CM.classHighlighter),
  CM.linter(check, { delay: CHECK_AFTER }),
  colours.of(CM.EditorView.darkTheme.of(dark.matches)),
  CM.keymap.of([
    ...CM.closeBracketsKeymap, ...CM.defaultKeymap, ...CM.searchKeymap, ...CM.historyKeymap,
    ...CM.completionKeymap, ...CM.lintKeymap,
  ]),
  CM.EditorView.updateListener.of((update) => {
    if (update.docChanged) {
      clearTimeout(keeping);
      keeping = setTimeout(keep, KEEP_AFTER);
    }
  }),
];
const kept = keptText();
const view = new CM.EditorView({ doc: kept?.text ?? served.text, extensions });
FIELD.after(view.dom);
FIELD.hidden = true;
document.body.classList.add("edits");
document.querySelector('label[for="text"]').remove();
dark.addEventListener("change", () => {
  view.dispatch({ effects: colours.reconfigure(CM.EditorView.darkTheme.of(dark.matches)) });
});
CM.forceLinting(view);
if (kept) {
  sayWhatIsKept(kept);
} else {
  keep();
}

SHEET.addEventListener("submit", (event) => {
  keep();
  FIELD.value = view.state.doc.toString();
  if (errors && event.submitter?.id === "explore") {
    event.preventDefault();
    document.querySelector("#problems button")?.focus();
  }
});
document.getElementById("format").addEventListener("click", layOut);
document.getElementById("save")?.addEventListener("click", save);
SHEET.elements.name.addEventListener("keydown", (event) => {
  if (event.key === "Enter") {
    event.preventDefault();
    save();
  }
});
document.addEventListener("visibilitychange", () => isLeaving || keep());
addEventListener("pagehide", () => isLeaving || keep());
addEventListener("storage", (event) => {
  if (event.key === KEPT + address && event.newValue !== null) {
    note("Another tab has changed this text: what is typed last is what stays.");
  }
});

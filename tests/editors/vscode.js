// Runs the extension without VS Code: what it asks of the editor is recorded. Prints what it did.
"use strict";

const [extension, program, file] = process.argv.slice(2);
const Module = require("module");
const fs = require("fs");

const said = { problems: {}, warnings: [] };
const handlers = {};
const once = (name) => (handler) => ((handlers[name] = handler), { dispose() {} });
const vscode = {
  DiagnosticSeverity: { Error: 0, Warning: 1 },
  Range: class {
    constructor(...places) {
      this.places = places;
    }
  },
  Diagnostic: class {
    constructor(range, message, severity) {
      Object.assign(this, { range: range.places, message, severity });
    }
  },
  languages: {
    createDiagnosticCollection: () => ({
      set: (uri, found) => (said.problems[uri.fsPath.split("/").pop()] = found),
      delete: (uri) => delete said.problems[uri.fsPath.split("/").pop()],
      dispose() {},
    }),
  },
  window: { showWarningMessage: (text) => said.warnings.push(text) },
  workspace: {
    textDocuments: [],
    getConfiguration: () => ({ get: () => program }),
    onDidOpenTextDocument: once("open"),
    onDidSaveTextDocument: once("save"),
    onDidCloseTextDocument: once("close"),
  },
};
const load = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));

function documentOf(name) {
  const lines = fs.existsSync(name) ? fs.readFileSync(name, "utf8").split("\n") : [""];
  return {
    uri: { scheme: "file", fsPath: name },
    version: 1,
    lineCount: lines.length,
    lineAt: (number) => ({ text: lines[number] }),
  };
}

require(extension).activate({ subscriptions: [] });
handlers.save(documentOf(file));
handlers.save(documentOf(file.replace(/rebeca$/, "py")));
process.on("exit", () => console.log(JSON.stringify(said)));

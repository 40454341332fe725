// Problems of models, from `rebecsim check --json`, when a model is opened and when it is saved.
"use strict";

const { execFile } = require("child_process");
const path = require("path");
const vscode = require("vscode");

const LONGEST_CHECK = 20000; // milliseconds
const MOST_OUTPUT = 4 * 1024 * 1024; // bytes

function activate(context) {
  const problems = vscode.languages.createDiagnosticCollection("rebecsim");
  const check = (document) => checkModel(document, problems);
  context.subscriptions.push(
    problems,
    vscode.workspace.onDidOpenTextDocument(check),
    vscode.workspace.onDidSaveTextDocument(check),
    vscode.workspace.onDidCloseTextDocument((document) => problems.delete(document.uri)),
  );
  vscode.workspace.textDocuments.forEach(check);
}

// A model in Python is a program and would be run: only text of Rebeca is checked.
function isModel(document) {
  return document.uri.scheme === "file" && document.uri.fsPath.endsWith(".rebeca");
}

function checkModel(document, problems) {
  if (!isModel(document)) {
    return;
  }
  const { version, uri } = document;
  const command = vscode.workspace.getConfiguration("rebecsim").get("command", "rebecsim");
  const options = {
    cwd: path.dirname(uri.fsPath),
    timeout: LONGEST_CHECK,
    maxBuffer: MOST_OUTPUT,
    windowsHide: true,
  };
  // Without a shell, and with a path that cannot be taken for an option.
  execFile(command, ["check", "--json", uri.fsPath], options, (error, output) => {
    if (document.version !== version || document.isClosed) {
      return; // it is about a text that is no longer there
    }
    const found = readProblems(output);
    if (found === undefined) {
      complain(command, error);
      return;
    }
    problems.set(uri, found.map((problem) => diagnosticOf(problem, document)));
  });
}

// The problems that were printed; undefined if it was something else.
function readProblems(output) {
  try {
    const found = JSON.parse(output);
    return Array.isArray(found) ? found : undefined;
  } catch {
    return undefined;
  }
}

let complained = false;

function complain(command, error) {
  if (complained) {
    return;
  }
  complained = true;
  const reason = error && error.code === "ENOENT" ? "there is no such program" : String(error);
  vscode.window.showWarningMessage(
    `Models cannot be checked by ${command}: ${reason}. See the setting rebecsim.command.`,
  );
}

function diagnosticOf(problem, document) {
  const range = new vscode.Range(
    problem.line - 1,
    unitsBefore(document, problem.line, problem.column),
    problem.end_line - 1,
    unitsBefore(document, problem.end_line, problem.end_column),
  );
  const hint = problem.hint ? `\nhint: ${problem.hint}` : "";
  const severity =
    problem.severity === "warning"
      ? vscode.DiagnosticSeverity.Warning
      : vscode.DiagnosticSeverity.Error;
  const found = new vscode.Diagnostic(range, problem.message + hint, severity);
  found.source = "rebecsim";
  found.code = problem.code || undefined;
  return found;
}

// Columns count characters from 1; the editor counts units of UTF-16 from 0.
function unitsBefore(document, line, column) {
  if (line > document.lineCount) {
    return 0;
  }
  const characters = Array.from(document.lineAt(line - 1).text);
  return characters.slice(0, column - 1).join("").length;
}

module.exports = { activate };

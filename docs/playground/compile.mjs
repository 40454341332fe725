// Asks each kind of question once, and compiles what that has imported, so that pages need not.
// Arguments: the file pyodide.mjs, the folder of packages, the file for what the page shows first.
import { writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [runtime, packages, page] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(runtime).href);
const python = await loadPyodide();
python.FS.mkdir("/packages");
python.FS.mount(python.FS.filesystems.NODEFS, { root: packages }, "/packages");
python.setStdout({ batched: () => {} });
const program = `
import sys
sys.path.insert(0, "/packages")
import json, py_compile
import answers

shown = answers.page()
for model in (each for each in shown["models"] if each["name"].startswith(("ticket", "one_queue"))):
    for asked in (
        {"do": "problems"},
        {"do": "check"},
        {"do": "simulate", "seed": "0", "steps": "20"},
        {"do": "step", "address": "/x/model/-", "go": True},
        {"do": "explore", "never": ""},
    ):
        said = json.loads(answers.answer(json.dumps({**model, **asked})))
        assert "error" not in said, said
for module in list(sys.modules.values()):
    file = getattr(module, "__file__", None) or ""
    if file.startswith("/packages/") and file.endswith(".py"):
        mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
        py_compile.compile(file, invalidation_mode=mode, doraise=True)
json.dumps(shown)
`;
try {
  writeFileSync(page, python.runPython(program));
} catch (error) {
  console.error(error.message);
  process.exit(1);
}

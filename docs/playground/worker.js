// Runs Python, so that the page stays alive. It is ended where something does not end.
import { loadPyodide } from "./pyodide.mjs";

async function begun() {
  const [python, packages] = await Promise.all([loadPyodide(), fetched("site.zip")]);
  const place = python.runPython("import sysconfig; sysconfig.get_path('purelib')");
  python.unpackArchive(packages, "zip", { extractDir: place });
  python.setStdout({ batched: (line) => postMessage({ printed: line }) });
  const { answer } = python.pyimport("answers");
  postMessage({ isReady: true });
  return answer;
}

async function fetched(file) {
  const found = await fetch(new URL(file, import.meta.url));
  if (!found.ok) {
    throw new Error(`${file} is missing`);
  }
  return found.arrayBuffer();
}

const ready = begun();
ready.catch((error) => postMessage({ failed: error.message }));

onmessage = async ({ data }) => {
  const answer = await ready;
  let said;
  try {
    said = JSON.parse(answer(JSON.stringify(data.asked)));
  } catch (error) {
    said = { error: `Python ended: ${error.message.trim().split("\n").at(-1)}`, isBroken: true };
  }
  postMessage({ number: data.number, said });
};

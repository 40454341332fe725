// Makes the script that the editor page loads, and the file with the licences of what is in it.
import { readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const STATIC = "../../rebecsim/web/static";
const TERMS = "Permission is hereby granted";

const done = await build({
  entryPoints: ["entry.js"],
  bundle: true,
  format: "iife",
  globalName: "CodeMirror",
  target: "es2020",
  minify: true,
  legalComments: "none",
  metafile: true,
  banner: { js: "/* CodeMirror 6, MIT: see codemirror-LICENSE.txt. Made by editors/codemirror. */" },
  outfile: `${STATIC}/codemirror.min.js`,
});

const packages = Object.keys(done.metafile.inputs)
  .map((each) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(each)?.[1])
  .filter((each) => each !== undefined);
const holders = [];
let terms = "";
for (const name of [...new Set(packages)].sort()) {
  const read = (file) => readFileSync(`node_modules/${name}/${file}`, "utf-8");
  const described = JSON.parse(read("package.json"));
  const licence = read("LICENSE");
  if (described.license !== "MIT" || !licence.includes(TERMS)) {
    throw new Error(`${name}: is not under the MIT licence`);
  }
  holders.push(`${name} ${described.version}: ${/^Copyright.*$/m.exec(licence)[0]}`);
  terms ||= licence.slice(licence.indexOf(TERMS));
}
writeFileSync(
  `${STATIC}/codemirror-LICENSE.txt`,
  `codemirror.min.js contains these packages, all under the MIT licence:\n\n${holders.join("\n")}\n\n${terms}`,
);

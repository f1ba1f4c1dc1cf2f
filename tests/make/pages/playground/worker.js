// Checks models in Python beside the page: takes files, and answers with the report.
import { loadPyodide } from "./pyodide/pyodide.mjs";

const FOLDER = "/models";
const bytes = async (name) => {
  const answer = await fetch(new URL(name, import.meta.url));
  if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
  return new Uint8Array(await answer.arrayBuffer());
};

async function started() {
  const pyodide = await loadPyodide({ indexURL: new URL("./pyodide/", import.meta.url).href });
  pyodide.unpackArchive(await bytes("irlint.zip"), "zip", { extractDir: "/irlint" });
  pyodide.runPython('import sys; sys.path.insert(0, "/irlint")');
  pyodide.runPython(new TextDecoder().decode(await bytes("check.py")));
  return pyodide;
}

// a name from a file list may not lead out of the folder
function place(name) {
  const parts = name.split("/").filter((part) => part && part !== "." && part !== "..");
  return [FOLDER, ...parts].join("/");
}

function removed(FS, folder) {
  for (const name of FS.readdir(folder)) {
    if (name === "." || name === "..") continue;
    const path = `${folder}/${name}`;
    if (FS.isDir(FS.stat(path).mode)) { removed(FS, path); FS.rmdir(path); } else FS.unlink(path);
  }
}

async function checked(pyodide, files) {
  const { FS } = pyodide;
  FS.chdir("/");
  FS.mkdirTree(FOLDER);
  removed(FS, FOLDER);
  for (const [name, file] of files) {
    const path = place(name);
    FS.mkdirTree(path.slice(0, path.lastIndexOf("/")));
    FS.writeFile(path, new Uint8Array(await file.arrayBuffer()));
  }
  const found = pyodide.globals.get("reports")(FOLDER);
  const [page, document] = found.toJs();
  found.destroy();
  removed(FS, FOLDER);
  return { page, document };
}

const ready = started();
ready.then(() => postMessage({ ready: true }), (error) => postMessage({ error: String(error) }));
onmessage = async ({ data }) => {
  try {
    postMessage(await checked(await ready, data));
  } catch (error) {
    postMessage({ error: String(error) });
  }
};

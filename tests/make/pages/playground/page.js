// The playground: files that are dropped or chosen go to the worker, and its report is shown.
const field = document.getElementById("files");
const zone = document.getElementById("zone");
const state = document.getElementById("state");
const result = document.getElementById("result");
const frame = document.getElementById("report");
const links = { html: document.getElementById("as-html"), json: document.getElementById("as-json") };

// a worker of this page's own making is under the page's content security policy
const source = `import ${JSON.stringify(new URL("worker.js", import.meta.url).href)};`;
const worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })), { type: "module" });

function show(text, name = "") {
  state.textContent = text;
  state.dataset.state = name;
}

function offer(link, text, type) {
  URL.revokeObjectURL(link.href);
  link.href = URL.createObjectURL(new Blob([text], { type }));
}

worker.onmessage = ({ data }) => {
  if (data.error) show(`irlint did not run: ${data.error}`, "failed");
  else if (data.ready) show("Ready.", "ready");
  else {
    frame.srcdoc = data.page;
    offer(links.html, data.page, "text/html");
    offer(links.json, data.document, "application/json");
    result.hidden = false;
    show("Checked. The report is below.", "checked");
  }
};
worker.onerror = (event) => show(`irlint did not run: ${event.message || "the worker could not be loaded"}`, "failed");

function check(files) {
  if (!files.length) return;
  show(`Checking ${files.length === 1 ? files[0][0] : `${files.length} files`} …`, "checking");
  worker.postMessage(files);
}

// a worker answers once for each message: files that are given while it loads wait there
field.addEventListener("change", () => {
  check([...field.files].map((file) => [file.webkitRelativePath || file.name, file]));
  field.value = "";
});

async function within(entry, path) {
  const name = path + entry.name;
  if (entry.isFile) return [[name, await new Promise((resolve, reject) => entry.file(resolve, reject))]];
  const reader = entry.createReader(), found = [];
  for (;;) {
    const part = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!part.length) return found;
    for (const each of part) found.push(...await within(each, `${name}/`));
  }
}

for (const name of ["dragenter", "dragover"]) {
  zone.addEventListener(name, (event) => { event.preventDefault(); zone.classList.add("over"); });
}
for (const name of ["dragleave", "drop"]) zone.addEventListener(name, () => zone.classList.remove("over"));
zone.addEventListener("drop", async (event) => {
  event.preventDefault();
  const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry()).filter(Boolean);
  const files = [];
  for (const entry of entries) files.push(...await within(entry, ""));
  check(files);
});

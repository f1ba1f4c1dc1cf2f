"use strict";
(() => {
  document.documentElement.classList.add("js");
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const words = (field) => field.value.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (text, wanted) => wanted.every((word) => text.includes(word));

  const form = document.querySelector(".controls");
  if (form) {
    const models = all("section.model");
    const findings = models.flatMap((model) =>
      all("article.finding", model).map((article) => ({
        article, model, text: (model.firstElementChild.textContent + " " + article.textContent).toLowerCase(),
      })));
    const [text, rule, model, shown] = ["text", "rule", "model", "shown"].map((id) => document.getElementById(id));
    const filter = () => {
      const severities = new Set(all("input:checked", form).map((box) => box.value));
      const wanted = words(text);
      const seen = new Set();
      let count = 0;
      for (const each of findings) {
        const kept = severities.has(each.article.dataset.severity)
          && (!rule.value || each.article.dataset.rule === rule.value)
          && (!model.value || each.model.id === model.value)
          && fits(each.text, wanted);
        each.article.hidden = !kept;
        if (kept) { seen.add(each.model); count += 1; }
      }
      const narrowed = count < findings.length;
      for (const each of models) each.hidden = narrowed && !seen.has(each);
      shown.value = narrowed ? `${count} of ${findings.length} shown` : "";
    };
    const asked = new URLSearchParams(location.search);
    for (const field of [text, rule, model]) if (asked.has(field.id)) field.value = asked.get(field.id);
    form.addEventListener("input", filter);
    form.addEventListener("submit", (event) => event.preventDefault());
    filter();
  }

  for (const field of all("input[data-table]")) {
    const rows = all("tbody tr", document.getElementById(field.dataset.table));
    field.addEventListener("input", () => {
      const wanted = words(field);
      for (const row of rows) row.hidden = !fits(row.textContent.toLowerCase(), wanted);
    });
  }

  const open = () => {
    const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    const folded = target && (target.querySelector(":scope > details") || target.closest("details"));
    if (folded) folded.open = true;
  };
  addEventListener("hashchange", open);
  open();
})();

"use strict";
// INDEX comes from search-index.js: address, title, kind and words of each page or section.
{
  const MOST = 30;
  const root = document.documentElement.dataset.root;
  const field = document.getElementById("search");
  const list = document.getElementById("found");

  // 0 where a word is missing; a title with all words counts most, and a beginning more than a middle
  function rank([, title, , words], asked) {
    const name = title.toLowerCase(), text = words.toLowerCase();
    let sum = asked.every((each) => name.includes(each)) ? 100 : 0;
    for (const each of asked) {
      const at = name.indexOf(each);
      if (name === each || name.startsWith(each + " ")) sum += 100;
      else if (at === 0) sum += 60;
      else if (at > 0) sum += /[\s.:(-]/.test(name[at - 1]) ? 40 : 20;
      else if (text.includes(each)) sum += 5;
      else return 0;
    }
    return sum - title.length / 100;
  }

  function found(text) {
    const asked = text.toLowerCase().split(/\s+/).filter(Boolean);
    if (!asked.length) return [];
    return INDEX.map((entry) => [rank(entry, asked), entry])
      .filter(([points]) => points > 0)
      .sort((one, other) => other[0] - one[0])
      .slice(0, MOST)
      .map(([, entry]) => entry);
  }

  function line([address, title, kind]) {
    const item = document.createElement("li"), link = document.createElement("a"), small = document.createElement("small");
    link.href = root + address;
    link.textContent = title + " ";
    small.textContent = kind;
    link.append(small);
    item.append(link);
    return item;
  }

  function show() {
    const text = field.value.trim();
    const entries = found(text);
    list.replaceChildren(...entries.map(line));
    if (text && !entries.length) {
      const item = document.createElement("li");
      item.className = "nothing";
      item.textContent = "Nothing has all of these words.";
      list.append(item);
    }
    list.hidden = !text;
  }

  field.addEventListener("input", show);
  field.addEventListener("keydown", (event) => {
    const first = list.querySelector("a");
    if (event.key === "Enter" && first) first.click();
    if (event.key === "ArrowDown" && first) { first.focus(); event.preventDefault(); }
    if (event.key === "Escape") { field.value = ""; show(); }
  });
  list.addEventListener("keydown", (event) => {
    const near = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
    if (!near) return;
    const next = document.activeElement.parentElement[near];
    (next ? next.querySelector("a") : field).focus();
    event.preventDefault();
  });
  const asked = new URLSearchParams(location.search).get("q");
  if (asked) { field.value = asked; show(); }
}

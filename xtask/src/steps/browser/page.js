"use strict";
// The checks of the page. Each returns its faults as a list of messages. An empty list means that
// it passed.
globalThis.pageChecks = {
  structure() {
    const faults = [];
    const all = (selector) => [...document.querySelectorAll(selector)];
    const sections = all("main > section");
    if (sections.length < 3) faults.push(`there are ${sections.length} sections, at least 3 are expected`);
    for (const section of sections) {
      if (!section.querySelector("h2")) faults.push(`section ${section.id} has no heading`);
      if (section.children.length < 2) faults.push(`section ${section.id} is empty`);
    }
    for (const link of all("nav a")) {
      if (!document.getElementById(link.hash.slice(1))) faults.push(`the link ${link.hash} has no target on the page`);
    }
    if (!all("table").length) faults.push("the page has no table");
    for (const table of all("table")) {
      if (!table.tBodies[0].rows.length) faults.push(`the table "${table.caption.textContent}" has no rows`);
      for (const row of table.tBodies[0].rows) {
        if (row.cells.length !== table.tHead.rows[0].cells.length) faults.push(`a row has another number of cells than the head of its table: ${row.textContent}`);
      }
    }
    const charts = all("svg.chart");
    if (!charts.length) faults.push("the page has no chart");
    for (const chart of charts) {
      const box = chart.getBoundingClientRect();
      const name = chart.querySelector("title").textContent;
      if (box.width < 200 || box.height < 80) faults.push(`the chart "${name}" is too small: ${box.width} by ${box.height} pixels`);
      if (chart.querySelectorAll("rect, circle, polyline, polygon").length < 5) faults.push(`the chart "${name}" is empty`);
      const coloured = [...chart.querySelectorAll("[fill^='var']")].map((shape) => getComputedStyle(shape).fill);
      if (!coloured.length || coloured.includes("rgb(0, 0, 0)")) faults.push(`the chart "${name}" has no colours`);
    }
    for (const control of all("button, a")) {
      if (!(control.getAttribute("aria-label") || control.textContent).trim()) faults.push(`a control has no name: ${control.outerHTML}`);
    }
    for (const item of all(".item")) {
      if (!item.querySelector(".source code")) faults.push(`${item.id} does not show its command`);
      if (!item.querySelector("a.download")) faults.push(`${item.id} has no download`);
    }
    return faults;
  },

  // The page opens with the answers. Folds with claims that do not hold are open, and open claims come
  // first.
  folds() {
    const faults = [];
    const ids = [...document.querySelectorAll("main > section")].slice(0, 2).map((section) => section.id);
    if (ids.join() !== "answers,verdicts") faults.push(`the page opens with the sections ${ids.join()}`);
    for (const answer of document.querySelectorAll(".answer")) {
      if (!answer.querySelector("svg.chart") && !/not measured .* measures it/.test(answer.textContent)) faults.push(`no chart and no command: ${answer.textContent}`);
    }
    const folds = [...document.querySelectorAll("#verdicts details:has(table)")];
    if (!folds.length) faults.push("there is no fold with verdicts");
    for (const fold of folds) {
      const name = fold.querySelector("summary").textContent;
      const kinds = [...fold.querySelectorAll("tbody .verdict")].map((verdict) => verdict.classList[1]);
      if (fold.open !== kinds.includes("no")) faults.push(`the fold "${name}" is ${fold.open ? "open" : "closed"}`);
      const order = ["no", "unclear", "none", "yes"];
      if (kinds.some((kind, at) => at && order.indexOf(kind) < order.indexOf(kinds[at - 1]))) faults.push(`the fold "${name}" does not begin with open claims`);
    }
    return faults;
  },

  // Whether the top of an element is on the screen.
  isShown(element) {
    const box = element.getBoundingClientRect();
    return element.checkVisibility() && box.height > 0 && box.bottom > 60 && box.top < innerHeight;
  },

  // The state of the tooltip, or what is wrong with it.
  meaning() {
    const tip = document.querySelector(".meaning");
    if (tip.hidden) return "hidden";
    const box = tip.getBoundingClientRect();
    if (box.left < 0 || box.right > document.documentElement.clientWidth || box.top < 0 || box.bottom > innerHeight) return `outside of the screen: ${JSON.stringify(box)}`;
    const meanings = [...document.querySelectorAll(".words dd")].map((meaning) => meaning.textContent);
    return meanings.includes(tip.textContent) ? "shown" : `not in the list of words: ${tip.textContent}`;
  },

  // Gives the first or the last word of the verdicts a class.
  mark(place) {
    for (const marked of document.querySelectorAll(".marked")) marked.classList.remove("marked");
    const words = [...document.querySelectorAll("#verdicts dfn")];
    words[place === "first" ? 0 : words.length - 1].classList.add("marked");
  },

  downloads() {
    const faults = [];
    for (const link of document.querySelectorAll("a.download")) {
      const inPage = link.dataset.holds && document.getElementById(link.dataset.holds).textContent;
      const data = inPage || decodeURIComponent(link.href.replace(/^data:text\/csv;charset=utf-8,/, ""));
      if (inPage ? !link.href.startsWith("blob:") : data.trim().split("\n").length < 2) faults.push(`the download ${link.download} is empty`);
    }
    return faults;
  },

  // Clicks every heading of every table three times, and checks the order after each click.
  sorting() {
    const faults = [];
    const key = (row, column) => {
      const cell = row.cells[column];
      return cell.dataset.number === undefined ? cell.textContent.trim() : Number(cell.dataset.number);
    };
    const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
    for (const table of document.querySelectorAll("table.sortable")) {
      const body = table.tBodies[0];
      const original = [...body.rows];
      const before = body.textContent;
      [...table.tHead.rows[0].cells].forEach((heading, column) => {
        const name = `${table.caption.textContent}: ${heading.textContent}`;
        for (const expected of ["ascending", "descending", "none"]) {
          heading.querySelector("button").click();
          if (heading.getAttribute("aria-sort") !== expected) faults.push(`${name}: aria-sort is ${heading.getAttribute("aria-sort")}, not ${expected}`);
          const rows = [...body.rows];
          if (rows.length !== original.length) faults.push(`${name}: sorting lost rows`);
          if (expected === "none") {
            if (body.textContent !== before) faults.push(`${name}: the third click does not restore the original order`);
            continue;
          }
          const sign = expected === "ascending" ? 1 : -1;
          for (let index = 1; index < rows.length; index += 1) {
            const [one, other] = [key(rows[index - 1], column), key(rows[index], column)];
            if (one === "" && other !== "") faults.push(`${name}: an empty cell comes before a filled one`);
            if (one === "" || other === "" || typeof one !== typeof other) continue;
            const order = sign * (typeof one === "number" ? one - other : collator.compare(one, other));
            if (order > 0) faults.push(`${name}, ${expected}: ${one} before ${other}`);
            if (order === 0 && original.indexOf(rows[index - 1]) > original.indexOf(rows[index])) faults.push(`${name}: the sort is not stable`);
          }
        }
      });
    }
    return faults;
  },

  // `screen` is the width of the screen. The page cannot ask: a phone zooms out from a page that is
  // too wide, and reports the width of the page.
  overflow(screen) {
    const width = document.documentElement.scrollWidth;
    const broken = [...document.querySelectorAll("header button")].filter((button) => button.offsetHeight > 40);
    if (broken.length > 0) return [`on a screen of ${screen} pixels, the button "${broken[0].textContent}" needs more than one line`];
    if (width <= screen) return [];
    const tooWide = [...document.querySelectorAll("main *, header *")]
      .filter((element) => element.getBoundingClientRect().right > screen + 1 && !element.closest(".scroll, .hidden, svg"));
    return [`the page is ${width} pixels wide on a screen of ${screen}: ${tooWide.slice(0, 3).map((element) => element.outerHTML.slice(0, 120))}`];
  },

  // A checksum of the canvas, and the share of its pixels with the colours of bars.
  canvas() {
    const canvas = document.querySelector("canvas[data-shows]");
    const style = getComputedStyle(canvas);
    const number = (series) => parseInt(style.getPropertyValue(`--series-${series}`).trim().slice(1), 16);
    const bars = new Set(canvas.dataset.colours.split(" ").map(number));
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let [sum, within] = [0, 0];
    for (let at = 0; at < data.length; at += 4) {
      const colour = (data[at] << 16) | (data[at + 1] << 8) | data[at + 2];
      if (bars.has(colour)) within += 4;
      sum = (Math.imul(sum, 31) + colour) | 0;
    }
    return { bars: within / data.length, sum };
  },
};

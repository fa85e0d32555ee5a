"use strict";
// What the checks ask of the page. Each returns what is wrong, as sentences; nothing is wrong with an empty list.
globalThis.ask = {
  structure() {
    const wrong = [];
    const all = (selector) => [...document.querySelectorAll(selector)];
    const sections = all("main > section");
    if (sections.length < 3) wrong.push(`there are ${sections.length} sections`);
    for (const section of sections) {
      if (!section.querySelector("h2")) wrong.push(`section ${section.id} has no heading`);
      if (section.children.length < 2) wrong.push(`section ${section.id} is empty`);
    }
    for (const link of all("nav a")) {
      if (!document.getElementById(link.hash.slice(1))) wrong.push(`${link.hash} is not on the page`);
    }
    if (!all("table").length) wrong.push("there is no table");
    for (const table of all("table")) {
      if (!table.tBodies[0].rows.length) wrong.push(`a table has no rows: ${table.caption.textContent}`);
      for (const row of table.tBodies[0].rows) {
        if (row.cells.length !== table.tHead.rows[0].cells.length) wrong.push(`a row is too short: ${row.textContent}`);
      }
    }
    const charts = all("svg.chart");
    if (!charts.length) wrong.push("there is no chart");
    for (const chart of charts) {
      const box = chart.getBoundingClientRect();
      const name = chart.querySelector("title").textContent;
      if (box.width < 200 || box.height < 80) wrong.push(`the chart "${name}" has ${box.width} by ${box.height} pixels`);
      if (chart.querySelectorAll("rect, circle, polyline, polygon").length < 5) wrong.push(`the chart "${name}" is empty`);
      const coloured = [...chart.querySelectorAll("[fill^='var']")].map((shape) => getComputedStyle(shape).fill);
      if (!coloured.length || coloured.includes("rgb(0, 0, 0)")) wrong.push(`the chart "${name}" has no colours`);
    }
    for (const control of all("button, a")) {
      if (!(control.getAttribute("aria-label") || control.textContent).trim()) wrong.push(`nameless: ${control.outerHTML}`);
    }
    for (const item of all(".item")) {
      if (!item.querySelector(".source code")) wrong.push(`${item.id} does not say its command`);
      if (!item.querySelector("a.download")) wrong.push(`${item.id} has no data`);
    }
    return wrong;
  },

  downloads() {
    const wrong = [];
    for (const link of document.querySelectorAll("a.download")) {
      const inPage = link.dataset.holds && document.getElementById(link.dataset.holds).textContent;
      const data = inPage || decodeURIComponent(link.href.replace(/^data:text\/csv;charset=utf-8,/, ""));
      if (inPage ? !link.href.startsWith("blob:") : data.trim().split("\n").length < 2) wrong.push(`${link.download} is empty`);
    }
    return wrong;
  },

  // Presses every heading of every table three times, and looks at the order after each.
  sorting() {
    const wrong = [];
    const key = (row, column) => {
      const cell = row.cells[column];
      return cell.dataset.number === undefined ? cell.textContent.trim() : Number(cell.dataset.number);
    };
    const words = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
    for (const table of document.querySelectorAll("table.sortable")) {
      const body = table.tBodies[0];
      const original = [...body.rows];
      const before = body.textContent;
      [...table.tHead.rows[0].cells].forEach((heading, column) => {
        const name = `${table.caption.textContent}: ${heading.textContent}`;
        for (const expected of ["ascending", "descending", "none"]) {
          heading.querySelector("button").click();
          if (heading.getAttribute("aria-sort") !== expected) wrong.push(`${name} is ${heading.getAttribute("aria-sort")}`);
          const rows = [...body.rows];
          if (rows.length !== original.length) wrong.push(`${name} lost rows`);
          if (expected === "none") {
            if (body.textContent !== before) wrong.push(`${name} does not return to the order of the file`);
            continue;
          }
          const sign = expected === "ascending" ? 1 : -1;
          for (let place = 1; place < rows.length; place += 1) {
            const [one, other] = [key(rows[place - 1], column), key(rows[place], column)];
            if (one === "" && other !== "") wrong.push(`${name}: nothing comes before something`);
            if (one === "" || other === "" || typeof one !== typeof other) continue;
            const order = sign * (typeof one === "number" ? one - other : words.compare(one, other));
            if (order > 0) wrong.push(`${name}, ${expected}: ${one} before ${other}`);
            if (order === 0 && original.indexOf(rows[place - 1]) > original.indexOf(rows[place])) wrong.push(`${name} is not stable`);
          }
        }
      });
    }
    return wrong;
  },

  // The width of the screen is told: a phone shows a page that is too wide in full, and says that it is as wide itself.
  overflow(screen) {
    const wide = document.documentElement.scrollWidth;
    const broken = [...document.querySelectorAll("header button")].filter((button) => button.offsetHeight > 40);
    if (broken.length > 0) return [`on a screen of ${screen} pixels the button "${broken[0].textContent}" takes more than a line`];
    if (wide <= screen) return [];
    const culprits = [...document.querySelectorAll("main *, header *")]
      .filter((element) => element.getBoundingClientRect().right > screen + 1 && !element.closest(".scroll, .hidden, svg"));
    return [`the page is ${wide} pixels wide on a screen of ${screen}: ${culprits.slice(0, 3).map((one) => one.outerHTML.slice(0, 120))}`];
  },

  // What a canvas shows, as a number; and which share of it has the colours of bars.
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

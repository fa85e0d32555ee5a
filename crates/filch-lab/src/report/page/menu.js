"use strict";
// The contents: a menu on narrow screens, with the current section marked.
(() => {
  const nav = document.getElementById("contents");
  const button = document.querySelector("button.menu");
  const open = (is) => {
    nav.classList.toggle("open", is);
    button.setAttribute("aria-expanded", String(is));
  };
  button.addEventListener("click", () => open(!nav.classList.contains("open")));
  nav.addEventListener("click", (event) => { if (event.target.closest("a")) open(false); });
  document.addEventListener("click", (event) => { if (!event.target.closest("#contents, button.menu")) open(false); });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && nav.classList.contains("open")) {
      open(false);
      button.focus();
    }
  });

  const links = new Map();
  for (const link of nav.querySelectorAll("a")) links.set(link.hash.slice(1), link);
  const sections = [...document.querySelectorAll("main > section")];
  let isScheduled = false;
  const mark = () => {
    isScheduled = false;
    let current = null;
    for (const section of sections) if (section.getBoundingClientRect().top < innerHeight * 0.3) current = section;
    for (const [id, link] of links) {
      if (current && id === current.id) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  };
  addEventListener("scroll", () => {
    if (!isScheduled) {
      isScheduled = true;
      requestAnimationFrame(mark);
    }
  }, { passive: true });
  mark();
})();

"use strict";
// The theme: the reader's choice, else the system's preference.
// The choice is stored if the browser has storage.
(() => {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  try {
    chosen = localStorage.getItem("filch-theme");
  } catch {
    // A page from a file may have no storage.
  }

  const apply = () => {
    const theme = chosen === "dark" || chosen === "light" ? chosen : dark.matches ? "dark" : "light";
    root.dataset.theme = theme;
    const button = document.querySelector("button.theme");
    if (button) {
      const other = theme === "dark" ? "Light" : "Dark";
      button.querySelector(".word").textContent = other;
      button.setAttribute("aria-label", `${other} colours`);
    }
    document.dispatchEvent(new Event("filch-theme"));
  };

  root.classList.add("js");
  apply();
  dark.addEventListener("change", apply);
  // Printed pages are light.
  addEventListener("beforeprint", () => { root.dataset.theme = "light"; document.dispatchEvent(new Event("filch-theme")); });
  addEventListener("afterprint", apply);
  document.addEventListener("DOMContentLoaded", () => {
    apply();
    document.querySelector("button.theme").addEventListener("click", () => {
      chosen = root.dataset.theme === "dark" ? "light" : "dark";
      try {
        localStorage.setItem("filch-theme", chosen);
      } catch {
        // Without storage, the choice lasts while the page is open.
      }
      apply();
    });
  });
})();

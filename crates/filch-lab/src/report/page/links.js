"use strict";
// Links into folds, copy buttons of commands, and download links whose data are in the page.
(() => {
  const said = document.getElementById("said");

  // Opens the folds around the target of a link, so that the browser can scroll to it.
  const reveal = (hash) => {
    const target = hash && document.getElementById(hash.slice(1));
    if (!target) return;
    for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    if (target.closest("details")) target.scrollIntoView({ block: "center" });
  };
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (link) reveal(link.hash);
  });
  addEventListener("hashchange", () => reveal(location.hash));
  addEventListener("beforeprint", () => { for (const fold of document.querySelectorAll("details")) fold.open = true; });
  reveal(location.hash);

  const copy = async (element) => {
    try {
      await navigator.clipboard.writeText(element.textContent);
      return true;
    } catch {
      // If the page may not write to the clipboard, the browser may copy the selection.
      const range = document.createRange();
      range.selectNodeContents(element);
      const selection = getSelection();
      selection.removeAllRanges();
      selection.addRange(range);
      return document.execCommand("copy");
    }
  };

  for (const button of document.querySelectorAll("button.copy")) {
    const text = button.firstChild;
    button.addEventListener("click", async () => {
      const isCopied = await copy(document.getElementById(button.dataset.copies));
      text.textContent = isCopied ? "Copied" : "Selected";
      said.textContent = isCopied ? "The command was copied." : "The command is selected.";
      setTimeout(() => { text.textContent = "Copy"; }, 2000);
    });
  }

  for (const link of document.querySelectorAll("a[data-holds]")) {
    const data = document.getElementById(link.dataset.holds).textContent;
    link.href = URL.createObjectURL(new Blob([data], { type: "application/json" }));
  }
})();

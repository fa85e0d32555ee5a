"use strict";
// Shows the meaning of a marked word: under the pointer, with the focus, and after a tap.
(() => {
  const tip = document.createElement("div");
  tip.className = "tip meaning";
  tip.hidden = true;
  // The word itself names its description, so screen readers skip the tooltip.
  tip.setAttribute("aria-hidden", "true");
  document.body.append(tip);
  let shown = null;

  const hide = () => {
    tip.hidden = true;
    shown = null;
  };
  const show = (word) => {
    shown = word;
    tip.textContent = document.getElementById(word.getAttribute("aria-describedby")).textContent;
    tip.hidden = false;
    const box = word.getBoundingClientRect();
    const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
    const below = box.bottom + tip.offsetHeight < innerHeight;
    tip.style.left = `${scrollX + Math.max(8, Math.min(box.left, room))}px`;
    tip.style.top = `${scrollY + (below ? box.bottom : box.top - tip.offsetHeight)}px`;
  };
  const leave = (event) => {
    if (event.relatedTarget !== tip && event.relatedTarget !== shown && document.activeElement !== shown) hide();
  };

  for (const word of document.querySelectorAll("dfn[aria-describedby]")) {
    word.addEventListener("pointerenter", (event) => { if (event.pointerType === "mouse") show(word); });
    word.addEventListener("pointerleave", leave);
    word.addEventListener("focus", () => show(word));
    word.addEventListener("blur", hide);
    word.addEventListener("click", () => show(word));
  }
  tip.addEventListener("pointerleave", leave);
  document.addEventListener("click", (event) => { if (!event.target.closest("dfn, .meaning")) hide(); });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
})();

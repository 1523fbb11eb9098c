// Keeps a page up to date: when the gateway reports a change, the page is fetched again and the parts marked as live are
// replaced. Pages are readable without it.
"use strict";
(() => {
  const status = document.getElementById("live");
  const parts = () => [...document.querySelectorAll("[data-live][id]")];
  if (!status || parts().length === 0 || !window.EventSource) return;
  const tell = (words) => {
    if (status.textContent !== words) status.textContent = words;
  };
  // Where the keyboard is, by something that outlives a replaced part.
  const place = (element) => {
    if (!element || element === document.body) return null;
    if (element.id) return `#${CSS.escape(element.id)}`;
    const to = element.getAttribute("href");
    if (to) return `a[href="${CSS.escape(to)}"]`;
    const form = element.closest("form");
    return form ? `form[action="${CSS.escape(form.getAttribute("action"))}"] button` : null;
  };
  let reading = false;
  let again = false;
  const refresh = async () => {
    if (reading) {
      again = true;
      return;
    }
    reading = true;
    try {
      const reply = await fetch(location.href, { headers: { accept: "text/html" }, credentials: "same-origin" });
      if (reply.ok) {
        const fresh = new DOMParser().parseFromString(await reply.text(), "text/html");
        for (const part of parts()) {
          const next = fresh.getElementById(part.id);
          if (!next || next.innerHTML === part.innerHTML) continue;
          const inside = part.contains(document.activeElement) ? place(document.activeElement) : null;
          part.replaceWith(document.importNode(next, true));
          if (inside) document.querySelector(inside)?.focus({ preventScroll: true });
        }
      }
    } catch {
      tell("Not connected");
    } finally {
      reading = false;
      if (again) {
        again = false;
        refresh();
      }
    }
  };
  const events = new EventSource("/foldline/events");
  // Something may have changed between the page and the first look of the gateway, so the page is fetched again here too.
  events.addEventListener("ready", () => {
    tell("Live");
    refresh();
  });
  events.addEventListener("changed", refresh);
  events.addEventListener("error", () => tell("Not connected"));
  window.addEventListener("pagehide", () => events.close());
})();

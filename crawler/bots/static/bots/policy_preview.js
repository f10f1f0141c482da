// While a pattern is typed: how many URLs of the domain it matches, and which.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  const box = document.getElementById("policy-preview");
  const pattern = document.getElementById("id_url_pattern");
  if (!box || !pattern) return;
  const domain = document.getElementById("id_of_domain");
  const priority = document.getElementById("id_priority");
  const message = box.querySelector(".bots-preview-message");
  const examples = box.querySelector(".bots-preview-examples");
  let waiting, asked;

  pattern.closest("div").after(box);

  function show(found) {
    box.classList.toggle("is-wrong", Boolean(found.error));
    message.textContent = found.error || found.message;
    examples.replaceChildren(...(found.examples || []).map((url) => {
      const line = document.createElement("li");
      line.textContent = url;
      return line;
    }));
    box.hidden = false;
  }

  async function ask() {
    asked?.abort();
    asked = new AbortController();
    const query = new URLSearchParams({
      domain: domain ? domain.value : box.dataset.domain,
      pattern: pattern.value,
      priority: priority ? priority.value : "",
      policy: box.dataset.policy,
    });
    try {
      const answer = await fetch(`${box.dataset.address}?${query}`, { signal: asked.signal });
      if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
      show(await answer.json());
    } catch (error) {
      if (error.name !== "AbortError") show({ error: `No preview: ${error.message}` });
    }
  }

  for (const field of [pattern, domain, priority]) {
    field?.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(ask, 250);
    });
  }
  ask();
});

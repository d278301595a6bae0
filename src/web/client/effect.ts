/**
 * Island: `<li data-effect="…">` is a search hit. When it gets the focus or the pointer, the effect of adding it is
 * requested: one request at a time, and the latest hit wins. The effect is remembered until the page changes.
 */

const restMs = 200;
const known = new Map<string, string>();
let timer: ReturnType<typeof setTimeout> | undefined;
let running: AbortController | undefined;

// The selection may have changed, and with it the effect of every hit.
document.addEventListener("swapped", () => {
  running?.abort();
  known.clear();
});

for (const event of ["pointerover", "focusin"]) document.addEventListener(event, ({ target }) => attend(target));

function attend(target: EventTarget | null): void {
  const hit = target instanceof Element ? target.closest<HTMLElement>("li[data-effect]") : null;
  const address = hit?.dataset["effect"];
  if (!hit || !address) return;
  clearTimeout(timer);
  const said = known.get(address);
  if (said === undefined) timer = setTimeout(() => void ask(hit, address).catch(() => {}), restMs);
  else show(hit, said);
}

async function ask(hit: HTMLElement, address: string): Promise<void> {
  running?.abort();
  running = new AbortController();
  const answer = await fetch(address, { signal: running.signal });
  if (!answer.ok) return;
  const { text } = (await answer.json()) as { text: string };
  known.set(address, text);
  show(hit, text);
}

function show(hit: HTMLElement, text: string): void {
  // Replaces only the text, not the link around it, which may have the focus.
  const place = hit.querySelector("[data-said]");
  if (place) place.textContent = text;
}

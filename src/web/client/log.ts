/**
 * Island: `<div data-log="/builds/…/log" data-page="…">` shows a log while it is written. The style sheet makes it
 * follow while its end is in view: the box is a reversed column. `data-page` is the page with the whole log.
 */
import { toneOf, wordsOf } from "#domain/builds/log-lines";

const maxLines = 2000;
const maxFindings = 20;

const box = document.querySelector<HTMLElement>("[data-log]");
const list = box?.querySelector("ol");
if (box?.dataset["log"] && list) follow(list, { address: box.dataset["log"], page: box.dataset["page"] ?? "" });

interface Followed {
  address: string;
  page: string;
}

function follow(list: HTMLOListElement, { address, page }: Followed): void {
  // EventSource reconnects on its own, and sends the id of the last line.
  const source = new EventSource(address);
  let count = 0;
  // Only its own reconnections know that id, so a new one begins with the first line.
  source.addEventListener("open", () => empty(list), { once: true });
  source.addEventListener("error", () => {
    // After an answer such as 502, EventSource does not try again.
    if (source.readyState === EventSource.CLOSED) setTimeout(() => follow(list, { address, page }), 10_000);
  });
  source.addEventListener("log", (event) => {
    const lines = String(event.data)
      .split("\n")
      .map((text) => lineOf(text, { number: (count += 1), page }));
    list.append(...lines);
    while (list.childElementCount > maxLines) list.firstElementChild?.remove();
  });
  source.addEventListener("end", () => source.close());
}

function empty(list: HTMLOListElement): void {
  list.replaceChildren();
  document.querySelector("#findings")?.replaceChildren();
}

function lineOf(text: string, { number, page }: { number: number; page: string }): HTMLLIElement {
  const line = document.createElement("li");
  line.id = `L${number}`;
  const words = document.createElement("span");
  words.textContent = `${text}\n`;
  const link = linkTo(number, page);
  link.dataset["line"] = String(number);
  link.ariaLabel = `Line ${number}`;
  link.tabIndex = -1;
  line.append(link, words);
  const tone = toneOf(text);
  if (tone) {
    line.dataset["tone"] = tone;
    addFinding(text, { tone, link: linkTo(number, page), number });
  }
  return line;
}

function linkTo(number: number, page: string): HTMLAnchorElement {
  const link = document.createElement("a");
  link.href = `${page}?line=${number}#L${number}`;
  return link;
}

/** Lists warnings and errors above the log, with links to their lines. */
function addFinding(text: string, { tone, link, number }: { tone: string; link: HTMLElement; number: number }): void {
  const findings = document.querySelector("#findings");
  if (!findings || findings.childElementCount >= maxFindings) return;
  const entry = document.createElement("li");
  entry.dataset["tone"] = tone;
  link.textContent = `Line ${number}`;
  entry.append(link, ` ${wordsOf(text)}`);
  findings.append(entry);
}

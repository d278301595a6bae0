/**
 * Island: `<div data-log="/builds/…/log">` shows a log while it is written. The style
 * sheet lets it follow while its end is in view: the box is a column that runs backwards.
 */

const maxLines = 2000;
const maxFindings = 20;

const box = document.querySelector<HTMLElement>("[data-log]");
const list = box?.querySelector("ol");
if (box?.dataset["log"] && list) follow(list, box.dataset["log"]);

function follow(list: HTMLOListElement, address: string): void {
  // EventSource reconnects on its own, and sends the id of the last line.
  const source = new EventSource(address);
  source.addEventListener("log", (event) => {
    const lines = String(event.data).split("\n").map(lineOf);
    list.append(...lines);
    while (list.childElementCount > maxLines) list.firstElementChild?.remove();
    for (const line of lines) addFinding(line);
  });
  source.addEventListener("end", () => source.close());
}

let lineNumber = 0;

function lineOf(text: string): HTMLLIElement {
  const line = document.createElement("li");
  lineNumber += 1;
  line.id = `L${lineNumber}`;
  line.dataset["line"] = String(lineNumber);
  const tone = toneOf(text);
  if (tone) line.dataset["tone"] = tone;
  line.textContent = text;
  return line;
}

/** By KIWI's levels, and the words of package managers. */
function toneOf(text: string): "bad" | "warn" | undefined {
  if (/\[ ERROR +\]|^error:/i.test(text)) return "bad";
  return /\[ WARNING +\]|^warning:/i.test(text) ? "warn" : undefined;
}

/** Lists warnings and errors above the log, with links to their lines. */
function addFinding(line: HTMLLIElement): void {
  const findings = document.querySelector("#findings");
  const { tone } = line.dataset;
  if (!findings || !tone || findings.childElementCount >= maxFindings) return;
  const [entry, link] = [document.createElement("li"), document.createElement("a")];
  entry.dataset["tone"] = tone;
  link.href = `#${line.id}`;
  link.textContent = `Line ${line.dataset["line"] ?? ""}`;
  entry.append(link, ` ${line.textContent ?? ""}`);
  findings.append(entry);
}

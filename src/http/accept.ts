interface MediaRange {
  type: string;
  quality: number;
}

/**
 * Whether an Accept header prefers JSON to XML: it contains application/json, and no type that matches XML has a higher
 * quality. Old clients send a wildcard, Java's default list or nothing, and expect XML (compatibility.md,
 * "Connections").
 */
export function prefersJson(accept: string | undefined): boolean {
  if (accept === undefined || !/json/i.test(accept)) return false;
  const ranges = accept.split(",").map(mediaRange);
  const json = qualityOf(ranges, ["application/json"]);
  if (!json) return false;
  const xml = qualityOf(ranges, ["application/xml", "text/xml"]);
  // A wildcard is a fallback, so a type that is named has priority.
  return xml === undefined ? json >= (qualityOf(ranges, ["*/*", "application/*"]) ?? 0) : json > xml;
}

/** Whether an Accept header contains text/plain and prefers no other type. A wildcard comes last, as above. */
export function prefersText(accept: string | undefined): boolean {
  if (accept === undefined || !/text\/plain/i.test(accept)) return false;
  const ranges = accept.split(",").map(mediaRange);
  const text = qualityOf(ranges, ["text/plain"]) ?? 0;
  const documents = qualityOf(ranges, ["application/json", "application/xml", "text/xml"]) ?? 0;
  return text > documents && text >= (qualityOf(ranges, ["*/*", "text/*"]) ?? 0);
}

const qualityOf = (ranges: readonly MediaRange[], types: readonly string[]): number | undefined => {
  const found = ranges.filter(({ type }) => types.includes(type)).map(({ quality }) => quality);
  return found.length === 0 ? undefined : Math.max(...found);
};

function mediaRange(text: string): MediaRange {
  const [type = "", ...parameters] = text.split(";").map((part) => part.trim().toLowerCase());
  const quality = parameters.map((parameter) => /^q\s*=\s*([01]?(?:\.\d*)?)$/.exec(parameter)?.[1]).find(Boolean);
  return { type, quality: quality === undefined ? 1 : Number(quality) };
}

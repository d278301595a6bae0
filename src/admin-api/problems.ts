import { z } from "zod";

const maxShown = 5;

/** The problems of a request, one per line. If a schema's message is not a sentence, its path in the request comes first. */
export function problemsOf({ issues }: z.ZodError): string {
  const shown = issues.slice(0, maxShown).map(({ path, message }) => {
    const isSentence = /^[A-Z].*\.$/.test(message);
    return isSentence ? message : `${path.length === 0 ? "" : `${z.core.toDotPath(path)}: `}${message}.`;
  });
  const more = issues.length - shown.length;
  return [...shown, ...(more > 0 ? [`There are ${more} more problems.`] : [])].join("\n");
}

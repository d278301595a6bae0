import { z } from "zod";

const mostSaid = 5;

/** What is wrong with a request, in plain sentences. A schema's message that is no sentence gets its place in the request. */
export function problemsOf({ issues }: z.ZodError): string {
  const said = issues.slice(0, mostSaid).map(({ path, message }) => {
    const isSentence = /^[A-Z].*\.$/.test(message);
    return isSentence ? message : `${path.length === 0 ? "" : `${z.core.toDotPath(path)}: `}${message}.`;
  });
  const more = issues.length - said.length;
  return [...said, ...(more > 0 ? [`There are ${more} more problems.`] : [])].join("\n");
}

import { z } from "zod";
import { refusalCodes, type RefusalCode } from "#domain/refusal";
import document from "../../../docs/api/errors.md?raw";

/** A line of the tables in docs/api/errors.md. */
export interface DocumentedError {
  code: RefusalCode;
  /** The status on v2, and on v1. */
  status: { v2: number; v1: number };
  when: string;
  /** The curl command; undefined if the page has none. */
  example: string | undefined;
}

export const documentedErrors: readonly DocumentedError[] = document
  .split("\n")
  .map((line) => /^\| `(\w+)` \| (\d{3})(?:, v1: (\d{3}))? \| (.+?) \| (.*)\|$/.exec(line))
  .filter((row) => row !== null)
  .map(([, name = "", v2 = "", v1 = v2, when = "", last = ""]) => {
    const example = /^`(curl .+)` *$/.exec(last.trim())?.[1];
    const code = z.enum(refusalCodes).parse(name);
    return { code, status: { v2: Number(v2), v1: Number(v1) }, when, example };
  });

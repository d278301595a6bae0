import { Instrumenter } from "@stryker-mutator/instrumenter";

/** A mistake in one line that a developer could make. */
export interface Mutant {
  file: string;
  /** Counted from 1. */
  line: number;
  /** The whole line before and after the change. */
  before: string;
  after: string;
}

/** Stryker's mutations that are not typical mistakes, such as changed texts and removed blocks. */
export const excludedMutations = ["StringLiteral", "ObjectLiteral", "ArrayDeclaration", "BlockStatement", "Regex"];

const silent = () => undefined;
const enabled = () => false;
const logger = {
  trace: silent,
  debug: silent,
  info: silent,
  warn: silent,
  error: silent,
  fatal: silent,
  isTraceEnabled: enabled,
  isDebugEnabled: enabled,
  isInfoEnabled: enabled,
  isWarnEnabled: enabled,
  isErrorEnabled: enabled,
  isFatalEnabled: enabled,
};
const options = { excludedMutations, ignorers: [], noHeader: true, plugins: null };

/**
 * All mutants of a file: Stryker's, and our own, which drop a call or an await, or change a number. Stryker has no
 * mutants of these kinds.
 */
export async function mutantsOf(file: string, content: string): Promise<Mutant[]> {
  const lines = content.split("\n");
  const { mutants } = await new Instrumenter(logger).instrument([{ name: file, content, mutate: true }], options);
  const found = mutants.flatMap(({ location: { start, end }, replacement, status }) => {
    if (status === "Ignored" || start.line !== end.line || replacement.includes("\n")) return [];
    const before = lines[start.line] ?? "";
    return [{ nth: start.line, after: before.slice(0, start.column) + replacement + before.slice(end.column) }];
  });
  const own = lines.flatMap((line, nth) => faultsIn(line).map((after) => ({ nth, after })));
  return [...found, ...own]
    .map(({ nth, after }) => ({ file, line: nth + 1, before: lines[nth] ?? "", after }))
    .filter(({ before, after }) => before.trim() !== after.trim());
}

function faultsIn(line: string): string[] {
  if (/^\s*(?:\/\/|\/?\*)/.test(line)) return [];
  return [
    ...(/^\s*(?:await |void )?(?!return\b|throw\b|super\b)[\w.#?]+\(.*\);$/.test(line) ? [""] : []),
    ...(/^(?!.*for await).*\bawait /.test(line) ? [line.replace("await ", "")] : []),
    ...(/^[^"'`/]*\b\d[\d_]*\b[^"'`/]*$/.test(line) ? [line.replace(/\b\d[\d_]*\b/, nextNumber)] : []),
  ];
}

const nextNumber = (digits: string): string => String(Number(digits.replaceAll("_", "")) + 1);

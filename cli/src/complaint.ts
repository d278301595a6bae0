/** The exit codes of every command, as the manual lists them. */
export const exitCodes = {
  done: { code: 0, about: "done" },
  refused: { code: 1, about: "the service refused, or something else failed; the message says what to do next" },
  difference: {
    code: 2,
    about:
      "`kiln plan` found something that would change, `kiln outdated` newer versions, `kiln advisories` a fix in an " +
      "update, or `kiln rebuild` other bytes",
  },
  unbuildable: {
    code: 3,
    about: "the appliance cannot be built, or its build or its checks failed: change the appliance",
  },
  broken: { code: 4, about: "the service or its builder failed: build again later" },
  cancelled: { code: 5, about: "the build was cancelled" },
  unverified: { code: 6, about: "a file, a signature or a key does not match" },
  signedOut: { code: 7, about: "not signed in, or the key or token may not do that" },
  unreachable: { code: 8, about: "the service did not answer, or has too many requests" },
  notFound: { code: 9, about: "nothing has that name or id" },
  misused: { code: 64, about: "the command line is wrong" },
} as const;

export type Exit = keyof typeof exitCodes;

/** Ends the command with a message that also explains what to do next. */
export class Complaint extends Error {
  readonly exit: Exit;
  readonly next: string;

  constructor(exit: Exit, message: string, next: string) {
    super(message);
    this.exit = exit;
    this.next = next;
  }
}

/** The exit as an error code, in the form of the service's own codes: `not_found`. */
export const codeOf = (exit: Exit): string => exit.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

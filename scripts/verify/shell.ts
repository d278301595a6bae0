import type { SerialConsole } from "./console.ts";

export type Credentials = { name: string; password: string };

/** Time limit of a step of a login, long enough for an emulated processor. */
const loginSeconds = 240;

/** A shell on a serial line. */
export class Shell {
  readonly #console: SerialConsole;
  #asked = 0;

  private constructor(console: SerialConsole) {
    this.#console = console;
  }

  /** Logs in at a prompt that is already there. */
  static async logIn(console: SerialConsole, { name, password }: Credentials): Promise<Shell> {
    const typedName = await console.type(name);
    // "Password:", "Passwort:", "Mot de passe :"
    await console.says(/pass\w* ?: ?$/im, { within: loginSeconds, from: typedName });
    await console.type(password);
    const shell = new Shell(console);
    // Keeps an echo or a prompt from looking like an answer.
    await console.type("stty -echo; PS1=; PS2=; bind 'set enable-bracketed-paste off' 2> /dev/null");
    await shell.run("true", loginSeconds);
    return shell;
  }

  /** Runs one line, and returns its exit code and output. */
  async run(line: string, within = loginSeconds): Promise<{ code: number; printed: string }> {
    const mark = `kiln-${++this.#asked}`;
    // The quotes keep an echo of the line from looking like the answer.
    const from = await this.#console.type(`echo "<${mark}"">"; ( ${line} ) 2>&1 < /dev/null; echo "</${mark}":"$?>"`);
    const answer = new RegExp(`<${mark}>\\n([^]*?)</${mark}:(\\d+)>`);
    const [, printed = "", code = ""] = await this.#console.says(answer, { within, from });
    return { code: Number(code), printed: printed.trim() };
  }
}

import { openClient, type Client } from "./client/client.ts";
import { readLogin, type Login } from "./login/login.ts";
import { Painter } from "./output/painter.ts";

/** What a command works with: the service that the user is signed in to, and the terminal. */
export class Kiln {
  readonly isJson: boolean;
  readonly paint = new Painter(process.stdout);
  readonly #url: string | undefined;
  #login: Login | undefined;
  #client: Client | undefined;

  constructor({ isJson, url }: { isJson: boolean; url: string | undefined }) {
    this.isJson = isJson;
    this.#url = url;
  }

  /** The account, its service and the keys that are pinned for it. Without one, the user is told to sign in. */
  get login(): Login {
    return (this.#login ??= readLogin(this.#url));
  }

  get client(): Client {
    return (this.#client ??= openClient(this.login));
  }

  /** The result of a command: the service's own answer with --json, and text for people. */
  readonly show = (document: object, text: () => string): void => {
    this.print(this.isJson ? JSON.stringify(document, null, 2) : text());
  };

  readonly print = (line: string): void => {
    process.stdout.write(`${line}\n`);
  };

  /** What happens meanwhile: never part of the result. */
  readonly note = (line: string): void => {
    process.stderr.write(`${line}\n`);
  };
}

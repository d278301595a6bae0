import { readFrom } from "./appliance-file/folder.ts";
import type { ApplianceFile } from "./appliance-file/read.ts";
import { openClient, type Client } from "./client/client.ts";
import { readLogin, type Login } from "./login/login.ts";
import { Painter } from "./output/painter.ts";
import { masked } from "./output/secrets.ts";
import { inJson, inOrder } from "./output/table.ts";

/** The output of a command: a terminal or a replacement. */
interface Output {
  print: (line: string) => void;
  note: (line: string) => void;
  paint: Painter;
}

/** The source of `appliance.yaml`: a file of this machine or a replacement. */
interface ApplianceFiles {
  read: (file: string) => ApplianceFile;
  /** The file's name in messages. */
  nameOf: (file: string) => string;
}

const ofThisMachine: ApplianceFiles = { read: readFrom, nameOf: (file) => file };

interface Given {
  isJson: boolean;
  url: string | undefined;
  /** Whether passwords in answers are masked, as for an assistant. */
  hidesSecrets?: boolean;
  output?: Output;
  applianceFiles?: ApplianceFiles;
}

const terminal = (): Output => ({
  print: (line) => void process.stdout.write(`${line}\n`),
  note: (line) => void process.stderr.write(`${inOrder(line)}\n`),
  paint: new Painter(process.stdout),
});

/** The service that the user is signed in to, and the terminal, for a command. */
export class Kiln {
  readonly isJson: boolean;
  readonly paint: Painter;
  /** The value of --url. */
  readonly url: string | undefined;
  /** Writes the result of a command, or a line of it. */
  readonly print: (line: string) => void;
  readonly applianceFiles: ApplianceFiles;
  /** Writes a message that is not part of the result. */
  readonly note: (line: string) => void;
  readonly #hidesSecrets: boolean;
  #login: Login | undefined;
  #client: Client | undefined;

  constructor({ isJson, url, hidesSecrets = false, output = terminal(), applianceFiles = ofThisMachine }: Given) {
    this.isJson = isJson;
    this.#hidesSecrets = hidesSecrets;
    this.url = url;
    this.print = output.print;
    this.note = output.note;
    this.paint = output.paint;
    this.applianceFiles = applianceFiles;
  }

  /** Whether an assistant runs the command, and not a person. */
  get isForAssistant(): boolean {
    return this.#hidesSecrets;
  }

  /** The account, its service and the pinned keys. @throws Complaint if the user is not signed in */
  get login(): Login {
    return (this.#login ??= readLogin(this.url));
  }

  get client(): Client {
    return (this.#client ??= openClient(this.login));
  }

  /** Writes the result of a command: with --json the service's own answer, otherwise text. */
  readonly show = (document: object, text: () => string): void => {
    this.print(this.isJson ? inJson(this.#hidesSecrets ? masked(document) : document) : inOrder(text()));
  };
}

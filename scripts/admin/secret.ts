import { Complaint } from "../launch/complaint.ts";
import { readTextOrInput } from "../launch/given-file.ts";
import { warn } from "../launch/progress.ts";
import type { AdminOptions } from "./options.ts";

type Secret = "password" | "api-key";

/** An option's secret, from the file that `--NAME-file` names, from standard input (`-`), or from the command line. */
export async function secretOf(options: AdminOptions, name: Secret): Promise<string | undefined> {
  const [given, file] = [options[name], options[`${name}-file`]];
  if (given !== undefined && file !== undefined) throw new Complaint(`Give --${name} or --${name}-file, not both.`);
  if (given !== undefined) {
    warn(
      `Other users of this machine can see --${name} while the command runs. Use --${name}-file FILE, or - for stdin.`,
    );
  }
  return file === undefined ? given : withoutLineEnd(await readTextOrInput(file), name);
}

function withoutLineEnd(content: string, name: Secret): string {
  const secret = content.replace(/\r?\n$/, "");
  if (secret === "") throw new Complaint(`The ${name} is empty.`);
  if (/[\r\n]/.test(secret)) throw new Complaint(`The ${name} must be a single line.`);
  return secret;
}

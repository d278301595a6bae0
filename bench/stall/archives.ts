import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { authorizationOf, counted, type Scenario } from "./scenario.ts";

const openMb = 200;
const types = ["tar.bz2", "tar.xz", "tar.gz"];
/** The text compresses to a twentieth of its size. A higher ratio would be refused immediately. */
const piece = 64;

/** Archives without packages. The service must decompress them completely to find that out. */
export const archives: Scenario = {
  name: "archives",
  what: `the upload of archives of ${openMb} MB, as ${types.join(", ")}`,
  prepare: async ({ place, account }) => {
    const folder = place.folder();
    writeFileSync(join(folder, "file"), compressible(openMb * 1e6));
    const files = types.map((type) => {
      execFileSync("tar", ["--auto-compress", "-cf", `a.${type}`, "file"], { cwd: folder });
      return readFileSync(join(folder, `a.${type}`));
    });
    const url = `${account.url}/api/v2/user/rpms?base_system=tiny-1.0`;
    const headers = { authorization: authorizationOf(account), "content-type": "application/octet-stream" };
    const send = async (body: Buffer<ArrayBuffer>) => {
      const answer = await fetch(url, { method: "POST", headers, body });
      await answer.body?.cancel();
      return answer.status;
    };
    return async () => {
      const statuses: number[] = [];
      for (const file of files) statuses.push(await send(file));
      return `${files.map((file) => `${(file.byteLength / 1e6).toFixed(0)} MB`).join(", ")}: ${counted(statuses)}`;
    };
  },
};

/** Random pieces, each repeated with other random bytes in between. */
function compressible(bytes: number): Buffer {
  const all = Buffer.alloc(bytes);
  const block = randomBytes(piece);
  for (let at = 0; at < bytes; at += 2 * piece) {
    block.copy(all, at);
    randomBytes(piece / 16).copy(all, at + piece);
  }
  return all;
}

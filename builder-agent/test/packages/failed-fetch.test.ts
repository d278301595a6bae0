import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, it } from "vitest";
import { BuildFailure } from "../../src/run/failure.ts";
import { temporaryDir } from "../support/agent-place.ts";
import { fetching, reaching } from "../support/fetching.ts";
import { fileAt, frozenPackage } from "../support/frozen-input.ts";

const failureOf = (host: string, dir: string): Promise<unknown> =>
  fetching([frozenPackage("bash")], `http://${host}/tiny`, { dir, reach: reaching(host) }).catch(
    (error: unknown) => error,
  );

it("names the package and the mirror if the network fails", async () => {
  await using dir = await temporaryDir();
  const error = await failureOf("127.0.0.1:1", dir.path);
  expect(error).toBeInstanceOf(BuildFailure);
  expect(String(error)).toMatch(/bash\S* could not be downloaded from http:\/\/127\.0\.0\.1:1\/tiny: /);
});

it("does not blame the mirror if the host cannot write the file", async () => {
  await using dir = await temporaryDir();
  await using server = createServer(({ url = "" }, response) => void response.end(fileAt(url.replace("/tiny/", ""))));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const error = await failureOf(`127.0.0.1:${(server.address() as AddressInfo).port}`, join(dir.path, "missing"));
  expect(error).not.toBeInstanceOf(BuildFailure);
  expect(error).toMatchObject({ code: "ENOENT" });
});

import { randomFillSync } from "node:crypto";
import { crc32, deflateSync } from "node:zlib";
import { restClient } from "../../test/acceptance/support/rest.ts";
import { cloneJeos } from "../place.ts";
import { authorizationOf, counted, type Scenario } from "./scenario.ts";

/** The largest accepted background, by its number of pixels. */
const size = { width: 2560, height: 1600 };
const sends = 8;
const atOnce = 4;

/** Each picture is decoded, resized and encoded. */
export const pictures: Scenario = {
  name: "pictures",
  what: `${sends} backgrounds of ${size.width} × ${size.height} pixels, ${atOnce} at the same time`,
  prepare: async ({ account }) => {
    const applianceId = await cloneJeos(restClient(account));
    const url = `${account.url}/api/v2/user/appliances/${applianceId}/configuration/background`;
    const headers = { authorization: authorizationOf(account), "content-type": "application/octet-stream" };
    const body = png(size);
    const send = async () => (await fetch(url, { method: "PUT", headers, body })).status;
    return async () => {
      const statuses: number[] = [];
      const sendSome = async () => {
        for (let n = 0; n < sends / atOnce; n++) statuses.push(await send());
      };
      await Promise.all(Array.from({ length: atOnce }, sendSome));
      return `${(body.byteLength / 2 ** 20).toFixed(1)} MiB each: ${counted(statuses)}`;
    };
  },
};

/** Colours with opacity. A quarter of each line is random, which is as much as the size limit allows. */
function png({ width, height }: typeof size): Uint8Array<ArrayBuffer> {
  const line = 1 + width * 4;
  const pixels = Buffer.alloc(line * height, 0x5a);
  for (let row = 0; row < height; row++) {
    pixels[row * line] = 0; // no filter
    randomFillSync(pixels, row * line + 1, width >> 1);
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 6], 8); // bit depth, and the colour type with red, green, blue and opacity
  const signature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
  const chunks = [chunk("IHDR", header), chunk("IDAT", deflateSync(pixels)), chunk("IEND", Buffer.alloc(0))];
  return new Uint8Array(Buffer.concat([signature, ...chunks]));
}

function chunk(type: string, data: Buffer): Buffer {
  const content = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.byteLength);
  checksum.writeUInt32BE(crc32(content));
  return Buffer.concat([length, content, checksum]);
}

import { createCipheriv } from "node:crypto";
import { connect, type Socket } from "node:net";

/** Opens a VNC session as a client does: RFC 6143, versions 3.8, security type 2, a shared ClientInit. */
export async function openVnc(host: string, port: number, password: string): Promise<VncClient> {
  const socket = connect({ host, port });
  const read = reader(socket);
  if ((await read(12)).toString() !== "RFB 003.008\n") throw new Error("no RFB 3.8");
  socket.write("RFB 003.008\n");
  const [count = 0] = await read(1);
  const types = [...(await read(count))];
  if (!types.includes(2)) throw new Error(`no password is asked for: security types ${types.join()}`);
  socket.write(Buffer.of(2));
  socket.write(answerChallenge(await read(16), password));
  if ((await read(4)).readUInt32BE() !== 0) throw new Error("the password was refused");
  socket.write(Buffer.of(1));
  const init = await read(24);
  await read(init.readUInt32BE(20));
  return { socket, width: init.readUInt16BE(0), height: init.readUInt16BE(2) };
}

export interface VncClient {
  socket: Socket;
  width: number;
  height: number;
}

/**
 * DES with the bits of each key byte mirrored. Node has only triple DES, which is the same if the key is repeated three
 * times.
 */
function answerChallenge(challenge: Buffer, password: string): Buffer {
  const key = Buffer.alloc(8);
  key.write(password.slice(0, 8), "latin1");
  const mirrored = key.map((byte) =>
    Number.parseInt(byte.toString(2).padStart(8, "0").split("").toReversed().join(""), 2),
  );
  const cipher = createCipheriv("des-ede3", Buffer.concat([mirrored, mirrored, mirrored]), null).setAutoPadding(false);
  return Buffer.concat([cipher.update(challenge), cipher.final()]);
}

function reader(socket: Socket): (bytes: number) => Promise<Buffer> {
  let got = Buffer.alloc(0);
  let wake: (() => void) | undefined;
  let end: string | undefined;
  socket.on("data", (chunk) => {
    got = Buffer.concat([got, chunk]);
    wake?.();
  });
  const close = (reason: string) => {
    end ??= reason;
    wake?.();
  };
  socket.on("error", (error) => close(error.message)).on("close", () => close("closed"));
  return async (bytes) => {
    while (got.length < bytes) {
      if (end !== undefined) throw new Error(`VNC connection: ${end}`);
      await new Promise<void>((resolve) => (wake = resolve));
    }
    const taken = got.subarray(0, bytes);
    got = got.subarray(bytes);
    return taken;
  };
}

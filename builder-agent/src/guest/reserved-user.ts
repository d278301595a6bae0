import { createServer } from "node:net";
import { firstGuestUid, guestUsers, userOfBuild } from "./user.ts";

/** A user that no other guest on this host has, of whatever agent, until it is disposed of. */
export interface ReservedUser extends AsyncDisposable {
  uid: number;
}

/**
 * Agents of different services count their builds from 1 each, so that the build's own user may be taken: then the next free
 * one. Who holds a user is a name in Linux's abstract socket space, which the kernel frees when the agent is gone.
 */
export async function reserveUser(buildId: number): Promise<ReservedUser> {
  const first = userOfBuild(buildId);
  if (first < firstGuestUid) return { uid: first, async [Symbol.asyncDispose]() {} };
  for (let tried = 0; tried < guestUsers; tried++) {
    const uid = firstGuestUid + ((first - firstGuestUid + tried) % guestUsers);
    const held = await hold(`\0kiln-guest-user-${uid}`);
    if (held) return { uid, [Symbol.asyncDispose]: held };
  }
  throw new Error("all users for builds in guests are taken");
}

/** → releases the name; undefined: another process has it */
async function hold(name: string): Promise<(() => Promise<void>) | undefined> {
  const server = createServer((socket) => socket.destroy());
  const isHeld = await new Promise<boolean>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      error.code === "EADDRINUSE" ? resolve(false) : reject(error),
    );
    server.listen(name, () => resolve(true));
  });
  if (!isHeld) return undefined;
  server.unref();
  return () => new Promise((resolve) => server.close(() => resolve()));
}

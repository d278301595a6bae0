import { buildObject, type Progress } from "#domain/builds/build";
import { BuildSocket, type BuildMessage } from "#domain/builds/build-socket";
import { logFailure } from "#log/log";
import type { Build } from "#storage/builds";

/** A piece of a build's log, and the build's progress when it was read. */
export interface LogSlice {
  from: number;
  bytes: Uint8Array;
  /** Bytes of the whole log. */
  length: number;
  progress: Progress;
  /** Rises with every change. Pass it as `seen` to wait for the next change. */
  revision: number;
}

export interface LogQuestion {
  from: number | { last: number };
  maxBytes: number;
  /** How long to wait for a change after `seen`. */
  waitMs?: number;
  seen?: number;
  /** Waits only for a change of the state, and does not count as reading the log. */
  onlyProgress?: boolean;
}

/** If the object does not know the build, the log is empty and the progress unknown. */
export type Slice = Omit<LogSlice, "progress" | "revision"> & Partial<LogSlice>;

export const sliceBytes = 64 * 1024;
/** After this long without news, something is sent anyway, because proxies close idle connections. */
const silenceMs = 15_000;
const nothing = new Uint8Array();

/** The log position that a client requests if it follows only the progress. */
export const withoutLog = Infinity;

const questions = {
  log: { maxBytes: sliceBytes },
  progress: { maxBytes: 0, onlyProgress: true },
} as const satisfies Record<string, Partial<LogQuestion>>;

/** A client follows either the log with the progress, or only the progress. */
export type Followed = keyof typeof questions;

export interface Following {
  /**
   * The log from `from` on. At the end of the log, waits for the next change, or returns the same slice without bytes
   * after some silence.
   */
  next: (from: number) => Promise<Slice>;
  close: () => void;
}

/**
 * Follows a build. Its object sends changes through a socket, and hibernates in between. If there is no socket, because
 * it was lost or the object runs the previous release, each call waits in the object.
 */
export async function follow(env: Env, build: Build, what: Followed): Promise<Following> {
  const socket = await openSocket(env, build, what);
  const ask = (from: number, seen?: number) =>
    readLog(env, build, { from, ...questions[what], ...(seen !== undefined && { seen, waitMs: silenceMs }) });

  async function change(from: number, last: Slice): Promise<Slice> {
    if (!socket?.isOpen) return await ask(from, last.revision);
    const message = await socket.next(silenceMs);
    if (message) return sliceOf(message, from) ?? (await ask(from));
    return socket.isOpen ? { ...last, from, bytes: nothing } : await ask(from);
  }

  let last: Slice | undefined;
  return {
    next: async (from) => (last = last && from >= last.length ? await change(from, last) : await ask(from)),
    close: () => socket?.close(),
  };
}

async function openSocket(env: Env, build: Build, what: Followed): Promise<BuildSocket | undefined> {
  try {
    const headers = { upgrade: "websocket" };
    const { webSocket } = await buildObject(env, build).fetch(`https://build/?what=${what}`, { headers });
    return webSocket ? new BuildSocket(webSocket) : undefined;
  } catch (error) {
    logFailure("could not open a socket to a build", error, { build: build.id });
    return undefined;
  }
}

/** Undefined if bytes before the message are missing. */
function sliceOf({ base64, ...message }: BuildMessage, from: number): Slice | undefined {
  if (message.from > from) return undefined;
  return { ...message, from, bytes: Buffer.from(base64, "base64").subarray(from - message.from) };
}

export async function readLog(env: Env, build: Build, question: LogQuestion): Promise<Slice> {
  const slice = await buildObject(env, build).readLog(question);
  return slice ?? { from: 0, bytes: nothing, length: 0, revision: 0 };
}

import { startTestdrive, stopTestdrive, testdriveObject } from "#domain/testdrives/testdrive";
import { findTestdrive, type Testdrive } from "#storage/testdrives";
import { clock } from "./runtime/clock.ts";
import { randomUUID } from "./runtime/globals.ts";
import type { Service } from "./runtime/service.ts";
import type { SocketEnd } from "./runtime/sockets.ts";
import { sessions } from "./sessions.ts";
import type { Insist } from "./users.ts";

const dialAgainMs = 3_000;
const longestStayMs = 150_000;

/** The users who boot images in a browser. Their pages reconnect until the testdrive has ended, or until they leave. */
export class Viewers {
  readonly #service: Service;
  readonly #insist: Insist;

  constructor(service: Service, insist: Insist) {
    this.#service = service;
    this.#insist = insist;
  }

  /** Boots an image as soon as there is one. */
  start(pick: number): void {
    const { env, db, database } = this.#service;
    const requestId = randomUUID();
    this.#insist(() => async () => {
      const images = database.query("SELECT id, account_id FROM builds WHERE status = 'finished' ORDER BY id");
      const build = images[pick % images.length];
      if (!build) throw new Error("there is no image yet");
      const account = { id: Number(build["account_id"]) };
      const request = { buildId: Number(build["id"]), hasNetwork: false, requestId };
      const { testdrive } = await startTestdrive({ env, db }, account, request);
      return () => this.#watch(testdrive, pick);
    });
  }

  stop(pick: number): void {
    const { env, db } = this.#service;
    const all = [...sessions.begun.keys()];
    const id = all[pick % all.length];
    if (id === undefined) return;
    this.#insist(() => async () => {
      const testdrive = await findTestdrive(db, id);
      if (!testdrive) throw new Error(`there is no testdrive ${id}`);
      sessions.stopped.add(id);
      await stopTestdrive(env, testdrive);
      return () => {};
    });
  }

  #watch(testdrive: Testdrive, pick: number): void {
    sessions.accepted.add(testdrive.uid);
    const leaving = new AbortController();
    // Some stay until the session's time is over.
    if (pick % 4 > 0) clock.after(pick % longestStayMs, () => leaving.abort());
    void this.#stay(testdrive, leaving.signal);
  }

  async #stay(testdrive: Testdrive, leaving: AbortSignal): Promise<void> {
    const left = new Promise<void>((resolve) => leaving.addEventListener("abort", () => resolve()));
    while (!leaving.aborted) {
      const answer = await this.#dial(testdrive).catch(() => undefined);
      if (answer?.status === 410) return;
      if (answer?.webSocket) await this.#look(testdrive, answer.webSocket, left);
      await Promise.race([left, clock.sleep(dialAgainMs)]);
    }
  }

  async #look({ id }: Testdrive, socket: SocketEnd, left: Promise<void>): Promise<void> {
    const closed = new Promise<void>((resolve) => void (socket.onClose = () => resolve()));
    sessions.viewer(id, 1);
    await Promise.race([left, closed]);
    sessions.viewer(id, -1);
    socket.close(1000);
  }

  async #dial(testdrive: Testdrive): Promise<{ status: number; webSocket?: SocketEnd }> {
    const { env } = this.#service;
    const page = () =>
      testdriveObject(env, testdrive).fetch("https://testdrive/page", { headers: { upgrade: "websocket" } });
    return (await this.#service.invoke("a viewer's page", page)) as unknown as {
      status: number;
      webSocket?: SocketEnd;
    };
  }
}
